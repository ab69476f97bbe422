// What a forward pass saves for the backward pass: the way whose two passes take less time in sum.
#pragma once

namespace rondo::engine {

// Of a choice for one pass, seconds.
struct PassTime {
  double measured = 0;  // for this very problem, on a machine of this kind; 0: it was not
  double by_model = 0;
};
struct TrainingTime {
  PassTime forward, backward;
};

struct SaveComparison {
  double states_s = 0, products_s = 0;
  bool measured = false;  // else by model
  bool products_are_faster() const { return products_s < states_s; }
  const char* faster() const { return products_are_faster() ? "products" : "states"; }
};
// With states saved only, and with products too. Like is compared with like: what was measured where all four
// passes were, else what the model says of all four.
SaveComparison compare_saving(const TrainingTime& states, const TrainingTime& products);

}  // namespace rondo::engine
