#include "runtime/engine/engine_settings.h"

namespace litert::lm {
namespace {

bool Supports(const std::vector<int>& ranks, int rank) {
  if (rank == 0 || ranks.empty()) return true;
  for (int supported : ranks) {
    if (supported == rank) return true;
  }
  return false;
}

}  // namespace

base::Status Validate(const EngineSettings& settings) {
  if (settings.model_path.empty() && settings.model_descriptor < 0) return base::InvalidArgumentError("no model is given");
  if (settings.max_num_tokens < 1) return base::InvalidArgumentError("max_num_tokens must be positive");
  for (int threads : {settings.num_threads, settings.audio_num_threads}) {
    if (threads < 1 || threads > 256) return base::InvalidArgumentError("the number of threads must be from 1 to 256");
  }
  if (!Supports(settings.supported_lora_ranks, settings.lora_rank) || !Supports(settings.supported_audio_lora_ranks, settings.audio_lora_rank)) {
    return base::InvalidArgumentError("the LoRA rank is not among the supported ones");
  }
  return base::OkStatus();
}

}  // namespace litert::lm
