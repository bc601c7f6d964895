#include "base/container/internal/table_growth.h"

namespace base::container_internal {

std::size_t SlotsFor(std::size_t size) {
  std::size_t slots = 8;
  while (size * 4 > slots * 3) slots *= 2;
  return slots;
}

}  // namespace base::container_internal
