#include "sites.h"

#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>

// What the package holds an answer by.
struct rondo_jax_answer {
  rondo::jax_ffi::Answer answer;
};

namespace rondo::jax_ffi {
namespace {

// Sites by device and text. Nothing is locked while one is made: making takes Python's lock, whose holder may
// be waiting for this one. Of two threads that make the same site the first one's is kept.
class Table {
 public:
  std::shared_ptr<const Site> find(std::string_view text, Device device) const {
    const std::shared_lock lock(mutex_);
    const auto found = sites_.find(key(text, device));
    return found == sites_.end() ? nullptr : found->second;
  }
  std::shared_ptr<const Site> add(std::string_view text, Device device, std::shared_ptr<const Site> site) {
    const std::unique_lock lock(mutex_);
    const auto [number, owned, ours] = key(text, device);
    return sites_.try_emplace({number, std::string(owned), ours}, std::move(site)).first->second;
  }
  void clear() {
    const std::unique_lock lock(mutex_);
    sites_.clear();
  }

 private:
  struct Owned {
    std::int32_t number;
    std::string text;
    int kind;
  };
  struct View {
    std::int32_t number;
    std::string_view text;
    int kind;
  };
  struct Less {
    using is_transparent = void;
    template <typename One, typename Other>
    bool operator()(const One& one, const Other& other) const {
      if (one.number != other.number) return one.number < other.number;
      if (one.kind != other.kind) return one.kind < other.kind;
      return std::string_view(one.text) < std::string_view(other.text);
    }
  };
  static View key(std::string_view text, Device device) { return {device.ordinal, text, device.on_cuda}; }

  mutable std::shared_mutex mutex_;
  std::map<Owned, std::shared_ptr<const Site>, Less> sites_;
};

// Neither is destroyed: threads of XLA may still run when the process ends.
Table& table() {
  static Table& made = *new Table;
  return made;
}

rondo_jax_calls known_calls{};
std::atomic<std::int64_t> launches{0};

std::shared_ptr<const Site> copy_of(const rondo_jax_site& given) {
  auto site = std::make_shared<Site>();
  site->plan = given.plan;
  site->args = *given.args;
  site->tensors.assign(given.args->tensors, given.args->tensors + given.args->tensor_count);
  site->places.assign(given.places, given.places + given.place_count);
  site->hidden.assign(given.hidden, given.hidden + given.hidden_count);
  site->buffer_bytes = given.buffer_bytes;
  return site;
}

}  // namespace

const rondo_jax_calls& calls() { return known_calls; }

void count_launch() { launches.fetch_add(1, std::memory_order_relaxed); }

Answer find_site(std::string_view text, Device device) {
  if (std::shared_ptr<const Site> found = table().find(text, device); found != nullptr)
    return {std::move(found), RONDO_OK, {}};
  rondo_jax_answer made;
  if (calls().make != nullptr) {
    made.answer.text = "the launch could not be made ready: Python's log says why";
    calls().make(text.data(), text.size(), device.on_cuda, device.ordinal, &made);
  }
  if (made.answer.site != nullptr) made.answer.site = table().add(text, device, std::move(made.answer.site));
  return std::move(made.answer);
}

}  // namespace rondo::jax_ffi

using rondo::jax_ffi::Answer;

int32_t rondo_jax_begin(const rondo_jax_calls* calls) {
  if (calls->struct_size != sizeof *calls) return 0;
  rondo::jax_ffi::known_calls = *calls;
  return 1;
}

int32_t rondo_jax_give(rondo_jax_answer* answer, const rondo_jax_site* site) {
  if (site->struct_size != sizeof *site || site->args->struct_size != sizeof *site->args ||
      site->args->tensor_size != sizeof(rondo_tensor))
    return 0;
  answer->answer = Answer{rondo::jax_ffi::copy_of(*site), RONDO_OK, {}};
  return 1;
}

void rondo_jax_refuse(rondo_jax_answer* answer, rondo_status status, const char* text) {
  answer->answer = Answer{nullptr, status, text};
}

void rondo_jax_forget(void) { rondo::jax_ffi::table().clear(); }

int64_t rondo_jax_launches(void) { return rondo::jax_ffi::launches.load(std::memory_order_relaxed); }
