#ifndef RUNTIME_ENGINE_ENGINE_SETTINGS_H_
#define RUNTIME_ENGINE_ENGINE_SETTINGS_H_

#include <string>
#include <vector>

#include "base/status/status.h"

namespace litert::lm {

struct EngineSettings {
  std::string model_path;     // UTF-8; unused where there is a descriptor
  int model_descriptor = -1;  // owned by the engine that is made of the settings
  std::string backend = "gpu";
  int max_num_tokens = 512;
  int num_threads = 1;
  int audio_num_threads = 1;
  int lora_rank = 0;
  int audio_lora_rank = 0;
  std::vector<int> supported_lora_ranks;
  std::vector<int> supported_audio_lora_ranks;
};

base::Status Validate(const EngineSettings& settings);

}  // namespace litert::lm

#endif  // RUNTIME_ENGINE_ENGINE_SETTINGS_H_
