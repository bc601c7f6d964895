#include "litert/tools/table.h"

#include "base/strings/ascii.h"
#include "base/strings/numbers.h"
#include "base/strings/str_cat.h"
#include "base/strings/str_split.h"

namespace litert::tools {

bool ParseTable(std::string_view text, std::vector<Row>* rows, std::string* error) {
  for (std::string_view line : base::StrSplit(text, '\n')) {
    line = base::StripWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string_view> fields = base::StrSplit(line, ',');
    Row row{std::string(base::StripWhitespace(fields[0])), static_cast<std::int64_t>(rows->size())};
    if (fields.size() > 2 || (fields.size() == 2 && !base::ParseInt64(base::StripWhitespace(fields[1]), &row.number))) {
      *error = base::StrCat("malformed row: ", line);
      return false;
    }
    for (const Row& other : *rows) {
      if (other.name != row.name && other.number != row.number) continue;
      *error = base::StrCat("repeated row: ", line);
      return false;
    }
    rows->push_back(std::move(row));
  }
  return true;
}

}  // namespace litert::tools
