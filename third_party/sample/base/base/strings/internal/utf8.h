#ifndef BASE_STRINGS_INTERNAL_UTF8_H_
#define BASE_STRINGS_INTERNAL_UTF8_H_

#include <cstdint>
#include <string>

namespace base::strings_internal {

// Appends one code point; false for a surrogate or beyond U+10FFFF.
bool AppendUtf8(std::uint32_t code_point, std::string* out);

}  // namespace base::strings_internal

#endif  // BASE_STRINGS_INTERNAL_UTF8_H_
