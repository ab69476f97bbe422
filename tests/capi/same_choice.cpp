// The command and the C interface ask one service, so they choose the same: strategy, parameters, where the
// choice comes from, and what training saves. Asked of the CPUs and of a GPU that a driver stands in for,
// whose code is not looked at, with a database that holds records of some of the problems.
#include "tests/capi/same_choice.h"

#include <fmt/format.h>
#include <rondo/rondo.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "compiler/backend/backends.h"
#include "compiler/schedule/strategies.h"
#include "engine/choice/candidates.h"
#include "engine/machine/machine.h"
#include "engine/plan/ready_plan.h"
#include "engine/request/load_cell.h"
#include "engine/request/problem_text.h"
#include "tests/capi/check.h"
#include "tuner/tune/tune.h"

namespace {

using namespace rondo;  // NOLINT: a test
using nlohmann::json;

struct Kind {
  const char* cell;
  bool products;  // whether training can save them
  std::int64_t dim;
  const char* dtype;
  const char* math;
};
constexpr Kind kKinds[] = {
    {"mingru", false, 32, "bf16", "fast"},   {"lstm", true, 32, "fp32", "accurate"},
    {"gru", true, 32, "bf16", "fast"},       {"paragru", false, 32, "fp32", "fast"},
    {"elman", true, 64, "fp32", "tf32"},     {"indrnn", false, 64, "bf16", "accurate"},
    {"mgu", true, 32, "fp16", "fast"},       {"hgrn", false, 40, "fp16", "fast"},
    {"janet", true, 16, "fp32", "accurate"}, {"affine", false, 64, "fp32", "accurate"},
};
constexpr std::int64_t kBatch = 2, kTime = 6;

// What was chosen, in words: "bw products: host tile=4 (tuned)".
using Choices = std::map<std::string, std::string>;

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  while (const std::size_t read = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, read);
  ::pclose(pipe);
  return text;
}

// The CPUs, or the GPU, with a database of its own.
class Machine {
 public:
  Machine(const std::string& arch, const std::string& cuda, const std::string& program,
          const std::string& folder)
      : machine_(engine::find_machine(arch, nullptr).value()),
        path_(folder + "/" + (arch == "cpu" ? "cpu.db" : "gpu.db")),
        command_(fmt::format("RONDO_LIBCUDA='{}' '{}' bench --arch {} --db '{}' --samples 1 --json", cuda,
                             program, arch, path_)) {
    rondo_context_options options{};
    options.struct_size = sizeof options;
    options.device = cpu() ? RONDO_DEVICE_CPU : RONDO_DEVICE_CUDA;
    OK(rondo_context_create(&options, &context_));
    db::Database::open(path_).value();
  }
  ~Machine() { OK(rondo_context_destroy(context_)); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // As if this machine had tuned the problem, or, without proof, another one. `rank`: by the model.
  void record(const Kind& kind, const char* pass, const char* save, double ms, std::size_t rank,
              bool proven = true, std::int64_t time = kTime) {
    const schedule::Task task = task_of(kind, pass, save, time);
    auto ranked = engine::ranked_candidates(task).value();
    db::Database database = db::Database::open(path_).value();
    tuner::Row row;
    row.candidate = ranked.at(std::min(rank, ranked.size() - 1));
    row.timing = {ms * 1e-3, 0.01, 7};
    row.verified = true;
    const engine::CompiledCode code = code_of(task, row.candidate, database);
    row.cubin_key = code.code;
    row.image = code.digest();
    const auto where = proven ? std::optional(machine_.platform) : std::nullopt;
    CHECK(tuner::TrialRecorder(&database, task, where).store_best(row));
  }

  // Of a GPU, code of what the model chooses, which then need not be compiled.
  void prepare(const Kind& kind, const char* save) const {
    if (cpu()) return;
    db::Database database = db::Database::open(path_).value();
    for (const char* pass : {"fw", "fws", "bw"}) {
      const schedule::Task task = task_of(kind, pass, save, kTime);
      const engine::Choice choice = engine::choose(task).value();
      code_of(task, {choice.strategy, choice.parameters, {}}, database);
    }
  }

  // By the C interface. With RONDO_SAVE_AUTO what is saved is in the names.
  Choices by_library(const Kind& kind, std::int32_t save) {
    rondo_cell_options of{};
    of.struct_size = sizeof of;
    of.path = kind.cell;
    rondo_database_options at{};
    at.struct_size = sizeof at;
    at.path = path_.c_str();
    rondo_plan_options how{};
    how.struct_size = sizeof how;
    rondo_cell* cell = nullptr;
    OK(rondo_cell_create(&of, &cell, nullptr));
    OK(rondo_database_open(&at, &how.database));
    Choices choices;
    rondo_problem problem = problem_of(kind, save);
    if (save == RONDO_SAVE_AUTO) {
      rondo_training* training = nullptr;
      OK(rondo_training_create(context_, cell, &problem, &how, &training));
      for (const std::int32_t pass : {RONDO_PASS_FORWARD_SAVE, RONDO_PASS_BACKWARD}) {
        rondo_plan* plan = nullptr;
        OK(rondo_training_get_plan(training, pass, &plan));
        add(plan, choices);
      }
      OK(rondo_training_destroy(training));
    } else {
      for (const std::int32_t pass : {RONDO_PASS_FORWARD, RONDO_PASS_FORWARD_SAVE, RONDO_PASS_BACKWARD}) {
        rondo_plan* plan = nullptr;
        problem.pass = pass;
        OK(rondo_plan_create(context_, cell, &problem, &how, &plan));
        add(plan, choices);
      }
    }
    OK(rondo_database_destroy(how.database));
    OK(rondo_cell_destroy(cell));
    return choices;
  }

  Choices by_command(const Kind& kind, const char* save) const {
    const std::string text =
        output_of(fmt::format("{} {} --shape {} --dtype {} --math {} --pass {} --save {}", command_,
                              kind.cell, shape_of(kind, kTime), kind.dtype, kind.math,
                              save == std::string("auto") ? "fws,bw" : "fw,fws,bw", save));
    Choices choices;
    const json found = json::parse(text, nullptr, false);
    if (!CHECK(found.is_object() && found.contains("rows"))) return choices;
    for (const json& row : found["rows"]) {
      const bool products = row["save"] == "products";
      choices[row["pass"].get<std::string>() + (products ? "+products" : "")] = fmt::format(
          "{} {} ({})", row["strategy"].get<std::string>(),
          schedule::print(row["parameters"].get<schedule::Parameters>()), row["origin"].get<std::string>());
    }
    return choices;
  }

  bool cpu() const { return machine_.profile.is_cpu(); }

 private:
  schedule::Task task_of(const Kind& kind, const char* pass, const char* save, std::int64_t time) const {
    const step::Cell cell = engine::select_cell(engine::load_cell_file(kind.cell).value(), "").value();
    engine::ProblemText text;
    text.shape = shape_of(kind, time);
    text.dtype = kind.dtype;
    text.math = kind.math;
    text.save = save;
    return {cell, engine::parse_problem(cell, text, engine::parse_passes(pass)->front()).value(),
            machine_.profile};
  }

  static std::string shape_of(const Kind& kind, std::int64_t time) {
    return fmt::format("B={},T={},H=1,D={}", kBatch, time, kind.dim);
  }

  static rondo_problem problem_of(const Kind& kind, std::int32_t save) {
    const std::string dtype = kind.dtype, math = kind.math;
    rondo_problem problem{};
    problem.struct_size = sizeof problem;
    problem.batch = kBatch;
    problem.time = kTime;
    problem.heads = 1;
    problem.dim = kind.dim;
    problem.type = dtype == "fp32" ? RONDO_TYPE_F32 : dtype == "bf16" ? RONDO_TYPE_BF16 : RONDO_TYPE_F16;
    problem.math = math == "fast" ? RONDO_MATH_FAST : math == "tf32" ? RONDO_MATH_TF32 : RONDO_MATH_ACCURATE;
    problem.save = save;
    return problem;
  }

  static void add(rondo_plan* plan, Choices& choices) {
    rondo_plan_info info{};
    info.struct_size = sizeof info;
    if (OK(rondo_plan_get_info(plan, &info)))
      choices[info.pass] = fmt::format("{} {} ({})", info.strategy, info.parameters, info.origin);
    OK(rondo_plan_destroy(plan));
  }

  // The candidate's code, which the database holds from now on. That of a GPU is a stand-in.
  engine::CompiledCode code_of(const schedule::Task& task, const engine::Candidate& candidate,
                               db::Database& database) const {
    engine::Choice choice;
    choice.strategy = candidate.strategy;
    choice.parameters = candidate.parameters;
    if (cpu()) return engine::code_of_choice(task, choice, &database).value();
    const backend::Backend& backend = backend::preferred_backend_for(task.profile.target);
    engine::CompiledPlan compiled = engine::uncompiled_plan(std::make_shared<const schedule::Task>(task),
                                                            engine::build_choice(task, choice).value(),
                                                            backend, backend.version().value())
                                        .value();
    backend::Compiled code;
    code.image.target = compiled.request.target.name();
    code.image.compiler = compiled.key.compiler_version;
    code.image.bytes = "\x7f" + std::string("ELF") + std::string(64, ' ');
    for (const executable::Kernel& kernel : compiled.executable.kernels) {
      executable::KernelResources resources{};
      resources.name = kernel.name;
      code.image.resources.push_back(resources);
    }
    CHECK(engine::attach_code(compiled, std::move(code)).ok());
    engine::store_cubin(compiled, database);
    return compiled;
  }

  engine::Machine machine_;
  std::string path_, command_;
  rondo_context* context_ = nullptr;
};

int compared = 0;

void compare(Machine& machine, const Kind& kind, const char* save) {
  const std::string way = save;
  const Choices library = machine.by_library(kind, way == "auto"       ? RONDO_SAVE_AUTO
                                                   : way == "products" ? RONDO_SAVE_PRODUCTS
                                                                       : RONDO_SAVE_STATES);
  const Choices command = machine.by_command(kind, save);
  compared += static_cast<int>(library.size());
  if (CHECK(library == command)) return;
  for (const auto& [who, choices] : {std::pair("library", library), std::pair("command", command)})
    for (const auto& [pass, choice] : choices)
      std::fprintf(stderr, "  %s, %s, %s: %s: %s\n", machine.cpu() ? "CPU" : "GPU", kind.cell, who,
                   pass.c_str(), choice.c_str());
}

// With which way to save, by the C interface.
bool saves_products(Machine& machine, const Kind& kind) {
  const Choices choices = machine.by_library(kind, RONDO_SAVE_AUTO);
  return choices.contains("bw+products");
}

// What is measured decides where all of it is, on CPUs as on GPUs; else the model does, whose times are
// others.
void compare_saving(Machine& machine, const Kind& kind) {
  const bool by_model = saves_products(machine, kind);
  compare(machine, kind, "auto");
  machine.record(kind, "fws", "states", by_model ? 1e-6 : 1e6, 0);
  CHECK(saves_products(machine, kind) == by_model);  // one was measured, and is compared with nothing
  compare(machine, kind, "auto");
  machine.record(kind, "bw", "states", by_model ? 1e-6 : 1e6, 0);
  machine.record(kind, "fws", "products", 1, 0);
  machine.record(kind, "bw", "products", 1, 0);
  CHECK(saves_products(machine, kind) != by_model);
  compare(machine, kind, "auto");
}

// Of every kind three passes with states saved, and with products for some; records of one kind after the
// other are of the problem itself, of a longer one, of another pass, and of another machine.
void compare_all(Machine& machine) {
  int number = 0;
  for (const Kind& kind : kKinds) {
    const int records = number++ % 5;
    if (machine.cpu() && !has_turn(number)) continue;  // code of CPUs is compiled, for seconds a kind
    switch (records) {
      case 0: break;  // by model
      case 1: machine.record(kind, "fw", "states", 1, 3); break;
      case 2: machine.record(kind, "fw", "states", 1, 2, true, kTime + 2); break;
      case 3: machine.record(kind, "fws", "states", 1, 1); break;
      case 4: machine.record(kind, "bw", "states", 1, 1, false); break;
    }
    for (const char* save : {"states", "products"}) {
      if (save == std::string("products") && !kind.products) continue;
      machine.prepare(kind, save);
      compare(machine, kind, save);
    }
  }
  compare_saving(machine, kKinds[2]);
}

}  // namespace

int same_choice(const char* cuda, const char* program) {
  ::setenv("RONDO_LIBCUDA", cuda, 1);
  ::setenv("RONDO_SHIPPED", "none", 1);
  char folder[] = "/tmp/rondo-same-choice-XXXXXX";
  if (!CHECK(::mkdtemp(folder) != nullptr)) return report();
  for (const char* arch : {"cpu", "auto"}) {
    Machine machine(arch, cuda, program, folder);
    compared = 0;
    compare_all(machine);
    std::printf("%s: %d choices compared\n", arch, compared);
    CHECK(compared >= (machine.cpu() ? 6 : 40));
  }
  std::filesystem::remove_all(folder);
  return report();
}
