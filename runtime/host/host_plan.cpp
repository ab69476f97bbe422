#include "runtime/host/host_plan.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#include "compiler/target/target.h"

namespace rondo::runtime {

namespace {

constexpr std::size_t kAlignment = 64;

// Shared memory of the blocks that a thread runs, one after the other.
class BlockMemory {
 public:
  // Null where there is none.
  void* get(std::int64_t bytes) {
    if (bytes > size_) {
      const std::int64_t size = (bytes + 4095) / 4096 * 4096;
      memory_.reset(std::aligned_alloc(kAlignment, static_cast<std::size_t>(size)));
      size_ = memory_ ? size : 0;
    }
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
  std::int64_t size_ = 0;
};

// The calling thread's, which goes with the thread; null where the memory is short. It is no thread_local
// object: glibc ends the process where it has no memory to note the destructor of one.
BlockMemory* block_memory() {
  static const std::optional<pthread_key_t> key = []() -> std::optional<pthread_key_t> {
    pthread_key_t made{};
    const auto destroy = [](void* memory) { delete static_cast<BlockMemory*>(memory); };
    return pthread_key_create(&made, destroy) == 0 ? std::optional(made) : std::nullopt;
  }();
  if (!key) return nullptr;
  if (void* const mine = pthread_getspecific(*key)) return static_cast<BlockMemory*>(mine);
  std::unique_ptr<BlockMemory> made(new (std::nothrow) BlockMemory);
  if (!made || pthread_setspecific(*key, made.get()) != 0) return nullptr;
  return made.release();
}

void* shared_memory(std::int64_t bytes) {
  if (bytes == 0) return nullptr;
  BlockMemory* const memory = block_memory();
  return memory == nullptr ? nullptr : memory->get(bytes);
}

}  // namespace

Status HostKernels::fill(executable::Address pointer, std::int64_t bytes, float value,
                         scalar::Storage storage) {
  executable::fill_host(pointer, bytes, value, storage);
  return success();
}

Status HostKernels::copy(executable::Address target, executable::Address source, std::int64_t bytes) {
  std::memcpy(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source),
              static_cast<std::size_t>(bytes));
  return success();
}

Status HostKernels::launch(std::size_t index, std::int64_t blocks, std::span<void* const> arguments) {
  struct Call {
    const Kernel& kernel;
    void* const* arguments;
    std::int32_t blocks;
    std::atomic<bool> no_memory{false};  // of some thread, for its blocks
  } call{kernels_[index], arguments.data(), static_cast<std::int32_t>(blocks)};
  LaunchCost& cost = *call.kernel.cost;
  const std::uint32_t launch = cost.count();
  const bool timed = pool_.threads() > 1 && LaunchCost::is_due(launch);
  // Every other launch of a kernel goes backward: it begins with the parts of a matrix that the one before
  // has used last, which a cache that cannot hold the matrix still has.
  const ThreadPool::Taken taken =
      pool_.run(blocks,
                [](void* context, std::int64_t block, int) {
                  Call& c = *static_cast<Call*>(context);
                  void* const shared = shared_memory(c.kernel.shared_bytes);
                  if (shared == nullptr && c.kernel.shared_bytes > 0)
                    c.no_memory = true;
                  else
                    c.kernel.entry(c.arguments, static_cast<std::int32_t>(block), c.blocks, shared);
                },
                &call, {cost.threads(blocks, pool_.threads()), launch % 2 != 0, timed});
  if (call.no_memory)
    return Error{ErrorKind::Memory,
                 fmt::format("no memory for the {} bytes that each thread of a kernel needs",
                             call.kernel.shared_bytes),
                 "free some, or let fewer threads compute (RONDO_THREADS)"};
  if (timed) cost.measured(taken.nanoseconds, taken.blocks);
  return success();
}

Result<std::shared_ptr<HostKernels>> HostKernels::load(const executable::Executable& executable,
                                                       ThreadPool& pool) {
  const auto image = std::ranges::find_if(
      executable.images, [](const auto& i) { return i.kind == executable::ImageKind::Object; });
  if (image == executable.images.end())
    return Error{ErrorKind::Input, "the executable has no code for CPUs", "compile it with --arch cpu"};
  const std::optional<target::Target> needed = target::find_target(image->target),
                                      here = target::host_target();
  if (!needed || !here || !here->runs(*needed))
    return Error{ErrorKind::Unsupported,
                 fmt::format("the code is for {}, and this machine is {}", image->target,
                             here ? here->name() : "of no known kind"),
                 "compile it for --arch cpu"};
  if (needed->has_matrix_tiles() && !target::allow_matrix_tiles())
    return Error{ErrorKind::Unsupported, "the system keeps no registers of matrix tiles for this process",
                 "a thread's small signal stack may be the reason; compile it for --arch x86-64-v4"};
  Result<ObjectFile> object = ObjectFile::load(image->bytes);
  if (!object) return object.error();
  std::shared_ptr<HostKernels> kernels(new HostKernels(std::move(*object), pool));
  for (const executable::Launch& launch : executable.launches) {
    const executable::Kernel& kernel = executable.kernels[launch.kernel];
    void* const entry = kernels->object_.function(kernel.name);
    if (entry == nullptr)
      return Error{ErrorKind::Input, fmt::format("the code has no kernel {}", kernel.name)};
    if (kernel.cooperative || kernel.waits || kernel.cluster > 1)
      return Error{
          ErrorKind::Unsupported,
          fmt::format("blocks of kernel {} wait for each other, which they cannot on CPUs", kernel.name),
          "choose --strategy host"};
    kernels->kernels_.push_back({reinterpret_cast<decltype(Kernel::entry)>(entry), kernel.shared_bytes,
                                 std::make_unique<LaunchCost>()});
  }
  return kernels;
}

Result<HostPlan> HostPlan::load(const executable::Executable& executable, ThreadPool& pool) {
  Result<std::shared_ptr<HostKernels>> kernels = HostKernels::load(executable, pool);
  if (!kernels) return kernels.error();
  Result<executable::Launcher> launcher = executable::Launcher::make(executable);
  if (!launcher) return launcher.error();
  return HostPlan(std::move(*kernels), std::move(*launcher));
}

}  // namespace rondo::runtime
