// Integers from and to decimal text.
#ifndef BASE_STRINGS_NUMBERS_H_
#define BASE_STRINGS_NUMBERS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace base {

// Parses all of `text`; false on an empty text, a foreign character or an overflow, and `value` stays as it was.
bool ParseInt64(std::string_view text, std::int64_t* value);
std::string Int64ToString(std::int64_t value);

}  // namespace base

#endif  // BASE_STRINGS_NUMBERS_H_
