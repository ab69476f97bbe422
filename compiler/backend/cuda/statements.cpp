#include "compiler/backend/cuda/statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/backend/cuda/reads.h"
#include "compiler/backend/cuda/statements_units.h"
#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/passes/barrier_uses.h"
#include "compiler/kernel/passes/codegen.h"
#include "compiler/support/enum_text.h"

namespace rondo::backend::cuda {

using namespace kernel;

std::string comment_lines(std::string_view text, std::string_view indent) {
  std::string lines;
  while (true) {
    const std::size_t end = text.find('\n');
    std::string line(text.substr(0, end));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.ends_with('\\')) line += '.';
    lines += fmt::format("{}//{}{}\n", indent, line.empty() ? "" : " ", line);
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

std::string wrapped(std::string begin, const std::vector<std::string>& items, std::string_view end,
                    std::size_t indent) {
  std::size_t line = 0;  // where the last one begins
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool last = i + 1 == items.size();
    const std::string item = items[i] + std::string(last ? end : ",");
    const bool fits = begin.size() - line + 1 + item.size() <= kColumns;
    if (!fits) {
      line = begin.size() + 1;
      begin += "\n" + std::string(indent, ' ');
    } else if (i > 0) {
      begin += ' ';
    }
    begin += item;
  }
  return items.empty() ? begin + std::string(end) : begin;
}

StatementWriter::StatementWriter(const Kernel& kernel, const Names& names, Prelude& prelude, Uses& uses,
                                 bool in_function)
    : kernel_(kernel),
      names_(names),
      prelude_(prelude),
      expressions_(kernel, names, prelude, uses),
      reads_(reads_of(kernel)),
      awaited_in_two_roles_(kernel::awaited_in_two_roles(kernel)),
      signalled_by_others_(kernel::signalled_by_other_blocks(kernel)),
      accumulators_(kernel::accumulators(kernel)),
      in_function_(in_function) {}

void StatementWriter::line(std::string_view text) {
  out_.append(2 * static_cast<std::size_t>(level_), ' ');
  out_ += text;
  out_ += '\n';
}

std::string StatementWriter::declaration(RegId reg) const {
  return fmt::format("{} {}", type_name(kernel_.registers[static_cast<std::size_t>(reg)].type),
                     names_.reg(reg));
}

namespace {

std::string_view widening(Storage storage) {
  switch (storage) {
    case Storage::BF16: return "bf16_to_float";
    case Storage::F16: return "fp16_to_float";
    case Storage::F32:
    case Storage::F64:
    case Storage::I32:
    case Storage::U8: return "";
  }
  return "";
}

std::string_view rounding(Storage storage) {
  switch (storage) {
    case Storage::BF16: return "float_to_bf16";
    case Storage::F16: return "float_to_fp16";
    case Storage::F32:
    case Storage::F64:
    case Storage::I32:
    case Storage::U8: return "";
  }
  return "";
}

constexpr EnumText<ShuffleMode> kShuffles[] = {{ShuffleMode::Up, "__shfl_up_sync"},
                                               {ShuffleMode::Down, "__shfl_down_sync"},
                                               {ShuffleMode::Xor, "__shfl_xor_sync"},
                                               {ShuffleMode::Index, "__shfl_sync"}};
static_assert(is_total(kShuffles));

std::string_view name_of(ShuffleMode mode) { return to_text(kShuffles, mode); }

std::string converted(std::string_view conversion, std::string value) {
  return conversion.empty() ? value : fmt::format("{}({})", conversion, value);
}

}  // namespace

// One node to one line (structured statements: to a block).
struct StatementWriter::Visit : StatementWriter::Units {
  using Units::operator();

  void declare(std::string_view prefix, RegId reg, const std::string& value) const {
    w.require_type(w.kernel_.registers[static_cast<std::size_t>(reg)].type);
    w.line(fmt::format("{}{} = {};", prefix, w.declaration(reg), value));
  }

  void operator()(const Let& s) const { declare("const ", s.reg, text(s.value)); }
  void operator()(const Variable& s) const { declare("", s.reg, text(s.initial)); }
  void operator()(const Assign& s) const {
    w.line(fmt::format("{} = {};", w.names_.reg(s.reg), text(s.value)));
  }

  void operator()(const DeclareArray& s) const {
    const RegisterArray& array = w.kernel_.arrays[static_cast<std::size_t>(s.array)];
    w.require_type(array.type);
    w.line(fmt::format("{} {}[{}];", type_name(array.type), w.names_.array(s.array), array.size));
  }
  void operator()(const ArrayWrite& s) const {
    const std::string index = text(s.index);
    w.line(fmt::format("{}[{}] = {};", w.names_.array(s.array), index, text(s.value)));
  }

  // What a load of one register yields.
  std::string single(const Load& s) const {
    const Storage storage = storage_of(w.kernel_, s.from);
    const bool streams = streaming(w.kernel_, s.from, s.hint, true);
    const std::string element = w.expressions_.element(s.from);
    if (s.packed)
      return fmt::format("{}(&{})", w.prelude_.require({Storage::I32, 1, false, streams, true}), element);
    w.prelude_.require(widening(storage));
    return converted(widening(storage), streams ? fmt::format("__ldcs(&{})", element) : element);
  }
  void operator()(const Load& s) const {
    const Storage storage = storage_of(w.kernel_, s.from);
    const bool streams = streaming(w.kernel_, s.from, s.hint, true);
    const std::string element = w.expressions_.element(s.from);
    if (s.into.size() == 1) return declare("const ", s.into[0], single(s));
    std::string registers;
    for (RegId reg : s.into) registers += ", " + w.names_.reg(reg);
    const bool integers = s.packed || is_integer(storage);
    w.line(fmt::format("{} {};", integers ? "int" : "float", registers.substr(2)));
    const std::string helper = w.prelude_.require(
        {s.packed ? Storage::I32 : storage, static_cast<int>(s.into.size()), false, streams, s.packed});
    w.line(fmt::format("{}(&{}{});", helper, element, registers));
  }

  void operator()(const Store& s) const {
    const Storage storage = storage_of(w.kernel_, s.to);
    const bool streams = streaming(w.kernel_, s.to, s.hint, false);
    const std::string element = w.expressions_.element(s.to);
    if (s.values.size() == 1 && !s.packed) {
      w.prelude_.require(rounding(storage));
      const std::string value = converted(rounding(storage), text(s.values[0]));
      return w.line(streams ? fmt::format("__stcs(&{}, {});", element, value)
                            : fmt::format("{} = {};", element, value));
    }
    std::string values;
    for (ExprId value : s.values) values += ", " + text(value);
    const std::string helper = w.prelude_.require(
        {s.packed ? Storage::I32 : storage, static_cast<int>(s.values.size()), true, streams, s.packed});
    w.line(fmt::format("{}(&{}{});", helper, element, values));
  }

  void operator()(const Prefetch& s) const {
    const char* helper = s.level == 1 ? "prefetch" : "prefetch_second";
    w.prelude_.require(helper);
    w.line(fmt::format("{}(&{});", helper, w.expressions_.element(s.from)));
  }
  void operator()(const CopyAsync& s) const {
    const std::string helper =
        fmt::format("copy_async_{}", s.elements * storage_bytes(storage_of(w.kernel_, s.to)));
    w.prelude_.require(helper);
    const std::string to = w.expressions_.element(s.to);
    w.line(fmt::format("{}(&{}, &{});", helper, to, w.expressions_.element(s.from)));
  }
  void operator()(const CommitCopies&) const {
    w.prelude_.require("commit_copies");
    w.line("commit_copies();");
  }
  void operator()(const WaitCopies& s) const {
    w.prelude_.require("wait_copies");
    w.line(fmt::format("wait_copies<{}>();", s.pending));
  }
  void operator()(const Shuffle& s) const {
    const std::string from = text(s.from);
    declare("const ", s.into, fmt::format("{}(0xffffffffu, {}, {})", name_of(s.mode), from, text(s.lane)));
  }
  void operator()(const Ballot& s) const {
    declare("const ", s.into, fmt::format("__ballot_sync(0xffffffffu, {})", text(s.predicate)));
  }

  void operator()(const For& s) const {
    w.line(s.unroll == kFullUnroll ? "#pragma unroll" : fmt::format("#pragma unroll {}", s.unroll));
    const std::string& i = w.names_.reg(s.variable);
    const auto* step = std::get_if<IntConst>(&w.kernel_.expr(s.step).node);
    const std::string begin = text(s.begin);
    const std::string end = operand(w.expressions_.write(s.end), Precedence::Shift);
    const std::string advance =
        step != nullptr && step->value == 1 ? "++" + i : fmt::format("{} += {}", i, text(s.step));
    const std::string head = fmt::format("for (int {} = {}; {} < {}; {})", i, begin, i, end, advance);
    if (in_one_line(head, s.body)) return;
    w.line(head + " {");
    block(s.body);
    w.line("}");
  }

  void operator()(const If& s) const {
    const std::string head = fmt::format("if ({})", text(s.condition));
    if (s.cold && !w.in_function_ && s.else_body.empty() && calls_function(head, s.then_body)) return;
    if (s.else_body.empty() && in_one_line(head, s.then_body)) return;
    w.line(head + " {");
    branches(s);
  }

  // The body of a cold branch as a call of a function; nothing is written if it cannot be one.
  bool calls_function(const std::string& head, const Body& body) const {
    std::optional<ColdBranch> branch = cold_branch(w.kernel_, body);
    if (!branch) return false;
    branch->function = fmt::format("{}_cold_{}", w.kernel_.name, w.cold_branches_.size());
    std::vector<std::string> arguments;
    std::string carried;
    for (const ParamId param : branch->params) arguments.push_back(w.names_.param(param));
    for (const RegId reg : branch->reads) arguments.push_back(w.names_.reg(reg));
    for (const RegId reg : branch->assigns) carried += (carried.empty() ? "" : ", ") + w.names_.reg(reg);
    if (!carried.empty()) arguments.push_back("{" + carried + "}");
    const std::string result = carried.empty() ? "" : fmt::format("const auto {}_end = ", branch->function);
    w.line(head + " {");
    ++w.level_;
    w.line(wrapped(fmt::format("{}{}(", result, branch->function), arguments, ");",
                   2 * static_cast<std::size_t>(w.level_) + 4));
    for (const RegId reg : branch->assigns)
      w.line(fmt::format("{0} = {1}_end.{0};", w.names_.reg(reg), branch->function));
    --w.level_;
    w.line("}");
    w.cold_branches_.push_back(std::move(*branch));
    return true;
  }

  // A loop or condition over one simple statement that has room in the line, or in the next one; else nothing
  // is written.
  bool in_one_line(const std::string& head, const Body& body) const {
    if (body.size() != 1 || !is_simple(body[0])) return false;
    const std::string before = std::exchange(w.out_, "");
    const int level = std::exchange(w.level_, 0);
    std::visit(*this, body[0].node);
    const std::string statement = std::exchange(w.out_, before);
    w.level_ = level;
    if (std::ranges::count(statement, '\n') != 1) return false;
    const bool fits = 2 * static_cast<std::size_t>(level) + head.size() + statement.size() <= kColumns;
    w.line(fits ? head + " " + statement.substr(0, statement.size() - 1) : head);
    if (!fits) w.out_.append(2 * static_cast<std::size_t>(level + 1), ' ') += statement;
    return true;
  }
  // Neither a declaration nor a comment, and nothing that holds other statements.
  static bool is_simple(const Stmt& stmt) {
    return !std::visit(Overloaded{[](const Let&) { return true; }, [](const Variable&) { return true; },
                                  [](const DeclareArray&) { return true; }, [](const Load&) { return true; },
                                  [](const Shuffle&) { return true; }, [](const Ballot&) { return true; },
                                  [](const For&) { return true; }, [](const If&) { return true; },
                                  [](const Comment&) { return true; }, [](const auto&) { return false; }},
                       stmt.node);
  }

  void block(const Body& body) const {
    ++w.level_;
    statements(body);
    --w.level_;
  }
  void statements(const Body& body) const {
    for (std::size_t i = 0; i < body.size();) {
      const std::size_t variables = same_variables(body, i);
      const bool load = i + 1 < body.size() && loads_for(body[i], body[i + 1]);
      if (variables < 2 && !load) std::visit(*this, body[i].node);
      if (variables > 1) declare_together(body, i, variables);
      i += std::max<std::size_t>(variables, load ? 2 : 1);
    }
  }

  // How many variables of one type that begin as constants stand here in a row, as far as a line has room.
  std::size_t same_variables(const Body& body, std::size_t first) const {
    std::size_t count = 0, columns = 2 * static_cast<std::size_t>(w.level_) + 4;
    for (std::size_t i = first; i < body.size(); ++i, ++count) {
      const auto* variable = std::get_if<Variable>(&body[i].node);
      if (variable == nullptr || !is_constant(variable->initial)) break;
      if (i > first && type_of(variable->reg) != type_of(std::get<Variable>(body[first].node).reg)) break;
      columns += w.names_.reg(variable->reg).size() + text(variable->initial).size() + 5;
      if (columns > kColumns) break;
    }
    return count;
  }
  void declare_together(const Body& body, std::size_t first, std::size_t count) const {
    std::string list;
    for (std::size_t i = first; i < first + count; ++i) {
      const auto& variable = std::get<Variable>(body[i].node);
      w.require_type(type_of(variable.reg));
      list +=
          fmt::format("{} {} = {}", i > first ? "," : "", w.names_.reg(variable.reg), text(variable.initial));
    }
    w.line(fmt::format("{}{};", type_name(type_of(std::get<Variable>(body[first].node).reg)), list));
  }
  Type type_of(RegId reg) const { return w.kernel_.registers[static_cast<std::size_t>(reg)].type; }
  bool is_constant(ExprId id) const {
    const auto& node = w.kernel_.expr(id).node;
    return std::holds_alternative<IntConst>(node) || std::holds_alternative<FloatConst>(node);
  }

  // A load whose one register the next statement puts somewhere, and nobody else reads: one line.
  bool loads_for(const Stmt& first, const Stmt& second) const {
    const auto* load = std::get_if<Load>(&first.node);
    if (load == nullptr || load->into.size() != 1) return false;
    const RegId reg = load->into[0];
    if (w.reads_[static_cast<std::size_t>(reg)] != 1) return false;
    const auto is_loaded = [&](ExprId value) {
      const auto* read = std::get_if<RegRead>(&w.kernel_.expr(value).node);
      return read != nullptr && read->reg == reg;
    };
    if (const auto* assign = std::get_if<Assign>(&second.node);
        assign != nullptr && is_loaded(assign->value)) {
      w.line(fmt::format("{} = {};", w.names_.reg(assign->reg), single(*load)));
      return true;
    }
    if (const auto* write = std::get_if<ArrayWrite>(&second.node);
        write != nullptr && is_loaded(write->value)) {
      w.line(fmt::format("{}[{}] = {};", w.names_.array(write->array), text(write->index), single(*load)));
      return true;
    }
    return false;
  }
  // What follows an opened `if`: an else that holds nothing but another If becomes `else if`.
  void branches(const If& s) const {
    block(s.then_body);
    if (s.else_body.empty()) return w.line("}");
    if (const If* next = s.else_body.size() == 1 ? std::get_if<If>(&s.else_body[0].node) : nullptr) {
      w.line(fmt::format("}} else if ({}) {{", text(next->condition)));
      return branches(*next);
    }
    w.line("} else {");
    block(s.else_body);
    w.line("}");
  }

  void operator()(const Comment& s) const {
    w.out_ += comment_lines(s.text, std::string(2 * static_cast<std::size_t>(w.level_), ' '));
  }
};

std::string StatementWriter::write(const Body& body, int level) {
  out_.clear();
  level_ = level;
  Visit{{*this}}.statements(body);
  return std::move(out_);
}

}  // namespace rondo::backend::cuda
