#ifndef RUNTIME_EXECUTOR_EXTERNAL_WEIGHT_STORE_H_
#define RUNTIME_EXECUTOR_EXTERNAL_WEIGHT_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status/status.h"
#include "litert/core/options.h"
#include "schema/model_file.h"

namespace litert::lm {

// Owns the weights that live outside of the graph.
class ExternalWeightStore {
 public:
  // Makes every matrix that the model names. DATA_LOSS where one does not have the CRC-32 that the model states.
  base::Status Load(const ModelFile& model);

  // Views of all matrices by name, as the core takes them.
  ExternalWeights Views() const;
  const WeightView* Find(const std::string& name) const;

 private:
  struct Entry {
    std::string name;
    std::unique_ptr<std::int8_t[]> values;
    WeightView view;
  };
  std::vector<Entry> entries_;
};

}  // namespace litert::lm

#endif  // RUNTIME_EXECUTOR_EXTERNAL_WEIGHT_STORE_H_
