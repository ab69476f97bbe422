// Choices that travel with Rondo: the best of problems that were tuned and verified on other machines. They
// lie under the user's database and are only read; what is verified of them here is kept in that database.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/step/structure.h"
#include "tuning_db/database.h"

namespace rondo::engine {

struct ShippedChoice {
  std::int64_t id = 0;    // below 0, which no trial of a database has
  db::Problem problem;    // that it was tuned for
  db::Trial trial;        // its best; trial.id is `id`
  db::Cell cell;          // of the problem
  db::Device device;      // that it was tuned on
  std::string structure;  // structure_key() of the cell; "" where its text cannot be read
};

// What cells have in common that are of the same structure: how their next states depend on the previous
// ones, how many rows of states and of matrices they have, and whether they reduce over the head.
std::string structure_key(const step::Cell& cell);

// How far a shipped problem is from one of another type, head, pass or cell: the sum of |log2| of the ratios
// of B and of H, a quarter of that of T, twice that of D, and what each of these differences counts like.
// Less is nearer.
struct Unlikeness {
  static constexpr double kDim = 2;   // a factor of two in D, where a kernel's tiles are made for it
  static constexpr double kType = 1;  // another storage type or kind of math
  static constexpr double kCell = 1;  // another cell of the same structure
};
double unlikeness(const db::Problem& shipped, const db::Problem& wanted);

class ShippedLayer {
 public:
  using StructureOf = std::function<std::string(const db::Cell&)>;

  // Takes the best of every problem; what names a cell or a device that is not in `contents` is left out.
  void add(const db::Contents& contents, const StructureOf& structure_of);

  // What was taken, as an export has it.
  db::Contents contents() const;

  bool empty() const { return choices_.empty(); }
  const std::vector<ShippedChoice>& choices() const { return choices_; }

  // Pointers live as long as the layer does.
  const ShippedChoice* exact(const db::Problem& problem) const;  // all of the key equal; null: there is none
  // Those that differ in device, B or T only (db::alike), the least db::Distance first.
  std::vector<const ShippedChoice*> nearest(const db::Problem& problem) const;
  // Those of the architecture that differ in more: another type, kind of math, H or D, one of `passes`, or
  // another cell of this structure. The least unlikeness() first, at most `most`.
  std::vector<const ShippedChoice*> like(const db::Problem& problem, const std::vector<std::string>& passes,
                                         const std::string& structure, std::size_t most) const;

 private:
  std::vector<ShippedChoice> choices_;
};

// Stores a shipped choice in the user's database as a trial, though not as best, so that what is verified of
// it can be kept there. Gives the trial's id; of the one stored before where there is one.
Result<std::int64_t> keep_shipped(const ShippedChoice& shipped, db::Database& database);

}  // namespace rondo::engine
