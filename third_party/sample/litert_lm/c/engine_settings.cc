#include "c/handles.h"

using litert::lm::c_api::NotNull;
using litert::lm::c_api::SetError;

namespace {

LiteRtLmEngineSettings* NewSettings(const char* model_path, int descriptor, const char* backend) {
  auto* settings = new LiteRtLmEngineSettings;
  settings->settings.model_path = model_path;
  settings->settings.model_descriptor = descriptor;
  settings->settings.backend = backend;
  return settings;
}

}  // namespace

LiteRtLmEngineSettings* litert_lm_engine_settings_create(const char* model_path, const char* backend, const char*, const char*) {
  return NotNull(model_path, backend) ? NewSettings(model_path, -1, backend) : nullptr;
}

LiteRtLmEngineSettings* litert_lm_engine_settings_create_from_raw_file_descriptor(int descriptor, const char* backend, const char*, const char*) {
  if (!NotNull(backend)) return nullptr;
  if (descriptor < 0) {
    SetError("the file descriptor is negative");
    return nullptr;
  }
  return NewSettings("", descriptor, backend);
}

void litert_lm_engine_settings_delete(LiteRtLmEngineSettings* settings) { delete settings; }

void litert_lm_engine_settings_set_max_num_tokens(LiteRtLmEngineSettings* settings, int max_num_tokens) {
  if (NotNull(settings)) settings->settings.max_num_tokens = max_num_tokens;
}

void litert_lm_engine_settings_set_num_threads(LiteRtLmEngineSettings* settings, int num_threads) {
  if (NotNull(settings)) settings->settings.num_threads = num_threads;
}

void litert_lm_engine_settings_set_audio_num_threads(LiteRtLmEngineSettings* settings, int num_threads) {
  if (NotNull(settings)) settings->settings.audio_num_threads = num_threads;
}

void litert_lm_engine_settings_set_lora_rank(LiteRtLmEngineSettings* settings, int rank) {
  if (NotNull(settings)) settings->settings.lora_rank = rank;
}

int litert_lm_engine_settings_set_supported_lora_ranks(LiteRtLmEngineSettings* settings, const int* ranks, size_t count) {
  if (!NotNull(settings, ranks)) return 1;
  settings->settings.supported_lora_ranks.assign(ranks, ranks + count);
  return 0;
}

void litert_lm_engine_settings_set_audio_lora_rank(LiteRtLmEngineSettings* settings, int rank) {
  if (NotNull(settings)) settings->settings.audio_lora_rank = rank;
}

int litert_lm_engine_settings_set_supported_audio_lora_ranks(LiteRtLmEngineSettings* settings, const int* ranks, size_t count) {
  if (!NotNull(settings, ranks)) return 1;
  settings->settings.supported_audio_lora_ranks.assign(ranks, ranks + count);
  return 0;
}
