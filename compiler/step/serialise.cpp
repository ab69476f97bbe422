#include "compiler/step/serialise.h"

namespace rondo::step {
namespace {

template <class Enum>
void write_enum(ByteWriter& writer, Enum value) {
  writer.u8(static_cast<std::uint8_t>(value));
}

void write_node(ByteWriter& writer, const Node& node) {
  write_enum(writer, node.kind);
  write_enum(writer, node.op);
  write_enum(writer, node.extent);
  writer.count(node.operands.size());
  for (const NodeId operand : node.operands) writer.i32(operand);
  writer.f64(node.value);
  writer.i32(node.const_index);
  writer.i32(node.tensor);
  writer.i32(node.row);
  write_enum(writer, node.gradient.of);
  writer.i32(node.gradient.tensor);
  writer.i32(node.gradient.row);
  writer.text(node.label);
  if (node.kind == NodeKind::Uniform) writer.text(node.draw);
}

Node read_node(ByteReader& reader) {
  Node node;
  node.kind = reader.one_of(NodeKind::Uniform);
  if (node.kind == NodeKind::ReduceSpread) reader.fail();  // of schedules: no cell has it, nor a derivative
  node.op = reader.one_of(static_cast<scalar::Op>(scalar::kOpCount - 1));
  node.extent = reader.one_of(Extent::Vector);
  node.operands.resize(reader.count(4));
  for (NodeId& operand : node.operands) operand = reader.i32();
  node.value = reader.f64();
  node.const_index = reader.i32();
  node.tensor = reader.i32();
  node.row = reader.i32();
  node.gradient.of = reader.one_of(GradientRef::Of::NextState);
  node.gradient.tensor = reader.i32();
  node.gradient.row = reader.i32();
  node.label = reader.text();
  if (node.kind == NodeKind::Uniform) node.draw = reader.text();
  return node;
}

void write_rows(ByteWriter& writer, const std::vector<Row>& rows) {
  writer.count(rows.size());
  for (const Row& row : rows) {
    writer.i32(row.tensor);
    writer.i32(row.row);
    writer.i32(row.value);
  }
}

std::vector<Row> read_rows(ByteReader& reader) {
  std::vector<Row> rows(reader.count(12));
  for (Row& row : rows) {
    row.tensor = reader.i32();
    row.row = reader.i32();
    row.value = reader.i32();
  }
  return rows;
}

// Beyond its extents a tensor has these.
constexpr std::uint8_t kRange = 1, kLowClosed = 2, kHighClosed = 4, kFirst = 8;

void write_number(ByteWriter& writer, const DeclaredNumber& number) {
  writer.f64(number.value);
  writer.i32(number.const_index);
  writer.flag(number.negated);
}

DeclaredNumber read_number(ByteReader& reader) {
  DeclaredNumber number;
  number.value = reader.f64();
  number.const_index = reader.i32();
  number.negated = reader.flag();
  return number;
}

void write_declared(ByteWriter& writer, const Tensor& tensor) {
  const DeclaredRange range = tensor.range.value_or(DeclaredRange{});
  const bool first = !tensor.first.is_zero();
  writer.u8(static_cast<std::uint8_t>((tensor.range ? kRange : 0) | (range.low_closed ? kLowClosed : 0) |
                                      (range.high_closed ? kHighClosed : 0) | (first ? kFirst : 0)));
  if (tensor.range) {
    write_number(writer, range.low);
    write_number(writer, range.high);
  }
  if (first) write_number(writer, tensor.first);
}

void read_declared(ByteReader& reader, Tensor& tensor) {
  const std::uint8_t has = reader.u8();
  if (has > (kRange | kLowClosed | kHighClosed | kFirst)) reader.fail();
  if ((has & kRange) != 0) {
    DeclaredRange range;
    range.low = read_number(reader);
    range.high = read_number(reader);
    range.low_closed = (has & kLowClosed) != 0;
    range.high_closed = (has & kHighClosed) != 0;
    tensor.range = range;
  }
  if ((has & kFirst) != 0) tensor.first = read_number(reader);
}

void write_tensors(ByteWriter& writer, const std::vector<Tensor>& tensors) {
  writer.count(tensors.size());
  for (const Tensor& tensor : tensors) {
    write_enum(writer, tensor.kind);
    writer.text(tensor.name);
    write_enum(writer, tensor.tail);
    writer.count(tensor.lead.size());
    for (const int extent : tensor.lead) writer.i32(extent);
    writer.i32(tensor.rows);
    write_declared(writer, tensor);
  }
}

std::vector<Tensor> read_tensors(ByteReader& reader) {
  std::vector<Tensor> tensors(reader.count(15));
  for (Tensor& tensor : tensors) {
    tensor.kind = reader.one_of(TensorKind::Length);
    tensor.name = reader.text();
    tensor.tail = reader.one_of(Tail::Matrix);
    tensor.lead.resize(reader.count(4));
    for (int& extent : tensor.lead) extent = reader.i32();
    tensor.rows = reader.i32();
    read_declared(reader, tensor);
  }
  return tensors;
}

// Bits of a byte that says what a cell has beyond its text.
constexpr std::uint8_t kForwardClip = 1, kReversed = 2;

void write_bound(ByteWriter& writer, const std::optional<double>& bound) {
  writer.flag(bound.has_value());
  if (bound) writer.f64(*bound);
}

std::optional<double> read_bound(ByteReader& reader) {
  return reader.flag() ? std::optional(reader.f64()) : std::nullopt;
}

}  // namespace

void write_cell(ByteWriter& writer, const Cell& cell) {
  writer.text(cell.name);
  writer.text(cell.dimension);
  write_tensors(writer, cell.tensors);
  writer.count(cell.constants.size());
  for (const NamedConstant& constant : cell.constants) {
    writer.text(constant.name);
    writer.f64(constant.value);
  }
  writer.count(cell.graph.nodes.size());
  for (const Node& node : cell.graph.nodes) write_node(writer, node);
  write_rows(writer, cell.next);
  write_rows(writer, cell.outputs);
  writer.u8(
      static_cast<std::uint8_t>((cell.clip.forward ? kForwardClip : 0) | (cell.reversed ? kReversed : 0)));
  if (cell.clip.forward) writer.f64(*cell.clip.forward);
  write_bound(writer, cell.clip.gradient);
}

Cell read_cell(ByteReader& reader) {
  Cell cell;
  cell.name = reader.text();
  cell.dimension = reader.text();
  cell.tensors = read_tensors(reader);
  for (std::size_t left = reader.count(12); left > 0; --left) {
    std::string name = reader.text();
    cell.constants.push_back({std::move(name), reader.f64(), {}});
  }
  for (std::size_t left = reader.count(40); left > 0; --left) cell.graph.nodes.push_back(read_node(reader));
  cell.next = read_rows(reader);
  cell.outputs = read_rows(reader);
  const std::uint8_t has = reader.u8();
  if (has > (kForwardClip | kReversed)) reader.fail();
  if ((has & kForwardClip) != 0) cell.clip.forward = reader.f64();
  cell.reversed = (has & kReversed) != 0;
  cell.clip.gradient = read_bound(reader);
  return cell;
}

}  // namespace rondo::step
