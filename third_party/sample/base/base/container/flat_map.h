// A map from strings to values with open addressing; entries keep the order of insertion.
#ifndef BASE_CONTAINER_FLAT_MAP_H_
#define BASE_CONTAINER_FLAT_MAP_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/container/internal/table_growth.h"
#include "base/hash/fnv.h"

namespace base {

template <typename Value>
class FlatMap {
 public:
  using Entry = std::pair<std::string, Value>;

  // False where the key is taken already.
  bool Insert(std::string_view key, Value value) {
    if (Find(key) != nullptr) return false;
    entries_.emplace_back(std::string(key), std::move(value));
    if (const std::size_t slots = container_internal::SlotsFor(entries_.size()); slots != slots_.size()) {
      slots_.assign(slots, 0);
      for (std::size_t i = 0; i < entries_.size(); ++i) Place(i);
    } else {
      Place(entries_.size() - 1);
    }
    return true;
  }

  const Value* Find(std::string_view key) const {
    if (slots_.empty()) return nullptr;
    for (std::size_t at = Fnv1a(key);; ++at) {
      const std::uint32_t slot = slots_[at & (slots_.size() - 1)];
      if (slot == 0) return nullptr;
      if (entries_[slot - 1].first == key) return &entries_[slot - 1].second;
    }
  }

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  void Place(std::size_t index) {
    std::size_t at = Fnv1a(entries_[index].first);
    while (slots_[at & (slots_.size() - 1)] != 0) ++at;
    slots_[at & (slots_.size() - 1)] = static_cast<std::uint32_t>(index + 1);
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // 0 is free, else index + 1
};

}  // namespace base

#endif  // BASE_CONTAINER_FLAT_MAP_H_
