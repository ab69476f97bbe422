// Measures a device profile on the GPU at hand: the figures the cost models stand on.
#pragma once

#include <functional>
#include <string>

#include "compiler/target/profile.h"
#include "runtime/driver.h"
#include "tuning_db/database.h"

namespace rondo::tuner {

// Key of a board: that of the shipped profile with its name ("h200"), else its name in lower case without
// "nvidia", blanks as '-': "rtx-a6000".
std::string device_key(const std::string& driver_name);

// Limits as the driver reports them; speeds of the shipped profile of the same name or architecture, else
// defaults. What the tuner uses before anything is calibrated. origin "public".
target::Profile profile_of(const runtime::DeviceInfo& info);

// The profile to use for this GPU: the one measured on it, if the database holds it, else profile_of(). A
// database that cannot be read counts as none.
target::Profile current_profile(const runtime::DeviceInfo& info, db::Database* database);

struct CalibrateOptions {
  std::function<void(const std::string&)> step;  // told what is being measured now
};

// Copy bandwidth, what one SM moves, loaded memory latency, __syncthreads, the gap of a launch, and the clock
// under load; takes a few seconds. Origin "measured"; source: driver version and date. Errors: Missing (no
// NVRTC), Device.
Result<target::Profile> calibrate(const runtime::Context& context, const runtime::DeviceInfo& info,
                                  const CalibrateOptions& options = {});

// The probes' CUDA C++, compiled with NVRTC; shown by tests.
const char* calibration_source();

// Puts a measured profile in the database, with driver version and time.
Status store_profile(const target::Profile& profile, const runtime::DeviceInfo& info, db::Database& database);

}  // namespace rondo::tuner
