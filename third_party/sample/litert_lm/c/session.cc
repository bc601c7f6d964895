#include <utility>

#include "c/handles.h"

using litert::lm::c_api::CallbackSink;
using litert::lm::c_api::Check;
using litert::lm::c_api::NotNull;
using litert::lm::c_api::SetError;
using litert::lm::c_api::TextSink;

namespace {

std::string Joined(const LiteRtLmInputData* const* inputs, size_t num_inputs) {
  std::string text;
  for (size_t i = 0; i < num_inputs; ++i) text += inputs[i]->text + "\n";
  return text;
}

class StreamJob : public base::Job {
 public:
  StreamJob(litert::lm::Session* session, std::string text, CallbackSink sink) : session_(session), text_(std::move(text)), sink_(sink) {}

  void Run() override {
    base::Status status = session_->Prefill(text_);
    if (status.ok()) status = session_->Decode(session_->config().max_output_tokens, &sink_);
    sink_.Finish(status);
  }

 private:
  litert::lm::Session* session_;
  std::string text_;
  CallbackSink sink_;
};

int RefuseLora(const LiteRtLmSessionConfig* config, const char* path) {
  if (!NotNull(config, path)) return 1;
  if (*path == '\0') return 0;
  SetError("this host has no LoRA support");
  return 1;
}

}  // namespace

LiteRtLmInputData* litert_lm_input_data_create(LiteRtLmInputDataType type, const void* data, size_t size) {
  if (!NotNull(data)) return nullptr;
  if (type != kLiteRtLmInputDataTypeText) {
    SetError("only text is supported");
    return nullptr;
  }
  return new LiteRtLmInputData{std::string(static_cast<const char*>(data), size)};
}

void litert_lm_input_data_delete(LiteRtLmInputData* input) { delete input; }

LiteRtLmSessionConfig* litert_lm_session_config_create() { return new LiteRtLmSessionConfig; }

void litert_lm_session_config_delete(LiteRtLmSessionConfig* config) { delete config; }

void litert_lm_session_config_set_max_output_tokens(LiteRtLmSessionConfig* config, int max_output_tokens) {
  if (NotNull(config)) config->config.max_output_tokens = max_output_tokens;
}

void litert_lm_session_config_set_sampler_params(LiteRtLmSessionConfig* config, const LiteRtLmSamplerParams* params) {
  if (NotNull(config, params)) config->config.sampler = params->params;
}

int litert_lm_session_config_set_lora_path(LiteRtLmSessionConfig* config, const char* path) { return RefuseLora(config, path); }

int litert_lm_session_config_set_audio_lora_path(LiteRtLmSessionConfig* config, const char* path) { return RefuseLora(config, path); }

LiteRtLmSession* litert_lm_engine_create_session(LiteRtLmEngine* engine, LiteRtLmSessionConfig* config) {
  if (!NotNull(engine)) return nullptr;
  const litert::lm::SessionConfig chosen = config != nullptr ? config->config : litert::lm::SessionConfig();
  base::StatusOr<std::unique_ptr<litert::lm::Session>> session = litert::lm::Session::Create(engine->engine.get(), chosen);
  return Check(session.status()) ? new LiteRtLmSession{std::move(*session), {}} : nullptr;
}

void litert_lm_session_delete(LiteRtLmSession* session) { delete session; }

void litert_lm_session_cancel_process(LiteRtLmSession* session) {
  if (NotNull(session)) session->session->Cancel();
}

LiteRtLmResponses* litert_lm_session_generate_content(LiteRtLmSession* session, const LiteRtLmInputData* const* inputs, size_t num_inputs) {
  if (!NotNull(session, inputs)) return nullptr;
  session->worker.WaitUntilIdle();
  TextSink sink;
  if (!Check(session->session->Prefill(Joined(inputs, num_inputs)))) return nullptr;
  if (!Check(session->session->Decode(session->session->config().max_output_tokens, &sink))) return nullptr;
  return new LiteRtLmResponses{{std::move(sink.text)}};
}

int litert_lm_session_generate_content_stream(LiteRtLmSession* session, const LiteRtLmInputData* const* inputs, size_t num_inputs,
                                              LiteRtLmStreamCallback callback, void* callback_data) {
  if (!NotNull(session, inputs)) return 1;
  if (callback == nullptr) {
    SetError("the callback is NULL");
    return 1;
  }
  session->worker.Add(std::make_unique<StreamJob>(session->session.get(), Joined(inputs, num_inputs), CallbackSink(callback, callback_data, false)));
  return 0;
}

void litert_lm_responses_delete(LiteRtLmResponses* responses) { delete responses; }

int litert_lm_responses_get_num_candidates(const LiteRtLmResponses* responses) {
  return NotNull(responses) ? static_cast<int>(responses->texts.size()) : 0;
}

const char* litert_lm_responses_get_response_text_at(const LiteRtLmResponses* responses, int index) {
  if (!NotNull(responses) || index < 0 || static_cast<size_t>(index) >= responses->texts.size()) return nullptr;
  return responses->texts[static_cast<size_t>(index)].c_str();
}
