#ifndef LITERT_CORE_LAST_ERROR_H_
#define LITERT_CORE_LAST_ERROR_H_

#include <string_view>

namespace litert::internal {

void SetLastError(std::string_view message);
const char* LastError();

}  // namespace litert::internal

#endif  // LITERT_CORE_LAST_ERROR_H_
