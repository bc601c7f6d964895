#ifndef RUNTIME_COMPONENTS_TOKENIZER_TOKENIZER_H_
#define RUNTIME_COMPONENTS_TOKENIZER_TOKENIZER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/container/flat_map.h"

namespace litert::lm {

// Words to tokens and back. A word that the vocabulary lacks gets the token of its hash, so that texts differ by it.
class Tokenizer {
 public:
  static constexpr std::int32_t kEnd = 1;
  static constexpr std::int32_t kUnknown = 2;
  static constexpr std::int32_t kFirstWord = 3;

  Tokenizer();
  std::vector<std::int32_t> Tokenize(std::string_view text) const;
  std::string_view Word(std::int32_t token) const;
  std::int32_t size() const;

 private:
  base::FlatMap<std::int32_t> tokens_;
};

}  // namespace litert::lm

#endif  // RUNTIME_COMPONENTS_TOKENIZER_TOKENIZER_H_
