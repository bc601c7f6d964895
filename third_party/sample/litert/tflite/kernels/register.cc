#include "tflite/kernels/builtin_kernels.h"

namespace tflite {

Kernel FindBuiltinKernel(OpCode code) {
  switch (code) {
    case OpCode::kEMBEDDING_LOOKUP: return &EmbeddingLookup;
    case OpCode::kMEAN_POOL: return &MeanPool;
    case OpCode::kNORMALIZE: return &Normalize;
    case OpCode::kRELU: return &Relu;
    case OpCode::kFULLY_CONNECTED: return nullptr;
  }
  return nullptr;
}

}  // namespace tflite
