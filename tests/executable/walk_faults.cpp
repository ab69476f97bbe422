#include "tests/executable/walk_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/executable/launcher.h"
#include "tests/executable/recorder.h"

namespace rondo::executable::testing {

namespace {

constexpr Address kWorkspace = Address{1} << 43, kApart = Address{1} << 53;

struct Region {
  std::string name;
  Address begin = 0, end = 0;
  enum class Kind { Own, Zeroed, Thrown } kind = Kind::Own;
};

// Written apart from SizeRule::at: whole tiles of rows, whole tiles of steps. `rows`: batch_rows of each of
// the call's.
std::int64_t size_at(const SizeRule& rule, std::int64_t rows, std::int64_t time) {
  std::int64_t tiles = 0;
  for (std::int64_t row = 0; row < rows; row += rule.batch_tile) ++tiles;
  std::int64_t spans = rule.time_tile > 0 ? 0 : 1;
  for (std::int64_t step = 0; rule.time_tile > 0 && step < time; step += rule.time_tile) ++spans;
  return rule.fixed + rule.each * tiles * spans;
}

class Walk {
 public:
  Walk(const Executable& executable, std::int64_t batch, std::int64_t time, bool optional)
      : executable_(executable), batch_(batch), time_(time) {
    Address next = 0;
    bindings_.set_workspace(kWorkspace);
    for (const Tensor& tensor : executable.tensors)
      if (!is_internal(tensor.ref.role) && (optional || tensor.need == Need::Required))
        bindings_.set(tensor.ref, next += kApart);
  }

  std::vector<std::string> run() {
    Result<Launcher> launcher = Launcher::make(executable_);
    if (!launcher) return {launcher.error().message};
    launcher->set_status(kApart / 2);
    const Status status = launcher->launch(recorder_, bindings_, batch_, time_);
    if (!status) return {status.error().message};
    end_ = kWorkspace + static_cast<Address>(launcher->workspace_bytes(batch_, time_));
    find_places();
    check_regions();
    for (std::size_t i = 0; i < executable_.launches.size(); ++i) check_parts(i);
    for (const Recorder::Call& call : recorder_.calls) check_rows(call);
    return std::move(faults_);
  }

 private:
  template <class... Parts>
  void complain(fmt::format_string<Parts...> text, Parts&&... parts) {
    faults_.push_back(
        fmt::format("B={}, T={}: {}", batch_, time_, fmt::format(text, std::forward<Parts>(parts)...)));
  }

  void find_places() {
    for (const Recorder::Call& call : recorder_.calls) {
      const Launch& launch = executable_.launches[call.index];
      for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
        if (launch.arguments[i].kind != Argument::Kind::Pointer) continue;
        const std::uint16_t tensor = launch.arguments[i].tensor;
        const auto at = static_cast<Address>(call.values[i]);
        const Role role = executable_.tensors[tensor].ref.role;
        if (role == Role::Status || bindings_.find(executable_.tensors[tensor].ref) != nullptr) continue;
        if (executable_.tensors[tensor].lies_in >= 0) {
          check_in_result(executable_.tensors[tensor], at);
          continue;
        }
        if (places_.emplace(tensor, at).first->second != at)
          complain("{} moves between launches", executable_.tensors[tensor].name);
      }
    }
  }

  // Results are dense here: the walk of a reversed one begins at its last step.
  void check_in_result(const Tensor& tensor, Address at) {
    const auto index = static_cast<std::size_t>(tensor.lies_in);
    const Tensor& result = executable_.tensors[index];
    Address first = bindings_.find(result.ref)->pointer;
    if (is_walked_from_end(executable_, index))
      first += static_cast<Address>((time_ - 1) * result.unit * scalar::storage_bytes(result.storage));
    if (at != first)
      complain("{} lies at 0x{:x}, and {} begins at 0x{:x}", tensor.name, at, result.name, first);
  }

  std::int64_t bytes_of(const Tensor& tensor) const {
    const int element = scalar::storage_bytes(tensor.storage);
    if (is_internal(tensor.ref.role))
      return size_at(tensor.size, batch_ * tensor.size.batch_rows, time_) * element;
    const RoleInfo& role = role_info(tensor.ref.role);
    return tensor.unit * (role.per_batch && !role.timed ? batch_ : 1) * element;  // strides of 0 in time
  }

  void check_regions() {
    std::vector<Region> regions;
    for (const auto& [index, at] : places_) {
      const Tensor& tensor = executable_.tensors[index];
      Region region{tensor.name, at, at + static_cast<Address>(bytes_of(tensor)), Region::Kind::Own};
      if (!is_internal(tensor.ref.role))
        region.kind = tensor.need == Need::Zero ? Region::Kind::Zeroed : Region::Kind::Thrown;
      if (region.begin % 256 != 0) complain("{} lies at 0x{:x}", region.name, region.begin);
      if (region.begin < kWorkspace || region.end > end_) complain("{} leaves the workspace", region.name);
      check_zeroed(region);
      regions.push_back(region);
    }
    for (std::size_t i = 0; i < regions.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const Region &a = regions[i], &b = regions[j];
        if (a.kind != Region::Kind::Own && a.kind == b.kind) continue;
        if (a.begin < b.end && b.begin < a.end) complain("{} and {} overlap", a.name, b.name);
      }
  }

  // What stands for a tensor of zeros is zeroed, all of it and nothing else that a kernel is given.
  void check_zeroed(const Region& region) {
    for (const auto& [pointer, bytes] : recorder_.zeroed) {
      const Address end = pointer + static_cast<Address>(bytes);
      const bool within = pointer <= region.begin && region.end <= end;
      const bool meets = region.begin < end && pointer < region.end;
      if (region.kind == Region::Kind::Zeroed ? !within : meets)
        complain("{} {} zeroed", region.name, within || meets ? "is" : "is not");
    }
    if (region.kind == Region::Kind::Zeroed && recorder_.zeroed.empty())
      complain("{} is not zeroed", region.name);
  }

  // A kernel numbers the rows that its launch counts.
  void check_rows(const Recorder::Call& call) {
    const Launch& launch = executable_.launches[call.index];
    for (std::size_t i = 0; i < launch.arguments.size(); ++i)
      if (launch.arguments[i].kind == Argument::Kind::Batch &&
          call.values[i] != batch_ * launch.grid.blocks.batch_rows)
        complain("launch {} has {} rows", call.index, call.values[i]);
  }

  void check_parts(std::size_t index) {
    const Launch& launch = executable_.launches[index];
    const std::int64_t together = launch.grid.tiles_together;
    if (together == 0 || launch.repetition.kind != Repetition::Kind::Once) return;
    std::int64_t tiles = 0, done = 0;
    const SizeRule& rule = launch.grid.blocks;
    for (std::int64_t row = 0; row < batch_ * rule.batch_rows; row += rule.batch_tile) ++tiles;
    for (const Recorder::Call& call : recorder_.calls) {
      if (call.index != index) continue;
      for (std::size_t i = 0; i < launch.arguments.size(); ++i)
        if (launch.arguments[i].kind == Argument::Kind::FirstTile && call.values[i] != done)
          complain("a part of launch {} begins at tile {}, not {}", index, call.values[i], done);
      const std::int64_t own = std::min(together, tiles - done);
      const std::int64_t blocks = size_at(launch.grid.blocks, own * launch.grid.blocks.batch_tile, time_);
      if (call.blocks != blocks)
        complain("the part of launch {} from tile {} on has {} blocks, not {}", index, done, call.blocks,
                 blocks);
      done += own;
    }
    if (done != tiles) complain("the parts of launch {} take {} of {} tiles", index, done, tiles);
  }

  const Executable& executable_;
  std::int64_t batch_, time_;
  Bindings bindings_;
  Recorder recorder_;
  Address end_ = 0;
  std::map<std::uint16_t, Address> places_;  // of tensors that are not bound, by index
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> walk_faults(const Executable& executable, std::int64_t batch, std::int64_t time,
                                     bool optional) {
  return Walk(executable, batch, time, optional).run();
}

}  // namespace rondo::executable::testing
