// Devices, cells, problems and trials.
#include "tuning_db/database_impl.h"

namespace rondo::db {
Status Database::put_device(const Device& device) {
  return impl_->write([&](Connection& c) {
    if (device.key.empty()) throw Failure({ErrorKind::Input, "the device's key is empty"});
    Device canonical = device;
    canonical.profile = unwrap(canonical_object(device.profile, "profile of device '" + device.key + "'"));
    insert_device(c, canonical, /*keep_newer=*/false);
  });
}

Result<std::optional<Device>> Database::get_device(const std::string& key) {
  return impl_->read([&](Connection& c) -> std::optional<Device> {
    Statement row = c.query(fmt::format("SELECT {} FROM devices WHERE key = ?1", kDeviceColumns), key);
    if (!row.step()) return std::nullopt;
    return read_device(row, impl_->path);
  });
}

Result<std::vector<Device>> Database::devices() {
  return impl_->read([&](Connection& c) {
    std::vector<Device> devices;
    Statement row = c.query(fmt::format("SELECT {} FROM devices ORDER BY key", kDeviceColumns));
    while (row.step()) devices.push_back(read_device(row, impl_->path));
    return devices;
  });
}

Status Database::put_cell(const Cell& cell) {
  return impl_->write([&](Connection& c) {
    if (cell.hash.empty()) throw Failure({ErrorKind::Input, "the hash of cell '" + cell.name + "' is empty"});
    insert_cell(c, cell);
  });
}

Result<std::vector<Cell>> Database::cells() {
  return impl_->read([](Connection& c) {
    std::vector<Cell> cells;
    Statement row = c.query("SELECT hash, name, source FROM cells ORDER BY name, rowid");
    while (row.step()) cells.push_back({row.text(0), row.text(1), row.text(2)});
    return cells;
  });
}

Result<std::optional<Cell>> Database::find_cell(const std::string& name_or_hash) {
  return impl_->read([&](Connection& c) -> std::optional<Cell> {
    if (name_or_hash.empty()) return std::nullopt;
    Statement row = c.query(
        "SELECT hash, name, source, name = ?1 OR hash = ?1 FROM cells "
        "WHERE name = ?1 OR substr(hash, 1, length(?1)) = ?1 "
        "ORDER BY name = ?1 DESC, hash = ?1 DESC, rowid DESC",
        name_or_hash);
    if (!row.step()) return std::nullopt;
    const Cell cell{row.text(0), row.text(1), row.text(2)};
    if (row.integer(3) != 0) return cell;
    std::string others;
    while (row.step()) others += fmt::format(", {:.12} ({})", row.text(0), row.text(1));
    if (others.empty()) return cell;
    throw Failure({ErrorKind::Input,
                   fmt::format("'{}' begins the hash of several cells: {:.12} ({}){}", name_or_hash,
                               cell.hash, cell.name, others),
                   "give more of the hash, or the name"});
  });
}

Result<std::int64_t> Database::upsert_problem(const Problem& problem) {
  return impl_->write([&](Connection& c) {
    unwrap(validate(problem));
    return insert_problem(c, problem).first;
  });
}

Result<std::int64_t> Database::record_trial(std::int64_t problem, const Trial& trial) {
  return impl_->write([&](Connection& c) { return insert_trial(c, problem, checked(trial)).first; });
}

Result<std::vector<Trial>> Database::trials(const Problem& problem) {
  return impl_->read([&](Connection& c) {
    std::vector<Trial> trials;
    const auto id = find_problem(c, problem);
    if (!id) return trials;
    Statement row = c.query(
        fmt::format("SELECT {} FROM trials t WHERE t.problem = ?1 ORDER BY t.id", kTrialColumns), *id);
    while (row.step()) trials.push_back(read_trial(row, 0, impl_->path));
    return trials;
  });
}

Result<std::vector<ProblemSummary>> Database::list(const std::string& of_cell) {
  return impl_->read([&](Connection& c) {
    std::vector<ProblemSummary> problems;
    Statement row = c.query(
        fmt::format("SELECT {}, cells.name, (SELECT count(*) FROM trials WHERE problem = p.id), "
                    "EXISTS (SELECT 1 FROM verifications v WHERE v.trial = best.trial AND v.pass = "
                    "p.pass AND v.passed), "
                    "(SELECT origin FROM cubins WHERE key = t.cubin_key), "
                    "{} FROM problems p "
                    "JOIN cells ON cells.hash = p.cell LEFT JOIN best ON best.problem = p.id "
                    "LEFT JOIN trials t ON t.id = best.trial WHERE ?1 = '' OR p.cell = ?1 OR cells.name = ?1 "
                    "ORDER BY cells.name, p.h, p.d, p.t, p.b, p.id",
                    kProblemColumns, kTrialColumns),
        of_cell);
    while (row.step()) {
      ProblemSummary& problem = problems.emplace_back();
      problem.problem = read_problem(row, 0);
      row.read(kProblemWidth, problem.cell_name, problem.trials, problem.verified_here,
               problem.kernel_origin);
      constexpr int kBest = kProblemWidth + 4;
      if (!row.is_null(kBest)) problem.best = read_trial(row, kBest, impl_->path);
    }
    return problems;
  });
}

}  // namespace rondo::db
