// Log lines go to every registered sink, from the least severity upwards that SetMinLogLevel lets pass.
#ifndef BASE_LOG_LOG_H_
#define BASE_LOG_LOG_H_

#include <string_view>

#include "base/log/severity.h"

namespace base {

using LogSink = void (*)(Severity severity, std::string_view line);

// At most 4 sinks; returns a value so that a static object can register.
bool AddLogSink(LogSink sink);
void SetMinLogLevel(int level);
void Log(Severity severity, std::string_view message);

}  // namespace base

#endif  // BASE_LOG_LOG_H_
