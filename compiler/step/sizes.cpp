#include "compiler/step/sizes.h"

namespace rondo::step {

std::int64_t width(const Tensor& tensor, const Sizes& sizes) {
  switch (tensor.tail) {
    case Tail::Scalar: return 1;
    case Tail::Vector: return sizes.dim;
    case Tail::Matrix: return sizes.dim * sizes.dim;
  }
  return 0;
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
