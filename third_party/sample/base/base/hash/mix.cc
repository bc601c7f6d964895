#include "base/hash/mix.h"

namespace base {

std::uint64_t Mix64(std::uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdu;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53u;
  return value ^ (value >> 33);
}

std::uint64_t Combine(std::uint64_t first, std::uint64_t second) { return Mix64(first * 31 + Mix64(second)); }

}  // namespace base
