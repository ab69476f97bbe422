// Training in parts of time: launches whose tensors lie where engine/plan/part_bindings.h says.
#include <fmt/format.h>

#include <optional>
#include <tuple>

#include "compiler/executable/workspace.h"
#include "engine/request/problem_text.h"
#include "runtime/capi/launch/call.h"
#include "runtime/capi/launch/launch.h"
#include "tools/librondo/training.h"

namespace rondo::capi {

namespace {

using engine::PartLaunch;
using executable::Role;

constexpr std::size_t kFirstPart = RONDO_SIZE_TO(rondo_training_part, steps);

Status check_part(const TrainingObject& training, std::int64_t time, std::int64_t part) {
  if (training.every == 0)
    return Error{ErrorKind::Input, "this training has no parts of time",
                 "make it with rondo_problem.every, the steps of a part"};
  if (Status status = check_sizes(0, time); !status) return status;
  if (time > engine::kMostExtent)
    return Error{ErrorKind::Input, fmt::format("T = {}: {} at most", time, engine::kMostExtent),
                 "give fewer steps in a call"};
  const std::int64_t count = engine::TimeParts{time, training.every}.count();
  if (part >= 0 && part < count) return success();
  return Error{ErrorKind::Input,
               fmt::format("there is no part {}: T = {} in parts of {} steps has {}", part, time,
                           training.every, count),
               "they count from 0"};
}

// The memory that parts share.
struct Saved {
  void* memory = nullptr;
  std::int64_t bytes = 0;
};

Status check_saved(Saved saved, std::int64_t needed) {
  if (saved.bytes < needed || (saved.memory == nullptr && needed > 0))
    return Error{ErrorKind::Input,
                 fmt::format("the parts need {} bytes of saved memory; given are {}", needed,
                             saved.memory == nullptr ? 0 : saved.bytes),
                 "rondo_training_get_sizes() says how much"};
  if (address_of(saved.memory) % executable::kRegionAlignment != 0)
    return Error{ErrorKind::Input, "the saved memory is not aligned to 256 bytes",
                 "take it as cudaMalloc gives it, or by aligned_alloc(256, ...) on a CPU"};
  return success();
}

// The caller's tensors of all steps.
Status bind_whole(const PlanObject& plan, const rondo_launch_args& args, executable::Bindings& whole) {
  if (Status status = bind(plan, args, whole); !status) return status;
  for (const executable::Binding& given : whole.entries())
    if (executable::is_saved(given.tensor.role))
      for (const executable::Tensor& tensor : plan.work->tensors())
        if (tensor.ref == given.tensor)
          return wrong(tensor, "is given, and parts keep it in the saved memory", "leave it out");
  return success();
}

// A launch of one part.
struct PartCall {
  const engine::PartBindings& parts;
  std::int64_t number;
  PartLaunch what;
};

// `args` are those of the plan `of`.
Status launch(const PlanObject& plan, const PlanObject& of, const rondo_launch_args& args,
              const PartCall& call) {
  executable::Bindings whole, bindings;
  if (Status status = bind_whole(of, args, whole); !status) return status;
  call.parts.bind(plan.work->tensors(), call.number, call.what, whole, bindings);
  if (const executable::Binding* workspace = whole.find({Role::Workspace, -1})) bindings.set(*workspace);
  return plan.work->launch(args.stream, bindings, args.batch, call.parts.parts().part(call.number).steps);
}

// Calls `body` with the arguments of the forward pass and where all parts lie.
template <class Body>
Status with_parts(const TrainingObject& training, std::int64_t part, const rondo_launch_args* forward,
                  Saved saved, Body body) {
  const Result<rondo_launch_args> args = read_args(forward);
  if (!args) return args.error();
  if (Status status = check_part(training, args->time, part); !status) return status;
  if (Status status = check_sizes(args->batch, args->time); !status) return status;
  engine::PartBindings parts = parts_of(training, args->batch, args->time);
  if (Status status = check_saved(saved, parts.region_bytes()); !status) return status;
  parts.place_in_region(address_of(saved.memory));
  return body(*args, parts);
}

Status forward_part(const TrainingObject& training, std::int64_t part, const rondo_launch_args* forward,
                    Saved saved) {
  return with_parts(training, part, forward, saved, [&](const auto& args, const auto& parts) {
    const PartLaunch what = parts.parts().is_last(part) ? PartLaunch::Save : PartLaunch::Walk;
    return launch(*training.forward, *training.forward, args, {parts, part, what});
  });
}

Status check_same(const rondo_launch_args& forward, const rondo_launch_args& backward) {
  const auto same = [](const rondo_launch_args& args) {
    return std::tie(args.batch, args.time, args.stream);
  };
  if (same(forward) == same(backward)) return success();
  return Error{ErrorKind::Input,
               fmt::format("forward has B = {}, T = {}, and backward B = {}, T = {}{}", forward.batch,
                           forward.time, backward.batch, backward.time,
                           forward.stream == backward.stream ? "" : ", on another stream"),
               "both are of one step: give both the same B, T and stream"};
}

Status backward_part(const TrainingObject& training, std::int64_t part, const rondo_launch_args* forward,
                     const rondo_launch_args* backward, Saved saved) {
  const Result<rondo_launch_args> back = read_args(backward);
  if (!back) return back.error();
  return with_parts(training, part, forward, saved, [&](const auto& args, const auto& parts) -> Status {
    if (Status status = check_same(args, *back); !status) return status;
    const std::optional<PartLaunch> saving = parts.saving(part);
    if (saving && !parts.parts().is_last(part)) {
      const PlanObject& plan = *saving == PartLaunch::Again ? *training.again : *training.forward;
      if (Status status = launch(plan, *training.forward, args, {parts, part, *saving}); !status)
        return status;
    }
    return launch(*training.backward, *training.backward, *back, {parts, part, PartLaunch::Back});
  });
}

}  // namespace

engine::PartBindings parts_of(const TrainingObject& training, std::int64_t batch, std::int64_t time) {
  const auto& forward = training.forward->work->tensors();
  return {{time, training.every, training.reversed},
          batch,
          forward,
          forward,
          training.backward->work->tensors(),
          training.again_of};
}

}  // namespace rondo::capi

using namespace rondo;  // NOLINT: a source of the C interface
using capi::TrainingObject;

extern "C" {

rondo_status rondo_training_get_part(const rondo_training* training, int64_t time, int64_t part,
                                     rondo_training_part* info) {
  return capi::with<TrainingObject>(training, [&](const auto& object) -> Status {
    if (Status status = capi::check_part(object, time, part); !status) return status;
    const engine::TimePart found = engine::TimeParts{time, object.every, object.reversed}.part(part);
    rondo_training_part result{};
    result.begin = found.begin;
    result.steps = found.steps;
    return capi::write_struct(result, info, capi::kFirstPart, "rondo_training_part");
  });
}

rondo_status rondo_training_forward_part(const rondo_training* training, int64_t part,
                                         const rondo_launch_args* forward, void* saved, int64_t saved_bytes) {
  return capi::with<TrainingObject>(training, [&](const auto& object) -> Status {
    return capi::forward_part(object, part, forward, {saved, saved_bytes});
  });
}

rondo_status rondo_training_backward_part(const rondo_training* training, int64_t part,
                                          const rondo_launch_args* forward, const rondo_launch_args* backward,
                                          void* saved, int64_t saved_bytes) {
  return capi::with<TrainingObject>(training, [&](const auto& object) -> Status {
    return capi::backward_part(object, part, forward, backward, {saved, saved_bytes});
  });
}

}  // extern "C"
