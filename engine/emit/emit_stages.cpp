#include "engine/emit/emit_stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "compiler/executable/print.h"
#include "compiler/schedule/plan/lower_plan.h"
#include "compiler/step/forms.h"
#include "compiler/step/verify.h"
#include "engine/figures/cell_picture.h"
#include "engine/plan/compile.h"
#include "engine/plan/ready_plan.h"
#include "engine/request/problem_text.h"

namespace rondo::engine {

using pipeline::Stage;

namespace {

Result<std::string> jacobian_text(const schedule::Task& task) {
  if (!task.structure.all_diagonal)
    return Error{ErrorKind::Unsupported,
                 fmt::format("cell {} is dense: its Jacobian has no block a channel that could be printed",
                             task.written.name),
                 "`rondo check` shows which states are coupled"};
  return step::print(
      task.cell, pipeline::watched(
                     task.watcher, pipeline::Pass::Jacobian, [&] { return step::jacobian_step(task.cell); },
                     [&](const step::JacobianStep& made) { return step::made(task.cell, made); }));
}

std::string backward_text(const schedule::Task& task) {
  return step::print(
      task.cell,
      pipeline::watched(
          task.watcher, pipeline::Pass::Differentiate, [&] { return step::backward_step(task.cell); },
          [&](const step::BackwardStep& made) { return step::made(task.cell, made); }));
}

// Lines of a comment that begin with `mark`, broken at blanks.
std::string comment_of(const std::string& text, const std::string& mark) {
  constexpr std::size_t kWidth = 112;
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = mark;
    for (std::size_t at = begin; at < end;) {
      const std::size_t word = std::min(text.find(' ', at), end);
      if (line.size() > mark.size() && line.size() + 1 + (word - at) > kWidth) {
        result += line + "\n";
        line = mark + "    ";
      }
      line += " " + text.substr(at, word - at);
      at = word + 1;
    }
    result += line + "\n";
    begin = end + 1;
  }
  return result;
}

// The text of a stage, in the language of a backend.
struct Written {
  backend::Request request;
  std::string text;
  std::string mark;     // begins a comment
  std::string command;  // that compiles the text; none for CPUs
};

Result<Written> written(Stage stage, const EmitRequest& request, const schedule::KernelPlan& plan) {
  const backend::Language language =
      stage == Stage::Cuda ? backend::Language::CudaCxx : backend::Language::LlvmIr;
  const backend::Backend& backend = backend::backend_for(language);
  Written result;
  result.request = request_of(request.task, plan, backend, request.task.written.name);
  result.text = result.request.text;
  const std::string arch = result.request.target.name(),
                    flags = fmt::format("{}", fmt::join(result.request.flags, " "));
  result.mark = stage == Stage::Llvm ? ";" : "//";
  // CUDA's compilers know no CPU.
  const bool cpu = result.request.target.is_cpu();
  if (stage == Stage::Cuda && !cpu)
    result.command = fmt::format("nvcc -arch={} {} -cubin FILE.cu", arch, flags);
  if (stage == Stage::Llvm)
    result.command = fmt::format("rondo emit --stage ptx ..., by LLVM 22 for {}", arch);
  if (stage != Stage::Ptx) return result;
  if (!cpu) result.command = fmt::format("ptxas -arch={} FILE.ptx -o FILE.cubin", arch);
  Result<std::string> ptx = pipeline::watched(
      request.task.watcher, pipeline::Pass::Assemble, [&] { return backend.assembly(result.request); },
      [](const Result<std::string>& made) {
        return made ? pipeline::Made{[&] { return *made; }, {}} : pipeline::Made{};
      });
  if (!ptx) return ptx.error();
  result.text = std::move(ptx).value();
  return result;
}

// What stands above a text: what it computes, and how to compile and launch it by hand.
std::string heading(const EmitRequest& request, const schedule::KernelPlan& plan,
                    const executable::Executable& executable, const Written& of) {
  const schedule::Problem& problem = request.task.problem;
  std::string text = fmt::format("{}, {}, {}, {}, {} math", request.task.written.name,
                                 schedule::pass_title(problem), shape_text(problem.sizes),
                                 kernel::storage_name(problem.storage), kernel::math_name(problem.math));
  for (const auto& [name, value] : problem.constants) text += fmt::format(", {}={}", name, value);
  if (request.task.written.clip.forward)
    text += fmt::format(", clip-forward={}", *request.task.written.clip.forward);
  if (request.task.written.clip.gradient)
    text += fmt::format(", clip-gradient={}", *request.task.written.clip.gradient);
  const step::Forms forms = step::forms_of(request.task.written);
  if (forms.resets) text += forms.reset_states ? ", with resets to given states" : ", with resets";
  if (forms.lengths) text += ", with lengths";
  if (forms.reversed) text += ", reversed";
  if (forms.directions) text += ", in two directions";
  if (forms.tangents) text += ", with tangents";
  text += fmt::format("\n{} {}\nby {}\n", plan.strategy, schedule::print(plan.parameters),
                      executable.identity.producer);
  if (!of.command.empty()) text += fmt::format("compile: {}\n", of.command);
  text +=
      "launch on one stream in this order, neighbours that run once for each step in turns; any B and T; "
      "`rondo emit --stage launches` tells the tensors\n";
  return comment_of(text + executable::print_rules(executable), of.mark) + "\n";
}

Result<std::string> code_text(Stage stage, const EmitRequest& request, const schedule::KernelPlan& plan) {
  const Result<executable::Executable> executable = schedule::lower_plan(request.task, plan);
  if (!executable) return executable.error();
  const Result<Written> of = written(stage, request, plan);
  if (!of) return of.error();
  return heading(request, plan, *executable, *of) + of->text;
}

// The object file of kernels for CPUs.
Result<std::string> object_bytes(const EmitRequest& request, const schedule::KernelPlan& plan) {
  const target::Target& target = request.task.profile.target;
  if (!target.is_cpu())
    return Error{ErrorKind::Input, fmt::format("{} has no object files", target.name()),
                 "--arch cpu, x86-64-v3, x86-64-v4, x86-64-v4-amx or aarch64; --stage ptx is what GPUs have"};
  const backend::Backend& backend = backend::cpu_backend();
  Result<backend::Compiled> compiled =
      image_of(request.task, backend, request_of(request.task, plan, backend, request.task.written.name));
  if (!compiled) return compiled.error();
  return std::move(compiled->image.bytes);
}

Result<std::string> plan_text(Stage stage, const EmitRequest& request) {
  schedule::Task unwatched = request.task;
  unwatched.watcher = nullptr;
  const Result<Choice> choice = choose_with(unwatched, request.overrides, request.choosing);
  if (!choice) return choice.error();
  const Result<schedule::KernelPlan> plan = build_choice(request.task, *choice);
  if (!plan) return plan.error();
  if (stage == Stage::Cuda || stage == Stage::Llvm || stage == Stage::Ptx)
    return code_text(stage, request, *plan);
  if (stage == Stage::Object) return object_bytes(request, *plan);
  if (stage == Stage::Launches) {
    const Result<executable::Executable> executable = schedule::lower_plan(request.task, *plan);
    if (!executable) return executable.error();
    return executable::print_launches(*executable, request.task.problem.sizes.batch,
                                      request.task.problem.sizes.time);
  }
  return schedule::print_kernels(*plan);
}

Result<std::string> text_of(Stage stage, const EmitRequest& request) {
  switch (stage) {
    case Stage::Ast: return frontend::print_ast(request.file->text, request.file->path);
    case Stage::Step:
      return step::print(schedule::cell_with_constants(request.task.written, request.task.problem));
    case Stage::Graph:
      return figures::cell_picture(request.task.cell, request.task.problem.pass == schedule::Pass::Backward);
    case Stage::Backward: return backward_text(request.task);
    case Stage::Jacobian: return jacobian_text(request.task);
    case Stage::Kernel:
    case Stage::Cuda:
    case Stage::Llvm:
    case Stage::Ptx:
    case Stage::Object:
    case Stage::Launches: return plan_text(stage, request);
  }
  return Error{ErrorKind::Internal, "a stage without text"};
}

}  // namespace

Result<std::string> emit_stage(Stage stage, const EmitRequest& request) {
  Result<std::string> text = text_of(stage, request);
  if (text && (text->empty() || text->back() != '\n')) *text += '\n';
  return text;
}

}  // namespace rondo::engine
