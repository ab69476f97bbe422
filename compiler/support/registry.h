// Lists that a program can add to: strategies, backends and targets, those that are built in and those that a
// program brings itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace rondo {

// T is compared by ==. Not synchronised: add before threads read.
template <class T>
class Registry {
 public:
  explicit Registry(std::vector<T> built_in) : all_(std::move(built_in)), built_in_(all_.size()) {}
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  const std::vector<T>& all() const { return all_; }  // in order: the built-in ones first
  // Not one that the program has added, whose sources Rondo does not know.
  bool is_built_in(const T& item) const {
    const auto end = all_.begin() + static_cast<std::ptrdiff_t>(built_in_);
    return std::find(all_.begin(), end, item) != end;
  }

 private:
  template <class U>
  friend class Registration;
  std::vector<T> all_;
  std::size_t built_in_;
};

// Keeps an item in a registry for as long as it lives. The registry outlives it.
template <class T>
class [[nodiscard]] Registration {
 public:
  Registration(Registry<T>& registry, T item) : registry_(registry), item_(std::move(item)) {
    registry_.all_.push_back(item_);
  }
  ~Registration() {
    auto& all = registry_.all_;
    const auto found = std::find(all.rbegin(), all.rend(), item_);
    if (found != all.rend()) all.erase(std::next(found).base());
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

 private:
  Registry<T>& registry_;
  T item_;
};

}  // namespace rondo
