#include "compiler/step/serialise.h"

namespace rondo::step {
namespace {

constexpr auto kNode = [](auto& archive, auto& node) {
  archive.one_of(node.kind, NodeKind::MaxPlus);
  if constexpr (std::decay_t<decltype(archive)>::kReads)
    if (node.kind == NodeKind::ReduceSpread || node.kind == NodeKind::SumRows)
      archive.fail();  // of schedules: no cell has it, nor a derivative
  archive.one_of(node.op, static_cast<scalar::Op>(scalar::kOpCount - 1));
  archive.one_of(node.extent, Extent::Vector);
  archive.list(node.operands, 4, kValue);
  archive(node.value, node.const_index, node.tensor, node.row);
  archive.one_of(node.gradient.of, GradientRef::Of::NextState);
  archive(node.gradient.tensor, node.gradient.row, node.label);
  if (node.kind == NodeKind::Uniform) archive(node.draw);
  if (node.kind == NodeKind::Shift || node.kind == NodeKind::Rotate) archive(node.offset);
};

constexpr auto kRow = [](auto& archive, auto& row) { archive(row.tensor, row.row, row.value); };

constexpr auto kConstant = [](auto& archive, auto& constant) { archive(constant.name, constant.value); };

constexpr auto kNumber = [](auto& archive, auto& number) {
  archive(number.value, number.const_index, number.negated);
};

// Beyond its extents a tensor has these.
constexpr std::uint8_t kRange = 1, kLowClosed = 2, kHighClosed = 4, kFirst = 8, kInner = 16, kOuter = 32;

constexpr auto kDeclared = [](auto& archive, auto& tensor) {
  DeclaredRange range = tensor.range.value_or(DeclaredRange{});
  std::uint8_t has = static_cast<std::uint8_t>(
      (tensor.range ? kRange : 0) | (range.low_closed ? kLowClosed : 0) |
      (range.high_closed ? kHighClosed : 0) | (tensor.first.is_zero() ? 0 : kFirst) |
      (tensor.inner ? kInner : 0) | (tensor.outer ? kOuter : 0));
  archive.bits(has, kRange | kLowClosed | kHighClosed | kFirst | kInner | kOuter);
  if ((has & kRange) != 0) {
    kNumber(archive, range.low);
    kNumber(archive, range.high);
    range.low_closed = (has & kLowClosed) != 0;
    range.high_closed = (has & kHighClosed) != 0;
    if constexpr (std::decay_t<decltype(archive)>::kReads) tensor.range = range;
  }
  if ((has & kFirst) != 0) kNumber(archive, tensor.first);
  if ((has & kInner) != 0) archive(tensor.inner.const_index, tensor.inner.size);
  if ((has & kOuter) != 0) archive(tensor.outer.const_index, tensor.outer.size);
};

constexpr auto kTensor = [](auto& archive, auto& tensor) {
  archive.one_of(tensor.kind, TensorKind::Length);
  archive(tensor.name);
  archive.one_of(tensor.tail, Tail::Matrix);
  archive.list(tensor.lead, 4, kValue);
  archive(tensor.rows);
  kDeclared(archive, tensor);
};

// Bits of a byte that says what a cell has beyond its text.
constexpr std::uint8_t kForwardClip = 1, kReversed = 2, kHalves = 4, kTangents = 8;

constexpr auto kCell = [](auto& archive, auto& cell) {
  archive(cell.name, cell.dimension);
  archive.list(cell.tensors, 15, kTensor);
  archive.list(cell.constants, 12, kConstant);
  archive.list(cell.graph.nodes, 40, kNode);
  archive.list(cell.next, 12, kRow);
  archive.list(cell.outputs, 12, kRow);
  auto has = static_cast<std::uint8_t>(
      (cell.clip.forward ? kForwardClip : 0) | (cell.direction == Direction::Reversed ? kReversed : 0) |
      (cell.direction == Direction::Halves ? kHalves : 0) | (cell.has_tangents ? kTangents : 0));
  archive.bits(has, kForwardClip | kReversed | kHalves | kTangents);
  if constexpr (std::decay_t<decltype(archive)>::kReads) {
    if ((has & kReversed) != 0) cell.direction = Direction::Reversed;
    if ((has & kHalves) != 0) cell.direction = Direction::Halves;
    if ((has & kForwardClip) != 0) cell.clip.forward = 0;
    cell.has_tangents = (has & kTangents) != 0;
  }
  if (cell.clip.forward) archive(*cell.clip.forward);
  archive.maybe(cell.clip.gradient, kValue);
};

}  // namespace

void write_cell(ByteWriter& writer, const Cell& cell) { kCell(writer, cell); }

Cell read_cell(ByteReader& reader) {
  Cell cell;
  kCell(reader, cell);
  return cell;
}

}  // namespace rondo::step
