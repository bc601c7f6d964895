#ifndef BASE_RANDOM_SPLITMIX_H_
#define BASE_RANDOM_SPLITMIX_H_

#include <cstddef>
#include <cstdint>

namespace base {

// A generator whose numbers depend on the seed alone, on every platform.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next();
  // Fills with values of -127 to 127.
  void FillInt8(std::int8_t* out, std::size_t count);

 private:
  std::uint64_t state_;
};

}  // namespace base

#endif  // BASE_RANDOM_SPLITMIX_H_
