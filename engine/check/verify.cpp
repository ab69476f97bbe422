#include "engine/check/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <iterator>

#include "compiler/scalar/storage.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/support/parallel_for.h"
#include "engine/measure/measure.h"

namespace rondo::engine {
using runtime::Device;
using runtime::LoadedPlan;
using schedule::Pass;
using schedule::Role;
using schedule::TensorRef;

namespace {

constexpr std::size_t kMostCases = 12;  // whose data are kept

// Drawn as numbers of the storage type, or as no number past the end of a row.
bool is_drawn(TensorRef ref) { return ref.role == Role::Input || ref.role == Role::OutputGradient; }

}  // namespace

void Verification::finish() {
  passed = std::all_of(checks.begin(), checks.end(), [](const TensorCheck& check) { return check.passed; }) &&
           !checks.empty() && untold().empty();
}

std::vector<std::string> Verification::untold() const {
  const bool several = std::ranges::any_of(checks, [](const TensorCheck& check) { return check.steps > 1; });
  std::vector<std::string> names;
  for (const TensorCheck& check : checks) {
    const bool told = std::ranges::any_of(checks, [&](const TensorCheck& other) {
      return other.name == check.name && other.said() == Said::Agrees && (!several || other.steps > 1);
    });
    if (!told && std::ranges::count(names, check.name) == 0) names.push_back(check.name);
  }
  return names;
}

std::int64_t Verification::count(Said said) const {
  return std::ranges::count_if(checks, [&](const TensorCheck& check) { return check.said() == said; });
}

std::string Verification::counts() const {
  return fmt::format("{} agree, {} wrong, {} cannot tell", count(Said::Agrees), count(Said::Wrong),
                     count(Said::CannotTell));
}

std::string Verification::extent() const {
  std::string text;
  std::int64_t shapes = 0;
  for (const std::string& one : covered) {
    const bool left_out = one.starts_with(kNotCovered);
    shapes += !left_out;
    if (left_out) text += ", " + one.substr(0, one.find(':'));
  }
  return fmt::format("{} shape{}{}", shapes, shapes == 1 ? "" : "s", text);
}

Said Verification::said() const {
  return passed ? Said::Agrees : count(Said::Wrong) > 0 ? Said::Wrong : Said::CannotTell;
}

bool Verification::says_nothing() const {
  return !checks.empty() && count(Said::CannotTell) == static_cast<std::int64_t>(checks.size());
}

std::string Verification::summary() const {
  if (checks.empty()) return "nothing was compared";
  if (said() == Said::CannotTell)
    return fmt::format("{} cannot be told from wrong ones: too ill-conditioned to be compared ({})",
                       fmt::join(untold(), ", "), counts());
  if (!passed) {
    std::string text;
    int shown = 0;
    for (const TensorCheck& check : checks)
      if (!check.passed && shown++ < 3) text += fmt::format("{}{}", text.empty() ? "" : "; ", check.text());
    return text;
  }
  const auto worst = std::ranges::max_element(checks, [](const TensorCheck& a, const TensorCheck& b) {
    return (a.ill_conditioned ? 0 : a.ratio) < (b.ill_conditioned ? 0 : b.ratio);
  });
  const std::int64_t ill = count(Said::CannotTell);
  return fmt::format("all {} tensors agree; nearest to its limit is {}", count(Said::Agrees), worst->text()) +
         (ill > 0 ? fmt::format("; {} are too ill-conditioned to be compared", ill) : "");
}

Result<Verifier> Verifier::make(const schedule::Task& task, const std::vector<VerifyCase>& cases,
                                std::uint64_t seed, Given given) {
  Verifier verifier;
  verifier.task_ = std::make_shared<const schedule::Task>(task);
  verifier.seed_ = seed;
  verifier.given_ = std::move(given);
  verifier.decisions_ = has_decisions(task.written, task.problem.pass);
  if (Status status = verifier.add(cases); !status) return status.error();
  return verifier;
}

const Verifier::CaseData* Verifier::find(const VerifyCase& shape) const {
  const auto found =
      std::ranges::find_if(cases_, [&](const CaseData& run) { return run.shape.text() == shape.text(); });
  return found == cases_.end() ? nullptr : &*found;
}

Status Verifier::add(const std::vector<VerifyCase>& cases) {
  std::vector<CaseData> made;
  std::vector<std::uint64_t> seeds;  // of the errors; of the data one less
  for (const VerifyCase& shape : cases) {
    const auto is_made = [&](const CaseData& run) { return run.shape.text() == shape.text(); };
    if (find(shape) != nullptr || std::ranges::any_of(made, is_made)) continue;
    made.emplace_back().shape = shape;
    seeds.push_back(++seed_);
  }
  if (Status status = compute(made, seeds); !status) return status.error();
  std::move(made.begin(), made.end(), std::back_inserter(cases_));
  if (cases_.size() > kMostCases)
    cases_.erase(cases_.begin(), cases_.end() - static_cast<std::ptrdiff_t>(kMostCases));
  return success();
}

Status Verifier::compute_exact(CaseData& run, std::uint64_t seed) const {
  const VerifyCase& shape = run.shape;
  Result<HostProblem> data = random_problem(*task_, shape.sizes,
                                            {seed, shape.initial_states, shape.matrix_scale,
                                             shape.arbitrary_states, given_.get(), shape.data_scale});
  if (!data) return data.error();
  run.data = std::move(data).value();
  if (shape.stored_states) store_states(*task_, run.data);
  run.data.erring_states = shape.erring_states;
  if (!shape.initial_states) run.data.loss.last_states.clear();
  Result<ReferenceResult> exact = run_reference(*task_, run.data);
  if (!exact) return exact.error();
  run.exact = std::move(exact).value();
  return success();
}

// Cases side by side: one of few batch rows has no work for all cores.
Status Verifier::compute(std::vector<CaseData>& made, const std::vector<std::uint64_t>& seeds) const {
  std::vector<Status> done(made.size(), success());
  const auto compute_one = [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    done[at] = compute_exact(made[at], seeds[at] - 1);
  };
  parallel_for(static_cast<std::int64_t>(made.size()), 0, [&]() -> Worker { return compute_one; });
  std::vector<SpreadCase> measured;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (!done[i]) return done[i];
    if (Status status = check_all_numbers(made[i]); !status) return status;
    measured.push_back({&made[i].data, &made[i].exact, seeds[i]});
  }
  Result<std::vector<Spreads>> spreads = measure_spreads(*task_, measured);
  if (!spreads) return spreads.error();
  for (std::size_t i = 0; i < made.size(); ++i) made[i].spreads = std::move((*spreads)[i]);
  return success();
}

Status Verifier::check_all_numbers(const CaseData& run) const {
  for (const TensorRef ref : tensors_of_pass(*task_)) {
    if (is_drawn(ref)) continue;
    for (const auto* values :
         {given_values(ref, task_->written, task_->problem.pass, run.data, run.exact.forward),
          computed_values(ref, task_->written, task_->problem.pass, run.exact)})
      if (values != nullptr)
        if (Status status = check_numbers(ref, run.shape, *values); !status) return status;
  }
  return success();
}

bool Verifier::is_computed(TensorRef ref) const {
  const bool backward = task_->problem.pass == Pass::Backward;
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

Result<Verifier::Tensors> Verifier::prepare(const CaseData& run, const runtime::Device& device,
                                            const runtime::LoadedPlan& plan) const {
  Tensors tensors;
  for (const executable::Tensor& tensor : plan.tensors()) {
    if (schedule::is_internal(tensor.ref.role)) continue;
    const std::vector<double>* values =
        given_values(tensor.ref, task_->written, task_->problem.pass, run.data, run.exact.forward);
    // What the case does not give stays unbound: the plan's zeros are part of the check.
    if (values == nullptr && !is_computed(tensor.ref)) continue;
    Result<DeviceTensor> made =
        DeviceTensor::allocate(device, tensor.ref, *task_, run.shape.sizes, run.shape.layout);
    if (!made) return made.error();
    if (values != nullptr)
      if (Status status = made->upload(*values); !status) return status.error();
    tensors.bindings.set(made->binding());
    tensors.all.push_back(std::move(made).value());
  }
  const auto bytes =
      static_cast<std::size_t>(plan.workspace_bytes(run.shape.sizes.batch, run.shape.sizes.time));
  Result<runtime::Memory> workspace = device.allocate(bytes);
  if (!workspace) return workspace.error();
  tensors.workspace = std::move(workspace).value();
  if (bytes > 0) tensors.bindings.set_workspace(tensors.workspace.address(), bytes);
  return tensors;
}

Status Verifier::poison(const Tensors& tensors, const runtime::Device& device) const {
  for (const DeviceTensor& tensor : tensors.all)
    if (is_computed(tensor.ref()))
      if (Status status = tensor.poison(); !status) return status;
  if (tensors.workspace.bytes() == 0) return success();
  return device.fill(tensors.workspace.address(), 0xFF, tensors.workspace.bytes());
}

Status Verifier::check_numbers(TensorRef ref, const VerifyCase& shape,
                               const std::vector<double>& values) const {
  const kernel::Storage stored = schedule::storage_of(ref, *task_);
  for (const double value : values)
    if (!std::isfinite(scalar::nearest(stored, value)))
      return Error{ErrorKind::Input,
                   fmt::format("cell {}: '{}' of the reference is {} at {}, no number of {}{}",
                               task_->written.name, schedule::name_of(ref, task_->written), value,
                               shape.text(), scalar::storage_name(stored),
                               stored == kernel::Storage::F16 ? ", which ends at 65504" : ""),
                   fmt::format("the reference's own numbers are of no use, so no kernel can be compared: {}",
                               kOtherData)};
  return success();
}

Result<TensorCheck> Verifier::check_tensor(const CaseData& run, TensorRef ref, const ReadBack& result) const {
  const std::string name = schedule::name_of(ref, task_->written);
  const std::vector<double>* exact = computed_values(ref, task_->written, task_->problem.pass, run.exact);
  const auto spread = run.spreads.find(ref);
  if (exact == nullptr || spread == run.spreads.end() || exact->size() != result.values.size())
    return Error{ErrorKind::Internal,
                 fmt::format("the reference has no result '{}' of {} elements", name, result.values.size())};
  const kernel::Storage stored = schedule::storage_of(ref, *task_);
  const Tolerance tolerance{&spread->second, decisions_, stored, task_->problem.storage,
                            run.exact_was_stored};
  TensorCheck check = compare(name, tolerance, result.values, *exact);
  check.where = run.shape.text();
  check.steps = run.shape.sizes.time;
  check.unwritten = result.unwritten;
  check.gap_writes = result.gap_writes;
  check.passed = check.passed && result.unwritten == 0 && result.gap_writes == 0;
  return check;
}

Result<Verifier::Results> Verifier::run_case(const CaseData& run, const runtime::Device& device,
                                             const runtime::LoadedPlan& plan) const {
  const Result<Tensors> tensors = prepare(run, device, plan);
  if (!tensors) return tensors.error();
  if (Status status = poison(*tensors, device); !status) return status.error();
  const step::Sizes& sizes = run.shape.sizes;
  auto turn = device.turn();  // what others time is not to wait for these kernels
  if (Status status = plan.launch(tensors->bindings, sizes.batch, sizes.time); !status) return status.error();
  if (Status status = device.wait(); !status) return status.error();
  turn.reset();
  if (Status status = plan.check(); !status) return status.error();
  Results results{&run, {}};
  for (const DeviceTensor& tensor : tensors->all) {
    if (!is_computed(tensor.ref())) continue;
    Result<ReadBack> result = tensor.download();
    if (!result) return result.error();
    results.tensors.emplace_back(tensor.ref(), std::move(result).value());
  }
  return results;
}

Status Verifier::compare_case(const Results& results, Verification& into) const {
  const CaseData& run = *results.run;
  for (const auto& [ref, result] : results.tensors) {
    Result<TensorCheck> check = check_tensor(run, ref, result);
    if (!check) return check.error();
    into.checks.push_back(std::move(check).value());
  }
  into.covered.push_back(fmt::format("{}: {}", run.shape.text(), run.shape.covers));
  return success();
}

// The matrices of a large head are millions of numbers, so comparing a case takes longer than running it.
Status Verifier::check_cases(const std::vector<const CaseData*>& cases, const runtime::Device& device,
                             const runtime::LoadedPlan& plan, Verification& into) const {
  std::vector<std::future<Result<Verification>>> compared;
  for (const CaseData* run : cases) {
    Result<Results> results = run_case(*run, device, plan);
    if (!results) return results.error();
    compared.push_back(std::async(std::launch::async,
                                  [this, results = std::move(results).value()]() -> Result<Verification> {
                                    Verification found;
                                    if (Status status = compare_case(results, found); !status)
                                      return status.error();
                                    return found;
                                  }));
  }
  for (std::future<Result<Verification>>& one : compared) {
    Result<Verification> found = one.get();
    if (!found) return found.error();
    std::ranges::move(found->checks, std::back_inserter(into.checks));
    std::ranges::move(found->covered, std::back_inserter(into.covered));
  }
  return success();
}

Result<Verification> Verifier::check(const runtime::Device& device, const runtime::LoadedPlan& plan) const {
  std::vector<const CaseData*> all;
  for (const CaseData& run : cases_) all.push_back(&run);
  Verification result;
  if (Status status = check_cases(all, device, plan, result); !status) return status.error();
  result.finish();
  return result;
}

Result<Verification> Verifier::check(const runtime::Device& device, const runtime::LoadedPlan& plan,
                                     const std::vector<VerifyCase>& cases) {
  if (Status status = add(cases); !status) return status.error();
  std::vector<const CaseData*> some;
  for (const VerifyCase& shape : cases)
    if (const CaseData* run = find(shape)) some.push_back(run);
  Verification result;
  if (Status status = check_cases(some, device, plan, result); !status) return status.error();
  result.finish();
  if (Status status = look_again(device, plan, cases, result); !status) return status.error();
  return result;
}

Status Verifier::look_again(const runtime::Device& device, const runtime::LoadedPlan& plan,
                            const std::vector<VerifyCase>& cases, Verification& into) {
  if (cases.empty()) return success();
  for (const VerifyCase& better : better_cases(longest_case(cases), task_->problem.pass, decisions_)) {
    if (into.said() != Said::CannotTell) return success();
    if (!add({better})) continue;  // its numbers are of no use
    if (Status status = check_cases({find(better)}, device, plan, into); !status) return status;
    into.finish();
  }
  return success();
}

Status Verifier::check_repeatable(const runtime::Device& device, const runtime::LoadedPlan& plan,
                                  int runs) const {
  for (const CaseData& run : cases_) {
    const Result<Tensors> tensors = prepare(run, device, plan);
    if (!tensors) return tensors.error();
    std::vector<std::vector<std::byte>> first;
    for (int i = 0; i < runs; ++i) {
      if (Status status = poison(*tensors, device); !status) return status;
      const step::Sizes& sizes = run.shape.sizes;
      if (Status status = plan.launch(tensors->bindings, sizes.batch, sizes.time); !status) return status;
      for (std::size_t k = 0; k < tensors->all.size(); ++k) {
        Result<std::vector<std::byte>> bytes = tensors->all[k].download_bytes();
        if (!bytes) return bytes.error();
        if (i == 0) {
          first.push_back(std::move(bytes).value());
        } else if (*bytes != first[k]) {
          // Threads that gave up waiting explain a difference.
          if (Status status = plan.check(); !status) return status;
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

}  // namespace rondo::engine
