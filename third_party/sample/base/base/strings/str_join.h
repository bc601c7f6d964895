// StrJoin({"a", "b"}, ", "): header-only, since the container is a template argument.
#ifndef BASE_STRINGS_STR_JOIN_H_
#define BASE_STRINGS_STR_JOIN_H_

#include <string>
#include <string_view>

namespace base {

template <typename Container>
std::string StrJoin(const Container& parts, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& part : parts) {
    if (!first) out.append(separator);
    out.append(part);
    first = false;
  }
  return out;
}

}  // namespace base

#endif  // BASE_STRINGS_STR_JOIN_H_
