#ifndef LITERT_RUNTIME_COMPILED_MODEL_H_
#define LITERT_RUNTIME_COMPILED_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/status/statusor.h"
#include "litert/core/options.h"

namespace litert {

class CompiledModel {
 public:
  // Fails with NOT_FOUND where a weight is missing from the options, FAILED_PRECONDITION where the options ask for a GPU
  // and no accelerator is registered.
  static base::StatusOr<CompiledModel> Create(std::string_view text, const LiteRtOptionsT& options);

  CompiledModel(CompiledModel&&);
  CompiledModel& operator=(CompiledModel&&);
  ~CompiledModel();

  std::size_t output_count() const;
  std::size_t accelerated_ops() const;
  base::Status Run(const std::int32_t* tokens, std::size_t token_count, std::int32_t* output, std::size_t output_count) const;

 private:
  struct Plan;
  explicit CompiledModel(std::unique_ptr<Plan> plan);

  std::unique_ptr<Plan> plan_;
};

}  // namespace litert

#endif  // LITERT_RUNTIME_COMPILED_MODEL_H_
