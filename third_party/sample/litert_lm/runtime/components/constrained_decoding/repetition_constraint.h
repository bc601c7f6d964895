#ifndef RUNTIME_COMPONENTS_CONSTRAINED_DECODING_REPETITION_CONSTRAINT_H_
#define RUNTIME_COMPONENTS_CONSTRAINED_DECODING_REPETITION_CONSTRAINT_H_

#include <cstdint>
#include <vector>

namespace litert::lm {

// Takes from the logits the words that must not come next. A build without constraints leaves them as they are.
void Constrain(const std::vector<std::int32_t>& history, std::int32_t first_word, std::vector<std::int64_t>* logits);

}  // namespace litert::lm

#endif  // RUNTIME_COMPONENTS_CONSTRAINED_DECODING_REPETITION_CONSTRAINT_H_
