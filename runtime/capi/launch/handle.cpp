#include "runtime/capi/launch/handle.h"

#include <fmt/format.h>

#include <new>

namespace rondo::capi {

namespace {

// A handle is its generation above the number of its slot, which counts from 1.
constexpr int kSlotBits = 24;
constexpr std::uint64_t kSlotMask = (std::uint64_t{1} << kSlotBits) - 1;
constexpr std::uint64_t kGenerations = std::uint64_t{1} << (64 - kSlotBits);
static_assert(sizeof(void*) == sizeof(std::uint64_t), "a handle is as wide as a pointer");

}  // namespace

const char* handle_name(HandleKind kind) {
  switch (kind) {
    case HandleKind::None: return "nothing";
    case HandleKind::Context: return "context";
    case HandleKind::Plan: return "plan";
    case HandleKind::Package: return "package";
    case HandleKind::Cell: return "cell";
    case HandleKind::Diagnostics: return "list of diagnostics";
    case HandleKind::Database: return "database";
    case HandleKind::Training: return "training object";
  }
  return "?";
}

HandleTable::HandleTable()
    : first_generation_((reinterpret_cast<std::uintptr_t>(this) >> 4) % (kGenerations - 1) + 1) {}

HandleTable::~HandleTable() {
  for (const std::atomic<Slot*>& chunk : chunks_) delete[] chunk.load();
}

HandleTable::Slot* HandleTable::slot_of(std::uint64_t handle) const noexcept {
  const std::uint64_t number = handle & kSlotMask;
  if (number == 0 || number > kChunk * kChunks) return nullptr;
  Slot* chunk = chunks_[(number - 1) / kChunk].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : chunk + (number - 1) % kChunk;
}

std::uint64_t HandleTable::insert(HandleKind kind, void* object) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    if (used_ == kChunk * kChunks) throw std::bad_alloc();
    if (used_ % kChunk == 0) {
      free_.reserve(used_ + kChunk);  // so that remove() never allocates
      chunks_[used_ / kChunk].store(new Slot[kChunk], std::memory_order_release);
    }
    free_.push_back(++used_);
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  Slot& slot = *slot_of(number);
  if (slot.generation == 0) slot.generation = first_generation_;
  const std::uint64_t handle = slot.generation << kSlotBits | number;
  slot.object.store(object, std::memory_order_relaxed);
  slot.kind.store(kind, std::memory_order_relaxed);
  slot.handle.store(handle, std::memory_order_release);
  return handle;
}

void* HandleTable::find(std::uint64_t handle, HandleKind kind) const noexcept {
  const Slot* slot = slot_of(handle);
  if (slot == nullptr || slot->handle.load(std::memory_order_acquire) != handle ||
      slot->kind.load(std::memory_order_relaxed) != kind)
    return nullptr;
  return slot->object.load(std::memory_order_relaxed);
}

HandleKind HandleTable::kind_of(std::uint64_t handle) const noexcept {
  const Slot* slot = slot_of(handle);
  if (slot == nullptr || slot->handle.load(std::memory_order_acquire) != handle) return HandleKind::None;
  return slot->kind.load(std::memory_order_relaxed);
}

void* HandleTable::remove(std::uint64_t handle, HandleKind kind) noexcept {
  const std::lock_guard lock(mutex_);
  void* object = find(handle, kind);
  if (object == nullptr) return nullptr;
  Slot& slot = *slot_of(handle);
  slot.handle.store(0, std::memory_order_release);
  slot.generation = slot.generation + 1 == kGenerations ? 1 : slot.generation + 1;
  free_.push_back(static_cast<std::uint32_t>(handle & kSlotMask));
  return object;
}

HandleTable& handles() {
  static auto* table = new HandleTable;
  return *table;
}

Error bad_handle(const void* handle, HandleKind wanted) {
  if (handle == nullptr)
    return {ErrorKind::Input, fmt::format("the {} is NULL", handle_name(wanted)),
            "pass what a call that makes one gave"};
  const HandleKind kind = handles().kind_of(reinterpret_cast<std::uintptr_t>(handle));
  if (kind != HandleKind::None)
    return {ErrorKind::Input,
            fmt::format("this handle is a {}, not a {}", handle_name(kind), handle_name(wanted))};
  return {ErrorKind::Input,
          fmt::format("this handle of a {} was destroyed, or comes from elsewhere", handle_name(wanted)),
          "a handle is good from the call that gave it to the one that destroys it"};
}

}  // namespace rondo::capi
