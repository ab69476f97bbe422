// The best trials of problems: what takes their place, what is known for a problem, and what was verified of
// it.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tuning_db/database_impl.h"

namespace rondo::db {
namespace {

constexpr std::string_view kBestTrials =
    "JOIN best ON best.problem = p.id JOIN trials t ON t.id = best.trial";
constexpr std::string_view kAllTrials = "JOIN trials t ON t.problem = p.id";

void set_best_always(Connection& c, std::int64_t problem, std::int64_t trial) {
  c.run(
      "INSERT INTO best (problem, trial) VALUES (?1, ?2) ON CONFLICT (problem) DO UPDATE SET trial = "
      "excluded.trial",
      problem, trial);
}

// A best that was not timed on the contest's platform is a claim, and gives way.
bool set_best_if_faster(Connection& c, std::int64_t problem, std::int64_t trial, double median_ms,
                        const Contest& contest) {
  const Platform platform = contest.platform != nullptr ? *contest.platform : Platform{};
  c.run(
      "INSERT INTO best (problem, trial) VALUES (?1, ?2) ON CONFLICT (problem) DO UPDATE SET trial = "
      "excluded.trial WHERE ?3 < (SELECT median_ms FROM trials WHERE id = best.trial) OR best.trial = ?4 OR "
      "(?5 AND NOT EXISTS (SELECT 1 FROM verifications v WHERE v.trial = best.trial AND v.pass = (SELECT "
      "pass "
      "FROM problems WHERE id = ?1) AND v.passed AND v.timed "
      "AND v.rondo_version = ?6 AND v.device = ?7 AND v.driver = ?8))",
      problem, trial, median_ms, contest.beaten, contest.platform != nullptr, platform.rondo_version,
      platform.device, platform.driver);
  return c.changes() > 0;
}

// The trials of a join, in order of their problems, of those that differ from `p` in device, B, T or pass
// only and satisfy a condition, whose parameters begin with ?13. What was verified for the wanted sizes goes
// before what was for the neighbour's, the later before the earlier (of another text).
template <class... Values>
std::vector<Neighbour> select(Connection& c, const Problem& p, const Platform* platform,
                              std::string_view trials, std::string_view condition, const Values&... values) {
  const Platform here = platform != nullptr ? *platform : Platform{};
  Statement row = c.query(
      fmt::format(
          "SELECT {}, {}, {} FROM problems p {} LEFT JOIN verifications v ON v.trial = t.id AND v.pass "
          "= ?12 AND v.rondo_version = ?9 AND v.device = ?10 AND v.driver = ?11 AND ((v.b = ?7 AND v.t "
          "= ?8) OR (v.b = p.b AND v.t = p.t)) WHERE p.cell = ?1 AND p.arch = ?2 AND p.dtype = ?3 AND "
          "p.math = ?4 AND p.h = ?5 AND p.d = ?6 AND {} ORDER BY p.id, (v.b = ?7 AND v.t = ?8) DESC, "
          "v.created_at DESC",
          kProblemColumns, kTrialColumns, kVerificationColumns, trials, condition),
      p.cell, p.arch, p.dtype, p.math, p.shape.H, p.shape.D, p.shape.B, p.shape.T, here.rondo_version,
      here.device, here.driver, p.pass, values...);
  std::vector<Neighbour> found;
  while (row.step()) {
    Trial trial = read_trial(row, kProblemWidth, c.path());
    if (!found.empty() && found.back().trial.id == trial.id) continue;
    const Problem tuned = read_problem(row, 0);
    found.push_back({tuned, std::move(trial), distance(tuned, p), std::nullopt});
    constexpr int kVerification = kProblemWidth + kTrialWidth;
    if (!row.is_null(kVerification)) found.back().verification = read_verification(row, kVerification);
  }
  return found;
}

}  // namespace

Result<bool> Database::set_best(std::int64_t trial, Replace replace, const Contest& contest) {
  return impl_->write([&](Connection& c) {
    Statement row =
        c.query(fmt::format("SELECT {}, t.problem FROM trials t WHERE t.id = ?1", kTrialColumns), trial);
    if (!row.step())
      throw Failure({ErrorKind::Input, fmt::format("no trial {} in database '{}'", trial, impl_->path)});
    const Trial stored = read_trial(row, 0, impl_->path);
    const std::int64_t problem = row.integer(kTrialWidth);
    if (!stored.may_be_best())
      throw Failure({ErrorKind::Input,
                     fmt::format("trial {} cannot be best: it is {}, {}, {}", trial, to_text(stored.status),
                                 stored.verified ? "verified" : "not verified",
                                 stored.median_ms ? "timed" : "not timed"),
                     "only a trial that ran, was timed, and agrees with the reference is stored as best"});
    if (replace == Replace::IfFaster)
      return set_best_if_faster(c, problem, trial, *stored.median_ms, contest);
    set_best_always(c, problem, trial);
    return true;
  });
}

bool set_best_on_merge(Connection& c, std::int64_t problem, std::int64_t trial, double median_ms) {
  c.run(
      "INSERT INTO best (problem, trial) SELECT p.id, ?2 FROM problems p WHERE p.id = ?1 AND NOT EXISTS "
      "(SELECT "
      "1 FROM verifications v WHERE v.trial = ?2 AND v.pass = p.pass AND NOT v.passed) ON CONFLICT (problem) "
      "DO "
      "UPDATE SET trial = excluded.trial WHERE (?3 < (SELECT median_ms FROM trials WHERE id = best.trial) "
      "OR EXISTS (SELECT 1 FROM verifications v JOIN problems p ON p.id = best.problem WHERE v.trial = "
      "best.trial AND v.pass = p.pass AND NOT v.passed)) AND NOT EXISTS (SELECT 1 FROM verifications v JOIN "
      "problems p ON p.id = best.problem WHERE v.trial = "
      "best.trial AND v.pass = p.pass AND v.passed)",
      problem, trial, median_ms);
  return c.changes() > 0;
}

Result<std::optional<Neighbour>> Database::find_best(const Problem& p, const Platform* platform) {
  return impl_->read([&](Connection& c) -> std::optional<Neighbour> {
    std::vector<Neighbour> found = select(
        c, p, platform, kBestTrials, "p.pass = ?12 AND p.b = ?7 AND p.t = ?8 AND p.device = ?13", p.device);
    return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
  });
}

Result<std::vector<Neighbour>> Database::neighbours(const Problem& p, const std::vector<std::string>& passes,
                                                    const Platform* platform) {
  return impl_->read([&](Connection& c) {
    nlohmann::json all = passes;
    all.push_back(p.pass);
    std::vector<Neighbour> found =
        select(c, p, platform, kBestTrials, "p.pass IN (SELECT value FROM json_each(?13))", all.dump());
    std::ranges::stable_sort(found,
                             [](const Neighbour& a, const Neighbour& b) { return a.distance < b.distance; });
    return found;
  });
}

Result<std::optional<Neighbour>> Database::find_trial(const Problem& tuned, const Trial& trial,
                                                      const Problem& p, const Platform* platform) {
  return impl_->read([&](Connection& c) -> std::optional<Neighbour> {
    const std::optional<std::int64_t> problem = find_problem(c, tuned);
    if (!problem) return std::nullopt;
    // Its problem may differ from the wanted one in more than select() looks past.
    const Problem seen = alike(tuned, p) ? p : tuned;
    std::vector<Neighbour> found = select(c, seen, platform, kAllTrials, "p.id = ?13 AND t.digest = ?14",
                                          *problem, trial_digest(checked(trial)));
    return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
  });
}

Status Database::record_verification(const Verification& v) {
  return impl_->write([&](Connection& c) {
    if (v.code.empty() || v.platform.device.empty())
      throw Failure({ErrorKind::Input, fmt::format("a verification of trial {} names no {}", v.trial,
                                                   v.code.empty() ? "code" : "device")});
    if (!c.query("SELECT 1 FROM trials WHERE id = ?1", v.trial).step())
      throw Failure({ErrorKind::Input, fmt::format("no trial {} in database '{}'", v.trial, impl_->path)});
    c.run(
        "INSERT INTO verifications (trial, b, t, rondo_version, device, driver, code, passed, timed, "
        "summary, created_at, image, pass) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?13, "
        "iif(?12 "
        "<> '', ?12, "
        "(SELECT p.pass FROM trials t JOIN problems p ON p.id = t.problem WHERE t.id = ?1))) ON CONFLICT DO "
        "UPDATE SET image = excluded.image, passed = excluded.passed, timed = max(timed, excluded.timed), "
        "summary = "
        "excluded.summary, created_at = "
        "excluded.created_at",
        v.trial, v.batch, v.time, v.platform.rondo_version, v.platform.device, v.platform.driver, v.code,
        v.passed, v.timed, v.summary, v.created_at == 0 ? now() : v.created_at, v.pass, v.image);
  });
}

Result<std::vector<Verification>> Database::verifications(std::int64_t trial) {
  return impl_->read([&](Connection& c) {
    std::vector<Verification> found;
    Statement row = c.query(fmt::format("SELECT {} FROM verifications v WHERE v.trial = ?1 ORDER BY "
                                        "v.created_at, v.code, v.b, v.t, v.device",
                                        kVerificationColumns),
                            trial);
    while (row.step()) found.push_back(read_verification(row, 0));
    return found;
  });
}

}  // namespace rondo::db
