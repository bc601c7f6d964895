#include "base/time/duration.h"

#include "base/strings/str_cat.h"

namespace base {

std::string FormatNanoseconds(std::int64_t nanoseconds) {
  constexpr const char* kUnits[] = {" ns", " us", " ms", " s"};
  int unit = 0;
  while (unit < 3 && nanoseconds >= 1000) {
    nanoseconds /= 1000;
    ++unit;
  }
  return StrCat(nanoseconds, kUnits[unit]);
}

}  // namespace base
