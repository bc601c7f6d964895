#include "c/handles.h"

#include <cstring>

#include "base/log/log.h"

namespace litert::lm::c_api {
namespace {
thread_local char last_error[512] = "";
}  // namespace

void ClearError() { last_error[0] = '\0'; }

void SetError(const std::string& message) {
  std::strncpy(last_error, message.c_str(), sizeof last_error - 1);
  last_error[sizeof last_error - 1] = '\0';
}

bool Check(const base::Status& status) {
  if (!status.ok()) SetError(status.ToString());
  return status.ok();
}

}  // namespace litert::lm::c_api

const char* litert_lm_get_last_error_message() { return litert::lm::c_api::last_error; }

void litert_lm_set_min_log_level(int level) { base::SetMinLogLevel(level); }
