#include "tuner/trial/message.h"

#include <algorithm>
#include <memory>

#include "compiler/schedule/problem/serialise.h"
#include "compiler/step/serialise.h"
#include "compiler/step/verify.h"
#include "engine/worker/frame.h"

namespace rondo::tuner {
namespace {

constexpr auto kPlan = [](auto& archive, auto& plan) {
  archive(plan.candidate, plan.turn);
  archive.maybe(plan.executable, kValue);
};

constexpr auto kGiven = [](auto& archive, auto& given) {
  archive(given.sizes.batch, given.sizes.time, given.sizes.heads, given.sizes.dim);
  for (auto* tensors : {&given.arguments.inputs, &given.arguments.params, &given.arguments.initial_states})
    archive.map(*tensors, 8, [](auto& of, auto& values) { of.list(values, 8, kValue); });
};

// Fails where a tensor is none of the cell's, or has not the elements that the sizes say.
engine::Given read_given(ByteReader& reader, const step::Cell& cell, const step::Sizes& problem) {
  using step::TensorKind;
  engine::GivenData given;
  kGiven(reader, given);
  const step::Sizes& sizes = given.sizes;
  if (std::min({sizes.batch, sizes.time, sizes.heads, sizes.dim}) < 1) reader.fail();
  constexpr double kMost = 1e15;  // elements; more fit into no message
  const double elements = static_cast<double>(sizes.batch) * static_cast<double>(sizes.time) *
                          static_cast<double>(sizes.heads) * static_cast<double>(sizes.dim);
  if (sizes.heads != problem.heads || sizes.dim != problem.dim || elements > kMost) reader.fail();
  for (const auto& [tensors, kind] : {std::pair(&given.arguments.inputs, TensorKind::Input),
                                      std::pair(&given.arguments.params, TensorKind::Param),
                                      std::pair(&given.arguments.initial_states, TensorKind::State)}) {
    for (const auto& [name, values] : *tensors) {
      const std::optional<step::TensorId> id = cell.find(name);
      const step::Tensor* tensor = id ? &cell.tensor(*id) : nullptr;
      if (!reader.ok() || tensor == nullptr || tensor->kind != kind ||
          step::element_count(*tensor, sizes) != static_cast<std::int64_t>(values.size()))
        reader.fail();
    }
  }
  return std::make_shared<const engine::GivenData>(std::move(given));
}

constexpr auto kRequest = [](auto& archive, auto& request) {
  archive.one_of(request.what, TrialRequest::What::AtShape);
  archive.maybe(request.setup, [](auto& of, auto& setup) {
    if constexpr (std::decay_t<decltype(of)>::kReads)
      setup = read_setup(of);
    else
      write_setup(of, setup);
  });
  archive.list(request.plans, 9, kPlan);
  archive(request.samples, request.sample_s, request.candidate, request.seed);
  archive.list(request.plain, 4, kValue);
};

constexpr auto kReply = [](auto& archive, auto& reply) {
  archive(reply.alive);
  engine::archive_result(archive, reply.answer, [](auto& of, auto& answer) {
    of.list(answer.values, 8, kValue);
    of(answer.verdict.passed, answer.verdict.tensor, answer.verdict.excess, answer.verdict.summary);
  });
};

}  // namespace

void write_setup(ByteWriter& writer, const TrialSetup& setup) {
  step::write_cell(writer, setup.task.written);
  schedule::write_problem(writer, setup.task.problem);
  writer.text(target::to_json(setup.task.profile));
  writer.u64(setup.seed);
  writer.flag(setup.given != nullptr);
  if (setup.given) kGiven(writer, *setup.given);
}

TrialSetup read_setup(ByteReader& reader) {
  TrialSetup setup;
  step::Cell cell = step::read_cell(reader);
  const bool whole = step::verify(cell).empty();
  schedule::Problem problem = schedule::read_problem(reader);
  Result<target::Profile> profile = target::profile_from_json(reader.text());
  if (whole && profile)
    setup.task = {std::move(cell), std::move(problem), std::move(profile).value()};
  else
    reader.fail();
  setup.seed = reader.u64();
  if (reader.flag() && reader.ok())
    setup.given = read_given(reader, setup.task.written, setup.task.problem.sizes);
  return setup;
}

std::string encode_request(const TrialRequest& request) { return encoded(request, kRequest); }

std::optional<TrialRequest> decode_request(std::string_view bytes) {
  using What = TrialRequest::What;
  std::optional<TrialRequest> request = decoded<TrialRequest>(bytes, kRequest);
  if (!request) return std::nullopt;
  const bool at_shape = request->what == What::AtShape;
  const bool one_plan = request->what == What::Run || request->what == What::Verify || at_shape;
  if (request->setup.has_value() != (request->what == What::SetUp)) return std::nullopt;
  if (one_plan && request->plans.size() != 1) return std::nullopt;
  if (request->plain.size() != (at_shape ? 3 : 0)) return std::nullopt;
  return request;
}

std::string encode_reply(const TrialReply& reply) { return encoded(reply, kReply); }
std::optional<TrialReply> decode_reply(std::string_view bytes) {
  return decoded<TrialReply>(bytes, kReply, {false, TrialAnswer{}});
}

}  // namespace rondo::tuner
