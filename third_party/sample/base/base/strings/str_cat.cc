#include "base/strings/str_cat.h"

namespace base {

void AppendPieces(std::string* out, std::initializer_list<StrPiece> pieces) {
  std::size_t size = out->size();
  for (const StrPiece& piece : pieces) size += piece.view().size();
  out->reserve(size);
  for (const StrPiece& piece : pieces) out->append(piece.view());
}

std::string CatPieces(std::initializer_list<StrPiece> pieces) {
  std::string out;
  AppendPieces(&out, pieces);
  return out;
}

}  // namespace base
