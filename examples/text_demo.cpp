// minGRU over the bytes of a text: makes the cell's input, and checks and sums up a run of `rondo` over it.
// tools/demo calls both.
//
//   text_demo embed TEXT.txt X.npy D                    prints the shape, as --shape takes it
//   text_demo check TEXT.txt X.npy H.npy TUNED.json RUN.json    of `rondo tune --json` and `rondo run --json`
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "compiler/scalar/storage.h"
#include "compiler/schedule/analysis/compulsory_bytes.h"
#include "compiler/schedule/plan/simulate_plan.h"
#include "compiler/support/text_file.h"
#include "engine/arrays/run_arrays.h"
#include "engine/arrays/staged_files.h"
#include "engine/check/compare.h"
#include "engine/data/host_problem.h"
#include "engine/emit/emit_stages.h"
#include "engine/plan/ready_plan.h"
#include "engine/request/load_cell.h"
#include "engine/request/problem_text.h"

namespace rondo::examples {
namespace {

using nlohmann::json;

constexpr std::int64_t kRows = 2;            // of minGRU's input: update gate, candidate
constexpr std::int64_t kSimulatedBatch = 2;  // what of the text the simulator runs over
constexpr std::int64_t kSimulatedSteps = 64;

Result<json> read_json(const std::string& path) {
  const Result<std::string> text = read_text_file(path);
  if (!text) return text.error();
  json value = json::parse(*text, nullptr, false);
  if (value.is_discarded()) return Error{ErrorKind::Input, fmt::format("'{}' is no JSON", path), ""};
  return value;
}

// The paragraphs of a text, each one sequence.
std::vector<std::string> paragraphs(const std::string& text) {
  std::vector<std::string> result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find("\n\n", begin), text.size());
    if (end > begin) result.push_back(text.substr(begin, end - begin));
    begin = std::min(text.find_first_not_of('\n', end), text.size());
  }
  return result;
}

// Uniform in [-1, 1), a function of its arguments alone: the finaliser of SplitMix64 (Steele, Lea, Flood
// 2014).
double noise(std::uint64_t byte, std::uint64_t row, std::uint64_t channel) {
  std::uint64_t z = ((byte * 2 + row) << 32 | channel) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-52 - 1.0;
}

// An untrained embedding: what a linear layer with random weights makes of a one-hot byte. The gates' bias of
// -2 lets a state remember some eight bytes.
double embedded(unsigned char byte, std::int64_t row, std::int64_t channel) {
  const double value = noise(byte, static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(channel));
  return row == 0 ? -2 + 1.5 * value : value;
}

// x[B, T, 1, 2, D] in bf16; sequences shorter than the longest end in line breaks.
engine::NpyArray embed(const std::vector<std::string>& sequences, std::int64_t dim) {
  std::size_t steps = 0;
  for (const std::string& sequence : sequences) steps = std::max(steps, sequence.size());
  engine::NpyArray x;
  x.descr = "<V2";
  x.shape = {static_cast<std::int64_t>(sequences.size()), static_cast<std::int64_t>(steps), 1, kRows, dim};
  std::string data;
  data.reserve(static_cast<std::size_t>(x.elements()) * 2);
  for (const std::string& sequence : sequences)
    for (std::size_t t = 0; t < steps; ++t)
      for (std::int64_t row = 0; row < kRows; ++row)
        for (std::int64_t d = 0; d < dim; ++d) {
          const auto byte = static_cast<unsigned char>(t < sequence.size() ? sequence[t] : '\n');
          const std::uint16_t bits =
              scalar::half_bits(scalar::Storage::BF16, static_cast<float>(embedded(byte, row, d)));
          data += static_cast<char>(bits & 0xFF);
          data += static_cast<char>(bits >> 8);
        }
  x.data = std::move(data);
  return x;
}

Status run_embed(const std::string& text_file, const std::string& out, const std::string& dim_text) {
  const Result<std::string> text = read_text_file(text_file);
  if (!text) return text.error();
  const std::vector<std::string> sequences = paragraphs(*text);
  const std::int64_t dim = std::atoll(dim_text.c_str());
  if (sequences.empty() || dim < 1)
    return Error{ErrorKind::Input, "there must be a paragraph of text and a channel at least", ""};
  const engine::NpyArray x = embed(sequences, dim);
  if (Status status = engine::write_output(out, engine::to_npy(x)); !status) return status;
  fmt::print("B={},T={},H=1,D={}\n", x.shape[0], x.shape[1], dim);
  return success();
}

// The run, and what it should have given.
struct Run {
  schedule::Task task;
  engine::HostProblem data;
  engine::ReferenceResult exact;
};

// Of the output h, with what a correct kernel may differ by.
Result<engine::TensorCheck> check_output(const Run& run, const schedule::Problem& problem,
                                         const engine::HostProblem& data, std::span<const double> got,
                                         const engine::ReferenceResult& exact) {
  const auto spreads = engine::measure_spreads(run.task.with(problem), data, exact, 1);
  if (!spreads) return spreads.error();
  const schedule::TensorRef h{schedule::Role::Output,
                              run.task.written.of_kind(step::TensorKind::Output).front()};
  const engine::Tolerance tolerance{&spreads->at(h), engine::has_decisions(run.task.written, problem.pass),
                                    problem.storage, problem.storage};
  return engine::compare("h", tolerance, got, exact.forward.outputs.at("h"));
}

Result<Run> reference_of(const std::string& x_file, const std::string& arch) {
  const Result<engine::CellFile> file = engine::load_cell_file("mingru");
  if (!file) return file.error();
  Result<step::Cell> cell = engine::select_cell(*file, "");
  if (!cell) return cell.error();
  Result<engine::NpyArray> x = engine::read_npy(x_file);
  if (!x) return x.error();
  engine::RunArrays arrays;
  arrays.inputs.push_back({"x", x_file, std::move(x).value()});
  const Result<target::Profile> profile = target::find_profile(arch);
  if (!profile) return profile.error();
  Run run{{std::move(cell).value(), {}, *profile}, {}, {}};
  const Result<step::Sizes> sizes = engine::deduce_sizes(run.task.written, arrays, std::nullopt);
  if (!sizes) return sizes.error();
  run.task.problem.sizes = run.data.sizes = *sizes;
  auto arguments = engine::to_arguments(arrays, run.task.problem.storage);
  if (!arguments) return arguments.error();
  run.data.forward = std::move(arguments).value();
  auto exact = engine::run_reference(run.task, run.data);
  if (!exact) return exact.error();
  run.exact = std::move(exact).value();
  return run;
}

Result<engine::TensorCheck> check_outputs(const Run& run, const std::string& h_file) {
  const Result<engine::NpyArray> array = engine::read_npy(h_file);
  if (!array) return array.error();
  const auto values = engine::npy_values(*array, run.task.problem.storage, h_file);
  if (!values) return values.error();
  const std::vector<double>& exact = run.exact.forward.outputs.at("h");
  if (values->size() != exact.size())
    return Error{ErrorKind::Input,
                 fmt::format("'{}' has {} numbers instead of {}", h_file, values->size(), exact.size()), ""};
  return check_output(run, run.task.problem, run.data, *values, run.exact);
}

// The first steps of the first sequences of a [B, T, row] tensor.
template <class Real>
std::vector<Real> slice(const std::vector<Real>& values, const step::Sizes& from, const step::Sizes& to) {
  const std::size_t row = values.size() / static_cast<std::size_t>(from.batch * from.time);
  std::vector<Real> result;
  for (std::int64_t b = 0; b < to.batch; ++b) {
    const auto begin =
        values.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(b * from.time) * row);
    result.insert(result.end(), begin,
                  begin + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(to.time) * row));
  }
  return result;
}

struct Simulated {
  step::Sizes sizes;
  engine::TensorCheck check;
  std::vector<std::string> faults;
  bool passed() const { return check.passed && faults.empty(); }
};

// The chosen kernel in the simulator, over the beginning of the text.
Result<Simulated> simulate(const Run& run, const engine::Choice& choice) {
  const auto plan = engine::build_choice(run.task, choice);
  if (!plan) return plan.error();
  schedule::Problem small = run.task.problem;
  small.sizes.batch = std::min<std::int64_t>(small.sizes.batch, kSimulatedBatch);
  small.sizes.time = std::min<std::int64_t>(small.sizes.time, kSimulatedSteps);
  const auto cut = [&](const auto& values) { return slice(values, run.task.problem.sizes, small.sizes); };
  const step::TensorId x = run.task.written.of_kind(step::TensorKind::Input).front();
  const step::TensorId h = run.task.written.of_kind(step::TensorKind::Output).front();
  const schedule::TensorValues given{{{schedule::Role::Input, x}, cut(run.data.forward.inputs.at("x"))}};
  schedule::SimulatedRun result = schedule::simulate_plan(run.task.with(small), *plan, given);
  for (const std::string& name : result.unwritten)
    result.faults.push_back(name + " is not written everywhere");
  engine::HostProblem data = run.data;
  data.sizes = small.sizes;
  data.forward.inputs["x"] = given.begin()->second;
  engine::ReferenceResult exact;
  exact.forward.outputs["h"] = cut(run.exact.forward.outputs.at("h"));
  const auto check = check_output(run, small, data, result.written.at({schedule::Role::Output, h}), exact);
  if (!check) return check.error();
  return Simulated{small.sizes, *check, std::move(result.faults)};
}

std::string error_text(const engine::TensorCheck& check) {
  return fmt::format("{}, error {:.1e} (limit {:.1e})", check.passed ? "correct" : "WRONG", check.error,
                     check.limit);
}

void print_summary(const Run& run, const std::string& text, const json& tuned, const json& ran,
                   const engine::Choice& choice, double copy_bytes_per_s, const engine::TensorCheck& check,
                   const Simulated& simulated) {
  const json& pass = tuned.at("passes").front();
  const bool measured = pass.at("measured").get<bool>();
  const auto bytes = static_cast<double>(schedule::compulsory_bytes(run.task));
  const step::Sizes& sizes = run.task.problem.sizes;
  const std::vector<std::string> sequences = paragraphs(text);
  std::size_t read = 0;
  for (const std::string& sequence : sequences) read += sequence.size();
  const auto line = [](const char* what, const std::string& value) {
    fmt::print("  {:<10} {}\n", what, value);
  };
  fmt::print("\nminGRU over {} bytes of text\n", read);
  line("text", fmt::format("{} sequences, \"{} ...\"", sequences.size(), text.substr(0, text.find('\n'))));
  line("shape", fmt::format("{} in bf16: {:.1f} million state updates", engine::shape_text(sizes),
                            static_cast<double>(sizes.batch * sizes.time * sizes.heads * sizes.dim) * 1e-6));
  line("tuned for", fmt::format("{} ({}), {}", tuned.at("device").get<std::string>(), run.task.profile.arch(),
                                measured ? "by measurement" : "by the cost model: nothing here runs it"));
  line("tried", fmt::format("{} of {} configurations in {:.1f} s", pass.at("tried").get<int>(),
                            pass.at("total").get<int>(), pass.at("seconds").get<double>()));
  line("kernel", fmt::format("{} {}", choice.strategy, schedule::print(choice.parameters)));
  line("time",
       fmt::format("{:.4f} ms {}: {:.1f} MB, {:.0f}% of the copy bandwidth of {:.1f} GB/s",
                   choice.expected_ms, measured ? "measured" : "predicted", bytes * 1e-6,
                   bytes / (choice.expected_ms * 1e-3) / copy_bytes_per_s * 100, copy_bytes_per_s * 1e-9));
  const auto where = ran.at("where").get<std::string>();
  line("ran on", where);
  // Comparing the reference with itself shows its rounding only; what checks the kernel then is the
  // simulator.
  const bool by_reference = where.starts_with("CPU, reference");
  line("result", error_text(check) +
                     (by_reference ? ", the reference itself, rounded" : ", against the fp64 reference"));
  line("simulated", fmt::format("the kernel over the first {} bytes of {} sequences: {}, {} races or faults",
                                simulated.sizes.time, simulated.sizes.batch, error_text(simulated.check),
                                simulated.faults.empty() ? "no" : std::to_string(simulated.faults.size())));
  for (const std::string& fault : simulated.faults) line("", fault);
}

Result<engine::Choice> choice_of(const json& tuned) {
  const json& pass = tuned.at("passes").front();
  if (pass.at("best").is_null()) return Error{ErrorKind::Input, "tuning found no kernel", ""};
  const json& best = pass.at("best");
  const auto parameters = engine::parameters_from_json(best.at("parameters").dump());
  if (!parameters) return Error{ErrorKind::Input, "the tuner's parameters cannot be read", ""};
  engine::Choice choice;
  choice.strategy = best.at("strategy").get<std::string>();
  choice.parameters = *parameters;
  choice.expected_ms = best.at(pass.at("measured").get<bool>() ? "median_ms" : "model_ms").get<double>();
  return choice;
}

// Of the tuning run, or where there was no GPU of the board's profile.
Result<double> copy_bandwidth(const json& tuned) {
  const double measured = tuned.at("passes").front().at("copy_bytes_per_s").get<double>();
  if (measured > 0) return measured;
  const auto profile = target::find_profile(tuned.at("device").get<std::string>());
  if (!profile) return profile.error();
  return profile->speeds.copy_bytes_per_s;
}

Status run_check(const std::vector<std::string>& files) {
  const Result<std::string> text = read_text_file(files[0]);
  if (!text) return text.error();
  const Result<json> tuned = read_json(files[3]);
  if (!tuned) return tuned.error();
  const Result<json> ran = read_json(files[4]);
  if (!ran) return ran.error();
  const Result<engine::Choice> choice = choice_of(*tuned);
  if (!choice) return choice.error();
  const Result<double> copy = copy_bandwidth(*tuned);
  if (!copy) return copy.error();
  const auto arch = tuned->at("passes").front().at("problem").at("arch").get<std::string>();
  const Result<Run> run = reference_of(files[1], arch);
  if (!run) return run.error();
  const auto check = check_outputs(*run, files[2]);
  if (!check) return check.error();
  const Result<Simulated> simulated = simulate(*run, *choice);
  if (!simulated) return simulated.error();
  print_summary(*run, *text, *tuned, *ran, *choice, *copy, *check, *simulated);
  if (check->passed && simulated->passed()) return success();
  return Error{ErrorKind::Wrong, "the results differ from the reference",
               "please report it with the lines above"};
}

Status main_of(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "" : arguments.front();
  const std::vector<std::string> rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (command == "embed" && rest.size() == 3) return run_embed(rest[0], rest[1], rest[2]);
  if (command == "check" && rest.size() == 5) return run_check(rest);
  return Error{ErrorKind::Input,
               "usage: text_demo embed TEXT X.npy D | check TEXT X.npy H.npy TUNED.json RUN.json", ""};
}

}  // namespace
}  // namespace rondo::examples

int main(int argc, char** argv) {
  std::string message;
  try {
    const rondo::Status status = rondo::examples::main_of({argv + 1, argv + argc});
    if (status) return 0;
    message = status.error().message;
    if (!status.error().hint.empty()) message += "; " + status.error().hint;
  } catch (const std::exception& error) {  // a field that is not in the JSON
    message = error.what();
  }
  fmt::print(stderr, "text_demo: {}\n", message);
  return 1;
}
