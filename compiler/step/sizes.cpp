#include "compiler/step/sizes.h"

namespace rondo::step {

std::int64_t columns(const Tensor& tensor, const Sizes& sizes) {
  if (tensor.tail == Tail::Scalar) return 1;
  return tensor.inner ? tensor.inner.size : sizes.dim;
}

std::int64_t outputs(const Tensor& tensor, const Sizes& sizes) {
  if (tensor.tail != Tail::Matrix) return 1;
  return tensor.outer ? tensor.outer.size : sizes.dim;
}

std::int64_t width(const Tensor& tensor, const Sizes& sizes) {
  return outputs(tensor, sizes) * columns(tensor, sizes);
}

std::int64_t block(const Tensor& tensor, const Sizes& sizes) { return tensor.rows * width(tensor, sizes); }

std::int64_t element_count(const Tensor& tensor, const Sizes& sizes) {
  const std::int64_t head = sizes.heads * block(tensor, sizes);
  switch (tensor.kind) {
    case TensorKind::Input:
    case TensorKind::Output: return sizes.batch * sizes.time * head;
    case TensorKind::State: return sizes.batch * head;
    case TensorKind::Reset: return sizes.batch * sizes.time;
    case TensorKind::Length: return sizes.batch;
    case TensorKind::Param: break;
  }
  return head;
}

std::int64_t history_count(const Tensor& state, const Sizes& sizes) {
  return sizes.time * element_count(state, sizes);
}

}  // namespace rondo::step
