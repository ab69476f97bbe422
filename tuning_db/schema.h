// Internal to tuning_db: the tables, and how a file moves from one version of them to the next.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tuning_db/sqlite.h"

namespace rondo::db {

// "RNDO" in the file's header tells a tuning database from other applications' SQLite files.
inline constexpr std::int64_t kApplicationId = 0x524E444F;

// A step from version - 1 to version. Steps that have shipped never change; a new one goes to the end of the
// list.
struct Migration {
  int version;
  const char* sql;
  std::string_view digest =
      {};  // schema_digest() after it; where there is none it is worked out at each opening
};
std::span<const Migration> migrations();
int newest_version(std::span<const Migration> steps = migrations());

// Version of the tables in the file; none for one that holds nothing yet. Changes nothing; a Failure for
// another application's file, for a version newer than `steps` know, and where tables, views, indexes and
// triggers are not those of the version.
std::optional<int> schema_version(Connection& connection, std::span<const Migration> steps = migrations());

// A hash of the texts of all tables, views, indexes and triggers.
std::string schema_digest(Connection& connection);

// Brings the file to the newest version, all steps in one transaction: another process sees the old version
// or the new one. Several processes may do this at once. Call schema_version first.
void migrate(Connection& connection, std::span<const Migration> steps = migrations());

}  // namespace rondo::db
