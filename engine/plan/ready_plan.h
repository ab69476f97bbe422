// A problem's kernel on a GPU or on this machine's CPUs, ready to launch: chosen, built, compiled or taken
// from the database, loaded.
#pragma once

#include <memory>

#include "compiler/schedule/problem/task.h"
#include "engine/choice/overrides.h"
#include "engine/machine/machine.h"
#include "engine/plan/compile.h"
#include "runtime/device/device.h"

namespace rondo::engine {

// The kernels of a choice.
Result<schedule::KernelPlan> build_choice(const schedule::Task& task, const Choice& choice);

// The code of a choice for the problem: what is stored for a tuned one, as it is, if this build of the
// program stored it; else its plan is built, and compared with what is stored, or compiled. Needs no GPU.
// Code that is compiled is kept in `database` (null: none), and so is code that another build stored, as made
// by this one, if it may be written. Code of others (CompiledCode::foreign()) is taken where the choice says
// that these bytes were verified here; with `ToBeVerified` also where there is no compiler. Errors: Missing
// (no compiler, also where only code of others is stored), Compile, Unsupported, Input.
enum class Foreign { Refused, ToBeVerified };
Result<CompiledCode> code_of_choice(const schedule::Task& task, const Choice& choice, db::Database* database,
                                    Foreign foreign = Foreign::Refused, const BeforeCompiling& before = {});

struct ReadyPlan {
  Choice choice;
  CompiledCode compiled;
  // Of the machine's device; null: not loaded (make_ready()), or an outline.
  std::unique_ptr<runtime::LoadedPlan> plan;
  double ready_s = 0;  // what all of it took, with the choice; 0: who made it does not say
};

// The plan of a choice on the machine's device. `database` (null: none) is asked for its code, and keeps code
// that is compiled if it may be written. Of code of others that was not verified here nothing is loaded: a
// trial process verifies it first, and whoever asked loads it then. Errors: Missing (no device, no compiler),
// Compile, Unsupported, Device.
Result<ReadyPlan> make_ready(const schedule::Task& task, const Machine& machine, Choice choice,
                             db::Database* database, const BeforeCompiling& before = {});

// What make_ready() would load, without code: its kernels are planned, and neither compiled nor looked up.
// Needs no device. Errors: Unsupported, Input.
Result<ReadyPlan> outline_of(const schedule::Task& task, Choice choice);

}  // namespace rondo::engine
