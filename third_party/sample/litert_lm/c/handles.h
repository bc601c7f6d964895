// What stands behind the handles of engine.h, and the helpers that all of its functions share.
#ifndef C_HANDLES_H_
#define C_HANDLES_H_

#include <memory>
#include <string>
#include <vector>

#include "base/status/status.h"
#include "base/sync/worker.h"
#include "c/engine.h"
#include "runtime/conversation/conversation.h"
#include "runtime/core/session.h"
#include "runtime/engine/engine.h"

struct LiteRtLmEngineSettings {
  litert::lm::EngineSettings settings;
};
struct LiteRtLmEngine {
  std::unique_ptr<litert::lm::Engine> engine;
};
struct LiteRtLmSamplerParams {
  litert::lm::SamplerParams params;
};
struct LiteRtLmSessionConfig {
  litert::lm::SessionConfig config;
};
struct LiteRtLmInputData {
  std::string text;
};
struct LiteRtLmResponses {
  std::vector<std::string> texts;
};
// In these two the worker stands last: its destructor waits for jobs that use the rest.
struct LiteRtLmSession {
  std::unique_ptr<litert::lm::Session> session;
  base::Worker worker;
};
struct LiteRtLmConversation {
  std::unique_ptr<litert::lm::Conversation> conversation;
  int max_output_tokens;
  base::Worker worker;
};
struct LiteRtLmConversationConfig {
  litert::lm::ConversationConfig config;
};
struct LiteRtLmConversationOptionalArgs {
  int max_output_tokens = 0;
};
struct LiteRtLmJsonResponse {
  std::string json;
};

namespace litert::lm::c_api {

void ClearError();
void SetError(const std::string& message);

// Keeps the message of a failure; true where there is none.
bool Check(const base::Status& status);

// True where no pointer is NULL, else the error is set.
template <typename... Pointers>
bool NotNull(const Pointers*... pointers) {
  ClearError();
  if (((pointers != nullptr) && ...)) return true;
  SetError("an argument is NULL");
  return false;
}

// Passes words on to a stream callback, in chunks of its ABI that do not outlive the call.
class CallbackSink : public WordSink {
 public:
  // `as_message` wraps each text in an assistant's message.
  CallbackSink(LiteRtLmStreamCallback callback, void* data, bool as_message) : callback_(callback), data_(data), as_message_(as_message) {}

  void OnWord(std::string_view word) override;
  // The final call.
  void Finish(const base::Status& status);

 private:
  void Send(const std::string* text, bool is_final, const std::string* error);

  LiteRtLmStreamCallback callback_;
  void* data_;
  bool as_message_;
  bool first_ = true;
};

// Collects words with a blank between them.
class TextSink : public WordSink {
 public:
  void OnWord(std::string_view word) override;
  std::string text;
};

}  // namespace litert::lm::c_api

#endif  // C_HANDLES_H_
