#ifndef BASE_TIME_DURATION_H_
#define BASE_TIME_DURATION_H_

#include <cstdint>
#include <string>

namespace base {

// "830 ns", "12 us", "7 ms" or "3 s": whole units, rounded down.
std::string FormatNanoseconds(std::int64_t nanoseconds);

}  // namespace base

#endif  // BASE_TIME_DURATION_H_
