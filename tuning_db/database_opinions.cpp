// What cost models thought best of problems.
#include "tuning_db/database_impl.h"

namespace rondo::db {

Status Database::put_opinion(const Opinion& opinion) {
  return impl_->write_at_once([&](Connection& c) {
    unwrap(validate(opinion));
    c.run("DELETE FROM opinions WHERE model <> ?1", opinion.model);
    c.run(
        "INSERT OR REPLACE INTO opinions (asked, model, strategy, parameters, seconds, created_at) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        opinion.asked, opinion.model, opinion.strategy,
        unwrap(canonical_object(opinion.parameters, "parameters of an opinion")), opinion.seconds, now());
    c.run("DELETE FROM opinions WHERE id <= ?1", c.last_insert_id() - kMostOpinions);
  });
}

Result<std::optional<Opinion>> Database::find_opinion(const std::string& model, const std::string& asked) {
  return impl_->read([&](Connection& c) -> std::optional<Opinion> {
    Statement row =
        c.query(fmt::format("SELECT {} FROM opinions WHERE asked = ?1 AND model = ?2", kOpinionColumns),
                asked, model);
    if (!row.step()) return std::nullopt;
    return read_opinion(row, c.path());
  });
}

}  // namespace rondo::db
