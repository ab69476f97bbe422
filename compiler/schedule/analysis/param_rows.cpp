#include "compiler/schedule/analysis/param_rows.h"

namespace rondo::schedule {

namespace {

bool has_row(const step::Tensor& tensor) {
  return tensor.kind == TensorKind::Param && tensor.tail != Tail::Matrix;
}

}  // namespace

int param_rows(const step::Cell& cell) {
  int rows = 0;
  for (const step::Tensor& tensor : cell.tensors)
    if (has_row(tensor)) rows += tensor.rows;
  return rows;
}

int first_param_row(const step::Cell& cell, TensorId id) {
  int rows = 0;
  for (TensorId before = 0; before < id; ++before)
    if (has_row(cell.tensor(before))) rows += cell.tensor(before).rows;
  return rows;
}

}  // namespace rondo::schedule
