#include "compiler/executable/print.h"

#include <fmt/format.h>

#include <cstring>

#include "compiler/executable/launcher.h"

namespace rondo::executable {

namespace {

constexpr int kShown = 2;  // starts of one launch that are printed
// Made-up addresses: the workspace lies at the first multiple, every tensor that a caller binds at the next
// one behind the last tensor's end.
constexpr Address kApart = Address{1} << 48;

std::string argument_name(const Executable& executable, const Argument& argument) {
  const auto tensor = [&] { return executable.tensors[argument.tensor].name; };
  switch (argument.kind) {
    case Argument::Kind::Pointer: return tensor();
    case Argument::Kind::StrideB: return tensor() + ".stride_b";
    case Argument::Kind::StrideT: return tensor() + ".stride_t";
    case Argument::Kind::Batch: return "B";
    case Argument::Kind::Time: return "T";
    case Argument::Kind::FirstTile: return "first_tile";
    case Argument::Kind::StepCount: return "step";
    case Argument::Kind::LastStep: return tensor() + " at T - 1";
    case Argument::Kind::StrideTBack: return "-" + tensor() + ".stride_t";
  }
  return "?";
}

std::string tiles_text(const std::string& extent, std::int64_t tile) {
  return tile == 1 ? extent : fmt::format("ceil({} / {})", extent, tile);
}

std::string rows_text(const SizeRule& rule) {
  return rule.batch_rows == 1 ? "B" : fmt::format("{} * B", rule.batch_rows);
}

std::string rule_text(const SizeRule& rule) {
  if (rule.each == 0) return std::to_string(rule.fixed);
  std::string text = rule.fixed > 0 ? fmt::format("{} + ", rule.fixed) : "";
  if (rule.each != 1) text += fmt::format("{} * ", rule.each);
  text += tiles_text(rows_text(rule), rule.batch_tile);
  return rule.time_tile > 0 ? text + " * " + tiles_text("T", rule.time_tile) : text;
}

std::string repetition_text(const Executable& executable, const Repetition& repetition) {
  switch (repetition.kind) {
    case Repetition::Kind::Once: return "";
    case Repetition::Kind::EachStep: return ", once for each step";
    case Repetition::Kind::Until:
      return fmt::format(", until {} is set, at most {} times", executable.tensors[repetition.condition].name,
                         repetition.most);
  }
  return "";
}

class Printer final : public LaunchSink {
 public:
  Printer(const Executable& executable, std::string& text)
      : executable_(executable), text_(text), starts_(executable.launches.size(), 0) {}

  Status fill(Address, std::int64_t bytes, float value, scalar::Storage) override {
    text_ += value == 0
                 ? fmt::format("  zero {} bytes of the workspace, for tensors that are not bound\n", bytes)
                 : fmt::format("  fill {} bytes of the workspace with {}, for a state that is not bound\n",
                               bytes, value);
    return success();
  }

  Status copy(Address, Address, std::int64_t bytes) override {
    text_ += fmt::format("  copy {} bytes of a state\n", bytes);
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
    const std::string name = argument_name(executable_, argument);
    if (argument.kind == Argument::Kind::Pointer) return name;
    std::int64_t value = 0;
    std::memcpy(&value, at, sizeof value);
    if (argument.bytes == 4) value = static_cast<std::int32_t>(value);
    return fmt::format("{}={}", name, value);
  }

  const Executable& executable_;
  std::string& text_;
  std::vector<std::int64_t> starts_;
};

std::string tensor_line(const Executable& executable, const Tensor& tensor, std::int64_t batch,
                        std::int64_t time) {
  const RoleInfo& role = role_info(tensor.ref.role);
  const std::string begins = fmt::format("{} if not bound", tensor.first);
  const std::string in_result =
      tensor.lies_in < 0 ? ""
                         : fmt::format("in the memory of {}",
                                       executable.tensors[static_cast<std::size_t>(tensor.lies_in)].name);
  const char* need = tensor.lies_in >= 0             ? in_result.c_str()
                     : role.internal                 ? "in the workspace"
                     : tensor.need == Need::Required ? "required"
                     : has_region(tensor)            ? begins.c_str()
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
    text += tensor_line(executable, tensor, batch, time);
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

std::string print_rules(const Executable& executable) {
  std::string text;
  for (const Launch& launch : executable.launches) {
    const Kernel& kernel = executable.kernels[launch.kernel];
    text += fmt::format("{}: grid {}, block {}, cluster {}, shared memory {} bytes", kernel.name,
                        rule_text(launch.grid.blocks), kernel.threads, kernel.cluster, kernel.shared_bytes);
    if (kernel.cooperative) text += ", cooperative";
    if (launch.grid.tiles_together > 0)
      text += fmt::format(
          ", at most {} batch tiles of {} rows at once: first_tile counts those of earlier launches",
          launch.grid.tiles_together, launch.grid.blocks.batch_tile);
    text += repetition_text(executable, launch.repetition) + "; arguments ";
    for (std::size_t i = 0; i < launch.arguments.size(); ++i)
      text += (i == 0 ? "" : ", ") + argument_name(executable, launch.arguments[i]);
    text += "\n";
  }
  return text;
}

}  // namespace rondo::executable
