// What the model is made of.
#pragma once

#include <string>

namespace rondo::engine {

// A hash over the sources that decide what the model thinks best: those of compiler/, where spaces, costs and
// the solver are, and of engine/choice (rondo_build_id() in CMakeLists.txt). 64 hex digits.
const std::string& model_sources();

}  // namespace rondo::engine
