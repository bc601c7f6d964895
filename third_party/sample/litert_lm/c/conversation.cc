#include <utility>

#include "c/handles.h"
#include "runtime/util/message_json.h"

using litert::lm::c_api::CallbackSink;
using litert::lm::c_api::Check;
using litert::lm::c_api::NotNull;
using litert::lm::c_api::SetError;
using litert::lm::c_api::TextSink;

namespace {

int OutputTokens(const LiteRtLmConversation* conversation, const LiteRtLmConversationOptionalArgs* args) {
  return args != nullptr && args->max_output_tokens > 0 ? args->max_output_tokens : conversation->max_output_tokens;
}

class SendJob : public base::Job {
 public:
  SendJob(litert::lm::Conversation* conversation, const char* message, int max_output_tokens, CallbackSink sink)
      : conversation_(conversation), message_(message), max_output_tokens_(max_output_tokens), sink_(sink) {}

  void Run() override { sink_.Finish(conversation_->Send(message_, max_output_tokens_, &sink_)); }

 private:
  litert::lm::Conversation* conversation_;
  std::string message_;
  int max_output_tokens_;
  CallbackSink sink_;
};

}  // namespace

LiteRtLmConversationConfig* litert_lm_conversation_config_create() { return new LiteRtLmConversationConfig; }

void litert_lm_conversation_config_delete(LiteRtLmConversationConfig* config) { delete config; }

void litert_lm_conversation_config_set_session_config(LiteRtLmConversationConfig* config, const LiteRtLmSessionConfig* session_config) {
  if (NotNull(config, session_config)) config->config.session = session_config->config;
}

void litert_lm_conversation_config_set_system_message(LiteRtLmConversationConfig* config, const char* message_json) {
  if (NotNull(config, message_json)) config->config.system_message = message_json;
}

void litert_lm_conversation_config_set_stream_tool_calls(LiteRtLmConversationConfig* config, bool stream_tool_calls, const char* channel_name) {
  if (!NotNull(config)) return;
  config->config.stream_tool_calls = stream_tool_calls;
  config->config.tool_call_channel = channel_name != nullptr ? channel_name : "";
}

LiteRtLmConversationOptionalArgs* litert_lm_conversation_optional_args_create() { return new LiteRtLmConversationOptionalArgs; }

void litert_lm_conversation_optional_args_delete(LiteRtLmConversationOptionalArgs* args) { delete args; }

void litert_lm_conversation_optional_args_set_max_output_tokens(LiteRtLmConversationOptionalArgs* args, int max_output_tokens) {
  if (NotNull(args)) args->max_output_tokens = max_output_tokens;
}

LiteRtLmConversation* litert_lm_conversation_create(LiteRtLmEngine* engine, LiteRtLmConversationConfig* config) {
  if (!NotNull(engine)) return nullptr;
  const litert::lm::ConversationConfig chosen = config != nullptr ? config->config : litert::lm::ConversationConfig();
  base::StatusOr<std::unique_ptr<litert::lm::Conversation>> conversation = litert::lm::Conversation::Create(engine->engine.get(), chosen);
  if (!Check(conversation.status())) return nullptr;
  return new LiteRtLmConversation{std::move(*conversation), chosen.session.max_output_tokens, {}};
}

void litert_lm_conversation_delete(LiteRtLmConversation* conversation) { delete conversation; }

void litert_lm_conversation_cancel_process(LiteRtLmConversation* conversation) {
  if (NotNull(conversation)) conversation->conversation->Cancel();
}

const char* litert_lm_conversation_render_preface_to_string(LiteRtLmConversation* conversation) {
  return NotNull(conversation) ? conversation->conversation->preface().c_str() : nullptr;
}

LiteRtLmJsonResponse* litert_lm_conversation_send_message(LiteRtLmConversation* conversation, const char* message_json, const char*,
                                                          const LiteRtLmConversationOptionalArgs* args) {
  if (!NotNull(conversation, message_json)) return nullptr;
  conversation->worker.WaitUntilIdle();
  TextSink sink;
  if (!Check(conversation->conversation->Send(message_json, OutputTokens(conversation, args), &sink))) return nullptr;
  return new LiteRtLmJsonResponse{litert::lm::AssistantMessage(sink.text)};
}

void litert_lm_json_response_delete(LiteRtLmJsonResponse* response) { delete response; }

const char* litert_lm_json_response_get_string(const LiteRtLmJsonResponse* response) { return response != nullptr ? response->json.c_str() : nullptr; }

int litert_lm_conversation_send_message_stream(LiteRtLmConversation* conversation, const char* message_json, const char*,
                                               const LiteRtLmConversationOptionalArgs* args, LiteRtLmStreamCallback callback, void* callback_data) {
  if (!NotNull(conversation, message_json)) return 1;
  if (callback == nullptr) {
    SetError("the callback is NULL");
    return 1;
  }
  conversation->worker.Add(std::make_unique<SendJob>(conversation->conversation.get(), message_json, OutputTokens(conversation, args),
                                                     CallbackSink(callback, callback_data, true)));
  return 0;
}
