#include "tuning_db/schema.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "tuning_db/cache_key.h"

namespace rondo::db {
namespace {

constexpr const char* kVersion1 = R"sql(
CREATE TABLE devices (
  key           TEXT PRIMARY KEY CHECK (key <> ''),
  name          TEXT NOT NULL,
  compute_major INTEGER NOT NULL,
  compute_minor INTEGER NOT NULL,
  sm_count      INTEGER NOT NULL,
  driver        TEXT NOT NULL,
  profile       TEXT NOT NULL,
  origin        TEXT NOT NULL CHECK (origin IN ('shipped', 'measured')),
  calibrated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE cells (
  hash   TEXT PRIMARY KEY CHECK (hash <> ''),
  name   TEXT NOT NULL,
  source TEXT NOT NULL
) STRICT;

CREATE TABLE problems (
  id     INTEGER PRIMARY KEY,
  cell   TEXT NOT NULL REFERENCES cells(hash),
  device TEXT NOT NULL REFERENCES devices(key),
  arch   TEXT NOT NULL,
  b      INTEGER NOT NULL CHECK (b >= 1),
  t      INTEGER NOT NULL CHECK (t >= 1),
  h      INTEGER NOT NULL CHECK (h >= 1),
  d      INTEGER NOT NULL CHECK (d >= 1),
  bucket TEXT NOT NULL,
  dtype  TEXT NOT NULL,
  math   TEXT NOT NULL,
  pass   TEXT NOT NULL,
  UNIQUE (cell, arch, dtype, math, pass, h, d, device, b, t)
) STRICT;

-- cubin_key has no foreign key: it is a content address, and the image may be pruned or stay on another machine.
-- digest is a hash of the row's content, so that merging a file twice adds nothing.
CREATE TABLE trials (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  problem       INTEGER NOT NULL REFERENCES problems(id),
  digest        TEXT NOT NULL,
  strategy      TEXT NOT NULL CHECK (strategy <> ''),
  parameters    TEXT NOT NULL CHECK (json_valid(parameters)),
  status        TEXT NOT NULL CHECK (status IN ('ok', 'compile_error', 'spill', 'launch_error', 'timeout', 'wrong',
                                                'slower', 'duplicate', 'cancelled')),
  verified      INTEGER NOT NULL CHECK (verified IN (0, 1)),
  reason        TEXT NOT NULL,
  median_ms     REAL CHECK (median_ms > 0),
  spread        REAL NOT NULL CHECK (spread >= 0),
  samples       INTEGER NOT NULL CHECK (samples >= 0),
  registers     INTEGER NOT NULL,
  shared_bytes  INTEGER NOT NULL,
  spill_bytes   INTEGER NOT NULL,
  cubin_key     TEXT NOT NULL,
  rondo_version TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  CHECK (NOT (verified AND status = 'wrong')),
  UNIQUE (problem, digest),
  UNIQUE (id, problem)
) STRICT;
CREATE INDEX trials_by_age ON trials (created_at);

CREATE TABLE best (
  problem INTEGER PRIMARY KEY REFERENCES problems(id),
  trial   INTEGER NOT NULL,
  FOREIGN KEY (trial, problem) REFERENCES trials(id, problem)
) STRICT;
CREATE INDEX best_by_trial ON best (trial, problem);

CREATE TRIGGER best_insert_verified BEFORE INSERT ON best
WHEN NOT EXISTS (SELECT 1 FROM trials WHERE id = NEW.trial AND status = 'ok' AND verified = 1
                 AND median_ms IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'only a verified, timed trial may be best'); END;
CREATE TRIGGER best_update_verified BEFORE UPDATE ON best
WHEN NOT EXISTS (SELECT 1 FROM trials WHERE id = NEW.trial AND status = 'ok' AND verified = 1
                 AND median_ms IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'only a verified, timed trial may be best'); END;
CREATE TRIGGER best_trial_stays_verified BEFORE UPDATE ON trials
WHEN EXISTS (SELECT 1 FROM best WHERE trial = OLD.id)
 AND NOT (NEW.status = 'ok' AND NEW.verified = 1 AND NEW.median_ms IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a trial that is best stays verified'); END;

-- digest covers image and resources: damage to either is noticed on reading.
CREATE TABLE cubins (
  key              TEXT PRIMARY KEY,
  source           TEXT NOT NULL,
  flags            TEXT NOT NULL,
  arch             TEXT NOT NULL,
  compiler_version TEXT NOT NULL,
  resources        TEXT NOT NULL,
  digest           TEXT NOT NULL,
  created_at       INTEGER NOT NULL,
  image            BLOB NOT NULL
) STRICT;
CREATE INDEX cubins_by_age ON cubins (created_at);
)sql";

// What was verified on this machine (records.h): a best trial without a row here was recorded elsewhere.
constexpr const char* kVersion2 = R"sql(
CREATE TABLE verifications (
  trial         INTEGER NOT NULL REFERENCES trials(id) ON DELETE CASCADE,
  code          TEXT NOT NULL CHECK (code <> ''),
  b             INTEGER NOT NULL CHECK (b >= 1),
  t             INTEGER NOT NULL CHECK (t >= 1),
  rondo_version TEXT NOT NULL,
  device        TEXT NOT NULL CHECK (device <> ''),
  driver        TEXT NOT NULL,
  passed        INTEGER NOT NULL CHECK (passed IN (0, 1)),
  timed         INTEGER NOT NULL CHECK (timed IN (0, 1)),
  summary       TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  PRIMARY KEY (trial, code, b, t, rondo_version, device, driver)
) STRICT, WITHOUT ROWID;
CREATE INDEX verifications_by_code ON verifications (code);
)sql";

// A verification names the pass whose code it is of: parameters that were tuned for one pass serve others.
constexpr const char* kVersion3 = R"sql(
CREATE TABLE verifications_of_passes (
  trial         INTEGER NOT NULL REFERENCES trials(id) ON DELETE CASCADE,
  pass          TEXT NOT NULL CHECK (pass <> ''),
  code          TEXT NOT NULL CHECK (code <> ''),
  b             INTEGER NOT NULL CHECK (b >= 1),
  t             INTEGER NOT NULL CHECK (t >= 1),
  rondo_version TEXT NOT NULL,
  device        TEXT NOT NULL CHECK (device <> ''),
  driver        TEXT NOT NULL,
  passed        INTEGER NOT NULL CHECK (passed IN (0, 1)),
  timed         INTEGER NOT NULL CHECK (timed IN (0, 1)),
  summary       TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  PRIMARY KEY (trial, pass, code, b, t, rondo_version, device, driver)
) STRICT, WITHOUT ROWID;
INSERT INTO verifications_of_passes
  SELECT v.trial, p.pass, v.code, v.b, v.t, v.rondo_version, v.device, v.driver, v.passed, v.timed, v.summary,
         v.created_at
  FROM verifications v JOIN trials t ON t.id = v.trial JOIN problems p ON p.id = t.problem;
DROP TABLE verifications;
ALTER TABLE verifications_of_passes RENAME TO verifications;
CREATE INDEX verifications_by_code ON verifications (code);
)sql";

// A verification names the bytes that it is of, and a stored kernel where it comes from (records.h). Of what
// earlier versions stored neither is known: it proves nothing, and counts as somebody else's.
constexpr const char* kVersion4 = R"sql(
ALTER TABLE verifications ADD COLUMN image TEXT NOT NULL DEFAULT '';
ALTER TABLE cubins ADD COLUMN origin TEXT NOT NULL DEFAULT '';
)sql";

// What cost models think best (records.h). The id is the order of storing.
constexpr const char* kVersion5 = R"sql(
CREATE TABLE opinions (
  id         INTEGER PRIMARY KEY,
  asked      TEXT NOT NULL UNIQUE,
  model      TEXT NOT NULL CHECK (model <> ''),
  strategy   TEXT NOT NULL CHECK (strategy <> ''),
  parameters TEXT NOT NULL CHECK (json_valid(parameters)),
  seconds    REAL NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
)sql";

constexpr Migration kMigrations[] = {
    {1, kVersion1, "0dc73ec2c5b558ccb295a943107102fba7b61138493c6c360535d44e158a6bcd"},
    {2, kVersion2, "1a465b9978f8f542606474984261225f8cfaf071bc5acc0ab0e5aff7382378cf"},
    {3, kVersion3, "93a3cec20410c5c5106bcf4e6b9501fdfec9f11d4e456334ee72f4366a46a084"},
    {4, kVersion4, "49103d1a49a100c3f4ca720815932e475024a04e0613a0bb571e041ee6c5916c"},
    {5, kVersion5, "bee39e1eba875bf6c204270df98998931bafa1fd0d25bac287f8426799cbc2cb"},
};

struct Header {
  std::int64_t application_id, version, tables;
};

Header read_header(Connection& c) {
  return {c.integer("PRAGMA application_id"), c.integer("PRAGMA user_version"),
          c.integer("SELECT count(*) FROM sqlite_schema")};
}

std::optional<int> version_of(const Header& header, const std::string& path, int newest) {
  // A file without tables holds nothing to lose; it is what a creation that was interrupted leaves behind.
  if (header.application_id == 0 && header.version == 0 && header.tables == 0) return std::nullopt;
  if (header.application_id != kApplicationId)
    throw Failure(
        {ErrorKind::Database,
         fmt::format("'{}' is another application's SQLite database (application id 0x{:08x}, not 0x{:08x})",
                     path, static_cast<std::uint32_t>(header.application_id), kApplicationId),
         "name another file with --db; Rondo never overwrites a file that it did not write"});
  if (header.version > newest)
    throw Failure({ErrorKind::Database,
                   fmt::format("database '{}' has schema version {}, newer than this program's {}", path,
                               header.version, newest),
                   "use the newer Rondo that wrote it, or name another file with --db"});
  return static_cast<int>(header.version);
}

// The text of each table, view, index and trigger, by type and name; without those that SQLite makes itself.
using Objects = std::map<std::pair<std::string, std::string>, std::string>;

Objects read_objects(Connection& c) {
  Objects objects;
  Statement row = c.query(
      "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND NOT (type = 'table' AND "
      "substr(name, 1, "
      "7) = 'sqlite_')");
  while (row.step()) objects[{row.text(0), row.text(1)}] = row.text(2);
  return objects;
}

Objects objects_of(int version, std::span<const Migration> steps) {
  Connection memory(":memory:", OpenMode::ReadWriteCreate, std::chrono::milliseconds(0));
  for (const Migration& step : steps)
    if (step.version <= version) memory.run_script(step.sql);
  return read_objects(memory);
}

[[noreturn]] void fail_altered(const std::string& path, const std::string& how) {
  throw Failure({ErrorKind::Database, fmt::format("database '{}' is damaged or was altered: {}", path, how),
                 "Rondo leaves the file as it is: restore a copy, or move it away and tune again"});
}

void fail_at_difference(const Objects& found, const Objects& wanted, const std::string& path) {
  for (const auto& [name, text] : wanted) {
    const auto object = found.find(name);
    if (object == found.end())
      fail_altered(path, fmt::format("its {} '{}' is missing", name.first, name.second));
    if (object->second != text)
      fail_altered(path, fmt::format("its {} '{}' is another one", name.first, name.second));
  }
  for (const auto& [name, text] : found)
    if (!wanted.contains(name))
      fail_altered(
          path, fmt::format("it holds the {} '{:.80}', which Rondo did not make", name.first, name.second));
}

std::string digest_of(const Objects& objects) {
  std::string all;
  for (const auto& [name, text] : objects)
    all += hash_fields("rondo-object-1", {name.first, name.second, text});
  return hash_fields("rondo-schema-1", {all});
}

// A file is used only if its schema is the one of its version, word for word: a view in place of a table, a
// generated column or a trigger runs what its author likes, for as long as that takes, whenever a row is read
// or changed.
void check_objects(Connection& c, int version, std::span<const Migration> steps) {
  const Objects found = read_objects(c);
  const std::string digest = digest_of(found);
  for (const Migration& step : steps)
    if (step.version == version && step.digest == digest) return;
  const Objects wanted = objects_of(version, steps);  // takes a millisecond
  if (found != wanted) fail_at_difference(found, wanted, c.path());
}

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

int newest_version(std::span<const Migration> steps) { return steps.empty() ? 0 : steps.back().version; }

std::optional<int> schema_version(Connection& connection, std::span<const Migration> steps) {
  // One view for all: another process may be creating the tables right now.
  return connection.read([&] {
    const std::optional<int> version =
        version_of(read_header(connection), connection.path(), newest_version(steps));
    if (version) check_objects(connection, *version, steps);
    return version;
  });
}

std::string schema_digest(Connection& connection) { return digest_of(read_objects(connection)); }

void migrate(Connection& connection, std::span<const Migration> steps) {
  connection.write([&] {
    const int current =
        version_of(read_header(connection), connection.path(), newest_version(steps)).value_or(0);
    for (const Migration& step : steps)
      if (step.version > current) connection.run_script(step.sql);
    connection.run_script(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId,
                                      newest_version(steps))
                              .c_str());
  });
}

}  // namespace rondo::db
