// The CPUs as a device whose memory ends where nothing is mapped: what a kernel reads or writes beyond a
// tensor ends the process. Sanitizers cannot see that, because generated code is not instrumented.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include "runtime/device/cpu_device.h"

namespace rondo::testing {

enum class Guard {
  Behind,
  Before
};  // where the unmapped page touches the memory; another one is on the other side

class GuardedDevice : public runtime::Device {
 public:
  explicit GuardedDevice(Guard guard) : guard_(guard) {}

  // Behind: the last byte is the last of a page, so that the address is aligned as the size is.
  Result<runtime::Memory> allocate(std::size_t bytes) const override {
    if (bytes == 0) return runtime::Memory();
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = (bytes + page - 1) / page * page, all = inner + 2 * page;
    void* const mapped = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return Error{ErrorKind::Device, "no memory to guard", ""};
    std::shared_ptr<void> owner(mapped, [all](void* memory) { munmap(memory, all); });
    auto* const begin = static_cast<std::byte*>(mapped) + page;
    if (mprotect(begin, inner, PROT_READ | PROT_WRITE) != 0)
      return Error{ErrorKind::Device, "memory cannot be guarded", ""};
    const std::size_t offset = guard_ == Guard::Behind ? inner - bytes : 0;
    return runtime::Memory(reinterpret_cast<runtime::Address>(begin + offset), bytes, std::move(owner));
  }

  Status upload(runtime::Address to, std::span<const std::byte> from) const override {
    return cpus_->upload(to, from);
  }
  Status download(runtime::Address from, std::span<std::byte> to) const override {
    return cpus_->download(from, to);
  }
  Status fill(runtime::Address at, std::uint8_t value, std::size_t bytes) const override {
    return cpus_->fill(at, value, bytes);
  }
  Status copy(runtime::Address to, runtime::Address from, std::size_t bytes) const override {
    return cpus_->copy(to, from, bytes);
  }
  Status wait() const override { return cpus_->wait(); }
  Result<std::unique_ptr<runtime::LoadedPlan>> load(const executable::Executable& executable) const override {
    return cpus_->load(executable);
  }
  Result<double> seconds_of(const std::function<Status()>& work) const override {
    return cpus_->seconds_of(work);
  }
  std::size_t copy_bytes() const override { return cpus_->copy_bytes(); }
  int copy_sets() const override { return cpus_->copy_sets(); }
  bool usable() const override { return cpus_->usable(); }

 private:
  Guard guard_;
  std::shared_ptr<const runtime::Device> cpus_ = runtime::cpu_device();
};

}  // namespace rondo::testing
