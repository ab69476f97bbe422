#include "compiler/backend/llvm/host/statements.h"

#include <stdexcept>

#include "compiler/backend/llvm/host/memory.h"
#include "compiler/backend/llvm/host/tiles.h"
#include "compiler/kernel/ir/visit.h"

namespace rondo::backend::host {

using namespace kernel;

struct StatementWriter::Visit {
  StatementWriter& w;
  Spreads::Region region;

  void operator()(const Let& s) const {
    w.values_.set_known(s.reg, is_real(w.values_.type(s.reg)) ? std::nullopt : w.values_.known(s.value));
    const Operand value = w.values_.write(s.value);
    w.values_.set(s.reg, w.text_.named(w.values_.in_form(value, w.values_.spreads().of_register(s.reg),
                                                         w.values_.type(s.reg)),
                                       w.values_.name(s.reg)));
  }
  void operator()(const Variable& s) const {
    // Its value may be made of another variable of this name in an outer turn: written before the slot is
    // its.
    w.values_.write(s.initial);
    w.values_.make_variable(s.reg);
    w.values_.assign(s.reg, s.initial, false);
  }
  void operator()(const Assign& s) const {
    w.values_.assign(s.reg, s.value, w.values_.spreads().is_blended(s.reg, region));
  }
  void operator()(const DeclareArray& s) const { w.values_.make_array(s.array); }
  void operator()(const ArrayWrite& s) const { w.values_.write(s.array, s.index, s.value); }

  // ---- loops ----
  void operator()(const For& s) const {
    const auto turns = nvptx::turns_to_write(s, w.values_);
    if (!turns) return rolled(s);
    for (const std::int64_t turn : *turns) {
      w.values_.set_known(s.variable, turn);
      w.values_.set(s.variable, fmt::format("{}", turn));
      w.write(s.body, region);
    }
    w.values_.set_known(s.variable, std::nullopt);
  }
  // Lanes may begin at places that differ, and then end at turns that differ.
  void rolled(const For& s) const {
    const Operand begin = w.values_.write(s.begin);
    if (begin.spread.is_varying() || !w.values_.spreads().of(s.end).is_uniform() ||
        !w.values_.spreads().of(s.step).is_uniform())
      throw std::logic_error("a loop of a kernel of CPUs whose bounds differ without order between lanes");
    const std::string counter = w.text_.slot("i32", w.values_.name(s.variable) + "_counter");
    w.text_.line(fmt::format("store i32 {}, ptr {}", begin.text, counter));
    const std::string head = w.text_.label("for"), body = w.text_.label("body"), done = w.text_.label("done");
    w.text_.jump(head);
    w.text_.begin(head);
    w.values_.next_statement();
    w.values_.set_known(s.variable, std::nullopt);
    const std::string variable =
        w.text_.named(w.text_.value("load i32, ptr {}", counter), w.values_.name(s.variable));
    w.values_.set(s.variable, variable);
    const std::string end = w.values_.write(s.end).text;
    w.text_.branch(w.text_.value("icmp slt i32 {}, {}", variable, end), body, done);
    w.text_.begin(body);
    if (begin.spread.is_uniform()) {
      w.write(s.body, region);
    } else {
      const std::string outer = w.values_.mask();
      const std::string all = w.values_.vector(Operand{variable, begin.spread}, Type::I32);
      const std::string inside =
          w.text_.value("icmp slt {} {}, {}", w.values_.vector_type("i32"), all, w.values_.splat(end, "i32"));
      w.values_.set_mask(w.values_.both(outer, inside));
      w.write(s.body, &s.body);
      w.values_.set_mask(outer);
    }
    const std::string step = w.values_.write(s.step).text;
    w.text_.line(
        fmt::format("store i32 {}, ptr {}", w.text_.value("add nsw i32 {}, {}", variable, step), counter));
    w.text_.jump(head, w.module_.loop(s.unroll));
    w.text_.begin(done);
    w.values_.next_statement();
  }

  // ---- branches ----
  void operator()(const If& s) const {
    if (const auto condition = w.values_.known(s.condition)) {
      const Body& taken = *condition != 0 ? s.then_body : s.else_body;
      return w.write(taken, w.values_.spreads().of(s.condition).is_uniform() ? region : &taken);
    }
    const Operand condition = w.values_.write(s.condition);
    if (condition.spread.is_uniform()) return branch(s, condition.text);
    const std::string outer = w.values_.mask();
    const std::string none =
        w.text_.value("xor {} {}, splat (i1 true)", w.values_.vector_type("i1"), condition.text);
    w.masked(s.then_body, w.values_.both(outer, condition.text));
    w.values_.set_mask(outer);
    w.masked(s.else_body, s.else_body.empty() ? "" : w.values_.both(outer, none));
    w.values_.set_mask(outer);
  }
  void branch(const If& s, const std::string& condition) const {
    std::function<void()> otherwise;
    if (!s.else_body.empty()) otherwise = [&] { w.write(s.else_body, region); };
    w.text_.branch_around(
        condition, "then", [&] { w.write(s.then_body, region); }, otherwise);
  }
  void operator()(const Comment& s) const { w.text_.comment(s.text); }

  // ---- lanes run in lockstep ----
  void operator()(const Barrier& s) const {
    if (s.threads != 0) unsupported();
  }
  void operator()(const WarpSync&) const {}

  void operator()(const auto& s) const {
    if constexpr (requires { Access{w}(s); })
      Access{w}(s);
    else if constexpr (requires { Tiles{w}(s); })
      Tiles{w}(s);
    else
      unsupported();
  }
  static void unsupported() {
    throw std::logic_error("a node that is an instruction of GPUs: kernels of CPUs do without");
  }
};

void StatementWriter::masked(const Body& body, const std::string& mask) {
  if (body.empty()) return;
  values_.set_mask(mask);
  text_.branch_around(values_.any(mask), "some", [&] { write(body, &body); });
  values_.next_statement();
}

void StatementWriter::write(const Body& body, Spreads::Region region) {
  for (const Stmt& stmt : body) {
    values_.next_statement();
    std::visit(Visit{*this, region}, stmt.node);
  }
  values_.next_statement();
}

}  // namespace rondo::backend::host
