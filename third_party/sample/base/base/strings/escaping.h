// Hexadecimal and JSON string escapes.
#ifndef BASE_STRINGS_ESCAPING_H_
#define BASE_STRINGS_ESCAPING_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace base {

std::string HexEncode(const void* bytes, std::size_t size);
std::string JsonEscape(std::string_view text);

// Reads the string literal that starts at the quote text[0]; false where it is malformed or does not end.
bool JsonUnescape(std::string_view text, std::string* value);

}  // namespace base

#endif  // BASE_STRINGS_ESCAPING_H_
