#include "runtime/launch/loaded_kernel.h"

#include <fmt/format.h>

namespace rondo::runtime {

namespace {

constexpr unsigned kPortableCluster = 8;  // CUDA programming guide, thread block clusters

}  // namespace

Result<LoadedKernel> LoadedKernel::load(const Module& module, const executable::Kernel& kernel,
                                        const DeviceInfo& device) {
  Result<Function> function = module.function(kernel.name);
  if (!function) return function.error();
  LoadedKernel loaded;
  loaded.function_ = std::move(function).value();
  loaded.threads_ = static_cast<unsigned>(kernel.threads);
  loaded.cluster_ = static_cast<unsigned>(kernel.cluster);
  loaded.shared_bytes_ = static_cast<std::size_t>(kernel.shared_bytes);
  loaded.cooperative_ = kernel.cooperative;
  if (loaded.shared_bytes_ > 0)
    if (Status status = loaded.function_.set_dynamic_shared(loaded.shared_bytes_); !status)
      return status.error();
  if (loaded.cluster_ > 1) {
    if (Status status = loaded.place_clusters(device); !status) return status.error();
  } else if (loaded.cooperative_) {
    const Result<int> blocks = loaded.function_.blocks_per_sm(kernel.threads, loaded.shared_bytes_);
    if (!blocks) return blocks.error();
    loaded.resident_ = std::int64_t{*blocks} * device.sm_count;
  }
  return loaded;
}

Status LoadedKernel::place_clusters(const DeviceInfo& device) {
  if (!device.clusters)
    return Error{ErrorKind::Unsupported,
                 fmt::format("kernel {} runs in clusters of {} blocks; {} (sm_{}) has no clusters",
                             function_.name(), cluster_, device.name, device.cc()),
                 "choose a plan without clusters"};
  if (cluster_ > kPortableCluster)
    if (Status status = function_.allow_large_clusters(); !status) return status;
  LaunchShape shape;
  shape.grid.x = shape.cluster.x = cluster_;
  shape.block.x = threads_;
  shape.dynamic_shared_bytes = shared_bytes_;
  const Result<int> clusters = max_active_clusters(function_, shape);
  if (!clusters) return clusters.error();
  if (*clusters < 1)
    return Error{ErrorKind::Unsupported,
                 fmt::format("a cluster of {} blocks of kernel {} ({} threads and {} bytes of shared memory "
                             "each) does not fit on {}",
                             cluster_, function_.name(), threads_, shared_bytes_, device.name),
                 "choose a plan with smaller clusters or blocks"};
  resident_ = std::int64_t{*clusters} * cluster_;
  return success();
}

Status LoadedKernel::launch(StreamHandle stream, std::int64_t blocks,
                            std::span<void* const> arguments) const {
  if (blocks % cluster_ != 0)
    return Error{ErrorKind::Internal,
                 fmt::format("kernel {}: {} blocks are no multiple of its clusters of {}", function_.name(),
                             blocks, cluster_)};
  if (Status status = check_fits(blocks); !status) return status;
  LaunchShape shape;
  shape.grid.x = static_cast<unsigned>(blocks);
  shape.block.x = threads_;
  // The size of the clusters is compiled in (__cluster_dims__): any kind of launch forms them as long as the
  // grid is a multiple of it, and stating it again is not needed.
  shape.dynamic_shared_bytes = shared_bytes_;
  shape.cooperative = cooperative_;
  return runtime::launch(function_, shape, stream, arguments);
}

Status LoadedKernel::check_fits(std::int64_t blocks) const {
  if (!cooperative_ || blocks <= resident_) return success();
  return Error{ErrorKind::Unsupported,
               fmt::format("the {} blocks of kernel {} wait for each other, so all must be on the GPU at "
                           "once; {} fit",
                           blocks, function_.name(), resident_),
               "run fewer batch rows at a time, or choose a plan with fewer blocks"};
}

}  // namespace rondo::runtime
