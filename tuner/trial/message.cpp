#include "tuner/trial/message.h"

#include <bit>
#include <memory>

#include "compiler/schedule/problem/serialise.h"
#include "compiler/step/serialise.h"
#include "compiler/step/verify.h"
#include "engine/worker/frame.h"

namespace rondo::tuner {
namespace {

template <class Enum>
void write_enum(ByteWriter& writer, Enum value) {
  writer.u8(static_cast<std::uint8_t>(value));
}

void write_plan(ByteWriter& writer, const TrialRequest::Plan& plan) {
  writer.u64(plan.candidate);
  writer.i64(plan.turn);
  writer.flag(plan.executable.has_value());
  if (plan.executable) writer.text(*plan.executable);
}

TrialRequest::Plan read_plan(ByteReader& reader) {
  TrialRequest::Plan plan;
  plan.candidate = reader.u64();
  plan.turn = reader.i64();
  if (reader.flag()) plan.executable = reader.text();
  return plan;
}

// Numbers that fp32 holds, as the arrays were rounded when they were read.
void write_values(ByteWriter& writer, const step::TensorMap<double>& tensors) {
  writer.count(tensors.size());
  for (const auto& [name, values] : tensors) {
    writer.text(name);
    writer.count(values.size());
    for (const double value : values) writer.u32(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  }
}

step::TensorMap<double> read_values(ByteReader& reader) {
  step::TensorMap<double> tensors;
  for (std::size_t left = reader.count(8); left > 0; --left) {
    std::vector<double>& values = tensors[reader.text()];
    values.resize(reader.count(4));
    for (double& value : values) value = static_cast<double>(std::bit_cast<float>(reader.u32()));
  }
  return tensors;
}

void write_given(ByteWriter& writer, const engine::GivenData& given) {
  for (const std::int64_t size : {given.sizes.batch, given.sizes.time, given.sizes.heads, given.sizes.dim})
    writer.i64(size);
  for (const auto* tensors :
       {&given.arguments.inputs, &given.arguments.params, &given.arguments.initial_states})
    write_values(writer, *tensors);
}

// Fails where a tensor is none of the cell's, or has not the elements that the sizes say.
engine::Given read_given(ByteReader& reader, const step::Cell& cell, const step::Sizes& problem) {
  using step::TensorKind;
  engine::GivenData given;
  for (std::int64_t* size : {&given.sizes.batch, &given.sizes.time, &given.sizes.heads, &given.sizes.dim}) {
    *size = reader.i64();
    if (*size < 1) reader.fail();
  }
  constexpr double kMost = 1e15;  // elements; more fit into no message
  const double elements = static_cast<double>(given.sizes.batch) * static_cast<double>(given.sizes.time) *
                          static_cast<double>(given.sizes.heads) * static_cast<double>(given.sizes.dim);
  if (given.sizes.heads != problem.heads || given.sizes.dim != problem.dim || elements > kMost) reader.fail();
  for (const auto& [tensors, kind] : {std::pair(&given.arguments.inputs, TensorKind::Input),
                                      std::pair(&given.arguments.params, TensorKind::Param),
                                      std::pair(&given.arguments.initial_states, TensorKind::State)}) {
    *tensors = read_values(reader);
    for (const auto& [name, values] : *tensors) {
      const std::optional<step::TensorId> id = cell.find(name);
      const step::Tensor* tensor = id ? &cell.tensors[static_cast<std::size_t>(*id)] : nullptr;
      if (!reader.ok() || tensor == nullptr || tensor->kind != kind ||
          step::element_count(*tensor, given.sizes) != static_cast<std::int64_t>(values.size()))
        reader.fail();
    }
  }
  return std::make_shared<const engine::GivenData>(std::move(given));
}

}  // namespace

void write_setup(ByteWriter& writer, const TrialSetup& setup) {
  step::write_cell(writer, setup.task.written);
  schedule::write_problem(writer, setup.task.problem);
  writer.text(target::to_json(setup.task.profile));
  writer.u64(setup.seed);
  writer.flag(setup.given != nullptr);
  if (setup.given) write_given(writer, *setup.given);
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

std::string encode_request(const TrialRequest& request) {
  ByteWriter writer;
  write_enum(writer, request.what);
  writer.flag(request.setup.has_value());
  if (request.setup) write_setup(writer, *request.setup);
  writer.count(request.plans.size());
  for (const TrialRequest::Plan& plan : request.plans) write_plan(writer, plan);
  writer.i32(request.samples);
  writer.f64(request.sample_s);
  writer.u64(request.candidate);
  writer.u64(request.seed);
  writer.count(request.plain.size());
  for (const std::string& executable : request.plain) writer.text(executable);
  return writer.take();
}

std::optional<TrialRequest> decode_request(std::string_view bytes) {
  using What = TrialRequest::What;
  ByteReader reader(bytes);
  TrialRequest request;
  request.what = reader.one_of(What::AtShape);
  if (reader.flag()) request.setup = read_setup(reader);
  for (std::size_t left = reader.count(9); left > 0; --left) request.plans.push_back(read_plan(reader));
  request.samples = reader.i32();
  request.sample_s = reader.f64();
  request.candidate = reader.u64();
  request.seed = reader.u64();
  request.plain.resize(reader.count(4));
  for (std::string& executable : request.plain) executable = reader.text();
  const bool at_shape = request.what == What::AtShape;
  const bool one_plan = request.what == What::Run || request.what == What::Verify || at_shape;
  if (request.setup.has_value() != (request.what == What::SetUp)) reader.fail();
  if (one_plan && request.plans.size() != 1) reader.fail();
  if (request.plain.size() != (at_shape ? 3 : 0)) reader.fail();
  return reader.done() ? std::optional(std::move(request)) : std::nullopt;
}

std::string encode_reply(const TrialReply& reply) {
  ByteWriter writer;
  writer.flag(reply.alive);
  writer.flag(reply.answer.ok());
  if (!reply.answer) {
    engine::write_error(writer, reply.answer.error());
    return writer.take();
  }
  writer.count(reply.answer->values.size());
  for (const double value : reply.answer->values) writer.f64(value);
  const engine::Verdict& verdict = reply.answer->verdict;
  writer.flag(verdict.passed);
  writer.text(verdict.tensor);
  writer.f64(verdict.excess);
  writer.text(verdict.summary);
  return writer.take();
}

std::optional<TrialReply> decode_reply(std::string_view bytes) {
  ByteReader reader(bytes);
  TrialReply reply{reader.flag(), TrialAnswer{}};
  if (reader.flag()) {
    reply.answer->values.resize(reader.count(8));
    for (double& value : reply.answer->values) value = reader.f64();
    engine::Verdict& verdict = reply.answer->verdict;
    verdict.passed = reader.flag();
    verdict.tensor = reader.text();
    verdict.excess = reader.f64();
    verdict.summary = reader.text();
  } else {
    reply.answer = engine::read_error(reader);
  }
  return reader.done() ? std::optional(std::move(reply)) : std::nullopt;
}

}  // namespace rondo::tuner
