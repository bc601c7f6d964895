#include "litert/c/litert_common.h"

#include "litert/core/last_error.h"

const char* LiteRtGetStatusString(LiteRtStatus status) {
  switch (status) {
    case kLiteRtStatusOk: return "kLiteRtStatusOk";
    case kLiteRtStatusErrorInvalidArgument: return "kLiteRtStatusErrorInvalidArgument";
    case kLiteRtStatusErrorNotFound: return "kLiteRtStatusErrorNotFound";
    case kLiteRtStatusErrorRuntimeFailure: return "kLiteRtStatusErrorRuntimeFailure";
  }
  return "kLiteRtStatusErrorUnknown";
}

const char* LiteRtGetLastErrorMessage() { return litert::internal::LastError(); }
