#include <cstdlib>
#include <cstring>
#include <string>

#include "sample_templates.h"

#if defined(_WIN32)
#define SAMPLE_EXPORT __declspec(dllexport)
#else
#define SAMPLE_EXPORT __attribute__((visibility("default")))
#endif

// Returns a copy of `text` with every {{ name }} replaced by `value`, to be freed with free(); null where an argument is not UTF-8.
extern "C" SAMPLE_EXPORT char* litert_lm_render_template(const char* text, const char* name, const char* value) {
  if (text == nullptr || name == nullptr || value == nullptr) return nullptr;
  const auto rendered = sample::templates::render(text, name, value);
  if (!rendered) return nullptr;
  char* copy = static_cast<char*>(std::malloc(rendered->size() + 1));
  if (copy != nullptr) std::memcpy(copy, rendered->c_str(), rendered->size() + 1);
  return copy;
}
