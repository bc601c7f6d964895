// The result of an operation that returns nothing else.
#ifndef BASE_STATUS_STATUS_H_
#define BASE_STATUS_STATUS_H_

#include <string>

#include "base/status/status_code.h"

namespace base {

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message);

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }
  std::string ToString() const;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

inline Status OkStatus() { return Status(); }
Status InvalidArgumentError(std::string message);
Status NotFoundError(std::string message);
Status FailedPreconditionError(std::string message);
Status DataLossError(std::string message);
Status InternalError(std::string message);

}  // namespace base

#define BASE_RETURN_IF_ERROR(expression)                           \
  do {                                                             \
    if (::base::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)

#endif  // BASE_STATUS_STATUS_H_
