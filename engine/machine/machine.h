// The machine to compile and run for: the GPU or the CPUs at hand, or a named one.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compiler/support/result.h"
#include "compiler/target/profile.h"
#include "runtime/cuda/driver.h"
#include "runtime/device/device.h"
#include "tuning_db/database.h"

namespace rondo::engine {

struct Machine {
  target::Profile profile;
  // To run on, if there is one of this kind; a GPU is current on this thread. It outlives all that is made on
  // it.
  std::shared_ptr<const runtime::Device> device{};
  db::Platform platform{};                        // what a verification on it stands for
  std::optional<runtime::DeviceInfo> gpu_info{};  // of a GPU

  // Error Missing, with the reason why there is nothing to run on.
  Status need_device() const;
  std::string why_no_device{};
  std::string what_to_do{};
  std::string note{};  // for the user: why a stored profile is not used; "" mostly
};

// `arch`: "auto" takes GPU 0, or sm_90 where there is none; else an architecture, the key or the name of a
// board ("sm_90", "h100"), and the GPU of that architecture if it is here. "cpu" are the CPUs of this
// machine, "x86-64-v3" those of a level that they have too. Without `use_gpu` no driver is opened. What
// `database` (or null) holds as measured on a board is used with that GPU and without it, so that both choose
// the same; where it is of a part of the board, Machine::note says that public figures are used. Errors:
// Input (an unknown architecture, naming the known ones), Device (the GPU is there but does not start).
Result<Machine> find_machine(const std::string& arch, db::Database* database, bool use_gpu = true);

// The CPUs of this machine, of which so many threads are to compute; 0: target::usable_threads(). Error Input
// where no code can be made for them.
Result<Machine> cpu_machine(int threads, db::Database* database);

// The machine of a GPU whose context is current. Errors: Device.
Result<Machine> gpu_machine(const runtime::DeviceInfo& info, runtime::Context context,
                            db::Database* database);

}  // namespace rondo::engine
