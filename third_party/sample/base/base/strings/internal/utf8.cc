#include "base/strings/internal/utf8.h"

namespace base::strings_internal {

bool AppendUtf8(std::uint32_t code_point, std::string* out) {
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point < 0xE000)) return false;
  if (code_point < 0x80) {
    out->push_back(static_cast<char>(code_point));
    return true;
  }
  const int trailing = code_point < 0x800 ? 1 : code_point < 0x10000 ? 2 : 3;
  constexpr unsigned char kLead[] = {0, 0xC0, 0xE0, 0xF0};
  out->push_back(static_cast<char>(kLead[trailing] | (code_point >> (6 * trailing))));
  for (int i = trailing - 1; i >= 0; --i) out->push_back(static_cast<char>(0x80 | ((code_point >> (6 * i)) & 0x3F)));
  return true;
}

}  // namespace base::strings_internal
