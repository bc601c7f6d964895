#include "runtime/components/constrained_decoding/repetition_constraint.h"

namespace litert::lm {

void Constrain(const std::vector<std::int32_t>&, std::int32_t, std::vector<std::int64_t>*) {}

}  // namespace litert::lm
