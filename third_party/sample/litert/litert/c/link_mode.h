// Whether the core is part of this binary: LITERT_CORE_LINKED_IN comes from the build.
#ifndef LITERT_C_LINK_MODE_H_
#define LITERT_C_LINK_MODE_H_

#define LITERT_LINK_MODE_NAME (LITERT_CORE_LINKED_IN ? "static" : "dynamic")

#endif  // LITERT_C_LINK_MODE_H_
