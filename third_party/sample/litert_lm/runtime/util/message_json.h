#ifndef RUNTIME_UTIL_MESSAGE_JSON_H_
#define RUNTIME_UTIL_MESSAGE_JSON_H_

#include <string>
#include <string_view>

#include "base/status/status.h"

namespace litert::lm {

// The text of a message: the string under "text", else the one under "content".
base::Status MessageText(std::string_view json, std::string* text);

// The message with which the assistant answers.
std::string AssistantMessage(std::string_view text);

}  // namespace litert::lm

#endif  // RUNTIME_UTIL_MESSAGE_JSON_H_
