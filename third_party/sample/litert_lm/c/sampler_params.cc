#include "c/handles.h"

using litert::lm::c_api::ClearError;
using litert::lm::c_api::NotNull;
using litert::lm::c_api::SetError;

LiteRtLmSamplerParams* litert_lm_sampler_params_create(LiteRtLmSamplerType type) {
  ClearError();
  if (type < kLiteRtLmSamplerTypeTopK || type > kLiteRtLmSamplerTypeGreedy) {
    SetError("unknown sampler type");
    return nullptr;
  }
  auto* params = new LiteRtLmSamplerParams;
  params->params.type = static_cast<litert::lm::SamplerParams::Type>(type);
  return params;
}

void litert_lm_sampler_params_delete(LiteRtLmSamplerParams* params) { delete params; }

void litert_lm_sampler_params_set_top_k(LiteRtLmSamplerParams* params, int32_t top_k) {
  if (NotNull(params)) params->params.top_k = top_k;
}

void litert_lm_sampler_params_set_top_p(LiteRtLmSamplerParams* params, float top_p) {
  if (NotNull(params)) params->params.top_p = top_p;
}

void litert_lm_sampler_params_set_temperature(LiteRtLmSamplerParams* params, float temperature) {
  if (NotNull(params)) params->params.temperature = temperature;
}

void litert_lm_sampler_params_set_seed(LiteRtLmSamplerParams* params, int32_t seed) {
  if (NotNull(params)) params->params.seed = seed;
}
