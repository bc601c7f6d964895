// The parts of a model file that the host reads: the external weights. The graph is the core's business.
//
//   external embedder rows=64 seed=11 crc=1234567
#ifndef SCHEMA_MODEL_FILE_H_
#define SCHEMA_MODEL_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status/status.h"

namespace litert::lm {

// The recipe of one matrix of weights: the numbers of a seeded generator, checked by their CRC-32.
struct ExternalWeight {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t seed = 0;
  std::int64_t crc = 0;
};

struct ModelFile {
  std::string text;
  std::int64_t dimension = 0;
  std::vector<ExternalWeight> weights;
};

base::Status ParseModelFile(std::string text, ModelFile* model);

}  // namespace litert::lm

#endif  // SCHEMA_MODEL_FILE_H_
