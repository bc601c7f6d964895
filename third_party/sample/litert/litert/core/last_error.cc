#include "litert/core/last_error.h"

#include <cstring>

namespace litert::internal {
namespace {

// No destructor: a thread may end after the library's own statics have.
thread_local char last_error[256] = "";

}  // namespace

void SetLastError(std::string_view message) {
  const std::size_t size = message.size() < sizeof last_error - 1 ? message.size() : sizeof last_error - 1;
  std::memcpy(last_error, message.data(), size);
  last_error[size] = '\0';
}

const char* LastError() { return last_error; }

}  // namespace litert::internal
