// Completion in shells, made of the commands as CLI11 has them: what it offers is what this program takes.
#pragma once

#include <string>

#include "tools/rondo/options/command_tree.h"

namespace rondo::tools {

// The script for "bash", "zsh" or "fish": commands, options, the values of options that have few of them,
// shipped cells, and files. "" for another shell.
std::string completion_script(CLI::App& app, const std::string& shell);

}  // namespace rondo::tools
