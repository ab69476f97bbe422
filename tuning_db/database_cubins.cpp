// Compiled kernels by content address.
#include "tuning_db/database_impl.h"

namespace rondo::db {

Result<std::string> Database::put_cubin(const Cubin& cubin) {
  return impl_->write([&](Connection& c) {
    if (cubin.image.empty()) throw Failure({ErrorKind::Input, "the image of a cubin is empty"});
    Cubin stored = cubin;
    stored.resources = unwrap(canonical_object(cubin.resources, "resources of a cubin"));
    if (stored.created_at == 0) stored.created_at = now();
    stored.origin = compiled_here();
    insert_cubin(c, stored);
    return stored.key.hash();
  });
}

Result<std::optional<Cubin>> Database::get_cubin(const CacheKey& key) { return get_cubin(key.hash()); }

Result<std::optional<Cubin>> Database::get_cubin(const std::string& key_hash) {
  return impl_->read([&](Connection& c) { return select_cubin(c, key_hash); });
}

Status Database::block_cubin(const std::string& key_hash, const std::string& why) {
  return impl_->write([&](Connection& c) {
    c.run("UPDATE cubins SET origin = ?2 WHERE key = ?1 AND origin <> ?3", key_hash,
          std::string(kBlocked) + why, compiled_here());
  });
}

Result<std::vector<CubinSummary>> Database::cubins() {
  return impl_->read([](Connection& c) {
    std::vector<CubinSummary> cubins;
    Statement row = c.query(
        "SELECT key, arch, compiler_version, flags, length(image), created_at, origin FROM cubins ORDER BY "
        "created_at, key");
    while (row.step())
      cubins.push_back(
          {row.text(0), row.text(1), row.text(2), row.text(3), row.integer(4), row.integer(5), row.text(6)});
    return cubins;
  });
}

}  // namespace rondo::db
