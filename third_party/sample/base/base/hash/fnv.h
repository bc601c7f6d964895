#ifndef BASE_HASH_FNV_H_
#define BASE_HASH_FNV_H_

#include <cstdint>
#include <string_view>

namespace base {

// FNV-1a, 64 bits: the same value on every platform.
std::uint64_t Fnv1a(std::string_view bytes);

}  // namespace base

#endif  // BASE_HASH_FNV_H_
