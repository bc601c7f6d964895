#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include "runtime/util/file_util.h"

namespace litert::lm {

base::Status ReadDescriptor(int descriptor, std::string* content) {
  content->clear();
  char chunk[4096];
  int size;
  while ((size = ::_read(descriptor, chunk, sizeof chunk)) > 0) content->append(chunk, static_cast<std::size_t>(size));
  const bool closed = ::_close(descriptor) == 0;
  if (size < 0 || !closed) return base::DataLossError("cannot read the model");
  return base::OkStatus();
}

base::Status ReadFile(const std::string& path, std::string* content) {
  const int length = ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path.c_str(), -1, nullptr, 0);
  if (length <= 0) return base::InvalidArgumentError("the path is not UTF-8");
  std::wstring wide(static_cast<std::size_t>(length), L'\0');
  ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path.c_str(), -1, wide.data(), length);
  const int descriptor = ::_wopen(wide.c_str(), _O_RDONLY | _O_BINARY);
  if (descriptor < 0) return base::NotFoundError("cannot open " + path);
  return ReadDescriptor(descriptor, content);
}

}  // namespace litert::lm
