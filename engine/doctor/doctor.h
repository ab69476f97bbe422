// What Rondo found on this machine, what is missing, and what to do about it.
#pragma once

#include <string>
#include <vector>

namespace rondo::engine {

enum class Health {
  Good,     // there
  Limited,  // not there; something works less well
  Bad,      // there but broken
};
const char* health_name(Health health);  // "ok", "missing", "broken"

struct Finding {
  std::string subject;  // "CUDA driver"
  Health health = Health::Good;
  std::string found;   // what is there, or why not
  std::string advice;  // what to do, and what goes without; empty when good
};

// Looks for the driver, GPUs, the compiler of each backend (which compiles a tiny kernel), worker processes,
// the database at `database_path`
// ("": the default one) and the shipped cells. Changes nothing and never fails.
std::vector<Finding> examine(const std::string& database_path);

// Every finding on one or two lines.
std::string findings_text(const std::vector<Finding>& findings);

}  // namespace rondo::engine
