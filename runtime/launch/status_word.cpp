#include "runtime/launch/status_word.h"

#include <atomic>

#include "runtime/cuda/driver_api.h"

namespace rondo::runtime {

void StatusWord::Free::operator()(std::int32_t* word) const noexcept {
  if (const DriverApi* api = loaded_driver_api()) api->mem_free_host(word);
}

Result<StatusWord> StatusWord::make() {
  void* memory = nullptr;
  const Status made =
      call(&DriverApi::mem_host_alloc, &memory, sizeof(std::int32_t), CU_MEMHOSTALLOC_PORTABLE);
  if (!made) return made.error();
  StatusWord result;
  result.word_.reset(static_cast<std::int32_t*>(memory));
  *result.word_ = 0;
  // With unified addressing, which every 64-bit system has, host and device name it alike (CUDA driver API,
  // "Unified Addressing").
  result.address_ = reinterpret_cast<DeviceAddress>(memory);
  return result;
}

std::int32_t StatusWord::read() const { return std::atomic_ref(*word_).load(); }

std::int32_t StatusWord::take() const { return std::atomic_ref(*word_).exchange(0); }

}  // namespace rondo::runtime
