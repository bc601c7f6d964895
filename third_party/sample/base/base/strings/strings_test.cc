#include "base/strings/ascii.h"
#include "base/strings/escaping.h"
#include "base/strings/str_split.h"

int main() {
  if (base::StripWhitespace("  a b ") != "a b") return 1;
  if (base::StrSplit("a,,b", ',').size() != 2) return 2;
  if (base::HexEncode("\x01\xff", 2) != "01ff") return 3;
  return base::JsonEscape("a\"\n") == "a\\\"\\n" ? 0 : 4;
}
