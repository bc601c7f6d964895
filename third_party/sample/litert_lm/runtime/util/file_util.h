#ifndef RUNTIME_UTIL_FILE_UTIL_H_
#define RUNTIME_UTIL_FILE_UTIL_H_

#include <string>

#include "base/status/status.h"

namespace litert::lm {

// Reads all of a file; `path` is UTF-8 on every platform.
base::Status ReadFile(const std::string& path, std::string* content);

// Reads all of an open file and closes it.
base::Status ReadDescriptor(int descriptor, std::string* content);

}  // namespace litert::lm

#endif  // RUNTIME_UTIL_FILE_UTIL_H_
