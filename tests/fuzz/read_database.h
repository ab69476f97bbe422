// Everything that can be read of a database.
#pragma once

#include "tests/fuzz/target.h"
#include "tuning_db/database.h"

namespace rondo::fuzz {

// Reads all of it, by every way there is; errors are as good as values.
inline void read_all(db::Database& database) {
  (void)database.stats();
  (void)database.check();
  (void)database.export_json();
  (void)database.export_lock();
  (void)database.find_cell("c0");
  (void)database.find_opinion("model", "asked");
  if (const auto devices = database.devices())
    for (const db::Device& device : *devices) (void)database.get_device(device.key);
  if (const auto cubins = database.cubins())
    for (const db::CubinSummary& cubin : *cubins) (void)database.get_cubin(cubin.key);
  const auto problems = database.list();
  if (!problems) return;
  const db::Platform here{"0.1.0", "GPU-1", "13.0"};
  for (const db::ProblemSummary& summary : *problems) {
    (void)database.find_best(summary.problem, &here);
    (void)database.neighbours(summary.problem, {"bw"}, &here);
    if (const auto trials = database.trials(summary.problem))
      for (const db::Trial& trial : *trials) (void)database.verifications(trial.id);
  }
}

// An open database that holds nothing.
inline db::Database empty_database(const Folder& folder) {
  static const std::string bytes = [&] {
    const std::string path = folder.database("empty.db", "");
    require(db::Database::open(path).ok(), "a database is created");
    return bytes_of(path);
  }();
  return db::Database::open(folder.database("into.db", bytes)).value();
}

// Opens the file in every way and reads it; then merges it into an empty database, and changes it.
inline void use_database(const Folder& folder, const std::string& path) {
  if (auto database = db::Database::open(path, {.access = db::Access::ReadOnly})) read_all(*database);
  db::Database empty = empty_database(folder);
  if (empty.merge_database(path, {}, db::Database::Kernels::Taken))
    require(empty.check()->empty(), "what was merged is sound");
  if (auto database = db::Database::open(path)) {
    (void)database->put_opinion({"model", "asked", "stream", "{}", 1});
    (void)database->prune(1'700'000'001);
    (void)database->stats();
  }
}

}  // namespace rondo::fuzz
