// The client's configuration as upstream's.
#ifndef ASR_CONFIG_H_
#define ASR_CONFIG_H_

#include "asr/asr.h"
#include "asr/push_audio_source.h"
#include "asr/upstream.h"

namespace litert_lm_native {

struct EngineSetup {
  upstream::AsrEngineConfig config;
  Windows windows;
};

// Fills `setup`. Returns nullptr, or what is wrong with `config`.
const char* TranslateConfig(const LitertLmAsrConfig& config, EngineSetup* setup);

}  // namespace litert_lm_native

#endif  // ASR_CONFIG_H_
