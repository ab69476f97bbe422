// Options that several commands have, and which fields they fill.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tools/rondo/options/options.h"

namespace rondo::tools {

// What a command changes of the cells that it is given.
void add_changes(CLI::App& app, Options& o);
void add_cell(CLI::App& app, Options& o, bool required = true);
void add_forms(CLI::App& app, Options& o);
void add_problem(CLI::App& app, Options& o, bool several_passes);
// `more`: what it takes beside states and products.
void add_save(CLI::App& app, Options& o, const char* more = "");
inline constexpr const char* kEvery =
    "; every=K: the states of every K-th step alone, behind which all else is computed again, K steps at a "
    "time: less memory, and nearly one forward pass more; auto: what is fastest";
void add_memory(CLI::App& app, Options& o);
void add_target(CLI::App& app, Options& o);
void add_database(CLI::App& app, Options& o);
void add_kernel(CLI::App& app, Options& o);
void add_backend(CLI::App& app, Options& o);
void add_strict(CLI::App& app, Options& o);
void add_lock(CLI::App& app, Options& o);
void add_json(CLI::App& app, Options& o);
void add_output(CLI::App& app, Options& o, const std::string& what);
// Arrays of the user's. `state`: what an initial state is that is not given.
void add_arrays(CLI::App& app, Options& o, const std::string& state);
// In place of random numbers, some or all of them; shape and type are theirs.
void add_own_data(CLI::App& app, Options& o);

}  // namespace rondo::tools
