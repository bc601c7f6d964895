// StrCat("row ", 3, " of ", name): strings and integers joined without a format string.
#ifndef BASE_STRINGS_STR_CAT_H_
#define BASE_STRINGS_STR_CAT_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/strings/numbers.h"

namespace base {

// One argument of StrCat: it views a string or owns the digits of a number.
class StrPiece {
 public:
  StrPiece(std::string_view text) : text_(text) {}            // NOLINT: implicit on purpose
  StrPiece(const char* text) : text_(text) {}                 // NOLINT
  StrPiece(const std::string& text) : text_(text) {}          // NOLINT
  StrPiece(int value) : StrPiece(std::int64_t{value}) {}      // NOLINT
  StrPiece(unsigned value) : StrPiece(std::int64_t{value}) {} // NOLINT
  StrPiece(long value) : StrPiece(static_cast<long long>(value), 0) {}                // NOLINT
  StrPiece(long long value) : StrPiece(value, 0) {}                                   // NOLINT
  StrPiece(unsigned long value) : StrPiece(static_cast<long long>(value), 0) {}       // NOLINT
  StrPiece(unsigned long long value) : StrPiece(static_cast<long long>(value), 0) {}  // NOLINT

  std::string_view view() const { return digits_.empty() ? text_ : std::string_view(digits_); }

 private:
  StrPiece(long long value, int) : digits_(Int64ToString(value)) {}

  std::string_view text_;
  std::string digits_;
};

std::string CatPieces(std::initializer_list<StrPiece> pieces);
void AppendPieces(std::string* out, std::initializer_list<StrPiece> pieces);

template <typename... Pieces>
std::string StrCat(const Pieces&... pieces) {
  return CatPieces({StrPiece(pieces)...});
}

template <typename... Pieces>
void StrAppend(std::string* out, const Pieces&... pieces) {
  AppendPieces(out, {StrPiece(pieces)...});
}

}  // namespace base

#endif  // BASE_STRINGS_STR_CAT_H_
