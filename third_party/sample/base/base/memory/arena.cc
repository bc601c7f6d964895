#include "base/memory/arena.h"

namespace base {

Arena::~Arena() {
  for (std::int32_t* block : blocks_) delete[] block;
}

std::int32_t* Arena::NewInt32(std::size_t count) {
  blocks_.reserve(blocks_.size() + 1);  // so that push_back cannot throw away the new block
  blocks_.push_back(new std::int32_t[count]());
  return blocks_.back();
}

}  // namespace base
