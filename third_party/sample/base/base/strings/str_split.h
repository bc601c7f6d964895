// Splitting at one character or at white space; empty fields are dropped.
#ifndef BASE_STRINGS_STR_SPLIT_H_
#define BASE_STRINGS_STR_SPLIT_H_

#include <string_view>
#include <vector>

namespace base {

std::vector<std::string_view> StrSplit(std::string_view text, char separator);
std::vector<std::string_view> SplitWords(std::string_view text);

}  // namespace base

#endif  // BASE_STRINGS_STR_SPLIT_H_
