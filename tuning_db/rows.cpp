#include "tuning_db/rows.h"

#include <fmt/format.h>

#include <cmath>

namespace rondo::db {
namespace {

Failure unknown_word(const std::string& path, std::string_view column, const std::string& word) {
  return Failure({ErrorKind::Database,
                  fmt::format("database '{}' is damaged: unknown {} '{}'", path, column, word),
                  "run 'rondo db check'; restore a copy, or move the file away and tune again"});
}

// The text of a column that holds a JSON object. Whoever reads it may recurse as deep as it is nested.
std::string object_text(const Statement& row, int index, const std::string& path, std::string_view column) {
  std::string text = row.text(index);
  if (canonical_object(text, column).ok()) return text;
  throw Failure({ErrorKind::Database,
                 fmt::format("database '{}' is damaged: {} '{:.80}': no JSON object, or nested too deep",
                             path, column, text),
                 "run 'rondo db check'; restore a copy, or move the file away and tune again"});
}

Failure bad_trial(const Trial& trial, std::string_view what) {
  return Failure({ErrorKind::Input, fmt::format("trial of strategy '{}' {}", trial.strategy, what)});
}

}  // namespace

std::string trial_digest(const Trial& t) {
  return hash_fields(
      "rondo-trial-1",
      {t.strategy, t.parameters, to_text(t.status), t.verified ? "1" : "0", t.reason,
       t.median_ms ? fmt::format("{}", *t.median_ms) : "none", fmt::format("{}", t.spread),
       std::to_string(t.samples), std::to_string(t.registers), std::to_string(t.shared_bytes),
       std::to_string(t.spill_bytes), t.cubin_key, t.rondo_version, std::to_string(t.created_at)});
}

Device read_device(const Statement& row, const std::string& path) {
  Device device;
  row.read(0, device.key, device.name, device.compute_major, device.compute_minor, device.sm_count,
           device.driver);
  device.profile = object_text(row, 6, path, "profile of a device");
  const std::optional<Origin> origin = origin_from_text(row.text(7));
  if (!origin) throw unknown_word(path, "origin of a profile", row.text(7));
  device.origin = *origin;
  row.read(8, device.calibrated_at);
  return device;
}

Problem read_problem(const Statement& row, int first) {
  Problem p;
  row.read(first, p.cell, p.device, p.arch, p.shape.B, p.shape.T, p.shape.H, p.shape.D, p.dtype, p.math,
           p.pass);
  return p;
}

Trial read_trial(const Statement& row, int first, const std::string& path) {
  Trial t;
  row.read(first, t.id, t.strategy);
  t.parameters = object_text(row, first + 2, path, "parameters of a trial");
  const std::optional<TrialStatus> status = trial_status_from_text(row.text(first + 3));
  if (!status) throw unknown_word(path, "status of a trial", row.text(first + 3));
  t.status = *status;
  row.read(first + 4, t.verified, t.reason, t.median_ms, t.spread, t.samples, t.registers, t.shared_bytes,
           t.spill_bytes, t.cubin_key, t.rondo_version, t.created_at);
  return t;
}

std::optional<std::int64_t> find_problem(Connection& connection, const Problem& p) {
  Statement row = connection.query(
      "SELECT id FROM problems WHERE cell = ?1 AND device = ?2 AND arch = ?3 AND b = ?4 AND t = ?5 AND h = "
      "?6 "
      "AND d = ?7 AND dtype = ?8 AND math = ?9 AND pass = ?10",
      p.cell, p.device, p.arch, p.shape.B, p.shape.T, p.shape.H, p.shape.D, p.dtype, p.math, p.pass);
  if (!row.step()) return std::nullopt;
  return row.integer(0);
}

std::pair<std::int64_t, bool> insert_problem(Connection& connection, const Problem& p) {
  if (const auto known = find_problem(connection, p)) return {*known, false};
  const auto require = [&](const char* sql, std::string_view what, const std::string& key,
                           std::string_view how) {
    if (connection.query(sql, key).step()) return;
    throw Failure({ErrorKind::Input,
                   fmt::format("the problem names {} '{}', which is not in database '{}'", what, key,
                               connection.path()),
                   fmt::format("store it first ({})", how)});
  };
  require("SELECT 1 FROM cells WHERE hash = ?1", "cell", p.cell, "put_cell");
  require("SELECT 1 FROM devices WHERE key = ?1", "device", p.device, "put_device");
  connection.run(
      "INSERT INTO problems (cell, device, arch, b, t, h, d, bucket, dtype, math, pass) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
      p.cell, p.device, p.arch, p.shape.B, p.shape.T, p.shape.H, p.shape.D, bucket(p.shape), p.dtype, p.math,
      p.pass);
  return {connection.last_insert_id(), true};
}

Trial checked(Trial trial) {
  if (trial.strategy.empty()) throw bad_trial(trial, "names no strategy");
  if (trial.median_ms && !(std::isfinite(*trial.median_ms) && *trial.median_ms > 0))
    throw bad_trial(trial, fmt::format("has a median of {} ms; it must be above 0", *trial.median_ms));
  if (!(std::isfinite(trial.spread) && trial.spread >= 0))
    throw bad_trial(trial, fmt::format("has a spread of {}; it must be at least 0", trial.spread));
  if (trial.samples < 0) throw bad_trial(trial, fmt::format("has {} samples", trial.samples));
  if (trial.verified && trial.status == TrialStatus::Wrong)
    throw bad_trial(trial, "is both wrong and verified");
  trial.parameters = unwrap(canonical_object(trial.parameters, "parameters of a trial"));
  if (trial.created_at == 0) trial.created_at = now();
  return trial;
}

void check_time(const Problem& problem, const Trial& trial) {
  const double least = least_ms(problem);
  if (trial.median_ms && *trial.median_ms < least)
    throw bad_trial(trial, fmt::format("claims a median of {} ms; nothing takes less than {} ms for {}",
                                       *trial.median_ms, least, describe(problem)));
}

std::pair<std::int64_t, bool> insert_trial(Connection& connection, std::int64_t problem, const Trial& t) {
  const std::string key = trial_digest(t);
  Statement known =
      connection.query("SELECT id FROM trials WHERE problem = ?1 AND digest = ?2", problem, key);
  if (known.step()) return {known.integer(0), false};
  if (!connection.query("SELECT 1 FROM problems WHERE id = ?1", problem).step())
    throw Failure({ErrorKind::Input,
                   fmt::format("no problem {} in database '{}'", problem, connection.path()),
                   "store it first (upsert_problem)"});
  connection.run(
      "INSERT INTO trials (problem, digest, strategy, parameters, status, verified, reason, median_ms, "
      "spread, "
      "samples, registers, shared_bytes, spill_bytes, cubin_key, rondo_version, created_at) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
      problem, key, t.strategy, t.parameters, to_text(t.status), t.verified, t.reason, t.median_ms, t.spread,
      t.samples, t.registers, t.shared_bytes, t.spill_bytes, t.cubin_key, t.rondo_version, t.created_at);
  return {connection.last_insert_id(), true};
}

Verification read_verification(const Statement& row, int first) {
  Verification v;
  row.read(first, v.trial, v.batch, v.time);
  v.platform = {row.text(first + 3), row.text(first + 4), row.text(first + 5)};
  row.read(first + 6, v.code, v.passed, v.timed, v.summary, v.created_at, v.pass, v.image);
  return v;
}

Opinion read_opinion(const Statement& row, const std::string& path) {
  Opinion opinion;
  row.read(0, opinion.model, opinion.asked, opinion.strategy);
  opinion.parameters = object_text(row, 3, path, "parameters of an opinion");
  row.read(4, opinion.seconds);
  return opinion;
}

bool insert_device(Connection& connection, const Device& d, bool keep_newer) {
  // Shipped never replaces measured; with keep_newer, of two measured profiles the later one stays.
  connection.run(
      "INSERT INTO devices (key, name, compute_major, compute_minor, sm_count, driver, profile, origin, "
      "calibrated_at) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (key) DO UPDATE SET name = excluded.name, "
      "compute_major = excluded.compute_major, compute_minor = excluded.compute_minor, sm_count = "
      "excluded.sm_count, "
      "driver = excluded.driver, profile = excluded.profile, origin = excluded.origin, "
      "calibrated_at = excluded.calibrated_at "
      "WHERE CASE WHEN excluded.origin = 'shipped' THEN devices.origin = 'shipped' AND NOT ?10 "
      "ELSE devices.origin = 'shipped' OR NOT ?10 OR excluded.calibrated_at > devices.calibrated_at END",
      d.key, d.name, d.compute_major, d.compute_minor, d.sm_count, d.driver, d.profile, to_text(d.origin),
      d.calibrated_at, keep_newer);
  return connection.changes() > 0;
}

bool insert_cell(Connection& connection, const Cell& cell) {
  connection.run("INSERT INTO cells (hash, name, source) VALUES (?1, ?2, ?3) ON CONFLICT (hash) DO NOTHING",
                 cell.hash, cell.name, cell.source);
  return connection.changes() > 0;
}

std::string cubin_digest(const Cubin& cubin) {
  return hash_fields("rondo-image-1", {cubin.image, cubin.resources});
}

void insert_cubin(Connection& connection, const Cubin& c) {
  connection.run(
      "INSERT OR REPLACE INTO cubins (key, source, flags, arch, compiler_version, resources, digest, "
      "created_at, image, origin) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
      c.key.hash(), c.key.source, c.key.flags, c.key.arch, c.key.compiler_version, c.resources,
      cubin_digest(c), c.created_at, Blob{c.image}, c.origin);
}

std::optional<Cubin> select_cubin(Connection& connection, const std::string& key) {
  Statement row = connection.query(
      "SELECT source, flags, arch, compiler_version, resources, digest, created_at, image, origin FROM "
      "cubins WHERE "
      "key = ?1",
      key);
  if (!row.step()) return std::nullopt;
  Cubin cubin{.key = {row.text(0), row.text(1), row.text(2), row.text(3)},
              .image = row.text(7),
              .resources = row.text(4),
              .created_at = row.integer(6),
              .origin = row.text(8)};
  if (cubin.key.hash() == key && cubin_digest(cubin) == row.text(5)) return cubin;
  throw Failure(
      {ErrorKind::Database,
       fmt::format("cubin {:.12} in database '{}' is damaged: its contents do not match their hash", key,
                   connection.path()),
       "compile the kernel again, which replaces it; run 'rondo db check' to see whether more is damaged"});
}

}  // namespace rondo::db
