// The user's .npy files as a command takes them: all that a run reads, or what of other data is not random.
#pragma once

#include "engine/arrays/run_arrays.h"
#include "engine/data/given_data.h"
#include "tools/rondo/session.h"

namespace rondo::tools {

// Of --input, --param-file, --state, --reset-state, --resets and --lengths. Errors: those of read_npy().
Result<engine::RunArrays> arrays_of(const Options& options);

// Of one option, NAME=FILE each. Errors: those of read_npy().
Status read_arrays(const std::vector<std::string>& texts, const char* option,
                   std::vector<engine::NamedArray>& into);

// The forward problem whose sizes and storage type the arrays tell, where --shape and --dtype do not. Errors
// (Input): --shape says other than the arrays; those of deduce_sizes() and deduce_storage().
Result<schedule::Problem> problem_of_arrays(const Options& options, const step::Cell& cell,
                                            const engine::RunArrays& arrays, engine::Needed needed);

// Of a command whose data are random otherwise: the options with the shape and the type of the arrays, and
// the arrays; null where none are given. Errors: those above, and of to_arguments(); Input for arrays of no
// rows or steps.
struct OwnData {
  Options options;
  engine::Given given;
};
Result<OwnData> own_data(const Options& options, const step::Cell& cell);

}  // namespace rondo::tools
