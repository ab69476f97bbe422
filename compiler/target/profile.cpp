#include "compiler/target/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/target/target.h"

namespace rondo::target {

using nlohmann::json;

std::string Profile::arch() const {
  return Target{10 * limits.compute_major + limits.compute_minor, false}.name();
}

Registry<Profile>& profile_registry() {
  static Registry<Profile> all(shipped_profiles());
  return all;
}

Result<Profile> find_profile(const std::string& given) {
  const std::string name = plain_arch(given);
  const auto& all = profile_registry().all();
  for (const Profile& p : all)
    if (p.key == name || p.name == name) return p;
  if (name == "sm_90")
    return find_profile("h200");  // the one board of that architecture with measured figures
  for (const Profile& p : all)
    if (p.arch() == name) return p;
  std::string known;
  for (const Profile& p : all) known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", p.key, p.arch());
  return Error{ErrorKind::Input, fmt::format("unknown GPU or architecture '{}'", name),
               fmt::format("known ones: {}", known)};
}

namespace {

// One list of fields serves writing and reading.
template <class Visit>
void each_limit(Limits& l, Visit visit) {
  visit("compute_major", l.compute_major);
  visit("compute_minor", l.compute_minor);
  visit("sm_count", l.sm_count);
  visit("shared_per_block", l.shared_per_block);
  visit("shared_per_sm", l.shared_per_sm);
  visit("registers_per_sm", l.registers_per_sm);
  visit("registers_per_thread", l.registers_per_thread);
  visit("threads_per_sm", l.threads_per_sm);
  visit("threads_per_block", l.threads_per_block);
  visit("blocks_per_sm", l.blocks_per_sm);
  visit("max_cluster", l.max_cluster);
  visit("l2_bytes", l.l2_bytes);
}

template <class Visit>
void each_speed(Speeds& s, Visit visit) {
  visit("clock_hz", s.clock_hz);
  visit("copy_bytes_per_s", s.copy_bytes_per_s);
  visit("sm_bytes_per_s", s.sm_bytes_per_s);
  visit("memory_latency_s", s.memory_latency_s);
  visit("barrier_s", s.barrier_s);
  visit("launch_s", s.launch_s);
  visit("graph_launch_s", s.graph_launch_s);
  visit("l2_bytes_per_s", s.l2_bytes_per_s);
  visit("special_per_cycle_sm", s.special_per_cycle_sm);
  visit("alu_per_cycle_sm", s.alu_per_cycle_sm);
  visit("mma_flops_per_cycle_sm", s.mma_flops_per_cycle_sm);
}

}  // namespace

// Bytes a clock that an SM gets of the L2 when all read at once: 5.5 TB/s on an H200, of the 64 its port
// carries.
double l2_speed(int sms, double clock_hz) {
  constexpr double kBytesPerClock = 22.8;
  return kBytesPerClock * sms * clock_hz;
}

std::string to_json(const Profile& profile) {
  Profile p = profile;
  json limits, speeds;
  each_limit(p.limits, [&](const char* name, auto& value) { limits[name] = value; });
  each_speed(p.speeds, [&](const char* name, auto& value) { speeds[name] = value; });
  const json j = {{"name", p.name},     {"key", p.key},     {"origin", p.origin},
                  {"source", p.source}, {"limits", limits}, {"speeds", speeds}};
  return j.dump(2);
}

Result<Profile> profile_from_json(const std::string& text) {
  try {
    const json j = json::parse(text);
    Profile p;
    p.name = j.at("name").get<std::string>();
    p.key = j.at("key").get<std::string>();
    p.origin = j.at("origin").get<std::string>();
    p.source = j.at("source").get<std::string>();
    each_limit(p.limits, [&](const char* name, auto& value) { j.at("limits").at(name).get_to(value); });
    // Profiles that an earlier version wrote lack speeds that came later.
    p.speeds.l2_bytes_per_s = l2_speed(p.limits.sm_count, j.at("speeds").at("clock_hz").get<double>());
    each_speed(p.speeds, [&](const char* name, auto& value) {
      if (const auto found = j.at("speeds").find(name); found != j.at("speeds").end()) found->get_to(value);
    });
    return p;
  } catch (const json::exception& e) {
    return Error{ErrorKind::Input, fmt::format("not a device profile: {}", e.what()),
                 "write one with `rondo calibrate --json` or `rondo db export`"};
  }
}

}  // namespace rondo::target
