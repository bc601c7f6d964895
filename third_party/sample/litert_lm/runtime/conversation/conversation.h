#ifndef RUNTIME_CONVERSATION_CONVERSATION_H_
#define RUNTIME_CONVERSATION_CONVERSATION_H_

#include <memory>
#include <string>
#include <string_view>

#include "base/status/statusor.h"
#include "runtime/core/session.h"

namespace litert::lm {

struct ConversationConfig {
  SessionConfig session;
  std::string system_message;  // JSON, or empty
  bool stream_tool_calls = false;
  std::string tool_call_channel;
};

// A dialogue in messages of JSON over one session.
class Conversation {
 public:
  static base::StatusOr<std::unique_ptr<Conversation>> Create(const Engine* engine, const ConversationConfig& config);

  // Sends a message; the answer's words go to `sink`.
  base::Status Send(std::string_view message_json, int max_output_tokens, WordSink* sink);
  void Cancel() { session_->Cancel(); }

  const std::string& preface() const { return preface_; }
  const Session& session() const { return *session_; }

 private:
  std::unique_ptr<Session> session_;
  std::string preface_;
};

}  // namespace litert::lm

#endif  // RUNTIME_CONVERSATION_CONVERSATION_H_
