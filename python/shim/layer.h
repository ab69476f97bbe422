// A layer in one call: the product of its input with what stands before the recurrence, the launch, and what
// stands behind it. Small layers take as long as the calls that they are made of, from Python at least.
#ifndef RONDO_PYTHON_SHIM_LAYER_H
#define RONDO_PYTHON_SHIM_LAYER_H

#include "tensors.h"

namespace rondo::torch_shim {

// What a forward pass does beside the launch. Python has the same numbers, as of Backward.
struct Forward {
  static constexpr std::int64_t kBiasInProduct = 1;  // a bias for the product is behind the matrices
  static constexpr std::int64_t kBias = 2;           // then one of the recurrence
  static constexpr std::int64_t kTwoBiases = 4;      // the latter is the sum of two, which stand there
  static constexpr std::int64_t kStateUnit = 8;  // times the number of last states, to be of the input's type
};

// `given`: the input u, the matrices W of its product and R, the product's bias and the recurrence's where
// the form has them, and what else the recurrence takes. Its site is that of the product, R, the bias in fp32
// at least, and the others. Results are the site's, then the product, then the bias where it had another
// type or is a sum. False: no such site.
bool forward(std::int64_t family, std::int64_t form, const Tensors& given, Tensors& results);

struct Backward {
  static constexpr std::int64_t kOfInput = 1;
  static constexpr std::int64_t kOfMatrix = 2;
  static constexpr std::int64_t kOfBias = 4;  // the sum over all steps of what the input's product had
  static constexpr std::int64_t kOfProduct = kOfInput | kOfMatrix | kOfBias;
  // What follows in the site's results, and is to be of W's type where that has 16 bits.
  static constexpr std::int64_t kNarrowMatrix = 8;
  static constexpr std::int64_t kNarrowBias = 16;
  static constexpr std::int64_t kTwoBiases = 32;  // the latter twice, once for each of two biases
};

// `given`: what the site takes, then W and u. The site's first result is the gradient of the product where
// the form asks for something of it. Results are what it asks for, in the order of its bits, then the site's
// others.
bool backward(std::int64_t family, std::int64_t form, const Tensors& given, Tensors& results);

}  // namespace rondo::torch_shim

#endif
