#include "base/memory/aligned_buffer.h"

#include <cstring>
#include <new>

namespace base {
namespace {
constexpr std::align_val_t kAlignment{64};
}  // namespace

AlignedBuffer::AlignedBuffer(std::size_t size) : data_(::operator new(size, kAlignment)), size_(size) { std::memset(data_, 0, size); }

AlignedBuffer::~AlignedBuffer() { ::operator delete(data_, kAlignment); }

}  // namespace base
