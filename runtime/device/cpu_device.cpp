#include "runtime/device/cpu_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "runtime/host/free_memory.h"
#include "runtime/host/host_plan.h"
#include "runtime/host/stream_copy.h"

namespace rondo::runtime {

namespace {

constexpr std::size_t kCpuAlignment = 256;
constexpr std::size_t kCopyPart = std::size_t{1} << 18;  // smaller copies are not worth another thread

std::byte* bytes_at(Address address) { return reinterpret_cast<std::byte*>(address); }

class CpuPlan final : public LoadedPlan {
 public:
  explicit CpuPlan(HostPlan plan) : plan_(std::move(plan)) {}

  std::int64_t workspace_bytes(std::int64_t batch, std::int64_t time) const override {
    return plan_.workspace_bytes(batch, time);
  }
  const std::vector<executable::Tensor>& tensors() const override { return plan_.tensors(); }
  Status launch(const Bindings& bindings, std::int64_t batch, std::int64_t time) const override {
    return plan_.launch(bindings, batch, time);
  }

 private:
  HostPlan plan_;
};

// Larger ones go past the caches: those of a C library do from a size on that is another on every machine,
// and read each line before they write it below that.
constexpr std::size_t kStreamedCopy = std::size_t{1} << 20;

// A copy in one part a thread.
struct PartedCopy {
  std::byte* to;
  const std::byte* from;
  std::size_t bytes;
  std::size_t parts;

  static void run(void* context, std::int64_t part, int) {
    const PartedCopy& all = *static_cast<const PartedCopy*>(context);
    const auto begin = all.bytes * static_cast<std::size_t>(part) / all.parts;
    const auto end = all.bytes * static_cast<std::size_t>(part + 1) / all.parts;
    if (all.bytes < kStreamedCopy)
      std::memcpy(all.to + begin, all.from + begin, end - begin);
    else
      stream_copy(all.to + begin, all.from + begin, end - begin);
  }
};

std::atomic<std::int64_t> held{0};  // bytes of all memory of the device

// Whether the system has so much. malloc() promises more than there is, and whoever writes it all is ended by
// the system, or another process is. Of what is held a part may not have been written yet.
bool fits(std::size_t bytes) {
  constexpr std::int64_t kSmall = 64 << 20;
  const auto wanted = static_cast<std::int64_t>(bytes);
  if (wanted < kSmall) return true;
  const std::int64_t promised = std::max<std::int64_t>(held - resident_memory(), 0);
  return wanted <= free_memory() / 16 * 15 - promised;
}

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(int threads) : threads_(threads) {}

  Result<Memory> allocate(std::size_t bytes) const override {
    if (bytes == 0) return Memory();
    void* made = nullptr;
    if (!fits(bytes) || posix_memalign(&made, kCpuAlignment, bytes) != 0)
      return Error{ErrorKind::Memory, fmt::format("no memory for {} bytes", bytes),
                   "take a smaller batch or fewer steps"};
    held += static_cast<std::int64_t>(bytes);
    return Memory(reinterpret_cast<Address>(made), bytes, std::shared_ptr<void>(made, [bytes](void* memory) {
                    held -= static_cast<std::int64_t>(bytes);
                    std::free(memory);
                  }));
  }
  Status upload(Address to, std::span<const std::byte> from) const override {
    if (!from.empty()) std::memcpy(bytes_at(to), from.data(), from.size());
    return success();
  }
  Status download(Address from, std::span<std::byte> to) const override {
    if (!to.empty()) std::memcpy(to.data(), bytes_at(from), to.size());
    return success();
  }
  Status fill(Address at, std::uint8_t value, std::size_t bytes) const override {
    if (bytes > 0) std::memset(bytes_at(at), value, bytes);
    return success();
  }
  Status copy(Address to, Address from, std::size_t bytes) const override {
    ThreadPool& pool = ThreadPool::shared(threads_);
    const auto threads = static_cast<std::size_t>(pool.threads());
    PartedCopy all{bytes_at(to), bytes_at(from), bytes, bytes < kCopyPart ? 1 : threads};
    if (bytes > 0) pool.run(static_cast<std::int64_t>(all.parts), PartedCopy::run, &all);
    return success();
  }
  Status wait() const override { return success(); }

  Result<std::unique_ptr<LoadedPlan>> load(const executable::Executable& executable) const override {
    Result<HostPlan> plan = HostPlan::load(executable, ThreadPool::shared(threads_));
    if (!plan) return plan.error();
    return std::unique_ptr<LoadedPlan>(new CpuPlan(std::move(*plan)));
  }

  Result<double> seconds_of(const std::function<Status()>& work) const override {
    const auto begin = std::chrono::steady_clock::now();
    if (Status status = work(); !status) return status.error();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return took.count();
  }
  std::size_t copy_bytes() const override { return std::size_t{1} << 25; }
  int copy_sets() const override { return 8; }

  bool usable() const override { return true; }

 private:
  int threads_;
};

}  // namespace

std::shared_ptr<const Device> cpu_device(int threads) { return std::make_shared<const CpuDevice>(threads); }

}  // namespace rondo::runtime
