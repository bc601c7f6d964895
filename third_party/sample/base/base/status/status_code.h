#ifndef BASE_STATUS_STATUS_CODE_H_
#define BASE_STATUS_STATUS_CODE_H_

namespace base {

enum class StatusCode : int {
#define BASE_STATUS_CODE(enumerator, number, name) enumerator = number,
#include "base/config/status_codes.inc"
#undef BASE_STATUS_CODE
};

const char* StatusCodeName(StatusCode code);

}  // namespace base

#endif  // BASE_STATUS_STATUS_CODE_H_
