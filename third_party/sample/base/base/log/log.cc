#include "base/log/log.h"

#include <atomic>

#include "base/strings/str_cat.h"

namespace base {
namespace {

constexpr int kMaxSinks = 4;

// Constant-initialized: sinks register from static initializers of other objects.
constinit std::atomic<LogSink> sinks[kMaxSinks] = {};
constinit std::atomic<int> min_level{static_cast<int>(Severity::kWarning)};

}  // namespace

bool AddLogSink(LogSink sink) {
  for (std::atomic<LogSink>& slot : sinks) {
    LogSink expected = nullptr;
    if (slot.compare_exchange_strong(expected, sink)) return true;
  }
  return false;
}

void SetMinLogLevel(int level) { min_level = level; }

void Log(Severity severity, std::string_view message) {
  if (static_cast<int>(severity) < min_level) return;
  const char letter = SeverityLetter(severity);
  const std::string line = StrCat(std::string_view(&letter, 1), " ", message, "\n");
  for (const std::atomic<LogSink>& slot : sinks) {
    if (const LogSink sink = slot.load()) sink(severity, line);
  }
}

}  // namespace base
