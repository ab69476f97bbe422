// Words of other languages and libraries, with what to write instead: helps of errors.
#pragma once

#include <string>

namespace rondo::frontend {

// For a function: "write max(a, b)" for `maximum`; "" for any other name. Capitals and underscores do not
// count.
std::string instead_of_function(const std::string& name);

// For a value that is none here: "write 3.14159265358979, ..." for `pi`; "" for any other name.
std::string instead_of_name(const std::string& name);

// For a word that begins a statement elsewhere: "a step has no branches: ..." for `if`; "" for any other.
std::string instead_of_statement(const std::string& word);

}  // namespace rondo::frontend
