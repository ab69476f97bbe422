#include "compiler/kernel/ir/print.h"

#include <fmt/format.h>

#include "compiler/kernel/ir/print_expression.h"
#include "compiler/kernel/ir/visit.h"

namespace rondo::kernel {

namespace {

const char* describe(ShuffleMode mode) {
  switch (mode) {
    case ShuffleMode::Up: return "up";
    case ShuffleMode::Down: return "down";
    case ShuffleMode::Xor: return "xor";
    case ShuffleMode::Index: return "index";
  }
  return "?";
}

struct StatementHead {
  const Kernel& kernel;

  std::string text(ExprId id) const { return print(kernel, id); }
  std::string name(RegId id) const { return register_name(kernel, id); }
  std::string typed(RegId id) const {
    const bool known = id >= 0 && static_cast<std::size_t>(id) < kernel.registers.size();
    return name(id) + ": " + (known ? type_name(kernel.registers[static_cast<std::size_t>(id)].type) : "?");
  }
  std::string place(const MemRef& ref) const {
    return fmt::format("{}[{}]", memory_name(kernel, ref.space, ref.id), text(ref.index));
  }
  std::string slice(const ArraySlice& slice) const {
    return fmt::format("{}[{}..]", array_name(kernel, slice.array), text(slice.first));
  }
  std::string panels(const PanelOperand& operand) const {
    return place(operand.first) + (operand.mn_major ? " mn-major" : "");
  }
  std::string barrier(const MbarrierRef& ref) const {
    return fmt::format("{}[{}]", mbarrier_name(kernel, ref.id), text(ref.index));
  }
  static const char* hint(CacheHint hint) { return hint == CacheHint::Streaming ? ".streaming" : ""; }
  static const char* packed(bool packed) { return packed ? ".packed" : ""; }
  template <class Items, class F>
  static std::string list(const Items& items, F&& f) {
    std::string out;
    for (const auto& item : items) out += (out.empty() ? "" : ", ") + f(item);
    return out;
  }

  std::string operator()(const Let& s) const {
    return fmt::format("let {} = {}", typed(s.reg), text(s.value));
  }
  std::string operator()(const Variable& s) const {
    return fmt::format("var {} = {}", typed(s.reg), text(s.initial));
  }
  std::string operator()(const Assign& s) const { return fmt::format("{} = {}", name(s.reg), text(s.value)); }
  std::string operator()(const DeclareArray& s) const {
    const auto at = static_cast<std::size_t>(s.array);
    if (at >= kernel.arrays.size()) return "array " + array_name(kernel, s.array);
    const RegisterArray& array = kernel.arrays[at];
    return fmt::format("array {}: {}[{}]", array.name, type_name(array.type), array.size);
  }
  std::string operator()(const ArrayWrite& s) const {
    return fmt::format("{}[{}] = {}", array_name(kernel, s.array), text(s.index), text(s.value));
  }
  std::string operator()(const Load& s) const {
    return fmt::format("{} = load{}{} {}", list(s.into, [&](RegId r) { return typed(r); }), packed(s.packed),
                       hint(s.hint), place(s.from));
  }
  std::string operator()(const Store& s) const {
    return fmt::format("store{}{} {} = {}", packed(s.packed), hint(s.hint), place(s.to),
                       list(s.values, [&](ExprId v) { return text(v); }));
  }
  std::string operator()(const Prefetch& s) const {
    return fmt::format("prefetch{} {}", s.level == 1 ? "" : ".second", place(s.from));
  }
  std::string operator()(const CopyAsync& s) const {
    return fmt::format("copy_async {} <- {} x {}", place(s.to), place(s.from), s.elements);
  }
  std::string operator()(const CommitCopies&) const { return "commit_copies"; }
  std::string operator()(const WaitCopies& s) const {
    return fmt::format("wait_copies pending {}", s.pending);
  }
  std::string operator()(const Barrier& s) const {
    if (s.id == 0 && s.threads == 0 && s.waits) return "barrier";
    return fmt::format("barrier {} of {} threads{}", s.id, s.threads, s.waits ? "" : ", without waiting");
  }
  std::string operator()(const WarpSync&) const { return "warp_sync"; }
  std::string operator()(const ClusterBarrier&) const { return "cluster_barrier"; }
  std::string operator()(const Shuffle& s) const {
    return fmt::format("{} = shuffle.{} {}, {}", typed(s.into), describe(s.mode), text(s.from), text(s.lane));
  }
  std::string operator()(const Ballot& s) const {
    return fmt::format("{} = ballot {}", typed(s.into), text(s.predicate));
  }
  std::string operator()(const Mma& s) const {
    return fmt::format("mma.{}{} {} += {} * {}", storage_name(s.storage), s.tf32x3 ? ".tf32x3" : "",
                       slice(s.acc), slice(s.a), slice(s.b));
  }
  std::string operator()(const LoadMatrix& s) const {
    return fmt::format("load_matrix.x{}{} {} <- {}", s.count, s.transposed ? ".transposed" : "",
                       slice(s.into), place(s.row));
  }
  std::string operator()(const WarpgroupMma& s) const {
    return fmt::format("warpgroup_mma.{} {} += {} * {}, {} columns, {} steps", storage_name(s.storage),
                       slice(s.acc), panels(s.a), panels(s.b), s.columns, s.steps);
  }
  std::string operator()(const WgmmaWait& s) const { return fmt::format("wgmma_wait pending {}", s.pending); }
  std::string operator()(const ProxyFence&) const { return "proxy_fence"; }
  std::string operator()(const TileMma& s) const {
    return fmt::format("tile_mma {} / {} {} {} / {} * {}, {} rows, {} columns, {} steps", place(s.sums),
                       s.sum_pitch, s.adds ? "+=" : "=", place(s.a), s.a_pitch, place(s.b), s.rows, s.columns,
                       text(s.steps));
  }
  std::string operator()(const PackTile& s) const {
    return fmt::format("pack_tile{} {} / {} = {} / {}", s.transposed ? ".transposed" : "", place(s.to),
                       s.to_pitch, place(s.from), s.from_pitch);
  }
  std::string operator()(const MbarrierArrive& s) const {
    return fmt::format("arrive {}{}", barrier(s.barrier), s.rank >= 0 ? " of block " + text(s.rank) : "");
  }
  std::string operator()(const MbarrierExpect& s) const {
    return fmt::format("arrive {} expecting {} bytes", barrier(s.barrier), text(s.bytes));
  }
  std::string operator()(const MbarrierWait& s) const {
    return fmt::format("wait {} parity {}", barrier(s.barrier), text(s.parity));
  }
  std::string operator()(const StoreAsync& s) const {
    return fmt::format("store_async {} of block {} = {}, counted on {}", place(s.to), text(s.rank),
                       list(s.values, [&](ExprId v) { return text(v); }), barrier(s.barrier));
  }
  std::string operator()(const GridArrive& s) const {
    return fmt::format("grid_arrive {}", place(s.counter));
  }
  std::string operator()(const GridWait& s) const {
    return fmt::format("grid_wait {} >= {}", place(s.counter), text(s.target));
  }
  std::string operator()(const StoreSelfFlagged& s) const {
    return fmt::format("store_self_flagged {} = {}", place(s.to),
                       list(s.values, [&](ExprId v) { return text(v); }));
  }
  std::string operator()(const LoadSelfFlagged& s) const {
    return fmt::format("load_self_flagged{}{} {} = {} vectors from {} stride {}{}",
                       s.together ? "_together" : "", s.once ? "_once" : "", slice(s.into), s.vectors,
                       place(s.from), text(s.stride),
                       s.rest > 0 ? fmt::format(", after {} cycles", s.rest) : "");
  }
  std::string operator()(const GridFence&) const { return "grid_fence"; }
  std::string operator()(const SetMaxNReg& s) const {
    return fmt::format("setmaxnreg {} {}", s.more ? "up to" : "down to", s.count);
  }
  std::string operator()(const For& s) const {
    std::string out =
        fmt::format("for {} in {} .. {} step {}", name(s.variable), text(s.begin), text(s.end), text(s.step));
    if (s.unroll == kFullUnroll) return out + " unroll";
    return s.unroll == 1 ? out : out + fmt::format(" unroll {}", s.unroll);
  }
  std::string operator()(const If& s) const { return (s.cold ? "if cold " : "if ") + text(s.condition); }
  std::string operator()(const Comment& s) const { return "# " + s.text; }
};

class KernelPrinter {
 public:
  explicit KernelPrinter(const Kernel& kernel) : kernel_(kernel) {}

  std::string print() {
    if (!kernel_.comment.empty()) line(comment(kernel_.comment));
    const std::string cluster = kernel_.cluster == 1 ? "" : fmt::format(" cluster {}", kernel_.cluster);
    line(fmt::format("kernel {} threads {} min_blocks {}{}{} math {}{} {{", kernel_.name, kernel_.threads,
                     kernel_.min_blocks, cluster, kernel_.cooperative ? " cooperative" : "",
                     math_name(kernel_.math), kernel_.may_contract ? "" : " uncontracted"));
    ++depth_;
    for (const Param& p : kernel_.params) {
      const std::string type = p.buffer ? storage_name(p.storage) + std::string("*") : type_name(p.type);
      annotated(fmt::format("{} {}: {}", p.buffer && p.written ? "output" : "input", p.name, type),
                p.comment);
    }
    if (kernel_.status >= 0) line("status " + kernel_.params[static_cast<std::size_t>(kernel_.status)].name);
    for (const SharedArray& s : kernel_.shared)
      annotated(fmt::format("shared {}: {}[{}]", s.name, storage_name(s.storage), s.elements), s.comment);
    for (const MbarrierArray& m : kernel_.mbarriers)
      annotated(fmt::format("mbarrier {}: {} x {} arrivals", m.name, m.count, m.arrivals), m.comment);
    for (const NamedInt& n : kernel_.named)
      annotated(fmt::format("constant {} = {}", n.name, n.value), n.comment);
    body(kernel_.body);
    --depth_;
    line("}");
    return std::move(out_);
  }

 private:
  // Comments may hold several lines; each becomes a comment line of its own at this depth.
  std::string comment(const std::string& text) const {
    std::string out = "# ";
    for (const char c : text) {
      out += c;
      if (c == '\n') out += std::string(2 * depth_, ' ') + "# ";
    }
    return out;
  }
  void line(const std::string& text) { out_ += std::string(2 * depth_, ' ') + text + "\n"; }
  void annotated(const std::string& text, const std::string& note) {
    line(note.empty() ? text : text + "  " + comment(note));
  }
  void body(const Body& statements) {
    for (const Stmt& stmt : statements) statement(stmt);
  }
  void nested(const Body& statements) {
    ++depth_;
    body(statements);
    --depth_;
  }
  void statement(const Stmt& stmt) {
    if (const auto* text = std::get_if<Comment>(&stmt.node)) return line(comment(text->text));
    const std::string head = kernel::print(kernel_, stmt);
    if (const auto* loop = std::get_if<For>(&stmt.node)) {
      line(head + " {");
      nested(loop->body);
    } else if (const auto* branch = std::get_if<If>(&stmt.node)) {
      line(head + " {");
      nested(branch->then_body);
      if (!branch->else_body.empty()) {
        line("} else {");
        nested(branch->else_body);
      }
    } else {
      return line(head);
    }
    line("}");
  }

  const Kernel& kernel_;
  std::size_t depth_ = 0;
  std::string out_;
};

}  // namespace

std::string print(const Kernel& kernel, const Stmt& stmt) {
  return std::visit(StatementHead{kernel}, stmt.node);
}

std::string print(const Kernel& kernel) { return KernelPrinter(kernel).print(); }

}  // namespace rondo::kernel
