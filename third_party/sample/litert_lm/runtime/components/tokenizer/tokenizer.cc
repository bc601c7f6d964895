#include "runtime/components/tokenizer/tokenizer.h"

#include "base/hash/fnv.h"
#include "base/hash/mix.h"
#include "base/strings/ascii.h"
#include "runtime/components/tokenizer/vocabulary.h"

namespace litert::lm {
namespace {

constexpr std::int32_t kSize = sizeof(kVocabulary) / sizeof(kVocabulary[0]);

}  // namespace

Tokenizer::Tokenizer() {
  for (std::int32_t token = kFirstWord; token < kSize; ++token) tokens_.Insert(kVocabulary[token], token);
}

std::vector<std::int32_t> Tokenizer::Tokenize(std::string_view text) const {
  std::vector<std::int32_t> tokens;
  std::string word;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    // Bytes beyond ASCII belong to words: UTF-8 letters stay together.
    const bool letter = i < text.size() && (base::IsAlnum(text[i]) || static_cast<unsigned char>(text[i]) >= 0x80);
    if (letter) word.push_back(text[i]);
    if (letter || word.empty()) continue;
    word = base::ToLower(word);
    const std::int32_t* known = tokens_.Find(word);
    tokens.push_back(known != nullptr ? *known : kFirstWord + static_cast<std::int32_t>(base::Mix64(base::Fnv1a(word)) % (kSize - kFirstWord)));
    word.clear();
  }
  if (tokens.empty()) tokens.push_back(kUnknown);
  return tokens;
}

std::string_view Tokenizer::Word(std::int32_t token) const { return kVocabulary[token >= 0 && token < kSize ? token : kUnknown]; }

std::int32_t Tokenizer::size() const { return kSize; }

}  // namespace litert::lm
