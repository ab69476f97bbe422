// The commands as CLI11 has them: what is parsed, explained and completed.
#pragma once

#include <CLI/CLI.hpp>

#include "tools/rondo/options/options.h"

namespace rondo::tools {

// Adds every command, whose values go to `options`; both live as long as the application.
void add_commands(CLI::App& app, Options& options);

}  // namespace rondo::tools
