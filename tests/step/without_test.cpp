// Cells without a bias: the same as cells that are written without it, and what may not be left out.
#include "compiler/step/without.h"

#include <gtest/gtest.h>

#include <functional>

#include "compiler/step/derive.h"
#include "compiler/step/forms.h"
#include "compiler/step/verify.h"
#include "tests/step/cell_builder.h"

namespace rondo::step::testing {
namespace {

// next h = tanh(R h + x + b) - c + d_1 + d_0, output h; without what `has` does not name.
Cell biased(const std::string& has) {
  CellBuilder b("biased");
  const TensorId x = b.input("x");
  const auto bias = [&](const char* name, std::vector<int> lead = {}) {
    return has.find(name) == std::string::npos ? TensorId{-1} : b.param(name, std::move(lead));
  };
  const TensorId first = bias("b"), R = b.matrix("R"), second = bias("c"), third = bias("d", {2}),
                 h = b.state("h");
  Value sum = b.matvec(R, 0, b.read(h)) + b.read(x);
  if (first >= 0) sum = sum + b.read(first);
  Value next = tanh(sum);
  if (second >= 0) next = next - b.read(second);
  if (third >= 0) next = next + (b.read(third, 1) + b.read(third, 0));
  b.next(h, 0, next);
  b.publish("h", next);
  return b.cell();
}

TEST(Without, ACellIsAsIfItsTextDidNotHaveTheBias) {
  const Cell whole = biased("bcd");
  for (const auto& [names, rest] : {std::pair<std::vector<std::string>, std::string>({"b"}, "cd"),
                                    {{"c"}, "bd"},
                                    {{"d"}, "bc"},
                                    {{"d", "b"}, "c"},
                                    {{"b", "c", "d"}, ""},
                                    {{}, "bcd"}}) {
    SCOPED_TRACE(rest);
    const Result<Cell> cell = without_parameters(whole, names);
    ASSERT_TRUE(cell.ok()) << cell.error().message;
    EXPECT_TRUE(verify(*cell).empty());
    EXPECT_TRUE(verify(*cell, backward_step(*cell)).empty());
    EXPECT_EQ(canonical_text(*cell), canonical_text(biased(rest)));
  }
  EXPECT_NE(canonical_hash(whole), canonical_hash(biased("bc"))) << "the comparison says something";
}

TEST(Without, FormsAreTakenAfterwards) {
  const Forms forms{true, true, true};
  const Result<Cell> cell = with_forms(without_parameters(biased("bcd"), {"b", "d"}).value(), forms);
  ASSERT_TRUE(cell.ok()) << cell.error().message;
  EXPECT_TRUE(verify(*cell).empty());
  EXPECT_EQ(canonical_hash(*cell), canonical_hash(with_forms(biased("c"), forms).value()));
}

// next h = a h + exp(e) + (x - f) + g, next k = g, with a range of f that has no zero.
Cell unbiased() {
  CellBuilder b("unbiased");
  const TensorId x = b.input("x"), a = b.param("a"), e = b.param("e"), f = b.param("f"), g = b.param("g"),
                 q = b.param("q"), h = b.state("h"), k = b.state("k");
  const Value next =
      b.read(a) * b.read(h) + b.read(e).of(scalar::Op::Exp) + (b.read(x) - b.read(f)) + b.read(g) + b.read(q);
  b.next(h, 0, next);
  b.next(k, 0, b.read(g));
  b.publish("h", next);
  Cell cell = b.cell();
  cell.tensors[static_cast<std::size_t>(f)].range = DeclaredRange{{.value = 1}, {.value = 2}};
  return cell;
}

std::string refusal(const std::vector<std::string>& names) {
  const Result<Cell> cell = without_parameters(unbiased(), names);
  if (cell.ok()) return "taken";
  EXPECT_EQ(cell.error().kind, ErrorKind::Input);
  return cell.error().message + " (" + cell.error().hint + ")";
}

TEST(Without, OnlyABiasMayBeLeftOut) {
  EXPECT_EQ(refusal({"q"}), "taken");
  for (const char* name : {"a", "e", "g"})
    EXPECT_NE(refusal({name}).find("that is no bias, which is only added (it may be without: f, q)"),
              std::string::npos)
        << name << ": " << refusal({name});
  EXPECT_NE(refusal({"f"}).find("zero is outside of its range"), std::string::npos) << refusal({"f"});
  for (const char* name : {"x", "h", "none", ""})
    EXPECT_NE(refusal({name}).find("has no parameter '"), std::string::npos) << refusal({name});
  EXPECT_NE(refusal({"q", "q"}).find("left out twice"), std::string::npos) << refusal({"q", "q"});
  const Result<Cell> matrix = without_parameters(biased("b"), {"R"});
  EXPECT_FALSE(matrix.ok());
}

// Whether a cell may be without its parameter w, where `use` makes the next state of it and of others.
bool may_be_without(const std::function<Value(CellBuilder&, Value w, Value x, Value h)>& use,
                    bool is_output = false) {
  CellBuilder b("used");
  const TensorId x = b.input("x"), w = b.param("w"), h = b.state("h");
  const Value next = use(b, b.read(w), b.read(x), b.read(h));
  b.next(h, 0, next);
  b.publish("y", is_output ? b.read(w) : next);
  const Result<Cell> cell = without_parameters(b.cell(), {"w"});
  return cell.ok();
}

// A bias is a term of a sum, and nothing else, in whatever place of whatever operation.
TEST(Without, APlaceOfEveryOperationIsATermOrNot) {
  for (int i = 0; i < scalar::kOpCount; ++i) {
    const auto op = static_cast<scalar::Op>(i);
    for (int place = 0; place < scalar::info(op).arity; ++place) {
      const bool is_term =
          op == scalar::Op::Add || op == scalar::Op::Sub || (op == scalar::Op::Fma && place == 2);
      const auto use = [&](CellBuilder&, Value w, Value x, Value h) {
        std::vector<NodeId> operands = {x.id, h.id, x.id};
        operands.resize(static_cast<std::size_t>(scalar::info(op).arity));
        operands[static_cast<std::size_t>(place)] = w.id;
        return w.make(op, operands);
      };
      EXPECT_EQ(may_be_without(use), is_term) << scalar::info(op).name << ", place " << place;
    }
  }
}

TEST(Without, WhatIsUsedOtherwiseToo) {
  const auto added = [](CellBuilder&, Value w, Value x, Value h) { return tanh(w + x) + h; };
  EXPECT_TRUE(may_be_without(added));
  EXPECT_FALSE(may_be_without(added, true)) << "it is an output as it stands";
  EXPECT_FALSE(may_be_without([](CellBuilder&, Value w, Value, Value) { return w; }))
      << "it is the next state";
  EXPECT_FALSE(
      may_be_without([](CellBuilder& b, Value w, Value x, Value h) { return b.sum(w) * h + (x + w); }));
  EXPECT_FALSE(may_be_without(
      [](CellBuilder& b, Value w, Value x, Value h) { return b.matvec(b.matrix("R"), 0, w) + (x + w) + h; }));
}

}  // namespace
}  // namespace rondo::step::testing
