#include "compiler/target/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "compiler/support/nesting.h"

namespace rondo::target {

using nlohmann::json;

StoredTarget StoredTarget::of(const Target& target) {
  if (!target.is_cpu()) return {target.major(), target.minor()};
  return {0, target.kind == Target::Kind::AArch64 ? 1 : target.level};
}

std::optional<Target> StoredTarget::target() const {
  if (!is_cpu()) return Target::gpu(10 * major + minor);
  if (minor == 1) return Target{Target::Kind::AArch64, 0};
  if (minor >= 2 && minor <= 5) return Target{Target::Kind::X86_64, minor};
  return std::nullopt;
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
  if (const std::optional<Target> target = find_target(name); target && target->is_cpu())
    return host_profile(*target);
  if (name == "sm_90")
    return find_profile("h200");  // the one board of that architecture with measured figures
  for (const Profile& p : all)
    if (p.arch() == name) return p;
  std::string known;
  for (const Profile& p : all) known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", p.key, p.arch());
  return Error{
      ErrorKind::Input, fmt::format("unknown GPU or architecture '{}'", name),
      fmt::format("known ones: {}; cpu, x86-64-v2, x86-64-v3, x86-64-v4, x86-64-v4-amx and aarch64 for CPUs",
                  known)};
}

namespace {

// One list of fields serves writing, reading and checking: name, field, least and most. The ranges are wide
// enough for any board to come, and keep what is computed from them far from overflow.
template <class Visit>
void each_limit(StoredTarget& target, Limits& l, Visit visit) {
  constexpr std::int64_t kKiB = 1024, kTiB = kKiB * kKiB * kKiB * kKiB;
  visit("compute_major", target.major, 0, 99);
  visit("compute_minor", target.minor, 0, 9);
  visit("sm_count", l.sm_count, 1, 4096);
  visit("shared_per_block", l.shared_per_block, kKiB, 4 * kKiB * kKiB);
  visit("shared_per_sm", l.shared_per_sm, kKiB, 4 * kKiB * kKiB);
  visit("registers_per_sm", l.registers_per_sm, kKiB, kKiB * kKiB);
  visit("registers_per_thread", l.registers_per_thread, 16, 1024);
  visit("threads_per_sm", l.threads_per_sm, 32, 16384);
  visit("threads_per_block", l.threads_per_block, 32, 4096);
  visit("blocks_per_sm", l.blocks_per_sm, 1, 256);
  visit("max_cluster", l.max_cluster, 1, 64);
  visit("l2_bytes", l.l2_bytes, 0, kTiB);
}

// Those of CPUs, which profiles of GPUs do not hold. Threads and second caches stand under the names of a
// GPU's SMs and L2.
template <class Visit>
void each_cpu_limit(CpuLimits& l, Visit visit) {
  constexpr std::int64_t kGiB = 1 << 30;
  visit("vector_bytes", l.vector_bytes, 4, 4096);
  visit("l1_bytes", l.l1_bytes, 0, kGiB);
  visit("l3_bytes", l.l3_bytes, 0, 1024 * kGiB);
}

template <class Visit>
void each_speed(Speeds& s, Visit visit) {
  visit("clock_hz", s.clock_hz, 1e7, 1e11);
  visit("copy_bytes_per_s", s.copy_bytes_per_s, 1e9, 1e15);
  visit("sm_bytes_per_s", s.sm_bytes_per_s, 1e8, 1e13);
  visit("memory_latency_s", s.memory_latency_s, 1e-9, 1e-3);
  visit("barrier_s", s.barrier_s, 1e-10, 1e-3);
  visit("launch_s", s.launch_s, 1e-8, 1e-1);
  visit("graph_launch_s", s.graph_launch_s, 1e-8, 1e-1);
  visit("l2_bytes_per_s", s.l2_bytes_per_s, 1e9, 1e16);
  visit("special_per_cycle_sm", s.special_per_cycle_sm, 0.1, 1e5);
  visit("alu_per_cycle_sm", s.alu_per_cycle_sm, 1, 1e6);
  visit("mma_flops_per_cycle_sm", s.mma_flops_per_cycle_sm, 1, 1e8);
}

template <class Visit>
void each_size(MeasuredFloor& f, Visit visit) {
  visit("blocks", f.blocks, 1, 4096);
  visit("bytes", f.bytes, 0, 1 << 30);
}
template <class Visit>
void each_figure(MeasuredFloor& f, Visit visit) {
  visit("seconds", f.seconds, 1e-10, 1e-2);
  visit("per_cycle_sm", f.per_cycle_sm, 0, 1e8);
}
constexpr std::size_t kMostFloors = 10000;

json floors_json(const Floors& floors) {
  json list = json::array();
  for (MeasuredFloor floor : floors.all) {
    json row = {{"of", floor_name(floor.of)}, {"by", floor.by}};
    const auto write = [&](const char* name, auto& value, auto...) { row[name] = value; };
    each_size(floor, write);
    each_figure(floor, write);
    list.push_back(std::move(row));
  }
  return list;
}

// Threads and second caches of CPUs to the fields that the stored form has for both kinds, and back.
void to_gpu_fields(Profile& p) {
  p.limits = Limits{};
  p.limits.sm_count = p.cpu.threads;
  p.limits.max_cluster = 1;
  p.limits.l2_bytes = p.cpu.l2_bytes;
}
void from_gpu_fields(Profile& p) {
  p.cpu.threads = p.limits.sm_count;
  p.cpu.l2_bytes = p.limits.l2_bytes;
  p.limits = Limits{};
}

// Reads a profile and keeps all that is wrong with it.
class ProfileReader {
 public:
  Result<Profile> read(const std::string& text) {
    if (nested_deeper(text)) return bad(fmt::format("nested deeper than {}", kMostNesting));
    const json all = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!all.is_object()) return bad("no JSON object");
    Profile p;
    name(all, "name", p.name);
    name(all, "key", p.key);
    name(all, "origin", p.origin);
    name(all, "source", p.source);
    const json limits = all.value("limits", json()), speeds = all.value("speeds", json());
    const auto read_limit = [&](const char* field, auto& value, std::int64_t least, std::int64_t most) {
      limit(limits, field, value, least, most);
    };
    StoredTarget stored = StoredTarget::of(p.target);
    each_limit(stored, p.limits, read_limit);
    if (stored.is_cpu())
      each_cpu_limit(p.cpu, read_limit);
    else if (stored.major < 7)
      fault("limits.compute_major is {}: GPUs have 7 or more, CPUs 0", stored.major);
    if (const std::optional<Target> target = stored.target())
      p.target = *target;
    else
      fault("limits.compute_minor is {}, no level of CPUs", stored.minor);
    if (p.is_cpu()) from_gpu_fields(p);
    speed(speeds, "clock_hz", p.speeds.clock_hz);
    // Profiles that an earlier version wrote lack speeds that came later.
    p.speeds.l2_bytes_per_s = l2_speed(p.units(), p.speeds.clock_hz);
    each_speed(p.speeds, [&](const char* field, double& value, double least, double most) {
      if (speeds.contains(field)) speed(speeds, field, value);
      in_range("speeds", field, value, least, most);
    });
    if (all.contains("floors")) read_floors(all["floors"], p.floors);
    if (p.limits.shared_per_block > p.limits.shared_per_sm)
      fault("limits.shared_per_block is {}, more than shared_per_sm, {}", p.limits.shared_per_block,
            p.limits.shared_per_sm);
    if (p.limits.threads_per_block > p.limits.threads_per_sm)
      fault("limits.threads_per_block is {}, more than threads_per_sm, {}", p.limits.threads_per_block,
            p.limits.threads_per_sm);
    if (!faults_.empty()) return bad(fmt::format("{}", fmt::join(faults_, "; ")));
    return p;
  }

 private:
  static Error bad(const std::string& what) {
    return {ErrorKind::Input, "no device profile: " + what,
            "write one with `rondo calibrate --json` or `rondo db export`"};
  }
  template <class... Values>
  void fault(fmt::format_string<Values...> text, Values&&... values) {
    faults_.push_back(fmt::format(text, std::forward<Values>(values)...));
  }
  static const json* member(const json& object, const char* field) {
    const auto found = object.find(field);
    return found == object.end() ? nullptr : &*found;
  }
  void name(const json& all, const char* field, std::string& value) {
    const json* found = member(all, field);
    if (found == nullptr || !found->is_string())
      fault("{} is no text", field);
    else
      value = found->get<std::string>();
  }
  template <class Integer>
  void limit(const json& limits, const char* field, Integer& value, std::int64_t least, std::int64_t most,
             const char* of = "limits") {
    const json* found = member(limits, field);
    if (found == nullptr || !found->is_number_integer()) return fault("{}.{} is no integer", of, field);
    // Unsigned where it is not negative, and perhaps too large for a signed one.
    const bool above =
        found->is_number_unsigned() && found->get<std::uint64_t>() > static_cast<std::uint64_t>(most);
    if (above || found->get<std::int64_t>() < least)
      return fault("{}.{} is {}, outside {} ... {}", of, field, found->dump(), least, most);
    value = static_cast<Integer>(found->get<std::int64_t>());
  }
  void speed(const json& speeds, const char* field, double& value, const char* of = "speeds") {
    const json* found = member(speeds, field);
    if (found == nullptr || !found->is_number())
      fault("{}.{} is no number", of, field);
    else
      value = found->get<double>();
  }
  void in_range(const char* of, const char* field, double value, double least, double most) {
    if (!(value >= least && value <= most))
      fault("{}.{} is {}, outside {} ... {}", of, field, value, least, most);
  }
  void read_floors(const json& list, Floors& floors) {
    if (!list.is_array() || list.size() > kMostFloors) return fault("floors are no list, or a very long one");
    for (const json& row : list) {
      if (!row.is_object()) return fault("an entry of floors is no object");
      MeasuredFloor floor;
      std::string of;
      name(row, "of", of);
      name(row, "by", floor.by);
      const std::optional<MeasuredFloor::Of> known = floor_of_name(of);
      if (!known) return fault("floors.of is '{}', which this version does not know", of);
      floor.of = *known;
      each_size(floor, [&](const char* field, int& value, std::int64_t least, std::int64_t most) {
        limit(row, field, value, least, most, "floors");
      });
      each_figure(floor, [&](const char* field, double& value, double least, double most) {
        speed(row, field, value, "floors");
        in_range("floors", field, value, least, most);
      });
      floors.all.push_back(std::move(floor));
    }
  }

  std::vector<std::string> faults_;
};

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
  const auto write_limit = [&](const char* name, auto& value, auto...) { limits[name] = value; };
  if (p.is_cpu()) to_gpu_fields(p);
  StoredTarget stored = StoredTarget::of(p.target);
  each_limit(stored, p.limits, write_limit);
  if (p.is_cpu()) each_cpu_limit(p.cpu, write_limit);
  each_speed(p.speeds, [&](const char* name, auto& value, auto...) { speeds[name] = value; });
  json j = {{"name", p.name},     {"key", p.key},     {"origin", p.origin},
            {"source", p.source}, {"limits", limits}, {"speeds", speeds}};
  if (!p.floors.empty()) j["floors"] = floors_json(p.floors);
  return j.dump(2);
}

Result<Profile> profile_from_json(const std::string& text) { return ProfileReader().read(text); }

}  // namespace rondo::target
