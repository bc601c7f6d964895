// The C++ face of the crate, in the way of a cxx bridge: owned strings on both sides, nothing of Rust shows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

extern "C" bool sample_templates_render(const char* text, const char* name, const char* value, void* context,
                                        void (*sink)(void*, const char*, std::size_t));

namespace sample::templates {

// Returns `text` with every {{ name }} replaced by `value`; nothing where an argument is not UTF-8.
inline std::optional<std::string> render(const std::string& text, const std::string& name, const std::string& value) {
  std::string rendered;
  const auto sink = [](void* context, const char* data, std::size_t size) { static_cast<std::string*>(context)->assign(data, size); };
  if (!sample_templates_render(text.c_str(), name.c_str(), value.c_str(), &rendered, sink)) return std::nullopt;
  return rendered;
}

}  // namespace sample::templates
