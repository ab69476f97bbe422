// The machine to compile and run for: the GPU at hand, or a named one.
#pragma once

#include <optional>
#include <string>

#include "compiler/support/result.h"
#include "compiler/target/profile.h"
#include "runtime/cuda/driver.h"
#include "tuning_db/database.h"

namespace rondo::tuner {

struct Machine {
  target::Profile profile;
  std::optional<runtime::DeviceInfo> device;  // of the GPU, if there is one of this kind
  std::optional<runtime::Context> context;    // current on this thread; outlives all that is made in it

  const runtime::Context* gpu() const { return context ? &*context : nullptr; }
  // Error Missing, with the reason why there is no GPU to run on.
  Status need_gpu() const;
  std::string why_no_gpu;
  std::string what_to_do;
  std::string note;  // for the user: why a stored profile is not used; "" mostly
};

// `arch`: "auto" takes GPU 0, or sm_90 where there is none; else an architecture, the key or the name of a
// board
// ("sm_90", "h100"), and the GPU of that architecture if it is here. Without `use_gpu` no driver is opened.
// Errors: Input (an unknown architecture, naming the known ones), Device (the GPU is there but does not
// start).
Result<Machine> find_machine(const std::string& arch, db::Database* database, bool use_gpu = true);

}  // namespace rondo::tuner
