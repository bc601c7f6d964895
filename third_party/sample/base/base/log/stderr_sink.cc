#include <cstdio>

#include "base/log/log.h"

namespace {

void WriteToStderr(base::Severity, std::string_view line) { std::fwrite(line.data(), 1, line.size(), stderr); }

[[maybe_unused]] const bool registered = base::AddLogSink(&WriteToStderr);

}  // namespace
