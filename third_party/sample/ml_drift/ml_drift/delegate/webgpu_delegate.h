// The part of a graph that runs on the GPU. The sample's device is the CPU itself.
#ifndef ML_DRIFT_DELEGATE_WEBGPU_DELEGATE_H_
#define ML_DRIFT_DELEGATE_WEBGPU_DELEGATE_H_

#include "tflite/kernels/kernel.h"

namespace ml_drift {

// The kernel of an operation that the delegate takes, else nullptr.
tflite::Kernel WebGpuKernel(tflite::OpCode code);

}  // namespace ml_drift

#endif  // ML_DRIFT_DELEGATE_WEBGPU_DELEGATE_H_
