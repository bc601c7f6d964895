// A value, or the reason why there is none.
#ifndef BASE_STATUS_STATUSOR_H_
#define BASE_STATUS_STATUSOR_H_

#include <optional>
#include <utility>

#include "base/status/status.h"

namespace base {

template <typename T>
class [[nodiscard]] StatusOr {
 public:
  StatusOr(Status status) : status_(std::move(status)) {}  // NOLINT: implicit on purpose
  StatusOr(T value) : value_(std::move(value)) {}          // NOLINT

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace base

#endif  // BASE_STATUS_STATUSOR_H_
