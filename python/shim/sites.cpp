#include "sites.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <unordered_map>

namespace rondo::torch_shim {
namespace {

// As Python's own memory of calls, so that lengths that differ in each batch do not fill the memory.
constexpr std::size_t kMostSites = 8192;

class Hash {
 public:
  void add(std::int64_t number) {
    state_ = (state_ ^ static_cast<std::uint64_t>(number)) * 0x9E3779B97F4A7C15u;
    state_ ^= state_ >> 29;
  }
  void add(std::int32_t type, std::int32_t rank, const std::int64_t* sizes, const std::int64_t* strides) {
    add(std::int64_t{type} << 8 | rank);
    for (std::int32_t axis = 0; axis < rank; ++axis) add(sizes[axis]), add(strides[axis]);
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

bool is_of(const Site& site, std::int64_t family, std::span<const Seen> tensors) {
  if (site.head.family != family || site.given.size() != tensors.size()) return false;
  for (std::size_t number = 0; number < tensors.size(); ++number) {
    const rondo_torch_layout& wanted = site.given[number].layout;
    const Seen& seen = tensors[number];
    if (seen.type != wanted.type || seen.rank != wanted.rank || seen.on_cuda != site.head.on_cuda)
      return false;
    if (seen.on_cuda != 0 && seen.ordinal != site.head.ordinal) return false;
    if (!std::equal(seen.sizes, seen.sizes + seen.rank, wanted.sizes)) return false;
    if (!std::equal(seen.strides, seen.strides + seen.rank, wanted.strides)) return false;
  }
  return true;
}

// Sites by the hash of what they take; those of equal hash stand side by side. Readers share the lock.
class Table {
 public:
  std::shared_ptr<const Site> find(std::int64_t family, std::span<const Seen> tensors) const {
    Hash hash;
    hash.add(family);
    for (const Seen& seen : tensors) hash.add(seen.type, seen.rank, seen.sizes, seen.strides);
    const std::shared_lock lock(*mutex_);
    const auto [first, last] = sites_.equal_range(hash.value());
    for (auto at = first; at != last; ++at)
      if (is_of(*at->second, family, tensors)) return at->second;
    return nullptr;
  }

  void add(std::shared_ptr<const Site> site) {
    Hash hash;
    hash.add(site->head.family);
    for (const rondo_torch_given& one : site->given)
      hash.add(one.layout.type, one.layout.rank, one.layout.sizes, one.layout.strides);
    const std::unique_lock lock(*mutex_);
    if (sites_.size() >= kMostSites) sites_.clear();
    sites_.emplace(hash.value(), std::move(site));
  }

  void forget() {
    const std::unique_lock lock(*mutex_);
    sites_.clear();
  }

  // The old lock may be held by a thread that the child has not. Python changes the table while it holds its
  // own lock, and so does a fork: the table is whole.
  void free_lock() { mutex_ = new std::shared_mutex; }

 private:
  std::shared_mutex* mutex_ = new std::shared_mutex;
  std::unordered_multimap<std::uint64_t, std::shared_ptr<const Site>> sites_;
};

// Never destroyed: threads may launch while the process ends.
Table& table() {
  static Table* const made = new Table;
  return *made;
}

std::atomic<std::int64_t> launches{0};

bool is_sound(const rondo_torch_site& site) {
  const auto has_place = [&](std::int32_t place, std::int32_t least) {
    return place >= least && place < static_cast<std::int32_t>(site.tensor_count);
  };
  const auto has_rank = [](const rondo_torch_layout& layout) {
    return layout.rank >= 0 && layout.rank <= RONDO_MOST_AXES;
  };
  const std::span given(site.given, site.given_count);
  const std::span made(site.made, site.made_count);
  return site.plan != nullptr && site.launch != nullptr && site.tensor_count <= kMostTensors &&
         given.size() <= kMostTensors && made.size() <= kMostTensors && !given.empty() &&
         std::ranges::all_of(given,
                             [&](const rondo_torch_given& one) {
                               return has_place(one.place, -1) && has_rank(one.layout) && one.alignment > 0;
                             }) &&
         std::ranges::all_of(made, [&](const rondo_torch_made& one) {
           return has_place(one.place, 0) && has_rank(one.layout);
         });
}

}  // namespace

std::shared_ptr<const Site> find_site(std::int64_t family, std::span<const Seen> tensors) {
  return table().find(family, tensors);
}

void count_launch() { launches.fetch_add(1, std::memory_order_relaxed); }

}  // namespace rondo::torch_shim

using rondo::torch_shim::Site;

int32_t rondo_torch_add(const rondo_torch_site* site) {
  if (site == nullptr || site->struct_size != sizeof *site || !rondo::torch_shim::is_sound(*site)) return 0;
  const auto made = std::make_shared<Site>();
  made->head = *site;
  made->tensors.assign(site->tensors, site->tensors + site->tensor_count);
  made->given.assign(site->given, site->given + site->given_count);
  made->made.assign(site->made, site->made + site->made_count);
  rondo::torch_shim::table().add(made);
  return 1;
}

void rondo_torch_forget() { rondo::torch_shim::table().forget(); }

int64_t rondo_torch_launches() { return rondo::torch_shim::launches.load(std::memory_order_relaxed); }

void rondo_torch_after_fork() { rondo::torch_shim::table().free_lock(); }
