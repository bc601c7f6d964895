#include <fcntl.h>
#include <unistd.h>

#include "runtime/util/file_util.h"

namespace litert::lm {

base::Status ReadDescriptor(int descriptor, std::string* content) {
  content->clear();
  char chunk[4096];
  ssize_t size;
  while ((size = ::read(descriptor, chunk, sizeof chunk)) > 0) content->append(chunk, static_cast<std::size_t>(size));
  const bool closed = ::close(descriptor) == 0;
  if (size < 0 || !closed) return base::DataLossError("cannot read the model");
  return base::OkStatus();
}

base::Status ReadFile(const std::string& path, std::string* content) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return base::NotFoundError("cannot open " + path);
  return ReadDescriptor(descriptor, content);
}

}  // namespace litert::lm
