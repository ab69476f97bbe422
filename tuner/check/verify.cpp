#include "tuner/check/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/schedule/plan/signature.h"

namespace rondo::tuner {

using runtime::DevicePlan;
using runtime::DeviceTensor;
using runtime::StreamHandle;
using schedule::Pass;
using schedule::Role;
using schedule::TensorRef;

namespace {

// Node evaluations of the forward step that the reference does in about half a second.
constexpr std::int64_t kForwardWork = 60'000'000;
constexpr std::int64_t kBackwardShare = 2;  // the backward reference does more per node of the forward step
// Longer than a ring of 8 stages of 64 steps, and no multiple of a stage.
constexpr std::int64_t kLongest = 549;
constexpr std::int64_t kShortest = 5;

}  // namespace

std::string VerifyCase::text() const {
  return fmt::format("B={},T={},H={},D={}{}{}{}{}", sizes.batch, sizes.time, sizes.heads, sizes.dim,
                     layout.gap > 0 ? fmt::format(", gaps of {}", layout.gap) : "",
                     layout.order == runtime::TensorLayout::Order::TimeMajor ? ", time-major" : "",
                     initial_states ? "" : ", no states given",
                     matrix_scale != 1 ? fmt::format(", matrices times {}", matrix_scale) : "");
}

std::vector<VerifyCase> default_cases(const step::Cell& cell, const schedule::Problem& problem) {
  const auto nodes = static_cast<std::int64_t>(cell.graph.nodes.size());
  const std::int64_t products =
      std::count_if(cell.graph.nodes.begin(), cell.graph.nodes.end(),
                    [](const step::Node& node) { return node.kind == step::NodeKind::MatVec; });
  const std::int64_t work = problem.pass == Pass::Backward ? kForwardWork / kBackwardShare : kForwardWork;
  VerifyCase main;
  main.sizes = problem.sizes;
  main.sizes.batch = 3;
  const std::int64_t step_work = main.sizes.batch * main.sizes.heads * main.sizes.dim *
                                 std::max<std::int64_t>(1, nodes + products * problem.sizes.dim);
  main.sizes.time = std::clamp(work / step_work, kShortest, kLongest);
  if (main.sizes.time % 2 == 0) --main.sizes.time;  // odd: a tail in every stage length
  return with_single_step(main, problem);
}

std::vector<VerifyCase> with_single_step(VerifyCase main, const schedule::Problem& problem) {
  // Gaps keep 16-byte alignment whatever the plan's vectors are.
  main.layout.gap = 16 / kernel::storage_bytes(problem.storage);
  VerifyCase single;
  single.sizes = problem.sizes;
  single.sizes.batch = 1;
  single.sizes.time = 1;
  single.initial_states = false;
  return {main, single};
}

double Verification::worst_ratio() const {
  double worst = 0;
  for (const TensorCheck& check : checks) worst = std::max(worst, check.error / check.limit);
  return worst;
}

std::string Verification::summary() const {
  if (checks.empty()) return "nothing was compared";
  if (!passed) {
    std::string text;
    int shown = 0;
    for (const TensorCheck& check : checks)
      if (!check.passed && shown++ < 3) text += fmt::format("{}{}", text.empty() ? "" : "; ", check.text());
    return text;
  }
  const auto worst = std::max_element(
      checks.begin(), checks.end(),
      [](const TensorCheck& a, const TensorCheck& b) { return a.error / a.limit < b.error / b.limit; });
  return fmt::format("all {} tensors agree; nearest to its limit is {}", checks.size(), worst->text());
}

Result<Verifier> Verifier::make(const step::Cell& cell, const schedule::Problem& problem,
                                const std::vector<VerifyCase>& cases, std::uint64_t seed) {
  Verifier verifier;
  verifier.cell_ = std::make_shared<const step::Cell>(cell);
  verifier.problem_ = problem;
  for (const VerifyCase& shape : cases) {
    CaseData run;
    run.shape = shape;
    Result<runtime::HostProblem> data = runtime::random_problem(
        cell, problem, shape.sizes, {seed++, shape.initial_states, shape.matrix_scale});
    if (!data) return data.error();
    run.data = std::move(data).value();
    if (!shape.initial_states) run.data.loss.last_states.clear();
    Result<runtime::ReferenceResult<double>> exact = runtime::run_reference(cell, problem, run.data);
    if (!exact) return exact.error();
    Result<runtime::ReferenceResult<float>> loop = runtime::run_plain_loop(cell, problem, run.data);
    if (!loop) return loop.error();
    run.exact = std::move(exact).value();
    run.loop = std::move(loop).value();
    verifier.cases_.push_back(std::move(run));
  }
  return verifier;
}

bool Verifier::is_computed(TensorRef ref) const {
  const bool backward = problem_.pass == Pass::Backward;
  switch (ref.role) {
    case Role::Output:
    case Role::History:
    case Role::Products:
    case Role::LastState: return !backward;
    case Role::InputGradient:
    case Role::ParamGradient:
    case Role::InitialStateGradient: return true;
    default: return false;
  }
}

Result<Verifier::Tensors> Verifier::prepare(const CaseData& run, const DevicePlan& plan,
                                            StreamHandle stream) const {
  Tensors tensors;
  for (const executable::Tensor& tensor : plan.tensors()) {
    if (schedule::is_internal(tensor.ref.role)) continue;
    const std::vector<double>* values =
        runtime::given_values(tensor.ref, *cell_, problem_.pass, run.data, run.exact.forward);
    // What the case does not give stays unbound: the plan's zeros are part of the check.
    if (values == nullptr && !is_computed(tensor.ref)) continue;
    Result<DeviceTensor> made =
        DeviceTensor::allocate(tensor.ref, *cell_, problem_, run.shape.sizes, run.shape.layout);
    if (!made) return made.error();
    if (values != nullptr)
      if (Status status = made->upload(*values, stream); !status) return status.error();
    tensors.bindings.set(made->binding());
    tensors.all.push_back(std::move(made).value());
  }
  const auto bytes =
      static_cast<std::size_t>(plan.workspace_bytes(run.shape.sizes.batch, run.shape.sizes.time));
  Result<runtime::DeviceBuffer> workspace = runtime::DeviceBuffer::allocate(bytes);
  if (!workspace) return workspace.error();
  tensors.workspace = std::move(workspace).value();
  if (bytes > 0) tensors.bindings.set_workspace(tensors.workspace.address(), bytes);
  return tensors;
}

Status Verifier::poison(const Tensors& tensors, StreamHandle stream) const {
  for (const DeviceTensor& tensor : tensors.all)
    if (is_computed(tensor.ref()))
      if (Status status = tensor.poison(stream); !status) return status;
  if (tensors.workspace.bytes() == 0) return success();
  return tensors.workspace.fill(0xFF, stream);
}

Result<TensorCheck> Verifier::check_tensor(const CaseData& run, TensorRef ref,
                                           const runtime::ReadBack& result) const {
  const std::string name = schedule::name_of(ref, *cell_);
  const std::vector<double>* exact = runtime::computed_values(ref, *cell_, problem_.pass, run.exact);
  const std::vector<float>* loop = runtime::computed_values(ref, *cell_, problem_.pass, run.loop);
  if (exact == nullptr || loop == nullptr || exact->size() != result.values.size() ||
      loop->size() != exact->size())
    return Error{ErrorKind::Internal,
                 fmt::format("the reference has no result '{}' of {} elements", name, result.values.size()),
                 ""};
  for (const double value : *exact)
    if (!std::isfinite(value))
      return Error{ErrorKind::Input,
                   fmt::format("cell {}: '{}' of the reference is not finite at {}", cell_->name, name,
                               run.shape.text()),
                   "the cell is unstable on random inputs; nothing can be verified"};
  TensorCheck check = compare(name, problem_.storage, result.values, *exact, *loop);
  check.where = run.shape.text();
  check.unwritten = result.unwritten;
  check.gap_writes = result.gap_writes;
  check.passed = check.passed && result.unwritten == 0 && result.gap_writes == 0;
  return check;
}

Status Verifier::check_case(const CaseData& run, const DevicePlan& plan, StreamHandle stream,
                            Verification& into) const {
  const Result<Tensors> tensors = prepare(run, plan, stream);
  if (!tensors) return tensors.error();
  if (Status status = poison(*tensors, stream); !status) return status;
  const step::Sizes& sizes = run.shape.sizes;
  if (Status status = plan.launch(stream, tensors->bindings, sizes.batch, sizes.time); !status) return status;
  if (Status status = runtime::synchronize(stream); !status) return status;
  if (Status status = plan.check(); !status) return status;
  for (const DeviceTensor& tensor : tensors->all) {
    if (!is_computed(tensor.ref())) continue;
    const Result<runtime::ReadBack> result = tensor.download(stream);
    if (!result) return result.error();
    Result<TensorCheck> check = check_tensor(run, tensor.ref(), *result);
    if (!check) return check.error();
    into.checks.push_back(std::move(check).value());
  }
  return success();
}

Result<Verification> Verifier::check(const DevicePlan& plan, StreamHandle stream) const {
  Verification result;
  for (const CaseData& run : cases_)
    if (Status status = check_case(run, plan, stream, result); !status) return status.error();
  result.passed =
      !result.checks.empty() && std::all_of(result.checks.begin(), result.checks.end(),
                                            [](const TensorCheck& check) { return check.passed; });
  return result;
}

Status Verifier::check_repeatable(const DevicePlan& plan, StreamHandle stream, int runs) const {
  for (const CaseData& run : cases_) {
    const Result<Tensors> tensors = prepare(run, plan, stream);
    if (!tensors) return tensors.error();
    std::vector<std::vector<std::byte>> first;
    for (int i = 0; i < runs; ++i) {
      if (Status status = poison(*tensors, stream); !status) return status;
      const step::Sizes& sizes = run.shape.sizes;
      if (Status status = plan.launch(stream, tensors->bindings, sizes.batch, sizes.time); !status)
        return status;
      for (std::size_t k = 0; k < tensors->all.size(); ++k) {
        Result<std::vector<std::byte>> bytes = tensors->all[k].download_bytes(stream);
        if (!bytes) return bytes.error();
        if (i == 0) {
          first.push_back(std::move(bytes).value());
        } else if (*bytes != first[k]) {
          return Error{ErrorKind::Wrong,
                       fmt::format("'{}' differs between run 1 and run {} at {}", tensors->all[k].name(),
                                   i + 1, run.shape.text()),
                       "results must be bit-identical: look for a race in the kernel"};
        }
      }
      if (Status status = plan.check(); !status) return status;
    }
  }
  return success();
}

}  // namespace rondo::tuner
