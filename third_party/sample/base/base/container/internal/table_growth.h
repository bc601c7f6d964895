#ifndef BASE_CONTAINER_INTERNAL_TABLE_GROWTH_H_
#define BASE_CONTAINER_INTERNAL_TABLE_GROWTH_H_

#include <cstddef>

namespace base::container_internal {

// The slots (a power of two) in which `size` entries fill at most three quarters.
std::size_t SlotsFor(std::size_t size);

}  // namespace base::container_internal

#endif  // BASE_CONTAINER_INTERNAL_TABLE_GROWTH_H_
