#include "compiler/executable/executable.h"

#include <fmt/format.h>

#include "compiler/support/hash.h"

namespace rondo::executable {

namespace {

constexpr int kMaxThreads = 1024;  // CUDA C++ Programming Guide, "Compute Capabilities": threads of a block
constexpr int kMaxCluster = 16;    // the same, "Thread Block Clusters": the non-portable size
constexpr std::size_t kHashDigits = 64;     // of a SHA-256
constexpr std::size_t kMaxEntries = 65535;  // indices have 16 bits

Error defect(std::string what) {
  return {ErrorKind::Internal, "the executable contradicts itself: " + std::move(what)};
}

bool valid(const SizeRule& rule) {
  return rule.fixed >= 0 && rule.each >= 0 && rule.fixed <= SizeRule::kMost && rule.each <= SizeRule::kMost &&
         rule.batch_tile >= 1 && rule.time_tile >= 0 && rule.batch_rows >= 1 &&
         rule.batch_rows <= SizeRule::kMostRows;
}

bool power_of_two(int n) { return n > 0 && (n & (n - 1)) == 0; }

Status check_tensor(const Tensor& tensor) {
  if (static_cast<int>(tensor.ref.role) >= kRoles)
    return defect(fmt::format("tensor '{}' has role {}", tensor.name, static_cast<int>(tensor.ref.role)));
  if (!valid(tensor.size) || tensor.unit < 0 || tensor.unit > SizeRule::kMost)
    return defect(fmt::format("the size of tensor '{}'", tensor.name));
  if (!power_of_two(tensor.alignment) || tensor.alignment < scalar::storage_bytes(tensor.storage))
    return defect(fmt::format("tensor '{}' is aligned to {} bytes", tensor.name, tensor.alignment));
  if (tensor.first != 0 && tensor.storage != scalar::Storage::F32 && tensor.storage != scalar::Storage::F64)
    return defect(
        fmt::format("tensor '{}' begins with {} and is neither fp32 nor fp64", tensor.name, tensor.first));
  return success();
}

// What lies in a result lies within it, whatever the call's sizes and strides are.
Status check_lies_in(const Tensor& tensor, const std::vector<Tensor>& tensors) {
  if (tensor.lies_in == -1) return success();
  const auto fits = [&](const Tensor& result) {
    return !is_internal(result.ref.role) && has_time_axis(result.ref.role) && result.written &&
           result.need == Need::Required && result.storage == tensor.storage && tensor.unit <= result.unit;
  };
  const bool of_steps = is_internal(tensor.ref.role) && has_time_axis(tensor.ref.role) &&
                        tensor.size == SizeRule{0, tensor.unit, 1, 1};
  const bool exists = tensor.lies_in >= 0 && static_cast<std::size_t>(tensor.lies_in) < tensors.size();
  if (of_steps && exists && fits(tensors[static_cast<std::size_t>(tensor.lies_in)])) return success();
  return defect(
      fmt::format("tensor '{}' lies in tensor {} of {}", tensor.name, tensor.lies_in, tensors.size()));
}

Status check_kernel(const Kernel& kernel) {
  if (kernel.name.empty()) return defect("a kernel without a name");
  if (kernel.threads < 1 || kernel.threads > kMaxThreads)
    return defect(fmt::format("kernel {} has {} threads a block", kernel.name, kernel.threads));
  if (!power_of_two(kernel.cluster) || kernel.cluster > kMaxCluster)
    return defect(fmt::format("kernel {} has clusters of {}", kernel.name, kernel.cluster));
  if (kernel.shared_bytes < 0 || kernel.shared_bytes > SizeRule::kMost)
    return defect(fmt::format("kernel {} has {} bytes of shared memory", kernel.name, kernel.shared_bytes));
  return success();
}

bool names_tensor(Argument::Kind kind) {
  return kind == Argument::Kind::Pointer || kind == Argument::Kind::StrideB ||
         kind == Argument::Kind::StrideT || kind == Argument::Kind::LastStep ||
         kind == Argument::Kind::StrideTBack;
}

Status check_argument(const Argument& argument, const Executable& executable, const std::string& kernel) {
  if (argument.kind > Argument::Kind::StrideTBack || (argument.bytes != 4 && argument.bytes != 8))
    return defect(fmt::format("an argument of kernel {}", kernel));
  if (!names_tensor(argument.kind)) return success();
  if (argument.tensor >= executable.tensors.size())
    return defect(fmt::format("an argument of kernel {} names tensor {} of {}", kernel, argument.tensor,
                              executable.tensors.size()));
  const bool pointer = argument.kind == Argument::Kind::Pointer || argument.kind == Argument::Kind::LastStep;
  if (pointer && argument.bytes != 8) return defect("a pointer of 4 bytes");
  if (argument.kind == Argument::Kind::Pointer) return success();
  const Tensor& tensor = executable.tensors[argument.tensor];
  if (!has_time_axis(tensor.ref.role))
    return defect(fmt::format("tensor '{}' has no time axis and no strides", tensor.name));
  return success();
}

Status check_launch(const Launch& launch, const Executable& executable) {
  if (launch.kernel >= executable.kernels.size())
    return defect(fmt::format("a launch of kernel {} of {}", launch.kernel, executable.kernels.size()));
  const std::string& name = executable.kernels[launch.kernel].name;
  if (launch.arguments.size() > kMaxArguments)
    return defect(fmt::format("kernel {} has {} arguments; the most is {}", name, launch.arguments.size(),
                              kMaxArguments));
  if (!valid(launch.grid.blocks) || launch.grid.tiles_together < 0)
    return defect(fmt::format("the grid of kernel {}", name));
  const Repetition& repetition = launch.repetition;
  if (repetition.kind > Repetition::Kind::Until || repetition.most < 1)
    return defect(fmt::format("the repetition of kernel {}", name));
  if (repetition.kind == Repetition::Kind::Until &&
      (repetition.condition >= executable.tensors.size() ||
       executable.tensors[repetition.condition].storage != scalar::Storage::I32))
    return defect(fmt::format("kernel {} repeats until a word that is none", name));
  for (const Argument& argument : launch.arguments)
    if (Status status = check_argument(argument, executable, name); !status) return status;
  return success();
}

}  // namespace

const char* image_kind_name(ImageKind kind) {
  switch (kind) {
    case ImageKind::Cubin: return "cubin";
    case ImageKind::Ptx: return "ptx";
    case ImageKind::Object: return "object";
  }
  return "?";
}

void Image::seal() { hash = sha256_hex(bytes); }

Executable Executable::without_images() const {
  Executable result;
  result.identity = identity;
  result.tensors = tensors;
  result.kernels = kernels;
  result.launches = launches;
  return result;
}

bool is_walked_from_end(const Executable& executable, std::size_t tensor) {
  for (const Launch& launch : executable.launches)
    for (const Argument& argument : launch.arguments)
      if (argument.kind == Argument::Kind::LastStep && argument.tensor == tensor) return true;
  return false;
}

Status check(const Executable& executable) {
  if (executable.tensors.size() > kMaxTensors)
    return defect(fmt::format("{} tensors; the most is {}", executable.tensors.size(), kMaxTensors));
  if (executable.kernels.size() > kMaxEntries || executable.launches.size() > kMaxEntries)
    return defect("too many kernels or launches");
  for (const Tensor& tensor : executable.tensors)
    if (Status status = check_tensor(tensor); !status) return status;
  for (const Tensor& tensor : executable.tensors)
    if (Status status = check_lies_in(tensor, executable.tensors); !status) return status;
  for (std::size_t i = 0; i < executable.tensors.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (executable.tensors[i].ref == executable.tensors[j].ref)
        return defect(fmt::format("tensor '{}' is there twice", executable.tensors[i].name));
  for (const Kernel& kernel : executable.kernels)
    if (Status status = check_kernel(kernel); !status) return status;
  for (const Launch& launch : executable.launches)
    if (Status status = check_launch(launch, executable); !status) return status;
  for (const Image& image : executable.images)
    if (image.hash.size() != kHashDigits)
      return defect(fmt::format("the image for {} has no hash of its own", image.target));
  return success();
}

}  // namespace rondo::executable
