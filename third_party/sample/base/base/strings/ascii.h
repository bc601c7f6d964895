// Character classes and trimming that do not depend on the locale.
#ifndef BASE_STRINGS_ASCII_H_
#define BASE_STRINGS_ASCII_H_

#include <string>
#include <string_view>

namespace base {

bool IsSpace(char c);
bool IsAlnum(char c);
std::string ToLower(std::string_view text);
std::string_view StripWhitespace(std::string_view text);

}  // namespace base

#endif  // BASE_STRINGS_ASCII_H_
