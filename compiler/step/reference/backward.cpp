#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "compiler/step/derive.h"
#include "compiler/step/extents.h"
#include "compiler/step/reference/binding.h"
#include "compiler/step/reference/executor.h"
#include "compiler/step/reference/flags.h"
#include "compiler/step/reference/interpreter.h"
#include "compiler/step/reference/matrix_sums.h"
#include "compiler/step/reference/state.h"
#include "compiler/support/index.h"
#include "compiler/support/parallel_for.h"

namespace rondo::step {

namespace {

using namespace detail;

// Place of steady errors that is no node's (Noise::add).
constexpr std::uint64_t kParamSums = std::uint64_t{3} << 40;

std::vector<NodeId> roots_of(const BackwardStep& step) {
  std::vector<NodeId> roots;
  for (const std::vector<Row>* rows : {&step.previous_states, &step.inputs, &step.params})
    for (const Row& row : *rows) roots.push_back(row.value);
  for (const MatrixGradient& matrix : step.matrices) roots.insert(roots.end(), {matrix.left, matrix.right});
  return roots;
}

template <class Real>
struct BackwardRun {
  const Program& program;
  const BackwardStep& step;
  std::vector<const Real*> inputs, params, initial, history, loss_outputs, loss_states;
  std::vector<Real*> input_gradients, initial_gradients;
  std::vector<std::vector<Real*>> param_gradients;  // by part of the batch, then TensorId; but of matrices
  std::vector<Real> zeros;                          // as long as the longest block
  std::vector<const Real*> flags = {};              // by TensorId
  const RunOptions<Real>* options = nullptr;
  MatrixSums<Real>* matrix_sums = nullptr;

  std::int64_t parts() const { return static_cast<std::int64_t>(param_gradients.size()); }
};

// One of the runs at work on the batch elements of one part for one head.
template <class Real>
class BackwardLane {
 public:
  explicit BackwardLane(const BackwardRun<Real>& run)
      : run_(run),
        sources_(cell().tensors.size()),
        interpreter_(run.program, *run.options, sources_),
        carried_(cell(), sizes()),
        previous_(cell(), sizes()),
        flags_(cell(), sizes(), run.flags) {}

  Interpreter<Real>& interpreter() { return interpreter_; }

  void begin(std::int64_t part, std::int64_t head) {
    part_ = part;
    sources_.head = head;
    for (const TensorId id : run_.program.params)
      sources_.leaf[at(id)] = run_.params[at(id)] + head * block_of(id);
    interpreter_.noise().begin(part * sizes().heads + head);
    factors_ = &run_.matrix_sums->begin(part, head);
  }
  void begin_row(std::int64_t batch) {
    sources_.row = batch;
    for (const TensorId id : run_.program.states) {
      const Real* loss = run_.loss_states[at(id)];
      carried_.assign(id, loss == nullptr ? nullptr : loss + item() * block_of(id));
    }
  }
  // Points the sources at what step t reads; the states before it are those after the step before, if it is
  // not the first of the walk.
  void locate(std::int64_t t, bool first) {
    const std::int64_t head = sources_.head;
    place_ = (sources_.row * sizes().time + t) * sizes().heads + head;
    const bool back = cell().walks_back(head, sizes().heads);
    flags_.locate(sources_.row, t, sources_);
    sources_.step = Flags<Real>::step_of(cell(), sizes(), head, t);  // of the walk
    for (const TensorId id : run_.program.inputs)
      sources_.leaf[at(id)] = run_.inputs[at(id)] + place_ * block_of(id);
    for (const TensorId id : run_.program.states) {
      const std::size_t index = at(id);
      const std::int64_t before = back ? place_ + sizes().heads : place_ - sizes().heads;
      if (!first)
        sources_.leaf[index] = run_.history[index] + before * block_of(id);
      else
        sources_.leaf[index] =
            run_.initial[index] == nullptr ? run_.zeros.data() : run_.initial[index] + item() * block_of(id);
      sources_.next_gradient[index] = carried_.of(id);
    }
    for (const TensorId id : run_.program.outputs) {
      const Real* loss = run_.loss_outputs[at(id)];
      sources_.output_gradient[at(id)] = loss == nullptr ? run_.zeros.data() : loss + place_ * block_of(id);
    }
  }
  // Takes the results of that step.
  void store() {
    for (const Row& row : run_.step.previous_states)
      std::copy_n(interpreter_.value(row.value), width_of(row),
                  previous_.of(row.tensor) + row.row * width_of(row));
    for (const Row& row : run_.step.inputs) {
      Real* to =
          run_.input_gradients[at(row.tensor)] + place_ * block_of(row.tensor) + row.row * width_of(row);
      std::copy_n(interpreter_.value(row.value), width_of(row), to);
    }
    const std::vector<Real*>& sums = run_.param_gradients[at(part_)];
    for (const Row& row : run_.step.params) {
      Real* sum = sums[at(row.tensor)] + sources_.head * block_of(row.tensor) + row.row * width_of(row);
      const Real* value = interpreter_.value(row.value);
      for (std::int64_t i = 0; i < width_of(row); ++i) sum[i] += value[i];
      if (Noise& noise = interpreter_.noise())
        noise.store(sum, at(width_of(row)), kParamSums + static_cast<std::uint64_t>(row.value),
                    scalar::Storage::F32);
    }
    for (std::size_t k = 0; k < run_.step.matrices.size(); ++k) {
      const MatrixGradient& matrix = run_.step.matrices[k];
      factors_->add(k, interpreter_.value(matrix.left), interpreter_.value(matrix.right),
                    interpreter_.noise());
    }
    carried_.swap(previous_);
  }
  void end_row() {
    for (const TensorId id : run_.program.states)
      std::copy_n(carried_.of(id), carried_.size(id), run_.initial_gradients[at(id)] + item() * block_of(id));
  }
  void end() {
    factors_->end(interpreter_.noise());
    run_.matrix_sums->end(part_, sources_.head);
  }

 private:
  const Cell& cell() const { return run_.program.cell; }
  const Sizes& sizes() const { return run_.program.sizes; }
  std::int64_t item() const { return sources_.row * sizes().heads + sources_.head; }
  std::int64_t block_of(TensorId id) const { return block(cell().tensor(id), sizes()); }
  std::int64_t width_of(const Row& row) const { return width(cell().tensor(row.tensor), sizes()); }

  const BackwardRun<Real>& run_;
  Sources<Real> sources_;
  Interpreter<Real> interpreter_;
  StateBlock<Real> carried_, previous_;
  Flags<Real> flags_;
  std::int64_t part_ = 0, place_ = 0;  // place_ counts (batch, step, head)
  Factors<Real>* factors_ = nullptr;   // of the part and head
};

// All steps, last to first, of the batch elements of one part for one head; of all runs together.
template <class Real>
class BackwardWorker {
 public:
  explicit BackwardWorker(const std::vector<BackwardRun<Real>>& runs)
      : cell_(runs.front().program.cell),
        sizes_(runs.front().program.sizes),
        parts_(runs.front().parts()),
        lanes_(runs.begin(), runs.end()),
        together_(interpreters_of<Real>(lanes_)) {}

  void operator()(std::int64_t item) {
    const std::int64_t part = item / sizes_.heads, head = item % sizes_.heads;
    for (BackwardLane<Real>& lane : lanes_) lane.begin(part, head);
    together_.run_once();
    const std::int64_t end = (part + 1) * sizes_.batch / parts_;
    for (std::int64_t batch = part * sizes_.batch / parts_; batch < end; ++batch) sweep(batch, head);
    for (BackwardLane<Real>& lane : lanes_) lane.end();
  }

 private:
  void sweep(std::int64_t batch, std::int64_t head) {
    for (BackwardLane<Real>& lane : lanes_) lane.begin_row(batch);
    for (std::int64_t done = sizes_.time - 1; done >= 0; --done) {
      const std::int64_t t = Flags<Real>::step_of(cell_, sizes_, head, done);
      for (BackwardLane<Real>& lane : lanes_) lane.locate(t, done == 0);
      together_.run_step();
      for (BackwardLane<Real>& lane : lanes_) lane.store();
    }
    for (BackwardLane<Real>& lane : lanes_) lane.end_row();
  }

  const Cell& cell_;
  const Sizes sizes_;
  std::int64_t parts_;
  std::deque<BackwardLane<Real>> lanes_;  // which stay where they are
  Together<Real> together_;
};

template <class Real>
void reduce_parts(std::vector<TensorMap<Real>>& parts) {
  for (std::size_t part = 1; part < parts.size(); ++part)
    for (auto& [name, sums] : parts[part])
      std::transform(sums.begin(), sums.end(), parts[0][name].begin(), parts[0][name].begin(),
                     [](Real a, Real b) { return b + a; });
}

// What a kernel reads of the history is as it was stored.
template <class Real>
void round_history(TensorMap<Real>& history, const Perturbation* perturbation) {
  if (perturbation == nullptr || perturbation->exact_history) return;
  Noise noise(perturbation);
  std::int64_t item = -1;  // no item of the sweep
  for (auto& [name, values] : history) {
    noise.begin(item--);
    const bool kept = perturbation->kept_in_fp32.count(name) != 0;
    noise.store(values.data(), values.size(), 0, kept ? scalar::Storage::F32 : perturbation->stored);
  }
}

// A run with all it reads but the history and its options; pointers into `arguments` and `loss`.
template <class Real>
Result<BackwardRun<Real>> bind_run(const Program& program, const BackwardStep& step,
                                   const ForwardArguments<Real>& arguments, const LossGradients<Real>& loss) {
  const Cell& cell = program.cell;
  BackwardRun<Real> run{program, step, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  const auto take = [&](std::vector<const Real*>& to, TensorKind kind, const TensorMap<Real>& from,
                        const char* what, Absent absent) -> Status {
    auto bound = bind(cell, program.sizes, kind, from, what, absent);
    if (!bound) return bound.error();
    to = std::move(*bound);
    return success();
  };
  const std::vector<Status> statuses{
      take(run.inputs, TensorKind::Input, arguments.inputs, "input", Absent::Error),
      take(run.params, TensorKind::Param, arguments.params, "param", Absent::Error),
      take(run.initial, TensorKind::State, arguments.initial_states, "initial state", Absent::Zero),
      take(run.loss_outputs, TensorKind::Output, loss.outputs, "loss gradient of output", Absent::Zero),
      take(run.loss_states, TensorKind::State, loss.last_states, "loss gradient of last state",
           Absent::Zero)};
  for (const Status& status : statuses)
    if (!status) return status.error();
  auto flags = bind_flags(cell, program.sizes, arguments.flags);
  if (!flags) return flags.error();
  run.flags = std::move(*flags);
  std::int64_t longest = 0;
  for (const Tensor& tensor : cell.tensors) {
    if (tensor.tail != Tail::Matrix) longest = std::max(longest, block(tensor, program.sizes));
  }
  run.zeros.assign(at(longest), Real{0});
  return run;
}

// What a run writes.
template <class Real>
struct Written {
  BackwardResult<Real> result;
  std::vector<TensorMap<Real>> parts;  // of the gradients of parameters; of matrices only the first
  std::optional<MatrixSums<Real>> matrix_sums;

  Written(BackwardRun<Real>& run, const Cell& cell, const Sizes& sizes)
      : parts(at(std::min(sizes.batch, kBatchParts))) {
    result.inputs = allocate<Real>(cell, sizes, TensorKind::Input);
    result.initial_states = allocate<Real>(cell, sizes, TensorKind::State);
    run.input_gradients = pointers(cell, TensorKind::Input, result.inputs);
    run.initial_gradients = pointers(cell, TensorKind::State, result.initial_states);
    for (TensorMap<Real>& part : parts) {
      part = allocate<Real>(cell, sizes, TensorKind::Param, false);
      run.param_gradients.push_back(pointers(cell, TensorKind::Param, part));
    }
    run.matrix_sums = &matrix_sums.emplace(cell, run.step, sizes, *run.options, run.parts(), parts.front());
  }
  BackwardResult<Real> finish() {
    matrix_sums->finish();
    reduce_parts(parts);
    result.params = std::move(parts[0]);
    return std::move(result);
  }
};

// The sweeps over the states of histories, which are checked: of each run its own. The runs differ in their
// perturbation alone.
template <class Real>
Status sweep_back(const Cell& given, const Sizes& sizes, const ForwardArguments<Real>& arguments,
                  const LossGradients<Real>& loss, std::vector<TensorMap<Real>> histories,
                  std::vector<RunOptions<Real>> options, const TakeGradients<Real>& take) {
  const Cell cell = with_extents(given, arguments.constants);
  const BackwardStep step = backward_step(cell);
  const Program program(cell, step.graph, sizes, constant_values(cell, arguments.constants), roots_of(step));
  std::optional<Matrices<Real>> own;
  share_matrices(options, cell, sizes, arguments.params, own);
  auto bound = bind_run(program, step, arguments, loss);
  if (!bound) return bound.error();
  const TensorMap<Real> filled = fill_first(cell, sizes, arguments.constants, bound->initial);
  std::vector<BackwardRun<Real>> runs(options.size(), *bound);
  std::deque<Written<Real>> written;  // each stays where it is
  for (std::size_t i = 0; i < runs.size(); ++i) {
    round_history(histories[i], options[i].perturbation);
    const std::vector<Real*> states = pointers(cell, TensorKind::State, histories[i]);
    runs[i].history.assign(states.begin(), states.end());
    runs[i].options = &options[i];
    written.emplace_back(runs[i], cell, sizes);
  }
  const int threads = options.front().threads;
  parallel_for(runs.front().parts() * sizes.heads, threads, [&]() -> Worker {
    return [worker = std::make_shared<BackwardWorker<Real>>(runs)](std::int64_t item) { (*worker)(item); };
  });
  for (std::size_t i = 0; i < written.size(); ++i) take(i, written[i].finish());
  return success();
}

template <class Real>
Status check_history(const Cell& cell, const Sizes& sizes, const TensorMap<Real>& history) {
  for (const TensorId id : cell.of_kind(TensorKind::State)) {
    const Tensor& state = cell.tensor(id);
    const auto found = history.find(state.name);
    const std::size_t given = found == history.end() ? 0 : found->second.size(),
                      wanted = at(history_count(state, sizes));
    if (given != wanted)
      return Error{
          ErrorKind::Input,
          fmt::format("the history of state {} has {} elements, {} are needed", state.name, given, wanted),
          "pass the state after each step, [B, T, H, rows, D]"};
  }
  return success();
}

}  // namespace

template <class Real>
Result<BackwardResult<Real>> run_backward(const Cell& cell, const Sizes& sizes,
                                          const ForwardArguments<Real>& arguments,
                                          const LossGradients<Real>& loss, const RunOptions<Real>& options) {
  RunOptions<Real> forward_options = options;
  forward_options.keep_history = true;
  forward_options.perturbation = nullptr;  // a backward pass is given the states of the forward pass
  auto forward = run_forward(cell, sizes, arguments, forward_options);
  if (!forward) return forward.error();
  return run_backward_from(cell, sizes, arguments, loss, std::move(forward->history), options);
}

template <class Real>
Result<BackwardResult<Real>> run_backward_from(const Cell& cell, const Sizes& sizes,
                                               const ForwardArguments<Real>& arguments,
                                               const LossGradients<Real>& loss, TensorMap<Real> history,
                                               const RunOptions<Real>& options) {
  if (const Status status = check_run(cell, sizes, arguments.constants); !status) return status.error();
  if (const Status status = check_history(with_extents(cell, arguments.constants), sizes, history); !status)
    return status.error();
  std::vector<TensorMap<Real>> histories;
  histories.push_back(std::move(history));
  BackwardResult<Real> result;
  const Status status =
      sweep_back<Real>(cell, sizes, arguments, loss, std::move(histories), {options},
                       [&](std::size_t /*run*/, BackwardResult<Real> made) { result = std::move(made); });
  if (!status) return status.error();
  return result;
}

template <class Real>
Status run_backward_perturbed(const Cell& cell, const Sizes& sizes, const ForwardArguments<Real>& arguments,
                              const LossGradients<Real>& loss, const TensorMap<Real>& history,
                              std::span<const Perturbation> perturbations, const TakeGradients<Real>& take,
                              const RunOptions<Real>& options) {
  if (const Status status = check_run(cell, sizes, arguments.constants); !status) return status.error();
  if (const Status status = check_history(with_extents(cell, arguments.constants), sizes, history); !status)
    return status.error();
  std::vector<TensorMap<Real>> histories(perturbations.size(), history);
  return sweep_back(cell, sizes, arguments, loss, std::move(histories), options_of(options, perturbations),
                    take);
}

template Result<BackwardResult<float>> run_backward(const Cell&, const Sizes&, const ForwardArguments<float>&,
                                                    const LossGradients<float>&, const RunOptions<float>&);
template Result<BackwardResult<double>> run_backward(const Cell&, const Sizes&,
                                                     const ForwardArguments<double>&,
                                                     const LossGradients<double>&, const RunOptions<double>&);
template Result<BackwardResult<float>> run_backward_from(const Cell&, const Sizes&,
                                                         const ForwardArguments<float>&,
                                                         const LossGradients<float>&, TensorMap<float>,
                                                         const RunOptions<float>&);
template Result<BackwardResult<double>> run_backward_from(const Cell&, const Sizes&,
                                                          const ForwardArguments<double>&,
                                                          const LossGradients<double>&, TensorMap<double>,
                                                          const RunOptions<double>&);

template Status run_backward_perturbed(const Cell&, const Sizes&, const ForwardArguments<float>&,
                                       const LossGradients<float>&, const TensorMap<float>&,
                                       std::span<const Perturbation>, const TakeGradients<float>&,
                                       const RunOptions<float>&);
template Status run_backward_perturbed(const Cell&, const Sizes&, const ForwardArguments<double>&,
                                       const LossGradients<double>&, const TensorMap<double>&,
                                       std::span<const Perturbation>, const TakeGradients<double>&,
                                       const RunOptions<double>&);

}  // namespace rondo::step
