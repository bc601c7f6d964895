#ifndef TFLITE_C_COMMON_H_
#define TFLITE_C_COMMON_H_

#include <stdbool.h>
#include <stdint.h>

#define TFLITE_SAMPLE_GRAPH_VERSION "1"
#define TFLITE_ACTIVATION_MAX 32767

#ifdef __cplusplus
extern "C" {
#endif

/* A dimension that kernels accept: 4 to 1024, a multiple of 4. */
bool TfLiteDimensionIsValid(int64_t dimension);

/* `value` limited to -TFLITE_ACTIVATION_MAX .. TFLITE_ACTIVATION_MAX. */
int32_t TfLiteSaturate(int64_t value);

#ifdef __cplusplus
}
#endif

#endif /* TFLITE_C_COMMON_H_ */
