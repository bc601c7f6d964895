#ifndef TFLITE_KERNELS_BUILTIN_KERNELS_H_
#define TFLITE_KERNELS_BUILTIN_KERNELS_H_

#include "tflite/kernels/kernel.h"

namespace tflite {

base::Status EmbeddingLookup(const OpWeights& weights, const Activations& input, const MutableActivations& output);
base::Status MeanPool(const OpWeights& weights, const Activations& input, const MutableActivations& output);
base::Status Normalize(const OpWeights& weights, const Activations& input, const MutableActivations& output);
base::Status Relu(const OpWeights& weights, const Activations& input, const MutableActivations& output);

}  // namespace tflite

#endif  // TFLITE_KERNELS_BUILTIN_KERNELS_H_
