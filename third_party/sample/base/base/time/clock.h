#ifndef BASE_TIME_CLOCK_H_
#define BASE_TIME_CLOCK_H_

#include <cstdint>

namespace base {

// Wall clock, nanoseconds since 1970.
std::int64_t NowNanoseconds();

}  // namespace base

#endif  // BASE_TIME_CLOCK_H_
