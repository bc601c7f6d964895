// Tables of a name and an optional number a line; '#' opens a comment.
#ifndef LITERT_TOOLS_TABLE_H_
#define LITERT_TOOLS_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace litert::tools {

struct Row {
  std::string name;
  std::int64_t number;  // the row's own, or its index
};

// False with a message in `error` for a malformed or repeated row.
bool ParseTable(std::string_view text, std::vector<Row>* rows, std::string* error);

}  // namespace litert::tools

#endif  // LITERT_TOOLS_TABLE_H_
