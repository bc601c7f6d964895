#include "base/status/status_code.h"

namespace base {

const char* StatusCodeName(StatusCode code) {
  switch (code) {
#define BASE_STATUS_CODE(enumerator, number, name) \
  case StatusCode::enumerator:                     \
    return name;
#include "base/config/status_codes.inc"
#undef BASE_STATUS_CODE
  }
  return "UNKNOWN";
}

}  // namespace base
