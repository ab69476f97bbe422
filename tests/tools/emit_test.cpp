// `rondo check` and `rondo emit` on every shipped cell, without a GPU.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "compiler/backend/backends.h"
#include "compiler/backend/ptxas/ptxas_log.h"
#include "engine/emit/emit_stages.h"
#include "engine/plan/compile.h"
#include "engine/plan/ready_plan.h"
#include "engine/request/cell_library.h"
#include "engine/request/problem_text.h"
#include "tests/support/slow_tests.h"
#include "tests/support/turns.h"
#include "tests/tools/program.h"

namespace rondo::test {
namespace {

const std::vector<std::string> kSmall = {"--shape", "B=2,T=16,H=1,D=64"};

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

bool streams(const std::string& cell) {
  const Outcome outcome = rondo(with({"check", cell, "--json"}, kSmall));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json parsed = nlohmann::json::parse(outcome.out, nullptr, false);
  EXPECT_TRUE(parsed.is_object()) << outcome.out;
  return parsed["strategies"][0]["legal"].get<bool>();
}

TEST(Check, SaysWhatFitsWhichBoard) {
  const Outcome outcome = rondo({"check", "lstm", "--json", "--arch", "all", "--shape", "B=8,T=16,D=768"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json fits = nlohmann::json::parse(outcome.out)["fits"];
  int seen = 0;
  for (const nlohmann::json& entry : fits) {
    if (entry["form"] != "one block" || entry["gpu"] != "h200") continue;
    ++seen;
    EXPECT_EQ(entry["fits"], false);
    EXPECT_EQ(entry["legal"], true);
    EXPECT_EQ(entry["missed"], "shared memory");
  }
  EXPECT_EQ(seen, 2) << "forward and backward";
  const Outcome one = rondo(with({"check", "lstm", "--arch", "a100"}, kSmall));
  EXPECT_NE(one.out.find("persistent, cluster of 2   clusters of 2: NVIDIA A100-SXM4-80GB has none\n"),
            std::string::npos)
      << one.out;
  EXPECT_EQ(rondo({"emit", "lstm", "--arch", "all"}).status, 2) << "only check knows all";
}

// People read this one: a whole LSTM in one block. Helpers, signature and kernel, in lines that an editor
// shows. With setmaxnreg, which the model prefers, it has 19 lines more.
TEST(Emit, APersistentLstmIsReadable) {
  const Outcome outcome =
      rondo({"emit", "lstm", "--stage", "cuda", "--strategy", "persistent", "--shape",
             "B=16,T=1024,H=12,D=64", "--arch", "h200", "--no-db", "--param", "setmaxnreg=0"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::string body = body_of(outcome.out);
  EXPECT_LT(std::count(body.begin(), body.end(), '\n'), 300);
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 140U) << line;
}

TEST(Check, TakesAPartOfTheChoiceAndSaysItsMemory) {
  const std::vector<std::string> fixed = {"--strategy", "persistent", "--param",
                                          "blocks=2",   "--param",    "grid=0"};
  const Outcome outcome = rondo(with(with({"check", "lstm", "--json", "--pass", "bw"}, kSmall), fixed));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json strategies = nlohmann::json::parse(outcome.out)["strategies"];
  ASSERT_EQ(strategies.size(), 1U);
  EXPECT_NE(strategies[0]["choice"].get<std::string>().find("blocks=2 "), std::string::npos);
  EXPECT_EQ(strategies[0]["saved_bytes"], 2 * 16 * 64 * 2) << "the history of c";
  EXPECT_GT(strategies[0]["workspace_bytes"], 0);
  EXPECT_EQ(rondo(with({"check", "lstm", "--strategy", "persistent", "--param", "blocks=7"}, kSmall)).status,
            2);
  EXPECT_EQ(rondo(with({"check", "lstm", "--strategy", "magic"}, kSmall)).status, 2);
}

TEST(Check, SaysWhatMinGruIs) {
  const Outcome outcome = rondo(with({"check", "mingru"}, kSmall));
  EXPECT_EQ(outcome.status, 0);
  for (const char* text : {"mingru: an affine diagonal recurrence", "next h depends on h: channel by channel",
                           "[B, T, H, 2, D]", "4096 elements", "by model"})
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text << "\n" << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

TEST(Check, ShowsDiagnosticsAsTheFrontendRendersThem) {
  const std::string file = std::string(RONDO_SOURCE_DIR) + "/tests/errors/unknown_name.cell";
  const Outcome outcome = rondo({"check", file, "--json"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find(file + ":4:17: error: unknown name 'hh'"), std::string::npos) << outcome.err;
  const nlohmann::json parsed = nlohmann::json::parse(outcome.out, nullptr, false);
  EXPECT_EQ(parsed["diagnostics"][0]["line"], 4);
}

TEST(Emit, EveryStageOfEveryShippedCell) {
  int turn = 0;
  for (const engine::EmbeddedCell& cell : engine::embedded_cells()) {
    if (!rondo::testing::has_turn(++turn)) continue;
    const bool diagonal = streams(cell.name);
    const bool large = cell.text.find("[64") != std::string::npos;  // too many boxes for a picture
    for (const std::string stage :
         {"ast", "step", "graph", "backward", "jacobian", "kernel", "cuda", "launches"}) {
      const Outcome outcome = rondo(with({"emit", cell.name, "--stage", stage}, kSmall));
      if (large && stage == "graph") {
        EXPECT_EQ(outcome.status, 3) << cell.name;
      } else if (outcome.status == 3) {  // a Jacobian per channel is what cells with matrices do not have
        EXPECT_EQ(stage, "jacobian") << cell.name;
        EXPECT_FALSE(diagonal) << cell.name;
      } else {
        EXPECT_EQ(outcome.status, 0) << cell.name << " " << stage << outcome.err;
        EXPECT_EQ(outcome.out.back(), '\n');
        EXPECT_EQ(outcome.err, "");
      }
    }
  }
}

TEST(Emit, GraphIsAPictureOfTheStepOrOfTheBackwardStep) {
  const Outcome forward = rondo(with({"emit", "lstm", "--stage", "graph"}, kSmall));
  const Outcome backward = rondo(with({"emit", "lstm", "--stage", "graph", "--pass", "bw"}, kSmall));
  EXPECT_TRUE(forward.out.starts_with("<svg ")) << forward.out.substr(0, 60);
  EXPECT_TRUE(backward.out.starts_with("<svg "));
  EXPECT_NE(forward.out.find("next c"), std::string::npos);
  EXPECT_EQ(forward.out.find("∂"), std::string::npos);
  EXPECT_NE(backward.out.find("∂ previous c"), std::string::npos);
}

TEST(Emit, CudaCompilesWithNvrtc) {
  const backend::Backend& backend = backend::backend_for(backend::Language::CudaCxx);
  const Status available = backend.available();
  ASSERT_TRUE(available.ok()) << available.error().message << " (tools/setup installs it)";
  int turn = 0;
  for (const char* cell : {"mingru", "paralstm", "sru", "lstm", "mgu"})
    for (const char* pass : {"fw", "fws", "bw"})
      for (const char* arch : {"sm_75", "sm_80", "sm_90", "sm_120"}) {
        if (!rondo::testing::has_turn(turn++, 5)) continue;
        const Outcome outcome = rondo(with({"emit", cell, "--pass", pass, "--arch", arch}, kSmall));
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        const auto compiled = backend.compile(
            {backend.name(), outcome.out, "emitted.cu", *target::find_target(arch), backend.flags()});
        EXPECT_TRUE(compiled.ok()) << cell << pass << arch << compiled.error().message;
      }
}

// The words of the command in the comment above a text.
std::vector<std::string> compile_command(const std::string& emitted) {
  const std::string mark = "// compile: ";
  const std::string heading = heading_of(emitted);
  const std::size_t at = heading.find(mark);
  EXPECT_NE(at, std::string::npos) << heading;
  if (at == std::string::npos) return {};
  std::istringstream line(heading.substr(at + mark.size(), heading.find('\n', at) - at - mark.size()));
  return {std::istream_iterator<std::string>(line), {}};
}

struct Emitted {
  const char* cell;
  const char* pass;
  const char* shape;
  const char* arch;
  bool specific;  // a kernel needs the architecture's own instructions
};
constexpr Emitted kEmitted[] = {{"paralstm", "fw", "B=2,T=16,H=1,D=64", "h200", false},
                                {"paralstm", "bw", "B=2,T=16,H=1,D=64", "h200", false},
                                {"lstm", "bw", "B=16,T=1024,H=1,D=768", "a100", false},
                                {"lstm", "fw", "B=16,T=1024,H=1,D=768", "h200", true},
                                {"lstm", "bw", "B=16,T=1024,H=1,D=768", "h200", true}};

std::string emitted_text(const Emitted& wanted) {
  const Outcome outcome = rondo({"emit", wanted.cell, "--pass", wanted.pass, "--shape", wanted.shape,
                                 "--arch", wanted.arch, "--no-db"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return outcome.out;
}

// Compiled for sm_90 alone, a product kernel that needs sm_90a spills.
TEST(Emit, TheCommandInTheCommentCompilesWithoutSpills) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  const backend::Backend& backend = backend::backend_for(backend::Language::CudaCxx);
  const Status available = backend.available();
  ASSERT_TRUE(available.ok()) << available.error().message << " (tools/setup installs it)";
  for (const Emitted& wanted : kEmitted) {
    const std::string text = emitted_text(wanted);
    const std::vector<std::string> command = compile_command(text);
    ASSERT_GE(command.size(), 4u);
    EXPECT_EQ(command.front(), "nvcc");
    EXPECT_EQ(command.back(), "FILE.cu");
    const std::string arch = "-arch=";
    ASSERT_TRUE(command[1].starts_with(arch)) << command[1];
    const std::string name = command[1].substr(arch.size());
    EXPECT_EQ(name.ends_with('a'), wanted.specific) << wanted.cell << " " << wanted.pass << " " << name;
    const auto compiled =
        backend.compile({backend.name(),
                         text,
                         "emitted.cu",
                         {target::Target::Kind::Gpu, target::find_target(name)->level, name.ends_with('a')},
                         {command.begin() + 2, command.end() - 2}});
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    EXPECT_FALSE(compiled->image.resources.empty());
    for (const executable::KernelResources& kernel : compiled->image.resources)
      EXPECT_FALSE(kernel.spills()) << kernel.name << " for " << name;
  }
}

#ifdef RONDO_NVCC
// Where there is no nvcc, NVRTC above has compiled the same text.
TEST(Emit, TheCommandInTheCommentRunsWhereThereIsNvcc) {
  const std::string nvcc = RONDO_NVCC;
  const Folder folder;
  int turn = 0;
  for (const Emitted& wanted : kEmitted) {
    if (!rondo::testing::has_turn(turn++)) continue;
    const std::string text = emitted_text(wanted);
    write_file(folder.path("FILE.cu"), text);
    std::vector<std::string> command = compile_command(text);
    ASSERT_GE(command.size(), 4u);
    command.back() = folder.path("FILE.cu");
    command.erase(command.begin());
    command.insert(command.end(), {"-o", folder.path("FILE.cubin"), "-Xptxas", "-v"});
    const Outcome outcome = start(nvcc, command);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    const std::vector<executable::KernelResources> kernels =
        backend::read_ptxas_log(outcome.out + outcome.err);
    EXPECT_FALSE(kernels.empty()) << outcome.err;
    for (const executable::KernelResources& kernel : kernels) EXPECT_FALSE(kernel.spills()) << kernel.name;
  }
}
#endif

// Everything that somebody who launches the kernels by hand wants to know.
TEST(Emit, TheCommentNamesWhatIsLaunched) {
  const std::string text = emitted_text(kEmitted[4]);
  std::string heading = heading_of(text);
  std::istringstream lines(heading);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.starts_with("// ")) << line;
    EXPECT_LE(line.size(), 140U) << line;
  }
  for (std::size_t at; (at = heading.find("\n//    ")) != std::string::npos;) heading.erase(at, 7);
  EXPECT_TRUE(
      heading.starts_with("// lstm, backward, B=16,T=1024,H=1,D=768, bf16, fast math\n// persistent "))
      << heading;
  const std::string launched = rondo({"emit", "lstm", "--pass", "bw", "--shape", kEmitted[4].shape, "--arch",
                                      "h200", "--no-db", "--stage", "launches"})
                                   .out;
  EXPECT_NE(launched.find("lstm_grad_b<<<24, 128, 0 bytes>>>(workspace, grad_b, B=16)"), std::string::npos);
  EXPECT_NE(heading.find(
                "// lstm_grad_b: grid 24, block 128, cluster 1, shared memory 0 bytes; arguments workspace, "
                "grad_b, B\n"),
            std::string::npos)
      << heading;
  // Each kernel of the text.
  const std::string body = body_of(text);
  const std::regex declaration("__global__ .* (\\w+)\\(\n");
  std::size_t kernels = 0;
  for (std::sregex_iterator found(body.begin(), body.end(), declaration), end; found != end;
       ++found, ++kernels)
    EXPECT_NE(heading.find("// " + (*found)[1].str() + ": grid "), std::string::npos) << (*found)[1];
  EXPECT_EQ(kernels, 6u);
}

// The comment is for people: what plans compile and databases know does not contain it.
TEST(Emit, TheCommentIsNoPartOfTheText) {
  const auto file = engine::load_cell_file("paralstm");
  ASSERT_TRUE(file.ok());
  const target::Profile profile = target::find_profile("h200").value();
  const auto problem = engine::parse_problem(
      file->parsed.cells[0], {kEmitted[0].shape, "bf16", "", {}, "states"}, schedule::Pass::Forward);
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  const auto& cell = file->parsed.cells[0];
  const auto choice = engine::choose({cell, *problem, profile});
  ASSERT_TRUE(choice.ok());
  const auto plan = engine::uncompiled_plan(std::make_shared<const schedule::Task>(cell, *problem, profile),
                                            engine::build_choice({cell, *problem, profile}, *choice).value(),
                                            backend::backend_for(backend::Language::CudaCxx), "1");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(body_of(emitted_text(kEmitted[0])), plan->request.text);
  EXPECT_EQ(plan->key.source, plan->request.text);
}

TEST(Emit, TakesParametersAndWritesWholeFiles) {
  const Folder folder;
  const std::string file = folder.path("k.cu");
  const auto arguments =
      with({"emit", "mingru", "--param", "channels=32", "--param", "stages=4", "-o", file}, kSmall);
  const Outcome outcome = rondo(arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(read_file(file).find("__global__"), std::string::npos);
  EXPECT_EQ(folder.files(), std::vector<std::string>{"k.cu"});
  EXPECT_EQ(rondo({"emit", "mingru", "--param", "channels=97", "-o", folder.path("bad.cu")}).status, 2);
  EXPECT_EQ(folder.files(), std::vector<std::string>{"k.cu"});
}

TEST(Emit, ChoosesAmongSeveralCells) {
  const Folder folder;
  const std::string file = folder.path("two.cell");
  std::string text;
  for (const char* name : {"one", "two"})
    text +=
        std::string("cell ") + name + "(D) {\n  input x[D]\n  state h[D]\n  next h = h + x\n  output h\n}\n";
  write_file(file, text);
  const Outcome none = rondo({"emit", file, "--stage", "step"});
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.err.find("one, two"), std::string::npos) << none.err;
  EXPECT_NE(rondo({"emit", file, "--stage", "step", "--cell", "two"}).out.find("step two"),
            std::string::npos);
  EXPECT_EQ(rondo({"emit", file, "--stage", "step", "--cell", "three"}).status, 2);
}

// The golden file of test_pipeline has the texts of each pass; here the options.
TEST(Emit, PrintsWhatAPassMade) {
  const std::vector<std::string> emit = with({"emit", "mingru", "--no-db"}, kSmall);
  const Outcome simple = rondo(with(emit, {"--print-after", "simplify"}));
  ASSERT_EQ(simple.status, 0) << simple.err;
  EXPECT_EQ(simple.out.find("# after simplify: StepIR\nstep mingru(D)\n"), 0u) << simple.out;
  EXPECT_EQ(simple.out.find("__global__"), std::string::npos) << "instead of the stage";
  const Outcome kernel = rondo(with(emit, {"--print-after", "rematerialise-cold"}));
  EXPECT_EQ(kernel.out,
            "# after rematerialise-cold: KernelIR\n" + rondo(with(emit, {"--stage", "kernel"})).out);
  const Outcome before = rondo(with(emit, {"--print-after", "simplify-kernel"}));
  EXPECT_EQ(before.out.find("# after simplify-kernel: KernelIR\n# mingru: "), 0u) << before.out;
  EXPECT_EQ(before.out.find("_anew"), std::string::npos) << "before the pass: " << before.out;
  EXPECT_NE(kernel.out.find("_anew"), std::string::npos) << kernel.out;
  const Outcome text = rondo(with(emit, {"--print-after", "emit-text"}));
  EXPECT_EQ(text.out, "# after emit-text: code\n" + body_of(rondo(emit).out));
  const Outcome all = rondo(with(emit, {"--print-after", "all", "--stage", "launches", "--json"}));
  const nlohmann::json passes = nlohmann::json::parse(all.out)["passes"];
  std::vector<std::string> names;
  for (const nlohmann::json& pass : passes) names.push_back(pass["pass"]);
  ASSERT_GE(names.size(), 6u);
  EXPECT_EQ(std::vector(names.begin(), names.begin() + 3),
            (std::vector<std::string>{"parse", "clip", "forms"}));
  EXPECT_EQ(names.back(), "launches");
}

TEST(Emit, RefusesPassesThatThereAreNot) {
  const Outcome unknown = rondo({"emit", "mingru", "--print-after", "simplfy"});
  EXPECT_EQ(unknown.status, 2);
  for (const char* part : {"unknown pass 'simplfy'", "differentiate", "simplify-kernel", "compile, all"})
    EXPECT_NE(unknown.err.find(part), std::string::npos) << unknown.err;
  const Outcome other = rondo(with({"emit", "mingru", "--no-db", "--print-after", "jacobian"}, kSmall));
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.err.find("pass jacobian does not run on the way to this"), std::string::npos) << other.err;
  EXPECT_NE(other.err.find("parse, clip, forms, simplify, "), std::string::npos) << other.err;
}

TEST(Emit, TimesPasses) {
  const std::vector<std::string> emit = with({"emit", "lstm", "--no-db"}, kSmall);
  const Outcome plain = rondo(emit), timed = rondo(with(emit, {"--time-passes"}));
  ASSERT_EQ(timed.status, 0) << timed.err;
  EXPECT_EQ(timed.out, plain.out);
  EXPECT_EQ(plain.err, "");
  EXPECT_EQ(timed.err.find("pass             level      runs         ms  verifier ms\nparse "), 0u)
      << timed.err;
  for (const char* part : {"\nlower ", "\nsimplify-kernel ", "\nemit-text ", "\nall passes "})
    EXPECT_NE(timed.err.find(part), std::string::npos) << timed.err;
  const nlohmann::json parsed =
      nlohmann::json::parse(rondo(with(emit, {"--time-passes", "--json"})).out, nullptr, false);
  ASSERT_FALSE(parsed["times"].empty());
  for (const nlohmann::json& row : parsed["times"]) {
    EXPECT_GE(row["runs"], 1) << row;
    EXPECT_GE(row["ms"], 0) << row;
    EXPECT_FALSE(row["level"].get<std::string>().empty());
  }
  EXPECT_FALSE(parsed.contains("passes"));
}

}  // namespace
}  // namespace rondo::test
