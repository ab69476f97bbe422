// Environment variables, as far as they may be believed.
#pragma once

#include <string>

namespace rondo {

// The variable's value; "" where there is none. Always "" in a program that has more rights than who started
// it (set-user-ID, set-group-ID, file capabilities): there the environment is a stranger's,
// and names files to read, libraries to load and programs to start.
std::string environment(const char* name);

}  // namespace rondo
