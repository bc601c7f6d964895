#include "base/strings/str_split.h"

#include "base/strings/ascii.h"

namespace base {
namespace {

template <typename IsSeparator>
std::vector<std::string_view> SplitIf(std::string_view text, IsSeparator is_separator) {
  std::vector<std::string_view> fields;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && !is_separator(text[i])) continue;
    if (i > begin) fields.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return fields;
}

}  // namespace

std::vector<std::string_view> StrSplit(std::string_view text, char separator) {
  return SplitIf(text, [separator](char c) { return c == separator; });
}

std::vector<std::string_view> SplitWords(std::string_view text) { return SplitIf(text, IsSpace); }

}  // namespace base
