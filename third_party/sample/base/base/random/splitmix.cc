#include "base/random/splitmix.h"

#include "base/hash/mix.h"

namespace base {

std::uint64_t SplitMix::Next() {
  state_ += 0x9e3779b97f4a7c15u;
  return Mix64(state_);
}

void SplitMix::FillInt8(std::int8_t* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::int8_t>(static_cast<int>(Next() % 255) - 127);
}

}  // namespace base
