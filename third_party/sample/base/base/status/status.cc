#include "base/status/status.h"

#include <utility>

#include "base/config/attributes.h"
#include "base/strings/str_cat.h"

namespace base {

Status::Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

std::string Status::ToString() const {
  if (BASE_LIKELY(ok())) return StatusCodeName(code_);
  return StrCat(StatusCodeName(code_), ": ", message_);
}

BASE_COLD Status InvalidArgumentError(std::string message) { return Status(StatusCode::kInvalidArgument, std::move(message)); }
BASE_COLD Status NotFoundError(std::string message) { return Status(StatusCode::kNotFound, std::move(message)); }
BASE_COLD Status FailedPreconditionError(std::string message) { return Status(StatusCode::kFailedPrecondition, std::move(message)); }
BASE_COLD Status DataLossError(std::string message) { return Status(StatusCode::kDataLoss, std::move(message)); }
BASE_COLD Status InternalError(std::string message) { return Status(StatusCode::kInternal, std::move(message)); }

}  // namespace base
