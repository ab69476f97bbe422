#include "tests/capi/jit_wrapper.h"

#include <cstdio>
#include <cstdlib>
#include <rondo/rondo.hpp>
#include <stdexcept>
#include <string>

#include "tests/capi/faults.h"

namespace {

namespace api = rondo::api;

constexpr const char* kLeaky =
    "cell leaky(D) {\n  const rate = 0.5\n  input x[D]\n  state h[D]\n"
    "  next h = h + rate * (x - h)\n  output h\n}\n";
constexpr const char* kWrong = "cell bad(D) {\n  input x[D]\n  state h[D]\n  next h = h + y\n  output q\n}\n";

// What is shipped for the H200: an export of `rondo db export`.
std::string shipped() {
  const char* given = std::getenv("RONDO_SOURCE_DIR");
  return std::string(given != nullptr ? given : RONDO_SOURCE_DIR) + "/tuning_db/shipped/h200.json";
}

void check_cells(Faults& faults) {
  const auto cell = api::Cell::parse(kLeaky);
  if (!cell) return faults.check(false, "a sound cell is read");
  const auto rate = cell->constant(0);
  faults.check(rate && std::string(rate->name) == "rate" && rate->value == 0.5, "a constant has its default");
  const auto none = cell->constant(1);
  faults.check(!none && none.error().status == RONDO_ERROR_INPUT, "a constant that is not there is an error");
  faults.check(!none && none.error().diagnostics.empty(), "an error of a call has no diagnostics");

  const auto wrong = api::Cell::parse(kWrong, "mine.cell");
  if (wrong) return faults.check(false, "a wrong cell is refused");
  const auto& diagnostics = wrong.error().diagnostics;
  faults.check(diagnostics.size() == 3, "all errors of a text are there");
  if (diagnostics.size() != 3) return;
  faults.check(diagnostics[1].line == 4 && diagnostics[1].column == 16 && diagnostics[1].length == 1,
               "a diagnostic says where");
  faults.check(diagnostics[1].rendered.find("mine.cell") != std::string::npos &&
                   !diagnostics[0].help.empty() && diagnostics[2].message.find("'q'") != std::string::npos,
               "and what");
  faults.check(!api::Cell::parse(std::string(kLeaky) + '\0' + "no cell"), "a text does not end at a NUL");
  const auto missing = api::Cell::load("/nonexistent.cell");
  faults.check(
      !missing && missing.error().status == RONDO_ERROR_MISSING && missing.error().diagnostics.empty(),
      "a file that is not there has no diagnostics");
}

void check_list(const api::Database& database, Faults& faults) {
  int all = 0, few = 0;
  bool named = true;
  const auto listed = database.list([&](const rondo_record& record) {
    ++all;
    named = named && std::string(record.device) == "h200" && record.best_ms > 0;
    return true;
  });
  faults.check(listed && all > 100 && named, "all problems are listed");
  faults.check(database.list([&](const rondo_record&) { return ++few < 3; }) && few == 3,
               "no more are, once it is enough");
  bool thrown = false;
  try {
    (void)database.list([](const rondo_record&) -> bool { throw std::runtime_error("mine"); });
  } catch (const std::runtime_error& error) {
    thrown = std::string(error.what()) == "mine";
  }
  faults.check(thrown, "what a function throws passes through the library's call");
}

void check_databases(const std::string& folder, Faults& faults) {
  const std::string path = folder + "/tuning.db", other = folder + "/other.db";
  {
    const auto database = api::Database::open(path), second = api::Database::open(other);
    if (!database || !second) return faults.check(false, "databases are made");
    const auto imported = database->import_file(shipped());
    faults.check(imported && imported->problems > 100 && imported->devices == 1, "an export is imported");
    const auto merged = second->merge(path);
    faults.check(merged && imported && merged->problems == imported->problems, "a database is merged");
    const auto none = second->import_file(folder + "/none.json");
    faults.check(!none && none.error().status == RONDO_ERROR_MISSING,
                 "an export that is not there is an error");
    check_list(*second, faults);
  }
  for (const std::string& file : {path, other}) std::remove(file.c_str());
}

void check_training(Faults& faults) {
  std::string log;
  const auto context = api::Context::cpu([&](const std::string& message) { log += message; });
  const auto cell = api::Cell::load("lstm");
  if (!context || !cell) return faults.check(false, "the CPU and a shipped cell are there");
  rondo_problem problem = api::problem(2, 3, 1, 16, RONDO_TYPE_F32);
  problem.save = RONDO_SAVE_AUTO;
  const auto training = api::Training::make(*context, *cell, problem);
  if (!training) return faults.check(false, "a training object is made");
  faults.check(log.find("reference") != std::string::npos, "what the library logs arrives");
  const auto info = training->info();
  faults.check(info && info->shared > 0, "both passes share tensors");
  const auto shared = training->shared(0);
  faults.check(shared && shared->forward >= 0 && shared->backward >= 0, "a shared tensor is in both");
  const auto sizes = training->sizes(2, 3), wrong = training->sizes(-1, 3);
  faults.check(sizes && sizes->saved_bytes > 0 && !wrong, "sizes are those of a batch that may be");
  const auto forward = training->forward(), backward = training->backward();
  faults.check(forward && forward->find("h_out") && backward && backward->find("grad_R"), "plans are made");
}

void check_parts(Faults& faults) {
  const auto context = api::Context::cpu();
  const auto cell = api::Cell::load("lstm");
  if (!context || !cell) return faults.check(false, "the CPU and a shipped cell are there");
  rondo_problem problem = api::problem(2, 3, 1, 16, RONDO_TYPE_F32);
  problem.every = 2;
  const auto training = api::Training::make(*context, *cell, problem);
  if (!training) return faults.check(false, "training in parts is made");
  const auto info = training->info();
  const auto sizes = training->sizes(2, 3);
  faults.check(info && info->every == 2 && sizes && sizes->parts == 2, "there are two parts");
  const auto last = training->part(3, 1);
  faults.check(last && last->begin == 2 && last->steps == 1 && !training->part(3, 2), "the last is shorter");
  const auto says = [](const api::Status& status, const char* what) {
    return !status && status.error().message.find(what) != std::string::npos;
  };
  const api::Arguments none(2, 3), longer(2, 4);
  alignas(256) static unsigned char saved[1 << 16];
  const std::int64_t bytes = sizes ? sizes->saved_bytes : 0;
  faults.check(says(training->forward_part(0, none, saved, bytes - 1), "saved memory"), "of too little");
  faults.check(says(training->forward_part(0, none, saved, sizeof saved), "'x'"), "an input is needed");
  faults.check(says(training->backward_part(1, none, longer, saved, sizeof saved), "T = 4"), "of one step");
}

void check_outlines(Faults& faults) {
  const auto context = api::Context::cpu({}, 2);
  const auto cell = api::Cell::load("lstm");
  if (!context || !cell) return faults.check(false, "the CPU and a shipped cell are there");
  rondo_problem problem = api::problem(2, 3, 1, 16, RONDO_TYPE_F32);
  const auto any = api::outline(*cell, problem), outline = api::outline(*context, *cell, problem);
  faults.check(any && any->find("h_out") && !any->workspace_bytes(2, 3), "any plan's tensors are told");
  faults.check(outline && outline->workspace_bytes(2, 3) && !outline->launch(api::Arguments(2, 3)),
               "an outline has a workspace, and launches nothing");
  problem.save = RONDO_SAVE_AUTO;
  const auto training = api::Training::outline(*context, *cell, problem);
  faults.check(training && training->sizes(2, 3) && training->backward(), "training has an outline");
  problem.save = RONDO_SAVE_STATES;
  const auto plan = api::make_plan(*context, *cell, problem);
  if (!plan) return faults.check(false, "a plan is made");
  const auto most = plan->largest_batch(3);
  const auto longest = plan->longest_time(2, std::int64_t{1} << 40);
  const auto ended = plan->check(nullptr);
  const auto most_bytes = plan->workspace_bytes(2, 3), bytes = plan->workspace_bytes(api::Arguments(2, 3));
  faults.check(most_bytes && bytes && *bytes <= *most_bytes && !plan->workspace_bytes(api::Arguments(-1, 3)),
               "launches say how much workspace they need");
  faults.check(most && *most > 1 && !plan->largest_batch(-1) && ended && *ended, "plans are asked");
  faults.check(longest && *longest > 1 && !plan->longest_time(-1, 0), "and for how many steps there is room");
}

}  // namespace

const char* faults_of_jit_wrapper(const char* folder) {
  static std::string text;
  Faults faults;
  check_cells(faults);
  check_databases(folder, faults);
  check_training(faults);
  check_parts(faults);
  check_outlines(faults);
  return (text = faults.text()).c_str();
}
