// The tuning database behind a handle of the C interface.
#pragma once

#include <rondo/rondo.h>

#include <memory>

#include "runtime/capi/launch/handle.h"
#include "tuning_db/database.h"

namespace rondo::capi {

struct DatabaseObject {
  std::shared_ptr<db::Database> database;  // calls from several threads are taken one at a time
};
template <>
struct HandleOf<DatabaseObject> {
  using Handle = rondo_database;
  static constexpr HandleKind kind = HandleKind::Database;
};

}  // namespace rondo::capi
