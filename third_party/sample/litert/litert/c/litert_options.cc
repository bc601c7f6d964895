#include "litert/c/litert_options.h"

#include "litert/core/options.h"

LiteRtStatus LiteRtCreateOptions(LiteRtOptions* options) {
  if (options == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *options = new LiteRtOptionsT;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtSetOptionsHardwareAccelerators(LiteRtOptions options, LiteRtHwAccelerators accelerators) {
  if (options == nullptr) return kLiteRtStatusErrorInvalidArgument;
  options->accelerators = accelerators;
  return kLiteRtStatusOk;
}

void LiteRtDestroyOptions(LiteRtOptions options) { delete options; }
