#include "runtime/components/constrained_decoding/repetition_constraint.h"

namespace litert::lm {

void Constrain(const std::vector<std::int32_t>& history, std::int32_t first_word, std::vector<std::int64_t>* logits) {
  constexpr std::int64_t kForbidden = INT64_MIN / 2;
  constexpr std::size_t kWindow = 6;
  for (std::int32_t special = 0; special < first_word; ++special) (*logits)[static_cast<std::size_t>(special)] = kForbidden;
  const std::size_t begin = history.size() > kWindow ? history.size() - kWindow : 0;
  for (std::size_t i = begin; i < history.size(); ++i) (*logits)[static_cast<std::size_t>(history[i])] = kForbidden;
}

}  // namespace litert::lm
