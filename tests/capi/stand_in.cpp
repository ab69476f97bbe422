#include "tests/capi/stand_in.h"

#include <cstring>
#include <string>
#include <vector>

#include "compiler/support/bundle.h"
#include "runtime/capi/launch/plan.h"
#include "runtime/capi/launch/status.h"

namespace {

using namespace rondo;              // NOLINT: a test
using namespace rondo::executable;  // NOLINT

// The arguments in the order in which sum_executable() lists them.
class SumSink final : public LaunchSink {
 public:
  explicit SumSink(std::int64_t unit) : unit_(unit) {}

  Status fill(Address pointer, std::int64_t bytes, float value, scalar::Storage storage) override {
    executable::fill_host(pointer, bytes, value, storage);
    return success();
  }
  Status copy(Address target, Address source, std::int64_t bytes) override {
    std::memcpy(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source),
                static_cast<std::size_t>(bytes));
    return success();
  }

  Status launch(std::size_t, std::int64_t, std::span<void* const> arguments) override {
    const auto number = [&](std::size_t i) {
      std::int64_t value = 0;
      std::memcpy(&value, arguments[i], sizeof value);
      return value;
    };
    const auto floats = [&](std::size_t i) { return reinterpret_cast<float*>(number(i)); };
    const float* const x = floats(0);
    const float* const scale = floats(3);
    const float* const first = floats(4);
    float* const out = floats(5);
    float* const last = floats(8);
    const std::int64_t batch = number(9), time = number(10);
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t i = 0; i < unit_; ++i) {
        float h = first[b * unit_ + i];
        for (std::int64_t t = 0; t < time; ++t) {
          h += scale[i] * x[b * number(1) + t * number(2) + i];
          out[b * number(6) + t * number(7) + i] = h;
        }
        last[b * unit_ + i] = h;
      }
    return success();
  }

 private:
  std::int64_t unit_;
};

// Arguments: the pointers of the first states, then of the last ones, and B.
class StatesSink final : public LaunchSink {
 public:
  StatesSink(std::int64_t dim, int states) : dim_(dim), states_(states) {}

  Status fill(Address, std::int64_t, float, scalar::Storage) override { return success(); }
  Status copy(Address, Address, std::int64_t) override { return success(); }
  Status launch(std::size_t, std::int64_t, std::span<void* const> arguments) override {
    const auto number = [&](int i) {
      std::int64_t value = 0;
      std::memcpy(&value, arguments[static_cast<std::size_t>(i)], sizeof value);
      return value;
    };
    for (int state = 0; state < states_; ++state) {
      if (number(states_ + state) % kRegionAlignment != 0)
        return Error{ErrorKind::Internal, "a result lies on no boundary", ""};
      for (std::int64_t i = 0; i < number(2 * states_) * dim_; ++i)
        reinterpret_cast<float*>(number(states_ + state))[i] =
            reinterpret_cast<const float*>(number(state))[i] + static_cast<float>(state + 1);
    }
    return success();
  }

 private:
  std::int64_t dim_;
  int states_;
};

Tensor tensor(Role role, const char* name, std::int64_t unit, bool written) {
  const RoleInfo& info = role_info(role);
  Tensor result;
  result.ref = {role, 0};
  result.name = name;
  result.shape = info.timed ? "[B, T, H, 2, D]" : info.per_batch ? "[B, H, 2, D]" : "[H, 2, D]";
  result.storage = scalar::Storage::F32;
  result.need = info.need;
  result.written = written;
  result.alignment = info.timed ? 16 : 4;
  result.unit = unit;
  if (info.per_batch)
    result.size = {0, unit, 1, info.timed ? 1 : 0};
  else
    result.size.fixed = unit;
  return result;
}

Executable sum_executable(std::int64_t dim) {
  const std::int64_t unit = 2 * dim;
  Executable e;
  e.identity.cell_name = "running_sum";
  e.identity.heads = 1;
  e.identity.dim = dim;
  e.identity.pass = "fw";
  e.identity.storage = "fp32";
  e.identity.strategy = "stand_in";
  e.tensors = {tensor(Role::Input, "x", unit, false), tensor(Role::Param, "scale", unit, false),
               tensor(Role::InitialState, "h_first", unit, false), tensor(Role::Output, "h_out", unit, true),
               tensor(Role::LastState, "h_last", unit, true)};
  e.kernels.push_back({"sum"});
  using Kind = Argument::Kind;
  Launch launch;
  launch.grid.blocks = {1, 0, 1, 0};
  launch.arguments = {{Kind::Pointer, 8, 0}, {Kind::StrideB, 8, 0}, {Kind::StrideT, 8, 0},
                      {Kind::Pointer, 8, 1}, {Kind::Pointer, 8, 2}, {Kind::Pointer, 8, 3},
                      {Kind::StrideB, 8, 3}, {Kind::StrideT, 8, 3}, {Kind::Pointer, 8, 4},
                      {Kind::Batch, 8, 0},   {Kind::Time, 8, 0}};
  e.launches.push_back(launch);
  return e;
}

}  // namespace

extern "C" rondo_status stand_in_plan(rondo_context* context, int64_t dim, rondo_plan** plan) {
  return capi::guarded([&]() -> rondo::Status {
    const auto object = capi::object_of<capi::ContextObject>(context);
    if (!object) return object.error();
    const Executable executable = sum_executable(dim);
    auto work = capi::host_work(executable, std::make_shared<SumSink>(2 * dim));
    if (!work) return work.error();
    *plan = capi::new_handle(capi::make_plan((*object)->device, executable.identity, std::move(*work),
                                             {"stand-in", "for tests", false, 0}));
    return success();
  });
}

namespace {

// As the driver that stands in takes it: with the name of the one kernel that it holds.
std::string cubin_of(const std::string& kernel) {
  std::string cubin = "\x7f" + std::string("ELF holds ") + kernel;
  cubin.resize(96, ' ');
  return cubin;
}

// `cubins`: that the image has.
rondo_status cuda_plan(rondo_context* context, Executable executable, const std::vector<std::string>& cubins,
                       rondo_plan** plan) {
  return capi::guarded([&]() -> rondo::Status {
    const auto object = capi::object_of<capi::ContextObject>(context);
    if (!object) return object.error();
    executable.images.push_back({"sm_90", ImageKind::Cubin, "none", rondo::bundled(cubins), {}});
    executable.images.back().seal();
    auto made = capi::load_plan((*object)->device, executable, {"stand-in", "for tests", false, 0});
    if (!made) return made.error();
    *plan = capi::new_handle(std::move(made).value());
    return success();
  });
}

}  // namespace

extern "C" rondo_status stand_in_cuda_plan(rondo_context* context, int64_t dim, int cubins,
                                           rondo_plan** plan) {
  std::vector<std::string> image(static_cast<std::size_t>(cubins), cubin_of("another"));
  image.back() = cubin_of("sum");
  return cuda_plan(context, sum_executable(dim), image, plan);
}

extern "C" rondo_status stand_in_waiting_plan(rondo_context* context, int64_t dim, int kernels, int waiting,
                                              rondo_plan** plan) {
  Executable executable = sum_executable(dim);
  const Launch launch = executable.launches.front();
  executable.launches.clear();
  std::vector<std::string> cubins;
  for (int i = 0; i < kernels; ++i) {
    if (i > 0) executable.kernels.push_back({"other" + std::to_string(i)});
    executable.kernels.back().cooperative = i == waiting;
    executable.launches.push_back(launch);
    executable.launches.back().kernel = static_cast<std::uint16_t>(i);
    executable.launches.back().grid.blocks = {0, 1, 1, 0};
    cubins.push_back(cubin_of(executable.kernels.back().name));
  }
  return cuda_plan(context, std::move(executable), cubins, plan);
}

extern "C" rondo_status stand_in_states_plan(rondo_context* context, int64_t dim, int states,
                                             rondo_plan** plan) {
  return capi::guarded([&]() -> rondo::Status {
    const auto object = capi::object_of<capi::ContextObject>(context);
    if (!object) return object.error();
    Executable executable = sum_executable(dim);
    executable.tensors.clear();
    Launch& launch = executable.launches.front();
    launch.arguments.clear();
    for (const Role role : {Role::InitialState, Role::LastState})
      for (int state = 0; state < states; ++state) {
        executable.tensors.push_back(tensor(role, "", dim, role == Role::LastState));
        Tensor& made = executable.tensors.back();
        made.ref.tensor = state;
        made.name = (role == Role::LastState ? "last" : "first") + std::to_string(state);
        made.shape = "[B, H, D]";
        launch.arguments.push_back(
            {Argument::Kind::Pointer, 8, static_cast<std::uint16_t>(executable.tensors.size() - 1)});
      }
    launch.arguments.push_back({Argument::Kind::Batch, 8, 0});
    auto work = capi::host_work(executable, std::make_shared<StatesSink>(dim, states));
    if (!work) return work.error();
    *plan = capi::new_handle(capi::make_plan((*object)->device, executable.identity, std::move(*work),
                                             {"stand-in", "for tests", false, 0}));
    return success();
  });
}
