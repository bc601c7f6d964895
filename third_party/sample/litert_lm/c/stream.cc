#include "c/handles.h"
#include "runtime/util/message_json.h"

#if LITERT_LM_STREAM_CALLBACK_ABI != 1
struct LiteRtLmStreamChunk {
  const char* text;
  bool is_final;
  const char* error;
};

const char* litert_lm_stream_chunk_get_text(const LiteRtLmStreamChunk* chunk) { return chunk != nullptr ? chunk->text : nullptr; }

bool litert_lm_stream_chunk_is_final(const LiteRtLmStreamChunk* chunk) { return chunk != nullptr && chunk->is_final; }

const char* litert_lm_stream_chunk_get_error(const LiteRtLmStreamChunk* chunk) { return chunk != nullptr ? chunk->error : nullptr; }
#endif

namespace litert::lm::c_api {

void CallbackSink::Send(const std::string* text, bool is_final, const std::string* error) {
  const char* text_chars = text != nullptr ? text->c_str() : nullptr;
  const char* error_chars = error != nullptr ? error->c_str() : nullptr;
#if LITERT_LM_STREAM_CALLBACK_ABI == 1
  callback_(data_, text_chars, is_final, error_chars);
#else
  const LiteRtLmStreamChunk chunk = {text_chars, is_final, error_chars};
  callback_(data_, &chunk);
#endif
}

void CallbackSink::OnWord(std::string_view word) {
  std::string text = first_ ? std::string(word) : " " + std::string(word);
  first_ = false;
  if (as_message_) text = AssistantMessage(text);
  Send(&text, false, nullptr);
}

void CallbackSink::Finish(const base::Status& status) {
  const std::string error = status.ToString();
  Send(nullptr, true, status.ok() ? nullptr : &error);
}

void TextSink::OnWord(std::string_view word) {
  if (!text.empty()) text += " ";
  text += word;
}

}  // namespace litert::lm::c_api
