#include "base/strings/escaping.h"

#include <cstdint>

#include "base/strings/internal/utf8.h"

namespace base {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string HexEncode(const void* bytes, std::size_t size) {
  const unsigned char* data = static_cast<const unsigned char*>(bytes);
  std::string out;
  for (std::size_t i = 0; i < size; ++i) {
    out.push_back(kHexDigits[data[i] >> 4]);
    out.push_back(kHexDigits[data[i] & 15]);
  }
  return out;
}

std::string JsonEscape(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += "\\u00";
          out += HexEncode(&c, 1);
        } else {
          out.push_back(c);
        }
    }
  }
  return out;
}

bool JsonUnescape(std::string_view text, std::string* value) {
  if (text.empty() || text.front() != '"') return false;
  value->clear();
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return true;
    if (text[i] != '\\') {
      value->push_back(text[i]);
      continue;
    }
    if (++i == text.size()) return false;
    switch (text[i]) {
      case 'n': value->push_back('\n'); break;
      case 't': value->push_back('\t'); break;
      case '"': case '\\': case '/': value->push_back(text[i]); break;
      case 'u': {
        if (i + 4 >= text.size()) return false;
        std::uint32_t code = 0;
        for (int k = 0; k < 4; ++k) {
          const int digit = HexValue(text[++i]);
          if (digit < 0) return false;
          code = code * 16 + static_cast<std::uint32_t>(digit);
        }
        if (!strings_internal::AppendUtf8(code, value)) return false;
        break;
      }
      default: return false;
    }
  }
  return false;
}

}  // namespace base
