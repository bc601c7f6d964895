// Greedy, top-k and top-p sampling in integers. Registers itself: no other object refers to this one.
#include <vector>

#include "base/random/splitmix.h"
#include "runtime/components/sampler_static_registry.h"

namespace litert::lm {
namespace {

struct TopKSampler {
  SamplerParams params;
  base::SplitMix random;
};

std::size_t BestOf(const std::int64_t* logits, std::size_t count, const std::vector<std::size_t>& taken) {
  std::size_t best = count;
  for (std::size_t i = 0; i < count; ++i) {
    bool free = true;
    for (std::size_t other : taken) free = free && other != i;
    if (free && (best == count || logits[i] > logits[best])) best = i;
  }
  return best;
}

// Chances by rank in thousandths: the first always weighs 1000, the others less the lower the temperature.
std::int64_t WeightOfRank(std::size_t rank, std::int64_t temperature) {
  if (rank == 0) return 1000;
  return (temperature < 1000 ? temperature : 1000) / static_cast<std::int64_t>(rank + 1);
}

void* Create(const SamplerParams& params) { return new TopKSampler{params, base::SplitMix(static_cast<std::uint32_t>(params.seed))}; }

void Destroy(void* sampler) { delete static_cast<TopKSampler*>(sampler); }

bool CanHandleInput(std::size_t logit_count) { return logit_count > 0 && logit_count <= 4096; }

std::int32_t SampleToId(void* opaque, const std::int64_t* logits, std::size_t count) {
  TopKSampler& sampler = *static_cast<TopKSampler*>(opaque);
  std::vector<std::size_t> candidates;
  const std::int64_t temperature = static_cast<std::int64_t>(sampler.params.temperature * 1000.0f);
  const std::size_t limit = sampler.params.type == SamplerParams::Type::kGreedy || sampler.params.top_k < 1 ? 1 : static_cast<std::size_t>(sampler.params.top_k);
  std::int64_t total = 0;
  while (candidates.size() < limit && candidates.size() < count) {
    total += WeightOfRank(candidates.size(), temperature);
    candidates.push_back(BestOf(logits, count, candidates));
  }
  if (sampler.params.type == SamplerParams::Type::kTopP) {
    total = total * static_cast<std::int64_t>(sampler.params.top_p * 1000.0f) / 1000;
    if (total < 1) total = 1;
  }
  std::int64_t draw = static_cast<std::int64_t>(sampler.random.Next() % static_cast<std::uint64_t>(total));
  std::size_t rank = 0;
  while (rank + 1 < candidates.size() && draw >= WeightOfRank(rank, temperature)) draw -= WeightOfRank(rank++, temperature);
  return static_cast<std::int32_t>(candidates[rank]);
}

constexpr SamplerApi kSampler = {"top_k_webgpu", &Create, &Destroy, &CanHandleInput, &SampleToId};
[[maybe_unused]] const bool registered = RegisterStaticSampler(&kSampler);

}  // namespace
}  // namespace litert::lm
