#ifndef BASE_LOG_SEVERITY_H_
#define BASE_LOG_SEVERITY_H_

namespace base {

enum class Severity : int { kDebug = 1, kInfo = 2, kWarning = 3, kError = 4 };

char SeverityLetter(Severity severity);

}  // namespace base

#endif  // BASE_LOG_SEVERITY_H_
