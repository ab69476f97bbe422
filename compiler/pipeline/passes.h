// The stages and passes from a cell's text to code, in one list: what `rondo emit` prints and times, and what
// docs/overview.md shows. A pass runs through watched() (watch.h), wherever it is called from; strategies
// choose by their parameters which of the rewritings of a step they run.
#pragma once

#include <string>

#include "compiler/support/enum_text.h"
#include "compiler/support/result.h"

namespace rondo::pipeline {

// What a pass makes. Each level has a printer and a verifier of its own: StepIR step::print() and
// step::verify(), KernelIR kernel::print() and kernel::verify().
enum class Level { Step, Kernel, Code };
inline constexpr EnumText<Level> kLevels[] = {
    {Level::Step, "StepIR"}, {Level::Kernel, "KernelIR"}, {Level::Code, "code"}};
static_assert(is_total(kLevels));

enum class Pass {
  Parse,
  Clip,
  Forms,
  Simplify,
  Differentiate,
  Jacobian,
  SplitBackward,
  DealRows,
  FewerExchanges,
  Linearise,
  ShortenChain,
  FoldParameters,
  Lower,
  InDouble,
  SimplifyKernel,
  LegaliseCopies,
  RematerialiseCold,
  Launches,
  EmitText,
  Assemble,
  Compile,
};

// Whether every value of an enum has its row of a table, as is_total() says it of texts.
template <class Row, std::size_t n>
constexpr bool in_order(const Row (&table)[n]) {
  for (std::size_t i = 0; i < n; ++i)
    if (table[i].value != static_cast<decltype(Row::value)>(i)) return false;
  return !detail::has_name<static_cast<decltype(Row::value)>(n)>();
}

struct PassInfo {
  Pass value;
  const char* text;  // its name
  Level level;
  const char* verifier;  // of what it makes; "" where there is none
  // It is verified in every run, not only in debug builds and where a watcher wants it. False for Launches,
  // since lower_plan() itself runs the same check in every build.
  bool always;
  const char* what;
};

// In the order in which a compilation comes to them. Of the rewritings of a step, DealRows to
// FoldParameters, a strategy may run some in another order.
inline constexpr PassInfo kPasses[] = {
    {Pass::Parse, "parse", Level::Step, "step::verify", false, "the text of a cell to one step as a graph"},
    {Pass::Clip, "clip", Level::Step, "step::verify", false, "bounds of what the recurrence carries"},
    {Pass::Forms, "forms", Level::Step, "step::verify", false, "resets, lengths, reversed time and tangents"},
    {Pass::Simplify, "simplify", Level::Step, "step::verify", false,
     "constants folded, equal values joined, dead ones dropped"},
    {Pass::Differentiate, "differentiate", Level::Step, "step::verify", false,
     "the backward step, in reverse mode"},
    {Pass::Jacobian, "jacobian", Level::Step, "step::verify", false,
     "the derivatives of the next states by the previous ones, for Newton's method"},
    {Pass::SplitBackward, "split-backward", Level::Step, "step::verify", false,
     "what a dense backward pass does step by step, apart from what it does for all steps at once"},
    {Pass::DealRows, "deal-rows", Level::Step, "step::verify", false,
     "the rows of matrix states dealt to the lanes of a warp: what each does to its own"},
    {Pass::FewerExchanges, "fewer-exchanges", Level::Step, "step::verify", false,
     "reductions over a head that can share an exchange do"},
    {Pass::Linearise, "linearise", Level::Step, "step::verify", false,
     "a step that is affine in what it carries as coefficients, for segments of time side by side"},
    {Pass::ShortenChain, "shorten-chain", Level::Step, "step::verify", false,
     "fewer operations between one carry and the next"},
    {Pass::FoldParameters, "fold-parameters", Level::Step, "step::verify", false,
     "fewer instructions: what does not change from step to step is computed before them"},
    {Pass::Lower, "lower", Level::Kernel, "", false, "the strategy writes the kernels of a plan"},
    {Pass::InDouble, "in-double", Level::Kernel, "", false,
     "for problems in fp64, every real number of a kernel as a double"},
    {Pass::SimplifyKernel, "simplify-kernel", Level::Kernel, "kernel::verify", true,
     "constants and decided branches folded, what nobody reads dropped"},
    {Pass::LegaliseCopies, "legalise-copies", Level::Kernel, "kernel::verify", true,
     "for GPUs before compute capability 8.0, asynchronous copies as loads and stores"},
    {Pass::RematerialiseCold, "rematerialise-cold", Level::Kernel, "kernel::verify", true,
     "for GPUs, what a branch that hardly ever runs reads computed anew in it"},
    {Pass::Launches, "launches", Level::Code, "executable::check", false,
     "tensors, grids and arguments of every launch"},
    {Pass::EmitText, "emit-text", Level::Code, "", false, "CUDA text or LLVM IR"},
    {Pass::Assemble, "assemble", Level::Code, "", false, "the text of the assembler, by LLVM"},
    {Pass::Compile, "compile", Level::Code, "", false, "the image that is loaded, and what it takes"},
};

static_assert(in_order(kPasses));
constexpr const PassInfo& info(Pass pass) { return kPasses[static_cast<std::size_t>(pass)]; }

// What `rondo emit --stage` prints.
enum class Stage { Ast, Step, Graph, Backward, Jacobian, Kernel, Cuda, Llvm, Ptx, Object, Launches };
struct StageInfo {
  Stage value;
  const char* text;
  Pass last;  // the pass whose result it shows; the syntax tree is that of Parse
};
inline constexpr StageInfo kStages[] = {
    {Stage::Ast, "ast", Pass::Parse},
    {Stage::Step, "step", Pass::Forms},
    {Stage::Graph, "graph", Pass::Forms},
    {Stage::Backward, "backward", Pass::Differentiate},
    {Stage::Jacobian, "jacobian", Pass::Jacobian},
    {Stage::Kernel, "kernel", Pass::RematerialiseCold},
    {Stage::Cuda, "cuda", Pass::EmitText},
    {Stage::Llvm, "llvm", Pass::EmitText},
    {Stage::Ptx, "ptx", Pass::Assemble},
    {Stage::Object, "object", Pass::Compile},
    {Stage::Launches, "launches", Pass::Launches},
};
static_assert(in_order(kStages));

// By name. Errors (Input) name all that there are.
Result<Pass> parse_pass(const std::string& text);
Result<Stage> parse_stage(const std::string& text);

}  // namespace rondo::pipeline
