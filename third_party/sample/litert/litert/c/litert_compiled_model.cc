#include "litert/c/litert_compiled_model.h"

#include <string_view>
#include <utility>

#include "litert/core/last_error.h"
#include "litert/core/options.h"
#include "litert/runtime/compiled_model.h"
#include "litert/runtime/tensor_buffer.h"

struct LiteRtCompiledModelT {
  litert::CompiledModel model;
};

namespace {

LiteRtStatus Failed(const base::Status& status) {
  litert::internal::SetLastError(status.message());
  switch (status.code()) {
    case base::StatusCode::kInvalidArgument: return kLiteRtStatusErrorInvalidArgument;
    case base::StatusCode::kNotFound: return kLiteRtStatusErrorNotFound;
    default: return kLiteRtStatusErrorRuntimeFailure;
  }
}

}  // namespace

LiteRtStatus LiteRtCreateCompiledModel(LiteRtEnvironment environment, const char* text, size_t size, LiteRtOptions options,
                                       LiteRtCompiledModel* model) {
  if (environment == nullptr || text == nullptr || options == nullptr || model == nullptr) return kLiteRtStatusErrorInvalidArgument;
  base::StatusOr<litert::CompiledModel> compiled = litert::CompiledModel::Create(std::string_view(text, size), *options);
  if (!compiled.ok()) return Failed(compiled.status());
  *model = new LiteRtCompiledModelT{std::move(*compiled)};
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetCompiledModelOutputCount(LiteRtCompiledModel model, size_t* count) {
  if (model == nullptr || count == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *count = model->model.output_count();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetNumAcceleratedOps(LiteRtCompiledModel model, size_t* count) {
  if (model == nullptr || count == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *count = model->model.accelerated_ops();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtRunCompiledModel(LiteRtCompiledModel model, LiteRtTensorBuffer input, LiteRtTensorBuffer output) {
  if (model == nullptr || input == nullptr || output == nullptr) return kLiteRtStatusErrorInvalidArgument;
  const base::Status status = model->model.Run(input->data(), input->count(), output->data(), output->count());
  return status.ok() ? kLiteRtStatusOk : Failed(status);
}

void LiteRtDestroyCompiledModel(LiteRtCompiledModel model) { delete model; }
