#include "omni/asr/asr_engine.h"
