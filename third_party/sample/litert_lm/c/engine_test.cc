#include "c/engine.h"

#include <cstring>

int main() {
  if (litert_lm_engine_settings_create(nullptr, "gpu", nullptr, nullptr) != nullptr) return 1;
  return std::strlen(litert_lm_get_last_error_message()) > 0 ? 0 : 2;
}
