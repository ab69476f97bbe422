// Rows of a tuning database with arbitrary contents. The input is a list of edits, each of them a column, and
// a value of any of SQLite's types that goes into all its rows; what the schema forbids is stored too, as
// damage may leave it.
#include <map>
#include <vector>

#include "compiler/support/bytes.h"
#include "tests/fuzz/read_database.h"
#include "tuning_db/sqlite.h"

namespace rondo::fuzz {
namespace {

constexpr std::size_t kMostEdits = 8;
const db::Problem kProblem{"c0ffee", "h200", "sm_90", {8, 4096, 1, 1536}, "bf16", "fast", "fw"};

// One row or two in every table.
void fill(const std::string& path) {
  db::Database database = db::Database::open(path).value();
  (void)database.put_device(
      {"h200", "NVIDIA H200", 9, 0, 132, "550.54", "{\"clock_hz\":1.7e9}", db::Origin::Shipped, 0});
  (void)database.put_cell({"c0ffee", "mingru", "cell mingru(D) {}"});
  const std::int64_t problem = database.upsert_problem(kProblem).value();
  db::Trial trial;
  trial.strategy = "stream";
  trial.verified = true;
  trial.median_ms = 1.5;
  trial.created_at = 1'700'000'000;
  const db::Cubin cubin{{"text", "-O3", "sm_90", "12.4"}, "image", "{\"registers\":40}", 1'700'000'000};
  trial.cubin_key = database.put_cubin(cubin).value();
  const std::int64_t best = database.record_trial(problem, trial).value();
  trial.created_at += 10;
  (void)database.record_trial(problem, trial);
  (void)database.set_best(best, db::Replace::Always);
  (void)database.record_verification(
      {best, 8, 4096, {"0.1.0", "GPU-1", "13.0"}, trial.cubin_key, true, true, "agrees", 1'700'000'000});
}

// A JSON object that is nested so deep.
std::string nested(int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += "{\"a\":";
  return text + "1" + std::string(static_cast<std::size_t>(depth), '}');
}

struct Column {
  std::string table, name;
};

// A filled database whose tables have lost their types, and whose triggers do nothing; and the schema to put
// back.
class Template {
 public:
  explicit Template(const Folder& folder) {
    const std::string path = folder.database("template.db", "");
    fill(path);
    {
      db::Connection connection(path, db::OpenMode::ReadWriteCreate, std::chrono::milliseconds(0));
      auto schema = connection.query("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL");
      while (schema.step()) sql_[schema.text(0)] = schema.text(1);
      auto column = connection.query(
          "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' "
          "AND "
          "m.name NOT LIKE 'sqlite_%' ORDER BY m.rowid, c.cid");
      while (column.step()) columns_.push_back({column.text(0), column.text(1)});
      connection.run_script(
          "PRAGMA writable_schema = ON;"
          "UPDATE sqlite_schema SET sql = replace(sql, 'WHEN ', 'WHEN 0 AND ') WHERE type = 'trigger';"
          "UPDATE sqlite_schema SET sql = replace(replace(sql, 'STRICT, ', ''), 'STRICT', '') WHERE type = "
          "'table'");
      connection.run_script("PRAGMA journal_mode = DELETE");
    }
    bytes_ = bytes_of(path);
  }

  // The file with the edits made and the schema as it was.
  std::string edited(const Folder& folder, ByteReader& edits) const {
    const std::string path = folder.database("fuzz.db", bytes_);
    db::Connection connection(path, db::OpenMode::ReadWriteCreate, std::chrono::milliseconds(0));
    connection.run_script(
        "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; "
        "PRAGMA writable_schema = ON; BEGIN");
    for (std::size_t i = 0; i < kMostEdits && !edits.done() && edits.ok(); ++i) edit(connection, edits);
    for (const auto& [name, sql] : sql_)
      connection.run("UPDATE sqlite_schema SET sql = ?2 WHERE name = ?1", name, sql);
    connection.run_script("COMMIT");
    return path;
  }

 private:
  void edit(db::Connection& connection, ByteReader& edits) const {
    const Column& column = columns_[edits.u8() % columns_.size()];
    db::Statement update(connection, "UPDATE " + column.table + " SET " + column.name + " = ?1");
    switch (edits.u8() % 7) {
      case 0: update.bind(std::optional<double>()); break;
      case 1: update.bind(edits.i64()); break;
      case 2: update.bind(edits.f64()); break;
      case 3: update.bind(std::int64_t{edits.u8()}); break;
      case 4: update.bind(edits.text()); break;
      case 5: update.bind(nested(128 * edits.u8())); break;
      default: update.bind(db::Blob{edits.text()}); break;
    }
    try {
      update.run();
    } catch (const db::Failure&) {  // NOT NULL, UNIQUE, or no such type of a key: the row stays as it is
    }
  }

  std::string bytes_;
  std::map<std::string, std::string> sql_;
  std::vector<Column> columns_;
};

}  // namespace
}  // namespace rondo::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rondo;
  static const fuzz::Folder folder;
  static const fuzz::Template rows(folder);
  ByteReader edits(fuzz::text_of(data, size));
  fuzz::use_database(folder, rows.edited(folder, edits));
  return 0;
}
