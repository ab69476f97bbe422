// The point of all spaces that the model thinks best, looked for once: the database remembers it for later
// processes. Looking at every point may take a tenth of a second, and reading what was found a millisecond.
#pragma once

#include <functional>
#include <string>

#include "compiler/schedule/problem/task.h"
#include "engine/choice/candidates.h"
#include "engine/choice/choose.h"
#include "engine/choice/model_sources.h"

namespace rondo::engine {

// How the best is looked for: best_candidate().
using Look = std::function<Result<Candidate>(const schedule::Task&, int alignment)>;
Result<Candidate> look_at_all(const schedule::Task& task, int alignment);

// The best of the task at the alignment of `options`: what the database remembers of it, or else what `look`
// finds, which is then kept as ChooseOptions::keep says. What is remembered by another build of the model, is
// not legal, or is not priced as it was is as good as nothing. So is a database that cannot be read, or
// written. Errors: those of `look`.
Result<Candidate> remembered_best(const schedule::Task& task, const ChooseOptions& options,
                                  const Look& look = look_at_all);

// Changes with all that decides what is best beside the task and the alignment: the sources of the compiler
// and of engine/choice, and which strategies there are. "" where the program has added a strategy, whose
// sources are not known here: nothing is remembered then.
std::string model_id(const std::string& sources = model_sources());
// A hash of the task and the alignment.
std::string asked_of_model(const schedule::Task& task, int alignment);

}  // namespace rondo::engine
