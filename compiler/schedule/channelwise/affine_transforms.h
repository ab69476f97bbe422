// The affine transforms of parts of time, in memory and in registers, and their prefix scan: a segment needs
// the composition of the segments before it, a block that splits time with others that of the blocks before
// it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/problem/names.h"

namespace rondo::schedule {

// A transform's entries in registers, row after row: as many coefficients as states and a constant. Those
// that are always zero are invalid.
using AffineTransform = std::vector<kernel::Value>;

// Which coefficients of transforms may differ from zero. Every row has a constant.
class TransformPattern {
 public:
  TransformPattern(int states);  // a number of states stands for all coefficients
  // The transforms that can be composed of those with the coefficients for which `has` is true, the identity
  // among them: row i has coefficient k if it follows k by any way of steps.
  static TransformPattern composed(int states, const std::function<bool(int row, int column)>& has);

  int states() const { return states_; }
  // Of column `states`, the constant, too.
  bool has(int row, int column) const {
    return column == states_ || has_[static_cast<std::size_t>(row * states_ + column)];
  }
  // Words of a transform in memory: its entries, to an even number.
  int entries() const { return entries_; }
  int coefficients() const;
  // Multiply-adds of composing two transforms, the constants among them.
  int products() const;
  AffineTransform spread(const std::vector<kernel::Value>& words) const;

 private:
  void count();

  int states_, entries_ = 0;
  std::vector<bool> has_;  // [row, column]
};
// The other way: the entries that there are, and a zero where their number is odd.
std::vector<kernel::Value> words_of(const AffineTransform& transform);

// One transform for each part and channel: the words of its entries, row after row. Neighbouring ones lie
// side by side, two at a time. So do those of neighbouring channels.
struct TransformTable {
  kernel::Memory memory;  // [first + parts, entries / 2, channels, 2] fp32
  int parts = 1;
  TransformPattern pattern = 1;
  int channels = 1;
  kernel::Value first = {};  // of the parts in memory; invalid: 0
  kernel::Value base = {};   // I64, the element of memory where the table begins; invalid: 0

  // Of one part and channel.
  static std::int64_t bytes(const TransformPattern& pattern) { return std::int64_t{4} * pattern.entries(); }
  int entries() const { return pattern.entries(); }
  std::int64_t elements() const { return std::int64_t{parts} * entries() * channels; }
  // Where entries 2 * pair and 2 * pair + 1 are: their element, and their place in memory.
  kernel::Value element(kernel::Value part, int pair, kernel::Value channel) const;
  kernel::Place pair(kernel::Value part, int pair, kernel::Value channel) const;
  // The same table, parts counted from `from` on.
  TransformTable starting_at(kernel::Value from) const;

  // The transforms of `count` neighbouring channels, the first of them a multiple of `count` or of 2.
  std::vector<AffineTransform> load(kernel::Builder& builder, kernel::Value part, kernel::Value channel,
                                    int count) const;
  void store(kernel::Builder& builder, kernel::Value part, kernel::Value channel,
             const std::vector<AffineTransform>& transforms) const;
};

// The words that lie side by side in a table: pair `pair` of the entries of one or two neighbouring
// transforms, from place `first` of the list on.
std::vector<kernel::Value> side_by_side(const std::vector<AffineTransform>& transforms, std::size_t first,
                                        int pair);

// An operand of a transform, in registers: the carried rows, or one column of a composed transform, in which
// rows that are always zero are invalid. A column takes the transform's constants only if it is the last one.
struct TransformColumn {
  std::vector<kernel::Value> rows;
  bool constant = true;
};

// The columns of the identity, and the entries of a transform given by its columns.
std::vector<TransformColumn> identity_transform(kernel::Builder& builder, const TransformPattern& pattern,
                                                const std::string& name);
AffineTransform flat(const std::vector<TransformColumn>& columns);

// transform(column), one value for each row; invalid if zero.
std::vector<kernel::Value> apply_transform(kernel::Builder& builder, const AffineTransform& transform,
                                           const TransformColumn& column);
// The same, `applied`, but for rows without a coefficient: those are the constant, where zero times an
// infinite number would have made it none.
std::vector<kernel::Value> or_constants(kernel::Builder& builder, const AffineTransform& transform,
                                        const std::vector<kernel::Value>& applied);
// column = transform(column).
void advance(kernel::Builder& builder, const AffineTransform& transform, const TransformColumn& column);

// Applies the transforms of all parts in order to `running`, and copies its value before part `own` to
// `before`; with `settles`, the constants of the part before that one, if it has nothing else. `each` is
// called for every part: (its number, its transform, `running` before it and after it).
using EachTransform =
    std::function<void(kernel::Value, const AffineTransform&, const std::vector<kernel::Value>&,
                       const std::vector<kernel::Value>&)>;
void scan_transforms(kernel::Builder& builder, const TransformTable& table, kernel::Value channel,
                     kernel::Value own, const TransformColumn& running, const TransformColumn& before,
                     bool settles = false, const EachTransform& each = {});

// Emits `body` for where one of the values is not finite. A composed transform overflows where the walk in
// order may stay finite, and what comes of it is never finite.
void if_not_finite(kernel::Builder& builder, const std::vector<kernel::Value>& values,
                   const std::function<void()>& body);

}  // namespace rondo::schedule
