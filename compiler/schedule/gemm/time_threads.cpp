#include "compiler/schedule/gemm/time_threads.h"

#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

constexpr std::int64_t kMostTiles = 4;  // that hold several steps: short sequences should fill their spans

std::int64_t tiles_of(std::int64_t vectors) { return ceil_div(vectors, TimeThreads::kThreads); }

// The number of steps, of `columns` vectors each, that leaves the smallest share of threads idle.
std::int64_t choose_abreast(std::int64_t columns) {
  std::int64_t best = 1;
  for (std::int64_t steps = 2; steps * columns <= kMostTiles * TimeThreads::kThreads; ++steps)
    if (steps * tiles_of(best * columns) > best * tiles_of(steps * columns)) best = steps;
  return best;
}

}  // namespace

TimeThreads::TimeThreads(const step::Sizes& sizes, const TimeAccess& access, int steps)
    : sizes_(sizes),
      access_(access),
      steps_(steps),
      columns_(sizes.dim / access.vector * (access.folded ? sizes.heads : 1)) {
  if (access.folded) abreast_ = choose_abreast(columns_);
  tiles_ = tiles_of(columns_ * abreast_);
}

// Neighbouring threads have neighbouring vectors, and neighbouring blocks the same steps.
TimeThreads::Place TimeThreads::place(kernel::Builder& b, Value time) const {
  Place place;
  const Value spans = b.let("spans", ceil_div(time, span()));
  const Value item = b.let("item", b.block() % tiles_ * kThreads + b.thread());
  const Value rest = b.let("rest", b.block() / blocks());
  place.row = b.let("row", rest / spans);
  place.first = b.let("first", rest % spans * span());
  place.end = place.first + span();
  if (columns_ * abreast_ % kThreads != 0) place.exists = item < columns_ * abreast_;
  if (!access_.folded) {
    place.head = b.let("head", b.block() / tiles_ % sizes_.heads);
    place.channel = b.let("channel", item * access_.vector);
    return place;
  }
  const Value column = abreast_ == 1 ? item : b.let("column", item % columns_);
  const std::int64_t of_head = columns_ / sizes_.heads;
  place.head = sizes_.heads == 1 ? b.constant(0) : b.let("head", column / of_head);
  place.channel = b.let("channel", (sizes_.heads == 1 ? column : column % of_head) * access_.vector);
  if (abreast_ > 1) place.first = b.let("first_step", place.first + item / columns_);
  return place;
}

}  // namespace rondo::schedule
