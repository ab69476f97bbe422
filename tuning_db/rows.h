// Internal to tuning_db: records to and from rows. Column lists stand beside the readers that depend on their
// order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tuning_db/records.h"
#include "tuning_db/sqlite.h"

namespace rondo::db {

inline constexpr const char* kDeviceColumns =
    "key, name, compute_major, compute_minor, sm_count, driver, profile, origin, calibrated_at";
Device read_device(const Statement& row, const std::string& path);

// `first`: the column where the record starts.
inline constexpr const char* kProblemColumns =
    "p.cell, p.device, p.arch, p.b, p.t, p.h, p.d, p.dtype, p.math, p.pass";
inline constexpr int kProblemWidth = 10;
Problem read_problem(const Statement& row, int first);

inline constexpr const char* kTrialColumns =
    "t.id, t.strategy, t.parameters, t.status, t.verified, t.reason, t.median_ms, t.spread, t.samples, "
    "t.registers, "
    "t.shared_bytes, t.spill_bytes, t.cubin_key, t.rondo_version, t.created_at";
inline constexpr int kTrialWidth = 15;
Trial read_trial(const Statement& row, int first, const std::string& path);

// Single steps of larger transactions. Each may throw Failure; records must have been checked by the callers
// below.
std::optional<std::int64_t> find_problem(Connection& connection, const Problem& problem);
// Id, and whether it was added.
std::pair<std::int64_t, bool> insert_problem(Connection& connection, const Problem& problem);
// Trial with canonical parameters and time set; Failure of kind Input where it contradicts itself.
Trial checked(Trial trial);
// A hash of all of a trial but its id: two with the same one are the same.
std::string trial_digest(const Trial& trial);
// Of a trial that comes in from elsewhere: Failure of kind Input where its median is below least_ms().
void check_time(const Problem& problem, const Trial& trial);
std::pair<std::int64_t, bool> insert_trial(Connection& connection, std::int64_t problem, const Trial& trial);
// Makes a trial that comes in from elsewhere its problem's best, as Database::merge says; whether it became
// so.
bool set_best_on_merge(Connection& connection, std::int64_t problem, std::int64_t trial, double median_ms);
// Of `verifications v`.
inline constexpr const char* kVerificationColumns =
    "v.trial, v.b, v.t, v.rondo_version, v.device, v.driver, v.code, v.passed, v.timed, v.summary, "
    "v.created_at, v.pass, v.image";
Verification read_verification(const Statement& row, int first);
inline constexpr const char* kOpinionColumns = "model, asked, strategy, parameters, seconds";
Opinion read_opinion(const Statement& row, const std::string& path);
// Whether a row was added or renewed. A measured profile is replaced only by a newer measured one when
// `keep_newer`.
bool insert_device(Connection& connection, const Device& device, bool keep_newer);
bool insert_cell(Connection& connection, const Cell& cell);

// A digest of image and resources: what get_cubin compares to notice damage.
std::string cubin_digest(const Cubin& cubin);
void insert_cubin(Connection& connection, const Cubin& cubin);
std::optional<Cubin> select_cubin(Connection& connection, const std::string& key);

}  // namespace rondo::db
