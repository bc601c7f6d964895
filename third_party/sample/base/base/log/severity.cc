#include "base/log/severity.h"

namespace base {

char SeverityLetter(Severity severity) {
  constexpr char kLetters[] = "?DIWE";
  const int index = static_cast<int>(severity);
  return kLetters[index >= 1 && index <= 4 ? index : 0];
}

}  // namespace base
