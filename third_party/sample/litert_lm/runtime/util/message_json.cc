#include "runtime/util/message_json.h"

#include "base/strings/ascii.h"
#include "base/strings/escaping.h"
#include "base/strings/str_cat.h"

namespace litert::lm {
namespace {

bool StringUnder(std::string_view json, std::string_view quoted_key, std::string* value) {
  for (std::size_t at = json.find(quoted_key); at != std::string_view::npos; at = json.find(quoted_key, at + 1)) {
    std::string_view rest = base::StripWhitespace(json.substr(at + quoted_key.size()));
    if (rest.empty() || rest.front() != ':') continue;  // a value that reads like the key
    rest.remove_prefix(1);
    if (base::JsonUnescape(base::StripWhitespace(rest), value)) return true;
  }
  return false;
}

}  // namespace

base::Status MessageText(std::string_view json, std::string* text) {
  if (StringUnder(json, "\"text\"", text) || StringUnder(json, "\"content\"", text)) return base::OkStatus();
  return base::InvalidArgumentError("the message has neither text nor content");
}

std::string AssistantMessage(std::string_view text) {
  return base::StrCat("{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"", base::JsonEscape(text), "\"}]}");
}

}  // namespace litert::lm
