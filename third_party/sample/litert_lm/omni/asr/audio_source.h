#ifndef OMNI_ASR_AUDIO_SOURCE_H_
#define OMNI_ASR_AUDIO_SOURCE_H_

#include <vector>

#include "omni/base/stage.h"

namespace litert::omni::asr {

// Gives windows of samples from -1 to 1. Schedule() returns OUT_OF_RANGE at the end of the audio.
class AudioSource : public SingleThreadedStageWithDeque<std::vector<float>> {
 public:
  virtual void Reset() = 0;
  virtual int GetSampleRateHz() const = 0;
  virtual int GetNumChannels() const = 0;
};

}  // namespace litert::omni::asr

#endif  // OMNI_ASR_AUDIO_SOURCE_H_
