// All backends.
#pragma once

#include <vector>

#include "compiler/backend/interface/backend.h"
#include "compiler/support/registry.h"

namespace rondo::backend {

// The built-in ones, in order of preference, and those that the program has added:
// Registration<const Backend*> mine(backend_registry(), &backend).
Registry<const Backend*>& backend_registry();
inline const std::vector<const Backend*>& backends() { return backend_registry().all(); }
const Backend* find_backend(const std::string& name);  // null for an unknown name

// What plans are compiled with unless a caller asks for another: the one that prefer_backend() has named;
// else the first that is installed; the first of all where none is, and its compile() says what is missing.
// Loads no compiler whose file is seen to be there.
const Backend& preferred_backend();

// Of CPUs, whatever is named.
const Backend& cpu_backend();
// That of the target's kind.
const Backend& preferred_backend_for(const target::Target& target);

// Names the preferred backend of this process; "auto": none in particular. Until it is called the environment
// variable RONDO_BACKEND does. Error Input for an unknown name.
Status prefer_backend(const std::string& name);
// The one that is named, or null.
const Backend* wanted_backend();

// The first that compiles text of this language. Every language has one.
const Backend& backend_for(Language language);

// Compiles with the backend that the request names. Errors: Input (an unknown one), and those of
// Backend::compile.
Result<Compiled> compile(const Request& request);

}  // namespace rondo::backend
