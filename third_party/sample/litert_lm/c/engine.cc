#include "c/engine.h"

#include <utility>

#include "c/handles.h"
#include "runtime/components/sampler_static_registry.h"

using litert::lm::c_api::Check;
using litert::lm::c_api::NotNull;
using litert::lm::c_api::SetError;

const char* litert_lm_get_core_link_mode() { return litert::lm::CoreLinkMode(); }

const char* litert_lm_get_sampler_name() {
  const litert::lm::SamplerApi* sampler = litert::lm::StaticSampler();
  return sampler != nullptr ? sampler->name : nullptr;
}

LiteRtLmEngine* litert_lm_engine_create(const LiteRtLmEngineSettings* settings) {
  if (!NotNull(settings)) return nullptr;
  base::StatusOr<std::unique_ptr<litert::lm::Engine>> engine = litert::lm::Engine::Create(settings->settings);
  return Check(engine.status()) ? new LiteRtLmEngine{std::move(*engine)} : nullptr;
}

void litert_lm_engine_delete(LiteRtLmEngine* engine) { delete engine; }

const char* litert_lm_engine_get_accelerator_name(const LiteRtLmEngine* engine) {
  return NotNull(engine) ? engine->engine->executor().accelerator() : nullptr;
}

int litert_lm_engine_compute_embedding(LiteRtLmEngine* engine, const char* text, float* embedding, size_t capacity, size_t* size) {
  if (!NotNull(engine, text, embedding, size)) return 1;
  std::vector<float> values;
  if (!Check(engine->engine->Embed(text, &values))) return 1;
  if (values.size() > capacity) {
    SetError("the embedding does not fit");
    return 1;
  }
  for (size_t i = 0; i < values.size(); ++i) embedding[i] = values[i];
  *size = values.size();
  return 0;
}
