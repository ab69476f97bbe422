#include "compiler/executable/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compiler/executable/launcher.h"

namespace rondo::executable {

namespace {

constexpr int kShown = 2;  // starts of one launch that are printed
// Made-up addresses: the workspace lies at the first multiple, every tensor that a caller binds at the next
// one behind the last tensor's end.
constexpr Address kApart = Address{1} << 48;

class Printer final : public LaunchSink {
 public:
  Printer(const Executable& executable, std::string& text)
      : executable_(executable), text_(text), starts_(executable.launches.size(), 0) {}

  Status zero(Address, std::int64_t bytes) override {
    text_ += fmt::format("  zero {} bytes of the workspace, for tensors that are not bound\n", bytes);
    return success();
  }

  Status launch(std::size_t index, std::int64_t blocks, std::span<void* const> arguments) override {
    if (starts_[index]++ >= kShown) return success();
    const Launch& launch = executable_.launches[index];
    const Kernel& kernel = executable_.kernels[launch.kernel];
    std::string cluster = kernel.cluster > 1 ? fmt::format(", clusters of {}", kernel.cluster) : "";
    if (kernel.cooperative) cluster += ", cooperative";
    text_ += fmt::format("  {}<<<{}, {}, {} bytes{}>>>(", kernel.name, blocks, kernel.threads,
                         kernel.shared_bytes, cluster);
    for (std::size_t i = 0; i < arguments.size(); ++i)
      text_ += (i == 0 ? "" : ", ") + argument_text(launch.arguments[i], arguments[i]);
    text_ += ")\n";
    return success();
  }

  // How often each launch was started beyond what was printed.
  void print_rest() {
    for (std::size_t i = 0; i < starts_.size(); ++i)
      if (starts_[i] > kShown)
        text_ += fmt::format("  {} is started {} times in all\n",
                             executable_.kernels[executable_.launches[i].kernel].name, starts_[i]);
  }

 private:
  std::string argument_text(const Argument& argument, const void* at) const {
    std::int64_t value = 0;
    std::memcpy(&value, at, sizeof value);
    if (argument.bytes == 4) value = static_cast<std::int32_t>(value);
    switch (argument.kind) {
      case Argument::Kind::Pointer: return executable_.tensors[argument.tensor].name;
      case Argument::Kind::StrideB:
        return fmt::format("{}.stride_b={}", executable_.tensors[argument.tensor].name, value);
      case Argument::Kind::StrideT:
        return fmt::format("{}.stride_t={}", executable_.tensors[argument.tensor].name, value);
      case Argument::Kind::Batch: return fmt::format("B={}", value);
      case Argument::Kind::Time: return fmt::format("T={}", value);
      case Argument::Kind::FirstTile: return fmt::format("first_tile={}", value);
      case Argument::Kind::StepCount: return fmt::format("step={}", value);
    }
    return "?";
  }

  const Executable& executable_;
  std::string& text_;
  std::vector<std::int64_t> starts_;
};

std::string tensor_line(const Tensor& tensor, std::int64_t batch, std::int64_t time) {
  const RoleInfo& role = role_info(tensor.ref.role);
  const char* need = role.internal                   ? "in the workspace"
                     : tensor.need == Need::Required ? "required"
                     : tensor.need == Need::Zero     ? "zero if not bound"
                                                     : "thrown away if not bound";
  return fmt::format("  {:<16} {:<22} {:<5} {:<18} {:>12} elements, aligned to {} bytes, {}\n", tensor.name,
                     role.text, scalar::storage_name(tensor.storage), tensor.shape,
                     tensor.size.at(batch, time), tensor.alignment,
                     tensor.ref.role == Role::Status ? "at the loader" : need);
}

}  // namespace

Result<std::string> print_launches(const Executable& executable, std::int64_t batch, std::int64_t time) {
  Result<Launcher> launcher = Launcher::make(executable);
  if (!launcher) return launcher.error();
  const Identity& id = executable.identity;
  std::string text = fmt::format("cell {} ({}), {} {}, H={} D={}, {} math\n{}\nmade by {}\n\ntensors\n",
                                 id.cell_name, id.cell_hash.substr(0, 12), id.pass, id.storage, id.heads,
                                 id.dim, id.math, executable.plan_name(), id.producer);
  Bindings bindings;
  Address next = kApart;
  bindings.set_workspace(next);
  for (const Tensor& tensor : executable.tensors) {
    text += tensor_line(tensor, batch, time);
    if (is_internal(tensor.ref.role)) continue;
    bindings.set(tensor.ref, next += kApart);
    next += static_cast<Address>(tensor.size.at(batch, time)) * 8 / kApart * kApart;
  }
  text += fmt::format("workspace: {} bytes at B={}, T={}\n\nlaunches at B={}, T={}\n",
                      launcher->workspace_bytes(batch, time), batch, time, batch, time);
  Printer printer(executable, text);
  if (Status status = launcher->launch(printer, bindings, batch, time); !status) return status.error();
  printer.print_rest();
  return text;
}

}  // namespace rondo::executable
