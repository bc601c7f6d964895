#ifndef BASE_HASH_MIX_H_
#define BASE_HASH_MIX_H_

#include <cstdint>

namespace base {

// Spreads the bits of `value` over all 64.
std::uint64_t Mix64(std::uint64_t value);
std::uint64_t Combine(std::uint64_t first, std::uint64_t second);

}  // namespace base

#endif  // BASE_HASH_MIX_H_
