// The profile of a GPU or of the CPUs at hand: what the driver or the system says of it, with the speeds
// measured on it or on its kind.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/target/profile.h"
#include "runtime/cuda/driver.h"
#include "tuning_db/database.h"

namespace rondo::engine {

// Key of a board: that of the shipped profile with its name ("h200"), else its name in lower case without
// "nvidia", blanks as '-': "rtx-a6000".
std::string device_key(const std::string& driver_name);

// Limits as the driver reports them; speeds of the shipped profile of the same name or architecture, else
// defaults. What the tuner uses before anything is calibrated. origin "public".
target::Profile profile_of(const runtime::DeviceInfo& info);

// What the database holds as measured on the board with this key; none where it holds nothing. Errors: those
// of the database, and Database for a profile that is none, with all that is wrong with it.
Result<std::optional<target::Profile>> measured_profile(const std::string& key, db::Database& database);

// What models stand on for records of a device, of which a database or an export may hold a row: its profile
// where it was measured, else the shipped one with this key, else its profile whatever its origin. A row that
// holds no profile counts as none.
std::optional<target::Profile> recorded_profile(const std::string& key,
                                                const std::optional<db::Device>& device);

// The profile to use for a machine: limits as the driver or the system reports them (profile_of(),
// target::host_profile()), with the speeds measured on it if the database holds them. What measured_profile()
// refuses counts as none.
target::Profile current_profile(const target::Profile& reported, db::Database* database);

// What a verification on this GPU stands for: this version of Rondo, the GPU by its UUID (by name and
// architecture where it tells none), and the driver by version and library.
db::Platform platform_of(const runtime::DeviceInfo& info);
// The same of CPUs: their name, with their level and the number of threads, and machine_id(), since many
// machines have CPUs of one name; in the place of a driver their microcode.
db::Platform platform_of(const target::Profile& cpus);

// Whether all device profiles that come from `origin` (a file) can be used. Error Input naming the devices
// and what is wrong with them.
Status check_profiles(const std::vector<db::Device>& devices, const std::string& origin);

// A profile as the database's row of its device.
db::Device to_device(const target::Profile& profile);

// Puts a measured profile in the database, with time and driver version ("": of CPUs).
Status store_profile(const target::Profile& profile, const std::string& driver, db::Database& database);
std::string driver_version(const runtime::DeviceInfo& info);  // "13.0"

}  // namespace rondo::engine
