#include "compiler/schedule/persistent/reduce_scatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/support/index.h"

namespace rondo::schedule {

ReduceScatterProducts::ReduceScatterProducts(PersistentKernel& kernel, const Problem& problem,
                                             const std::vector<ProductGroup>& groups,
                                             const std::vector<ProductSum>& sums, std::int64_t other_words)
    : kernel_(kernel),
      problem_(problem),
      geometry_(kernel.geometry()),
      groups_(groups),
      sums_(sums),
      source_(kernel, problem),
      ring_(slot_words(kernel.geometry(), sums.size()) + other_words, kernel.geometry().p.tiles_in_turn) {}

std::vector<std::size_t> ReduceScatterProducts::of_level(int level) const {
  std::vector<std::size_t> result;
  for (std::size_t sum = 0; sum < sums_.size(); ++sum)
    if (sums_[sum].level == level) result.push_back(sum);
  return result;
}

ReduceScatterProducts::Sum ReduceScatterProducts::sum_of(const ProductSum& sum) const {
  const PersistentGeometry& g = geometry_;
  std::vector<ProductSum::Term> terms = sum.terms;
  const auto rest = std::ranges::stable_partition(
      terms, [&](const ProductSum::Term& term) { return groups_[term.group].kind != ProductKind::Scatter; });
  const auto with_matrix = static_cast<int>(rest.begin() - terms.begin());
  const OnChipMatrix matrix(kernel_, problem_, g.sum_tiles(), with_matrix * g.columns() / 16);
  Sum own{std::move(terms), with_matrix, matrix, {}, {}, {}, {}, {}, 0, 0};
  own.elements = std::int64_t{8} * g.p.batch_tiles * own.all() * g.columns();
  own.choices = std::int64_t{8} * g.p.batch_tiles * own.without_matrix() * g.columns();
  return own;
}

void ReduceScatterProducts::declare() {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  for (const ProductSum& sum : sums_) {
    const std::size_t number = own_.size();
    Sum own = sum_of(sum);
    own.vector = b.shared(fmt::format("vector_{}", number), problem_.storage, vector_slots() * own.elements,
                          fmt::format("[{}, batch tiles {}, terms {}, columns {}, 8]", vector_slots(),
                                      g.p.batch_tiles, own.all(), g.columns()));
    if (own.without_matrix() > 0)
      own.chosen =
          b.shared(fmt::format("chosen_{}", number), kernel::Storage::F32, vector_slots() * own.choices,
                   fmt::format("[{}, batch tiles {}, terms {}, columns {}, 8]", vector_slots(),
                               g.p.batch_tiles, own.without_matrix(), g.columns()));
    own.matrix.declare(number);
    if (!g.in_grid())
      own.parts = b.shared(
          fmt::format("parts_{}", number), problem_.storage, std::int64_t{2} * g.p.batch_tiles * g.padded * 8,
          fmt::format("[2, batch tiles {}, blocks {}, units {}, 8]", g.p.batch_tiles, g.p.blocks, g.units));
    if (g.in_grid())
      own.lines = b.shared(
          fmt::format("lines_{}", number), kernel::Storage::F32,
          std::int64_t{8} * g.p.batch_tiles * collect_lines(g) * g.units,
          fmt::format("[batch tiles {}, lines {}, units {}, 8]", g.p.batch_tiles, collect_lines(g), g.units));
    own_.push_back(own);
  }
  source_.declare(groups_);
  if (g.in_grid()) ring_.declare(kernel_);
  if (g.in_cluster())
    for (int level = 0; level < levels_of(groups_); ++level)
      ready_.push_back(b.mbarrier(fmt::format("ready_{}", level), 2, 1, "sums have come from all blocks"));
  if (g.p.cluster_k_split > 1)
    for (int level = 0; level < levels_of(groups_); ++level)
      gathered_.push_back(
          b.mbarrier(fmt::format("gathered_{}", level), 2, 1, "vectors have come from the cluster"));
}

// A operand as in AllGatherProducts::fragment: the rows are channels of the head, this warp's share of them,
// the columns this block's channels, term after term.
void ReduceScatterProducts::load_matrix(std::size_t sum) {
  const PersistentGeometry& g = geometry_;
  OnChipMatrix& matrix = own_[sum].matrix;
  const int per_term = g.columns() / 16;
  const Value first_tile = row_share() * g.sum_tiles();
  const Value first_column = g.p.cluster_k_split == 1
                                 ? kernel_.here().first_unit
                                 : kernel_.here().rank / g.p.cluster_k_split * g.columns();
  matrix.start_loading(sum);
  for (int term = 0; term < own_[sum].with_matrix; ++term) {
    const ProductSum::Term& of = own_[sum].terms[at(term)];
    const Product& product = groups_[of.group].products[at(of.product)];
    const int first = term * per_term;
    matrix.load_part(first, first + per_term, [&](int tile, Value k, int i) {
      const Value out = (first_tile + tile) * 16 + (kernel_.here().group + i % 2 * 8);
      const Value in = first_column + ((k - first) * 16 + kernel_.elements().column(i));
      return source_.word(product, out, in, matrix.has_many_places());
    });
  }
  matrix.finish_loading(sum);
}

void ReduceScatterProducts::load_own_matrices() {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  b.comment("the matrices, for all of time");
  bool outside = false;
  for (std::size_t sum = 0; sum < sums_.size(); ++sum) {
    load_matrix(sum);
    outside = outside || own_[sum].matrix.outside_registers();
  }
  const Type word = kernel_.elements().type();
  const int words = kernel_.elements().matrix_words();
  if (outside) scratch_.piece = b.array("matrix_piece", word, words);
  if (std::ranges::any_of(own_, [](const Sum& own) { return own.with_matrix > 0; }))
    scratch_.vector = b.array("vector_now", word, g.p.batch_tiles * words);
  if (g.in_grid()) {
    std::size_t widest = 0;
    for (int level = 0; level < levels_of(groups_); ++level)
      widest = std::max(widest, of_level(level).size());
    const int turns =
        static_cast<int>(widest) * g.row_vectors() * g.p.batch_tiles * g.senders() / collect_lines(g);
    collected_ = b.array("collected", word, 4 * turns);
  }
}

void ReduceScatterProducts::publish(std::size_t group, Value count, const std::vector<Value>& values) {
  const PersistentGeometry& g = geometry_;
  for (int c = 0; c < g.channels(); c += 2) {
    const std::vector<Value> packed = let_words(kernel_, "packed", packed_rows(kernel_, values, c));
    for (std::size_t sum = 0; sum < sums_.size(); ++sum) {
      const auto& terms = own_[sum].terms;
      for (std::size_t term = 0; term < terms.size(); ++term) {
        if (terms[term].group != group) continue;
        const auto line = (static_cast<std::int64_t>(g.tile_of(c)) * static_cast<std::int64_t>(terms.size()) +
                           static_cast<std::int64_t>(term)) *
                          g.columns();
        const Value row = (kernel_.threads().block_unit(g.unit_of(c)) + line) * 8 +
                          count % vector_slots() * own_[sum].elements;
        if (g.p.cluster_k_split == 1)
          kernel_.elements().store(own_[sum].vector[row + kernel_.here().quarter * 2], packed);
        else
          send_to_all(kernel_, own_[sum].vector,
                      row + kernel_.here().rank % g.p.cluster_k_split * (g.units * 8), packed,
                      g.p.cluster_k_split, gathered_[at(sums_[sum].level)], count % 2);
      }
    }
  }
}

void ReduceScatterProducts::publish_chosen(std::size_t group, int product, Value count,
                                           const std::vector<Value>& channels) {
  const PersistentGeometry& g = geometry_;
  for (std::size_t sum = 0; sum < own_.size(); ++sum)
    for (int term = own_[sum].with_matrix; term < own_[sum].all(); ++term) {
      const ProductSum::Term& of = own_[sum].terms[at(term)];
      if (of.group != group || of.product != product) continue;
      for (int c = 0; c < g.channels(); c += 2) {
        const int line =
            (g.tile_of(c) * own_[sum].without_matrix() + term - own_[sum].with_matrix) * g.columns();
        const Value row = (kernel_.threads().block_unit(g.unit_of(c)) + line) * 8 +
                          count % vector_slots() * own_[sum].choices;
        kernel_.builder().store_vector(own_[sum].chosen[row + kernel_.here().quarter * 2],
                                       {channels[at(c)], channels[at(c + 1)]});
      }
    }
}

// Every block has the choices of its own channels, and so finds whatever of the head they have chosen.
void ReduceScatterProducts::add_chosen(std::size_t sum, Value count) {
  const Sum& own = own_[sum];
  const int columns = geometry_.columns();
  const Value slot = count % vector_slots();
  for (int term = own.with_matrix; term < own.all(); ++term) {
    const auto rows = [&](const kernel::Memory& memory, std::int64_t elements, int terms, int place) {
      return OnChipMatrix::Rows{memory, slot * elements + place * columns * 8,
                                std::int64_t{8} * terms * columns};
    };
    own_[sum].matrix.add_chosen(rows(own.vector, own.elements, own.all(), term),
                                rows(own.chosen, own.choices, own.without_matrix(), term - own.with_matrix),
                                columns, row_share() * (16 * geometry_.sum_tiles()));
  }
}

void ReduceScatterProducts::start(int level, Value count) {
  if (geometry_.p.cluster_k_split == 1) await_vectors(level, count);
}

// The step barrier and the collect barrier have one number for both roles. Each role waits for what the other
// does next, so neither may be released later than the other; and loads come before these barriers or long
// after them, so the compiler has none to move across. (With a number for each role: 1 to 2% slower on an
// H200, LSTM of 64 to 1024 units.)
void ReduceScatterProducts::await_vectors(int level, Value count) {
  if (geometry_.p.cluster_k_split == 1) return kernel_.sync_roles(kStepBarrier);
  kernel_.builder().wait(gathered_[at(level)], count % 2, count / 2 % 2);
}

void ReduceScatterProducts::await_sums() { kernel_.sync_roles(kCollectBarrier); }

void ReduceScatterProducts::finish(int level, Value count) {
  if (geometry_.in_cluster())
    kernel_.builder().wait(ready_[at(level)], count % 2, count / 2 % 2);
  else
    await_sums();
  for (const std::size_t sum : of_level(level)) {
    if (geometry_.in_grid())
      total_of_grid(sum);
    else
      total_of_cluster(sum, count % 2);
  }
}

void ReduceScatterProducts::multiply_role() {
  auto& b = kernel_.builder();
  load_own_matrices();
  b.for_("step", b.constant(0), kernel_.threads().walked().steps(), b.constant(1), 1, [&](Value count) {
    for (int level = 0; level < levels_of(groups_); ++level) {
      await_vectors(level, count);
      multiply_and_send(level, count);
      if (geometry_.in_cluster()) continue;
      if (geometry_.in_grid()) collect(level, count);
      await_sums();
      if (geometry_.in_grid()) clear_sent(level, count);
    }
  });
}

void ReduceScatterProducts::multiply_and_send(int level, Value count) {
  for (const std::size_t sum : of_level(level)) {
    OnChipMatrix& matrix = own_[sum].matrix;
    matrix.multiply(own_[sum].vector, count % vector_slots() * own_[sum].elements,
                    std::int64_t{8} * own_[sum].all() * geometry_.columns(), scratch_);
    add_chosen(sum, count);
    if (geometry_.in_grid())
      send_to_grid(sum, count % ring_.slots(), false);
    else
      send_to_cluster(sum, count % 2);
  }
}

// A sum stands for all its terms: the first gives it, the others the neutral element of addition.
Value ReduceScatterProducts::value(std::size_t group, int product, int channel) const {
  for (std::size_t sum = 0; sum < sums_.size(); ++sum) {
    const auto& terms = own_[sum].terms;
    for (std::size_t term = 0; term < terms.size(); ++term)
      if (terms[term].group == group && terms[term].product == product)
        return term == 0 ? own_[sum].totals[at(channel)] : kernel_.builder().real(-0.0);
  }
  throw std::logic_error("persistent: a product that is in no sum");
}

}  // namespace rondo::schedule
