#include "base/strings/numbers.h"

namespace base {

bool ParseInt64(std::string_view text, std::int64_t* value) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty()) return false;
  std::int64_t sum = 0;  // kept negative, since the negative range is the larger one
  for (char c : text) {
    if (c < '0' || c > '9') return false;
    const std::int64_t digit = c - '0';
    if (sum < (INT64_MIN + digit) / 10) return false;
    sum = sum * 10 - digit;
  }
  if (!negative && sum == INT64_MIN) return false;
  *value = negative ? sum : -sum;
  return true;
}

std::string Int64ToString(std::int64_t value) {
  std::string reversed;
  std::uint64_t rest = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  do {
    reversed.push_back(static_cast<char>('0' + rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (value < 0) reversed.push_back('-');
  return std::string(reversed.rbegin(), reversed.rend());
}

}  // namespace base
