#include "runtime/executor/external_weight_store.h"

#include <utility>

#include "base/hash/crc32.h"
#include "base/random/splitmix.h"
#include "base/strings/str_cat.h"

namespace litert::lm {

base::Status ExternalWeightStore::Load(const ModelFile& model) {
  for (const ExternalWeight& weight : model.weights) {
    const std::size_t size = static_cast<std::size_t>(weight.rows * model.dimension);
    Entry entry{weight.name, std::make_unique<std::int8_t[]>(size), {}};
    base::SplitMix(static_cast<std::uint64_t>(weight.seed)).FillInt8(entry.values.get(), size);
    const std::uint32_t crc = base_crc32(entry.values.get(), size);
    if (crc != weight.crc) return base::DataLossError(base::StrCat(weight.name, " has CRC ", crc, ", the model says ", weight.crc));
    entry.view = {entry.values.get(), weight.rows, model.dimension};
    entries_.push_back(std::move(entry));
  }
  return base::OkStatus();
}

ExternalWeights ExternalWeightStore::Views() const {
  ExternalWeights views;
  for (const Entry& entry : entries_) views[entry.name] = entry.view;
  return views;
}

const WeightView* ExternalWeightStore::Find(const std::string& name) const {
  for (const Entry& entry : entries_) {
    if (entry.name == name) return &entry.view;
  }
  return nullptr;
}

}  // namespace litert::lm
