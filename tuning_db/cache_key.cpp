#include "tuning_db/cache_key.h"

#include "compiler/support/hash.h"

namespace rondo::db {

std::string hash_fields(std::string_view domain, std::initializer_list<std::string_view> fields) {
  std::string framed;
  const auto append = [&framed](std::string_view field) {
    framed += std::to_string(field.size());
    framed += ':';
    framed += field;
  };
  append(domain);
  for (const std::string_view field : fields) append(field);
  return sha256_hex(framed);
}

std::string CacheKey::hash() const {
  return hash_fields("rondo-cubin-1", {source, flags, arch, compiler_version});
}

}  // namespace rondo::db
