#include "compiler/kernel/builder/builder.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/kernel/passes/simplify.h"
#include "compiler/kernel/verify/verify.h"

namespace rondo::kernel {

Type Value::type() const { return builder_->kernel().expr(id_).type; }

namespace {

[[noreturn]] void misuse(const std::string& what) { throw std::logic_error("kernel builder: " + what); }

Builder* common(Value a, Value b) {
  if (!a.valid() || !b.valid() || a.builder() != b.builder()) misuse("values of different or no kernels");
  return a.builder();
}

// Makes both integers of one type, widening I32 to I64.
void unify(Value& a, Value& b) {
  if (a.type() == b.type()) return;
  if (a.type() == Type::I32 && b.type() == Type::I64)
    a = a.builder()->wide(a);
  else if (a.type() == Type::I64 && b.type() == Type::I32)
    b = b.builder()->wide(b);
  else
    misuse("operands of different types");
}

Value arithmetic(IntOp int_op, scalar::Op real_op, Value a, Value b) {
  Builder* builder = common(a, b);
  unify(a, b);
  if (a.type() == Type::F32) return builder->math(real_op, {a, b});
  if (a.type() == Type::Pred) misuse("arithmetic on a predicate");
  return {builder, builder->add({a.type(), IntExpr{int_op, a.id(), b.id()}})};
}

Value integer_only(IntOp op, Value a, Value b) {
  Builder* builder = common(a, b);
  unify(a, b);
  if (a.type() != Type::I32 && a.type() != Type::I64) misuse("an integer operation on another type");
  return {builder, builder->add({a.type(), IntExpr{op, a.id(), b.id()}})};
}

Value compare(Compare op, Value a, Value b) {
  Builder* builder = common(a, b);
  unify(a, b);
  return {builder, builder->add({Type::Pred, CompareExpr{op, a.id(), b.id()}})};
}

Value logic(Logic op, Value a, Value b) {
  Builder* builder = common(a, b);
  if (a.type() != Type::Pred || b.type() != Type::Pred) misuse("logic on other than predicates");
  return {builder, builder->add({Type::Pred, LogicExpr{op, a.id(), b.id()}})};
}

void want_i32(Value a) {
  if (!a.valid() || a.type() != Type::I32) misuse("an index, rank, count or parity is I32");
}

Value like(Value a, std::int64_t b) { return a.builder()->constant(b, a.type()); }

}  // namespace

Value operator+(Value a, Value b) { return arithmetic(IntOp::Add, scalar::Op::Add, a, b); }
Value operator-(Value a, Value b) { return arithmetic(IntOp::Sub, scalar::Op::Sub, a, b); }
Value operator*(Value a, Value b) { return arithmetic(IntOp::Mul, scalar::Op::Mul, a, b); }
Value operator/(Value a, Value b) { return arithmetic(IntOp::Div, scalar::Op::Div, a, b); }
Value operator%(Value a, Value b) { return integer_only(IntOp::Mod, a, b); }
Value operator+(Value a, std::int64_t b) { return a + like(a, b); }
Value operator-(Value a, std::int64_t b) { return a - like(a, b); }
Value operator*(Value a, std::int64_t b) { return a * like(a, b); }
Value operator/(Value a, std::int64_t b) { return a / like(a, b); }
Value operator%(Value a, std::int64_t b) { return a % like(a, b); }
Value ceil_div(Value a, std::int64_t by) { return (a + (by - 1)) / by; }
Value operator<(Value a, Value b) { return compare(Compare::Less, a, b); }
Value operator<=(Value a, Value b) { return compare(Compare::LessEqual, a, b); }
Value operator>=(Value a, Value b) { return compare(Compare::GreaterEqual, a, b); }
Value operator==(Value a, Value b) { return compare(Compare::Equal, a, b); }
Value operator<(Value a, std::int64_t b) { return a < like(a, b); }
Value operator>=(Value a, std::int64_t b) { return a >= like(a, b); }
Value operator==(Value a, std::int64_t b) { return a == like(a, b); }
Value operator&&(Value a, Value b) { return logic(Logic::And, a, b); }
Value operator||(Value a, Value b) { return logic(Logic::Or, a, b); }
Value min(Value a, Value b) { return integer_only(IntOp::Min, a, b); }
Value operator^(Value a, Value b) { return integer_only(IntOp::Xor, a, b); }
Value operator|(Value a, Value b) { return integer_only(IntOp::Or, a, b); }
Value operator&(Value a, std::int64_t b) { return integer_only(IntOp::And, a, a.builder()->constant(b)); }
Value operator<<(Value a, Value b) { return integer_only(IntOp::Shl, a, b); }
Value operator>>(Value a, Value b) { return integer_only(IntOp::Shr, a, b); }

Builder::Builder(std::string name, int threads, Math math, std::string comment) {
  kernel_.name = std::move(name);
  kernel_.threads = threads;
  kernel_.math = math;
  kernel_.comment = std::move(comment);
  scopes_.push_back(&kernel_.body);
}

ExprId Builder::add(Expr expr) {
  kernel_.expressions.push_back(std::move(expr));
  return static_cast<ExprId>(kernel_.expressions.size()) - 1;
}

void Builder::put(Stmt stmt) { scopes_.back()->push_back(std::move(stmt)); }

// Names are unique in the whole kernel: a second `h` becomes `h_2`.
std::string Builder::unique(const std::string& name) {
  if (names_.insert(name).second) return name;
  // The numbers below are taken: a name is never given back.
  int& n = next_number_.try_emplace(name, 2).first->second;
  std::string candidate = name + "_" + std::to_string(n++);
  while (!names_.insert(candidate).second) candidate = name + "_" + std::to_string(n++);
  return candidate;
}

RegId Builder::make_register(const std::string& name, Type type) {
  kernel_.registers.push_back({unique(name), type});
  return static_cast<RegId>(kernel_.registers.size()) - 1;
}

Memory Builder::input(const std::string& name, Storage storage, const std::string& comment) {
  kernel_.params.push_back({unique(name), true, storage, false, Type::I32, comment});
  return {this, Space::Global, static_cast<int>(kernel_.params.size()) - 1};
}

Memory Builder::output(const std::string& name, Storage storage, const std::string& comment) {
  kernel_.params.push_back({unique(name), true, storage, true, Type::I32, comment});
  return {this, Space::Global, static_cast<int>(kernel_.params.size()) - 1};
}

Value Builder::argument(const std::string& name, Type type, const std::string& comment) {
  kernel_.params.push_back({unique(name), false, Storage::F32, false, type, comment});
  return {this, add({type, ParamRead{static_cast<ParamId>(kernel_.params.size()) - 1}})};
}

Memory Builder::shared(const std::string& name, Storage storage, std::int64_t elements,
                       const std::string& comment) {
  kernel_.shared.push_back({unique(name), storage, elements, comment});
  return {this, Space::Shared, static_cast<int>(kernel_.shared.size()) - 1};
}

Value Builder::named(const std::string& name, std::int64_t value, const std::string& comment) {
  auto known = std::ranges::find_if(kernel_.named, [&](const NamedInt& n) { return n.name == name; });
  if (known == kernel_.named.end()) known = kernel_.named.insert(known, {unique(name), value, comment});
  if (known->value != value) misuse("two values for the constant " + name);
  const Value result = constant(value);
  kernel_.named_uses.emplace_back(result.id(), static_cast<int>(known - kernel_.named.begin()));
  return result;
}

Value Builder::constant(std::int64_t value, Type type) {
  if (type != Type::I32 && type != Type::I64) misuse("an integer constant of another type");
  return {this, add({type, IntConst{value}})};
}
Value Builder::real(double value) { return {this, add({Type::F32, FloatConst{value}})}; }
Value Builder::builtin(Builtin which) { return {this, add({Type::I32, BuiltinRead{which}})}; }
Value Builder::wide(Value a) {
  return a.type() == Type::I64 ? a : Value{this, add({Type::I64, CastExpr{a.id()}})};
}
Value Builder::to_real(Value a) {
  return a.type() == Type::F32 ? a : Value{this, add({Type::F32, CastExpr{a.id()}})};
}

Value Builder::math(scalar::Op op, const std::vector<Value>& args) {
  std::vector<ExprId> ids;
  for (const Value& a : args) {
    if (a.type() != Type::F32) misuse("a scalar function of other than F32");
    ids.push_back(a.id());
  }
  return {this, add({Type::F32, MathExpr{op, std::move(ids)}})};
}

Value Builder::select(Value condition, Value a, Value b) {
  unify(a, b);
  return {this, add({a.type(), SelectExpr{condition.id(), a.id(), b.id()}})};
}

Value Builder::pack(Storage storage, Value low, Value high) {
  if (storage != Storage::BF16 && storage != Storage::F16) misuse("packed pairs are bf16 or fp16");
  if (low.type() != Type::F32 || high.type() != Type::F32) misuse("a pair packed of other than F32");
  return {this, add({Type::I32, PackExpr{storage, low.id(), high.id()}})};
}

Value Builder::unpack(Storage storage, Value pair, bool high) {
  if (storage != Storage::BF16 && storage != Storage::F16) misuse("packed pairs are bf16 or fp16");
  if (pair.type() != Type::I32) misuse("a packed pair is I32");
  return {this, add({Type::F32, UnpackExpr{storage, pair.id(), high}})};
}

Value Builder::uniform(std::uint32_t stream, Value seed, Value row, Value step, Value head, Value channel) {
  return {this,
          add({Type::F32, UniformExpr{stream, seed.id(), row.id(), step.id(), head.id(), channel.id()}})};
}

Value Builder::round_tf32(Value a) {
  if (a.type() != Type::F32) misuse("other than F32 rounded to tf32");
  return {this, add({Type::F32, RoundExpr{a.id()}})};
}

Value Builder::read(Array array, Value index) {
  return {this,
          add({kernel_.arrays[static_cast<std::size_t>(array.id)].type, ArrayRead{array.id, index.id()}})};
}

Value Builder::let(const std::string& name, Value value) {
  const RegId reg = make_register(name, value.type());
  put({Let{reg, value.id()}});
  return {this, add({value.type(), RegRead{reg}})};
}

Value Builder::variable(const std::string& name, Value initial) {
  const RegId reg = make_register(name, initial.type());
  put({Variable{reg, initial.id()}});
  return {this, add({initial.type(), RegRead{reg}})};
}

void Builder::assign(Value variable, Value value) {
  const auto* read = std::get_if<RegRead>(&kernel_.expr(variable.id()).node);
  if (read == nullptr) misuse("assignment to what is no variable");
  put({Assign{read->reg, value.id()}});
}

Array Builder::array(const std::string& name, Type type, int size) {
  kernel_.arrays.push_back({unique(name), type, size});
  const ArrayId id = static_cast<ArrayId>(kernel_.arrays.size()) - 1;
  put({DeclareArray{id}});
  return {id, this};
}

void Builder::write(Array array, Value index, Value value) {
  put({ArrayWrite{array.id, index.id(), value.id()}});
}

Value Builder::load(const std::string& name, Place from, CacheHint hint) {
  return load_vector(name, from, 1, hint)[0];
}

std::vector<Value> Builder::load_vector(const std::string& name, Place from, int count, CacheHint hint) {
  const auto at = static_cast<std::size_t>(from.ref.id);
  const Storage storage =
      from.ref.space == Space::Global ? kernel_.params[at].storage : kernel_.shared[at].storage;
  return load_registers(name, {{}, from.ref, hint}, count, is_integer(storage) ? Type::I32 : Type::F32);
}

std::vector<Value> Builder::load_packed(const std::string& name, Place from, int count, CacheHint hint) {
  return load_registers(name, {{}, from.ref, hint, true}, count, Type::I32);
}

std::vector<Value> Builder::load_registers(const std::string& name, Load load, int count, Type type) {
  std::vector<Value> values;
  for (int i = 0; i < count; ++i) {
    load.into.push_back(make_register(count == 1 ? name : name + "_" + std::to_string(i), type));
    values.emplace_back(this, add({type, RegRead{load.into.back()}}));
  }
  put({std::move(load)});
  return values;
}

void Builder::store(Place to, Value value, CacheHint hint) { store_vector(to, {value}, hint); }

void Builder::store_vector(Place to, const std::vector<Value>& values, CacheHint hint) {
  Store store{{}, to.ref, hint};
  for (const Value& v : values) store.values.push_back(v.id());
  put({std::move(store)});
}

void Builder::store_packed(Place to, const std::vector<Value>& pairs, CacheHint hint) {
  Store store{{}, to.ref, hint, true};
  for (const Value& pair : pairs) {
    if (pair.type() != Type::I32) misuse("a packed pair is I32");
    store.values.push_back(pair.id());
  }
  put({std::move(store)});
}

void Builder::prefetch(Place from, int level) { put({Prefetch{from.ref, level}}); }
void Builder::copy_async(Place to, Place from, int elements) { put({CopyAsync{to.ref, from.ref, elements}}); }
void Builder::commit_copies() { put({CommitCopies{}}); }
void Builder::wait_copies(int pending) { put({WaitCopies{pending}}); }
void Builder::barrier() { put({Barrier{}}); }
void Builder::named_barrier(int id, int threads, bool waits) { put({Barrier{id, threads, waits}}); }
void Builder::warp_sync() { put({WarpSync{}}); }
void Builder::cluster_barrier() { put({ClusterBarrier{}}); }

void Builder::mma(Storage storage, Array acc, Value acc_first, Array a, Value a_first, Array b, Value b_first,
                  bool tf32x3) {
  if (storage == Storage::I32) misuse("a product of other than bf16, fp16 or fp32");
  const Type operand = storage == Storage::F32 ? Type::F32 : Type::I32;
  const auto type = [&](Array array) { return kernel_.arrays[static_cast<std::size_t>(array.id)].type; };
  if (type(acc) != Type::F32) misuse("a product is added to F32");
  if (type(a) != operand || type(b) != operand)
    misuse("a product of other than packed pairs (I32) or, with fp32, F32");
  put({Mma{storage, {acc.id, acc_first.id()}, {a.id, a_first.id()}, {b.id, b_first.id()}, tf32x3}});
}

void Builder::load_matrix(Array into, Value first, int count, bool transposed, Place row) {
  if (kernel_.arrays[static_cast<std::size_t>(into.id)].type != Type::I32)
    misuse("a matrix is loaded into packed pairs (I32)");
  put({LoadMatrix{{into.id, first.id()}, count, transposed, row.ref}});
}

void Builder::warpgroup_mma(Storage storage, int columns, int steps, Array acc, const Panels& a,
                            const Panels& b) {
  if (kernel_.arrays[static_cast<std::size_t>(acc.id)].type != Type::F32) misuse("a product is added to F32");
  const auto operand = [](const Panels& p) { return PanelOperand{p.first.ref, p.mn_major, p.panel}; };
  put({WarpgroupMma{storage, columns, steps, {acc.id, constant(0).id()}, operand(a), operand(b)}});
}
void Builder::tile_mma(int rows, int columns, Value steps, bool adds, const TileOperand& sums,
                       const TileOperand& a, Place b) {
  put({TileMma{rows, columns, steps.id(), adds, sums.first.ref, static_cast<int>(sums.pitch), a.first.ref,
               static_cast<int>(a.pitch), b.ref}});
}
void Builder::pack_tile(const TileOperand& to, const TileOperand& from, bool transposed) {
  put({PackTile{to.first.ref, static_cast<int>(to.pitch), from.first.ref, static_cast<int>(from.pitch),
                transposed}});
}
void Builder::wgmma_wait(int pending) { put({WgmmaWait{pending}}); }
void Builder::proxy_fence() { put({ProxyFence{}}); }

Mbarrier Builder::mbarrier(const std::string& name, int count, int arrivals, const std::string& comment) {
  kernel_.mbarriers.push_back({unique(name), count, arrivals, comment});
  return {static_cast<MbarrierId>(kernel_.mbarriers.size()) - 1};
}

void Builder::arrive(Mbarrier barrier, Value index, Value rank) {
  want_i32(index);
  if (rank.valid()) want_i32(rank);
  put({MbarrierArrive{{barrier.id, index.id()}, rank.id()}});
}

void Builder::expect(Mbarrier barrier, Value index, Value bytes) {
  want_i32(index), want_i32(bytes);
  put({MbarrierExpect{{barrier.id, index.id()}, bytes.id()}});
}

void Builder::wait(Mbarrier barrier, Value index, Value parity) {
  want_i32(index), want_i32(parity);
  put({MbarrierWait{{barrier.id, index.id()}, parity.id()}});
}

void Builder::store_async(Place to, const std::vector<Value>& words, Value rank, Mbarrier barrier,
                          Value index) {
  want_i32(index), want_i32(rank);
  StoreAsync store{{}, to.ref, rank.id(), {barrier.id, index.id()}};
  for (const Value& word : words) store.values.push_back(word.id());
  put({std::move(store)});
}

void Builder::grid_arrive(Place counter) { put({GridArrive{counter.ref}}); }

void Builder::grid_wait(Place counter, Value target) {
  want_i32(target);
  put({GridWait{counter.ref, target.id()}});
}

void Builder::store_self_flagged(Place to, const std::vector<Value>& words) {
  StoreSelfFlagged store{{}, to.ref};
  for (const Value& word : words) store.values.push_back(word.id());
  put({std::move(store)});
}

void Builder::load_self_flagged(Array into, Value first, int vectors, Place from, Value stride, bool together,
                                int rest) {
  want_i32(first), want_i32(stride);
  put({LoadSelfFlagged{{into.id, first.id()}, vectors, from.ref, stride.id(), false, together, rest}});
}

void Builder::grid_fence() { put({GridFence{}}); }

void Builder::set_max_nreg(int count, bool more) { put({SetMaxNReg{count, more}}); }

Value Builder::shuffle(const std::string& name, Value from, ShuffleMode mode, Value lane) {
  const RegId reg = make_register(name, from.type());
  put({Shuffle{reg, from.id(), mode, lane.id()}});
  return {this, add({from.type(), RegRead{reg}})};
}

Value Builder::ballot(const std::string& name, Value predicate) {
  const RegId reg = make_register(name, Type::I32);
  put({Ballot{reg, predicate.id()}});
  return {this, add({Type::I32, RegRead{reg}})};
}

// Bodies are built in a place of their own and then moved in: scopes_ never points into a growing vector.
void Builder::for_(const std::string& name, Value begin, Value end, Value step, int unroll,
                   const std::function<void(Value)>& body) {
  For loop{make_register(name, Type::I32), begin.id(), end.id(), step.id(), unroll, {}};
  if (unroll == kFullUnroll) unrolled_.insert(loop.variable);
  scopes_.push_back(&loop.body);
  body({this, add({Type::I32, RegRead{loop.variable}})});
  scopes_.pop_back();
  put({std::move(loop)});
}

void Builder::for_(const std::string& name, std::int64_t begin, std::int64_t end, int unroll,
                   const std::function<void(Value)>& body) {
  for_(name, constant(begin), constant(end), constant(1), unroll, body);
}

void Builder::if_(Value condition, const std::function<void()>& then_body,
                  const std::function<void()>& else_body) {
  put_if({condition.id(), {}, {}, false}, then_body, else_body);
}

void Builder::if_cold(Value condition, const std::function<void()>& then_body,
                      const std::function<void()>& else_body) {
  put_if({condition.id(), {}, {}, true}, then_body, else_body);
}

void Builder::put_if(If branch, const std::function<void()>& then_body,
                     const std::function<void()>& else_body) {
  scopes_.push_back(&branch.then_body);
  then_body();
  scopes_.back() = &branch.else_body;
  if (else_body) else_body();
  scopes_.pop_back();
  put({std::move(branch)});
}

void Builder::comment(const std::string& text) { put({Comment{text}}); }

Kernel Builder::finish() {
  Kernel result = simplify(kernel_);
  const std::vector<std::string> findings = verify(result);
  if (!findings.empty()) misuse("kernel " + result.name + ": " + findings.front());
  return result;
}

}  // namespace rondo::kernel
