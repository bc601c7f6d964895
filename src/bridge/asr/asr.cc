#include "asr/asr.h"

#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "asr/config.h"
#include "asr/push_audio_source.h"
#include "asr/upstream.h"

using litert_lm_native::EngineSetup;
using litert_lm_native::PushAudioSource;
using litert_lm_native::Windows;
namespace upstream = litert_lm_native::upstream;

struct LitertLmAsrEngine {
  std::shared_ptr<upstream::AsrEngine> engine;
  Windows windows;
};

struct LitertLmAsrSession {
  std::shared_ptr<upstream::AsrEngine> engine;  // stands first: what follows uses its model
  PushAudioSource* source = nullptr;            // the session's
  std::unique_ptr<upstream::Session> session;
  std::mutex processing;
  std::atomic<bool> cancelled{false};
  bool ended = false;  // the final result was given
};

namespace {

char* Copy(std::string_view text) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  text.copy(copy, text.size());
  copy[text.size()] = '\0';
  return copy;
}

LitertLmAsrStatus Fail(LitertLmAsrStatus status, std::string_view message, char** out_error_message) noexcept {
  try {
    if (out_error_message != nullptr) *out_error_message = Copy(message);
  } catch (const std::bad_alloc&) {  // the status alone has to do
  }
  return status;
}

LitertLmAsrStatus Invalid(std::string_view message, char** out_error_message) {
  return Fail(LITERT_LM_ASR_STATUS_INVALID_ARGUMENT, message, out_error_message);
}

LitertLmAsrStatus Fail(const upstream::Status& status, char** out_error_message) {
  const auto code = [&] {
    switch (upstream::Code(status)) {
      case upstream::kCancelled: return LITERT_LM_ASR_STATUS_CANCELLED;
      case upstream::kInvalidArgument: return LITERT_LM_ASR_STATUS_INVALID_ARGUMENT;
      case upstream::kNotFound: return LITERT_LM_ASR_STATUS_NOT_FOUND;
      case upstream::kAlreadyExists: return LITERT_LM_ASR_STATUS_ALREADY_EXISTS;
      case upstream::kResourceExhausted: return LITERT_LM_ASR_STATUS_RESOURCE_EXHAUSTED;
      case upstream::kFailedPrecondition: return LITERT_LM_ASR_STATUS_FAILED_PRECONDITION;
      case upstream::kOutOfRange: return LITERT_LM_ASR_STATUS_OUT_OF_RANGE;
      case upstream::kUnavailable: return LITERT_LM_ASR_STATUS_UNAVAILABLE;
      default: return LITERT_LM_ASR_STATUS_INTERNAL;
    }
  }();
  return Fail(code, std::string_view(status.message().data(), status.message().size()), out_error_message);
}

// Calls `body`, of which no exception leaves: the caller may be C.
template <typename Body>
LitertLmAsrStatus Guard(char** out_error_message, Body body) noexcept {
  if (out_error_message != nullptr) *out_error_message = nullptr;
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Fail(LITERT_LM_ASR_STATUS_RESOURCE_EXHAUSTED, "out of memory", out_error_message);
  } catch (const std::exception& error) {
    return Fail(LITERT_LM_ASR_STATUS_INTERNAL, error.what(), out_error_message);
  } catch (...) {
    return Fail(LITERT_LM_ASR_STATUS_INTERNAL, "an unknown exception", out_error_message);
  }
}

LitertLmAsrStatus Cancelled(char** out_error_message) {
  return Fail(LITERT_LM_ASR_STATUS_CANCELLED, "the session was cancelled", out_error_message);
}

void Fill(LitertLmAsrResult* result, const upstream::Texts& texts, bool is_final) {
  char* confirmed = Copy(texts.confirmed_text);
  try {
    result->unconfirmed_text = Copy(texts.unconfirmed_text);
  } catch (...) {
    std::free(confirmed);
    throw;
  }
  result->confirmed_text = confirmed;
  result->is_final = is_final ? 1 : 0;
}

// The next step of a session whose `processing` is locked.
LitertLmAsrStatus ProcessNext(LitertLmAsrSession* session, LitertLmAsrResult* out_result, char** out_error_message) {
  if (session->cancelled) return Cancelled(out_error_message);
  if (session->ended) return LITERT_LM_ASR_STATUS_END_OF_STREAM;
  const PushAudioSource::Next next = session->source->next();
  if (next == PushAudioSource::Next::kNeedsMore) return LITERT_LM_ASR_STATUS_NEEDS_MORE_AUDIO;
  const bool is_final = next == PushAudioSource::Next::kEnd;
  auto output = is_final ? session->session->Flush() : upstream::ProcessWindow(*session->session);
  if (session->cancelled) return Cancelled(out_error_message);
  // NOT_FOUND are upstream's words for a step that gave no output.
  if (!output.ok() && upstream::Code(output.status()) != upstream::kNotFound) return Fail(output.status(), out_error_message);
  const upstream::Texts* texts = output.ok() ? upstream::TextsOf(*output) : nullptr;
  Fill(out_result, texts != nullptr ? *texts : upstream::Texts(), is_final);
  session->ended = is_final;
  return LITERT_LM_ASR_STATUS_OK;
}

}  // namespace

void litert_lm_asr_result_init(LitertLmAsrResult* result) {
  if (result == nullptr) return;
  *result = LitertLmAsrResult();
  result->struct_size = sizeof(LitertLmAsrResult);
}

void litert_lm_asr_result_release(LitertLmAsrResult* result) {
  if (result == nullptr) return;
  std::free(result->confirmed_text);
  std::free(result->unconfirmed_text);
  litert_lm_asr_result_init(result);
}

void litert_lm_asr_free_string(char* value) { std::free(value); }

LitertLmAsrStatus litert_lm_asr_engine_create(const LitertLmAsrConfig* config, LitertLmAsrEngine** out_engine, char** out_error_message) {
  return Guard(out_error_message, [&] {
    if (out_engine == nullptr) return Invalid("out_engine is NULL", out_error_message);
    *out_engine = nullptr;
    if (config == nullptr) return Invalid("config is NULL", out_error_message);
    if (config->struct_size < sizeof(LitertLmAsrConfig)) {
      return Invalid("struct_size of the config is too small: call litert_lm_asr_config_init first", out_error_message);
    }
    if (config->abi_version < LITERT_LM_ASR_ABI_VERSION) return Invalid("abi_version of the config is not 1 or later", out_error_message);
    EngineSetup setup;
    if (const char* fault = litert_lm_native::TranslateConfig(*config, &setup)) return Invalid(fault, out_error_message);
    auto engine = upstream::AsrEngine::Create(std::move(setup.config));
    if (!engine.ok()) return Fail(engine.status(), out_error_message);
    *out_engine = new LitertLmAsrEngine{std::move(*engine), setup.windows};
    return LITERT_LM_ASR_STATUS_OK;
  });
}

void litert_lm_asr_engine_delete(LitertLmAsrEngine* engine) { delete engine; }

LitertLmAsrStatus litert_lm_asr_session_create(LitertLmAsrEngine* engine, LitertLmAsrSession** out_session, char** out_error_message) {
  return Guard(out_error_message, [&] {
    if (out_session == nullptr) return Invalid("out_session is NULL", out_error_message);
    *out_session = nullptr;
    if (engine == nullptr) return Invalid("engine is NULL", out_error_message);
    auto made = std::make_unique<LitertLmAsrSession>();
    auto source = std::make_unique<PushAudioSource>(engine->windows);
    made->engine = engine->engine;
    made->source = source.get();
    auto session = engine->engine->CreateSession(std::move(source));
    if (!session.ok()) return Fail(session.status(), out_error_message);
    made->session = std::move(*session);
    *out_session = made.release();
    return LITERT_LM_ASR_STATUS_OK;
  });
}

void litert_lm_asr_session_delete(LitertLmAsrSession* session) { delete session; }

LitertLmAsrStatus litert_lm_asr_session_push_audio_f32(LitertLmAsrSession* session, const float* samples, size_t sample_count,
                                                       size_t* out_accepted_samples, char** out_error_message) {
  return Guard(out_error_message, [&] {
    if (out_accepted_samples == nullptr) return Invalid("out_accepted_samples is NULL", out_error_message);
    *out_accepted_samples = 0;
    if (session == nullptr) return Invalid("session is NULL", out_error_message);
    if (samples == nullptr && sample_count > 0) return Invalid("samples is NULL", out_error_message);
    if (session->cancelled) return Cancelled(out_error_message);
    if (session->source->finished()) {
      return Fail(LITERT_LM_ASR_STATUS_FAILED_PRECONDITION, "the audio was finished: reset the session first", out_error_message);
    }
    *out_accepted_samples = session->source->Push(samples, sample_count);
    return *out_accepted_samples == sample_count ? LITERT_LM_ASR_STATUS_OK : LITERT_LM_ASR_STATUS_WOULD_BLOCK;
  });
}

LitertLmAsrStatus litert_lm_asr_session_finish_audio(LitertLmAsrSession* session, char** out_error_message) {
  return Guard(out_error_message, [&] {
    if (session == nullptr) return Invalid("session is NULL", out_error_message);
    session->source->Finish();
    return LITERT_LM_ASR_STATUS_OK;
  });
}

LitertLmAsrStatus litert_lm_asr_session_process_next(LitertLmAsrSession* session, LitertLmAsrResult* out_result, char** out_error_message) {
  return Guard(out_error_message, [&] {
    if (session == nullptr) return Invalid("session is NULL", out_error_message);
    if (out_result == nullptr) return Invalid("out_result is NULL", out_error_message);
    if (out_result->struct_size < sizeof(LitertLmAsrResult)) {
      return Invalid("struct_size of the result is too small: call litert_lm_asr_result_init first", out_error_message);
    }
    std::lock_guard<std::mutex> lock(session->processing);
    return ProcessNext(session, out_result, out_error_message);
  });
}

LitertLmAsrStatus litert_lm_asr_session_reset(LitertLmAsrSession* session, char** out_error_message) {
  return Guard(out_error_message, [&] {
    if (session == nullptr) return Invalid("session is NULL", out_error_message);
    std::lock_guard<std::mutex> lock(session->processing);
    session->session->Reset();
    session->ended = false;
    session->cancelled = false;
    return LITERT_LM_ASR_STATUS_OK;
  });
}

LitertLmAsrStatus litert_lm_asr_session_cancel(LitertLmAsrSession* session) {
  if (session == nullptr) return LITERT_LM_ASR_STATUS_INVALID_ARGUMENT;
  session->cancelled = true;
  return LITERT_LM_ASR_STATUS_OK;
}
