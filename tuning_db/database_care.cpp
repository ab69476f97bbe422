// Looking after the file: what is in it, whether it is sound, and making it smaller.
#include <filesystem>

#include "tuning_db/database_impl.h"

namespace rondo::db {
namespace {

std::int64_t bytes_on_disk(const std::string& path) {
  std::int64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path + suffix, error);
    if (!error) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

using Findings = std::vector<std::string>;

void check_pages(Connection& c, Findings& findings) {
  Statement row = c.query("PRAGMA integrity_check");
  while (row.step())
    if (row.text(0) != "ok") findings.push_back("pages: " + row.text(0));
}

void check_references(Connection& c, Findings& findings) {
  Statement row = c.query("PRAGMA foreign_key_check");
  while (row.step())
    findings.push_back(fmt::format("row {} of '{}' refers to a missing row of '{}'", row.integer(1),
                                   row.text(0), row.text(2)));
}

void check_best(Connection& c, Findings& findings) {
  Statement row = c.query(fmt::format(
      "SELECT {} FROM best JOIN trials t ON t.id = best.trial ORDER BY best.problem", kTrialColumns));
  while (row.step()) {
    const Trial trial = read_trial(row, 0, c.path());
    if (!trial.may_be_best()) findings.push_back(fmt::format("trial {} is best but not verified", trial.id));
  }
}

void check_cubins(Connection& c, Findings& findings) {
  std::vector<std::string> keys;
  Statement row = c.query("SELECT key FROM cubins ORDER BY key");
  while (row.step()) keys.push_back(row.text(0));
  for (const std::string& key : keys) {
    try {
      select_cubin(c, key);
    } catch (const Failure& failure) {
      findings.emplace_back(failure.what());
    }
  }
}

// Cubins of best trials stay, whatever their age: they are what a process needs to start at once.
void delete_old(Connection& c, std::int64_t before, PruneReport& report) {
  c.run("DELETE FROM trials WHERE created_at < ?1 AND id NOT IN (SELECT trial FROM best)", before);
  report.trials = c.changes();
  c.run(
      "DELETE FROM cubins WHERE created_at < ?1 AND key NOT IN "
      "(SELECT t.cubin_key FROM best JOIN trials t ON t.id = best.trial UNION "
      "SELECT v.code FROM best JOIN verifications v ON v.trial = best.trial)",
      before);
  report.cubins = c.changes();
  c.run("DELETE FROM opinions WHERE created_at < ?1", before);
}

}  // namespace

Result<Stats> Database::stats() {
  return impl_->read([&](Connection& c) {
    Stats stats;
    stats.devices = c.integer("SELECT count(*) FROM devices");
    stats.cells = c.integer("SELECT count(*) FROM cells");
    stats.problems = c.integer("SELECT count(*) FROM problems");
    stats.trials = c.integer("SELECT count(*) FROM trials");
    stats.verified = c.integer("SELECT count(*) FROM trials WHERE verified = 1");
    stats.best = c.integer("SELECT count(*) FROM best");
    stats.cubins = c.integer("SELECT count(*) FROM cubins");
    stats.verifications = c.integer("SELECT count(*) FROM verifications");
    stats.opinions = c.integer("SELECT count(*) FROM opinions");
    stats.cubin_bytes = c.integer("SELECT coalesce(sum(length(image)), 0) FROM cubins");
    stats.schema_version = static_cast<int>(c.integer("PRAGMA user_version"));
    stats.file_bytes = bytes_on_disk(impl_->path);
    return stats;
  });
}

namespace {

using Checks = std::vector<void (*)(Connection&, Findings&)>;

Findings found_by(const Checks& checks, Connection& c) {
  Findings findings;
  try {
    c.read([&] {
      findings.clear();
      for (const auto check : checks) check(c, findings);
    });
  } catch (const Failure& failure) {
    // Damage may end the search, which then is the last finding.
    if (failure.busy()) throw;
    findings.emplace_back(failure.what());
  }
  return findings;
}

}  // namespace

Result<std::vector<std::string>> Database::damage() {
  return impl_->guarded([&] { return found_by({check_pages, check_references}, *impl_->connection); });
}

Result<std::vector<std::string>> Database::check() {
  return impl_->guarded([&] {
    return found_by({check_pages, check_references, check_best, check_cubins}, *impl_->connection);
  });
}

Status Database::empty_log() {
  return impl_->guarded([&] {
    impl_->require_writable();
    impl_->connection->at_once([&] { impl_->connection->run_script("PRAGMA wal_checkpoint(TRUNCATE)"); });
  });
}

Result<PruneReport> Database::prune(std::int64_t before) {
  return impl_->guarded([&] {
    impl_->require_writable();
    PruneReport report;
    report.bytes_before = bytes_on_disk(impl_->path);
    Connection& c = *impl_->connection;
    c.write([&] { delete_old(c, before, report); });
    // VACUUM cannot be part of a transaction. Its result lies in the log until a checkpoint.
    c.retry([&] { c.run_script("VACUUM"); });
    c.retry([&] { c.run_script("PRAGMA wal_checkpoint(TRUNCATE)"); });
    report.bytes_after = bytes_on_disk(impl_->path);
    return report;
  });
}

}  // namespace rondo::db
