#include "runtime/conversation/conversation.h"

#include <utility>

#include "runtime/components/prompt_template.h"
#include "runtime/util/message_json.h"

namespace litert::lm {

base::StatusOr<std::unique_ptr<Conversation>> Conversation::Create(const Engine* engine, const ConversationConfig& config) {
  base::StatusOr<std::unique_ptr<Session>> session = Session::Create(engine, config.session);
  if (!session.ok()) return session.status();
  auto conversation = std::make_unique<Conversation>();
  conversation->session_ = std::move(*session);
  if (!config.system_message.empty()) {
    std::string text;
    BASE_RETURN_IF_ERROR(MessageText(config.system_message, &text));
    conversation->preface_ = RenderTurn("system", text);
    BASE_RETURN_IF_ERROR(conversation->session_->Prefill(conversation->preface_));
  }
  return conversation;
}

base::Status Conversation::Send(std::string_view message_json, int max_output_tokens, WordSink* sink) {
  std::string text;
  BASE_RETURN_IF_ERROR(MessageText(message_json, &text));
  BASE_RETURN_IF_ERROR(session_->Prefill(RenderTurn("user", text)));
  return session_->Decode(max_output_tokens, sink);
}

}  // namespace litert::lm
