#include "engine/choice/shipped.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace rondo::engine {

namespace {

double log2_ratio(double a, double b) { return std::abs(std::log2(a / b)); }

template <class Item>
const Item* find_keyed(const std::vector<Item>& items, std::string Item::*key, const std::string& wanted) {
  const auto found = std::ranges::find_if(items, [&](const Item& item) { return item.*key == wanted; });
  return found == items.end() ? nullptr : &*found;
}

// The choices that a condition selects, the least of `distance_of` first; equal ones in their own order.
template <class Condition, class DistanceOf>
std::vector<const ShippedChoice*> sorted_choices(const std::vector<ShippedChoice>& choices,
                                                 const Condition& condition, const DistanceOf& distance_of) {
  std::vector<const ShippedChoice*> found;
  for (const ShippedChoice& choice : choices)
    if (condition(choice)) found.push_back(&choice);
  std::ranges::stable_sort(found, [&](const ShippedChoice* a, const ShippedChoice* b) {
    return distance_of(*a) < distance_of(*b);
  });
  return found;
}

}  // namespace

std::string structure_key(const step::Cell& cell) {
  const step::Structure structure = step::analyze(cell);
  int matrices = 0;
  for (const step::Tensor& tensor : cell.tensors)
    if (tensor.tail == step::Tail::Matrix) matrices += tensor.rows;
  std::string pairs;
  for (const step::Coupling coupling : structure.coupling)
    pairs += coupling == step::Coupling::None ? '-' : coupling == step::Coupling::Diagonal ? 'd' : 'D';
  return fmt::format("states={} pairs={} affine={} matrices={} reduction={}{}", structure.states, pairs,
                     structure.affine ? 1 : 0, matrices, structure.has_reduction ? 1 : 0,
                     structure.has_along ? " along=1" : "");
}

double unlikeness(const db::Problem& shipped, const db::Problem& wanted) {
  const db::Shape &a = shipped.shape, &b = wanted.shape;
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  double sum = log2_ratio(number(a.B), number(b.B)) +
               db::Distance::kTime * log2_ratio(number(a.T), number(b.T)) +
               log2_ratio(number(a.H), number(b.H)) + Unlikeness::kDim * log2_ratio(number(a.D), number(b.D));
  if (shipped.dtype != wanted.dtype || shipped.math != wanted.math) sum += Unlikeness::kType;
  if (shipped.cell != wanted.cell) sum += Unlikeness::kCell;
  if (shipped.pass != wanted.pass) sum += db::Distance::kOtherPass;
  return sum;
}

void ShippedLayer::add(const db::Contents& contents, const StructureOf& structure_of) {
  std::vector<std::string> structures;
  for (const db::Cell& cell : contents.cells) structures.push_back(structure_of(cell));
  for (const db::TunedProblem& tuned : contents.problems) {
    const db::Cell* cell = find_keyed(contents.cells, &db::Cell::hash, tuned.problem.cell);
    const db::Device* device = find_keyed(contents.devices, &db::Device::key, tuned.problem.device);
    if (!tuned.best || cell == nullptr || device == nullptr) continue;
    const auto at = static_cast<std::size_t>(cell - contents.cells.data());
    ShippedChoice choice{-static_cast<std::int64_t>(choices_.size()) - 1,
                         tuned.problem,
                         tuned.trials[*tuned.best],
                         *cell,
                         *device,
                         structures[at]};
    choice.trial.id = choice.id;
    choices_.push_back(std::move(choice));
  }
}

db::Contents ShippedLayer::contents() const {
  db::Contents all;
  for (const ShippedChoice& choice : choices_) {
    if (find_keyed(all.cells, &db::Cell::hash, choice.cell.hash) == nullptr) all.cells.push_back(choice.cell);
    if (find_keyed(all.devices, &db::Device::key, choice.device.key) == nullptr)
      all.devices.push_back(choice.device);
    all.problems.push_back({choice.problem, {choice.trial}, 0});
  }
  return all;
}

const ShippedChoice* ShippedLayer::exact(const db::Problem& problem) const {
  for (const ShippedChoice& choice : choices_)
    if (choice.problem == problem) return &choice;
  return nullptr;
}

std::vector<const ShippedChoice*> ShippedLayer::nearest(const db::Problem& problem) const {
  return sorted_choices(
      choices_,
      [&](const ShippedChoice& choice) {
        return db::alike(choice.problem, problem) && choice.problem != problem;
      },
      [&](const ShippedChoice& choice) { return db::distance(choice.problem, problem); });
}

std::vector<const ShippedChoice*> ShippedLayer::like(const db::Problem& problem,
                                                     const std::vector<std::string>& passes,
                                                     const std::string& structure, std::size_t most) const {
  auto found = sorted_choices(
      choices_,
      [&](const ShippedChoice& choice) {
        const db::Problem& p = choice.problem;
        const bool pass = p.pass == problem.pass || std::ranges::count(passes, p.pass) > 0;
        const bool cell = p.cell == problem.cell || (!structure.empty() && choice.structure == structure);
        return p.arch == problem.arch && pass && cell && !db::alike(p, problem);
      },
      // Of equal ones that of the very device is nearer.
      [&](const ShippedChoice& choice) {
        return std::pair(unlikeness(choice.problem, problem), choice.problem.device != problem.device);
      });
  if (found.size() > most) found.resize(most);
  return found;
}

Result<std::int64_t> keep_shipped(const ShippedChoice& shipped, db::Database& database) {
  const auto known = database.get_device(shipped.device.key);
  if (!known) return known.error();
  if (!known->has_value()) {
    // Its speeds were measured on another board, if at all: here they are no measurement.
    db::Device device = shipped.device;
    device.origin = db::Origin::Shipped;
    device.driver.clear();
    device.calibrated_at = 0;
    if (Status status = database.put_device(device); !status) return status.error();
  }
  if (Status status = database.put_cell(shipped.cell); !status) return status.error();
  const Result<std::int64_t> problem = database.upsert_problem(shipped.problem);
  if (!problem) return problem.error();
  return database.record_trial(*problem, shipped.trial);
}

}  // namespace rondo::engine
