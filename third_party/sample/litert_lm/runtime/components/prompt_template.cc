#include "runtime/components/prompt_template.h"

#include "base/strings/ascii.h"
#include "base/strings/str_cat.h"

namespace litert::lm {

std::string RenderTurn(std::string_view role, std::string_view text) { return base::StrCat(role, ": ", base::StripWhitespace(text), "\n"); }

}  // namespace litert::lm
