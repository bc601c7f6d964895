#ifndef RUNTIME_COMPONENTS_PROMPT_TEMPLATE_H_
#define RUNTIME_COMPONENTS_PROMPT_TEMPLATE_H_

#include <string>
#include <string_view>

namespace litert::lm {

// A turn of the dialogue as the model reads it.
std::string RenderTurn(std::string_view role, std::string_view text);

}  // namespace litert::lm

#endif  // RUNTIME_COMPONENTS_PROMPT_TEMPLATE_H_
