// Handles of the C interface: numbers behind pointer types. They are looked up in a table and never followed,
// so that one which was freed, is of another kind or was never made is an error instead of a crash.
#pragma once

#include <rondo/launch.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "compiler/support/result.h"

namespace rondo::capi {

enum class HandleKind : std::uint8_t { None, Context, Plan, Package, Cell, Diagnostics, Database, Training };
const char* handle_name(HandleKind kind);  // "plan", for messages

// The table behind all handles of the library. Looking up takes no lock.
class HandleTable {
 public:
  HandleTable();
  ~HandleTable();
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  // A handle for the object, which is not null. Throws std::bad_alloc where there is no room for one more.
  std::uint64_t insert(HandleKind kind, void* object);
  // Null where it is no handle of that kind.
  void* find(std::uint64_t handle, HandleKind kind) const noexcept;
  // The same, and the handle is none from then on.
  void* remove(std::uint64_t handle, HandleKind kind) noexcept;
  // Of what kind a handle is; None where it is none.
  HandleKind kind_of(std::uint64_t handle) const noexcept;

 private:
  struct Slot {
    std::atomic<std::uint64_t> handle{0};  // 0: free
    std::atomic<void*> object{nullptr};
    std::atomic<HandleKind> kind{HandleKind::None};
    std::uint64_t generation = 0;  // written under the mutex
  };
  static constexpr std::size_t kChunk = 1024, kChunks = 1024;
  Slot* slot_of(std::uint64_t handle) const noexcept;  // null where it cannot be a handle

  std::array<std::atomic<Slot*>, kChunks> chunks_{};
  std::mutex mutex_;
  std::vector<std::uint32_t> free_;
  std::uint32_t used_ = 0;
  std::uint64_t first_generation_;  // differs between libraries, so that one knows none of another's handles
};

// Of this library. Never destroyed: threads may still call when the process ends.
HandleTable& handles();

// What is behind a kind of handle: specialised for each object with `using Handle = rondo_plan` and
// `kind`.
template <class Object>
struct HandleOf;

// Why it is none: null, freed, or of another kind.
Error bad_handle(const void* handle, HandleKind wanted);

// Null where it is none.
template <class Object>
Object* find_object(const typename HandleOf<Object>::Handle* handle) noexcept {
  return static_cast<Object*>(
      handles().find(reinterpret_cast<std::uintptr_t>(handle), HandleOf<Object>::kind));
}

template <class Object>
Result<Object*> object_of(const typename HandleOf<Object>::Handle* handle) {
  Object* object = find_object<Object>(handle);
  if (object == nullptr) return bad_handle(handle, HandleOf<Object>::kind);
  return object;
}

// The caller's until it is destroyed.
template <class Object>
typename HandleOf<Object>::Handle* new_handle(std::unique_ptr<Object> object) {
  const std::uint64_t handle = handles().insert(HandleOf<Object>::kind, object.get());
  (void)object.release();
  return reinterpret_cast<typename HandleOf<Object>::Handle*>(handle);
}

// Null is no error, and nothing is destroyed then.
template <class Object>
Result<std::unique_ptr<Object>> taken_object(typename HandleOf<Object>::Handle* handle) {
  if (handle == nullptr) return std::unique_ptr<Object>();
  void* object = handles().remove(reinterpret_cast<std::uintptr_t>(handle), HandleOf<Object>::kind);
  if (object == nullptr) return bad_handle(handle, HandleOf<Object>::kind);
  return std::unique_ptr<Object>(static_cast<Object*>(object));
}

}  // namespace rondo::capi
