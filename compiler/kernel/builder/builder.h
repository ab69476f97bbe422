// The typed builder schedules write KernelIR with: C++ values stand for expressions, lambdas for bodies.
//
//   Builder b("axpy", 128);
//   auto x = b.input("x", Storage::BF16, "[n]"); auto y = b.output("y", Storage::BF16, "[n]"); auto n =
//   b.argument("n", Type::I32); auto i = b.let("i", b.block() * 128 + b.thread()); b.if_(i < n, [&] {
//   b.store(y[i], b.load("v", x[i]) * 2.0f); });
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

class Builder;

// An expression of a builder's kernel. Cheap to copy; valid while the builder lives. Operators check types
// and throw std::logic_error on a mismatch (a defect of the schedule).
class Value {
 public:
  Value() = default;
  Value(Builder* builder, ExprId id) : builder_(builder), id_(id) {}
  ExprId id() const { return id_; }
  Type type() const;
  Builder* builder() const { return builder_; }
  bool valid() const { return builder_ != nullptr; }

 private:
  Builder* builder_ = nullptr;
  ExprId id_ = -1;
};
// Integers and F32 (through scalar::Op) alike; an I32 operand beside an I64 one is widened.
Value operator+(Value a, Value b);
Value operator-(Value a, Value b);
Value operator*(Value a, Value b);
Value operator/(Value a, Value b);
Value operator%(Value a, Value b);
Value operator+(Value a, std::int64_t b);
Value operator-(Value a, std::int64_t b);
Value operator*(Value a, std::int64_t b);
Value operator/(Value a, std::int64_t b);
Value operator%(Value a, std::int64_t b);
Value ceil_div(Value a, std::int64_t by);  // rounded up; neither is negative
Value operator<(Value a, Value b);
Value operator<=(Value a, Value b);
Value operator>=(Value a, Value b);
Value operator==(Value a, Value b);
Value operator<(Value a, std::int64_t b);
Value operator>=(Value a, std::int64_t b);
Value operator==(Value a, std::int64_t b);
Value operator&&(Value a, Value b);
Value operator||(Value a, Value b);
Value min(Value a, Value b);
// Of integers' bits; what is shifted to the right is not negative.
Value operator^(Value a, Value b);
Value operator|(Value a, Value b);
Value operator&(Value a, std::int64_t b);
Value operator<<(Value a, Value b);
Value operator>>(Value a, Value b);

// A place in memory: buffer or shared array, indexed in elements.
struct Place {
  MemRef ref;
  Builder* builder = nullptr;
};
class Memory {
 public:
  Memory() = default;
  Memory(Builder* builder, Space space, int id) : builder_(builder), space_(space), id_(id) {}
  Place operator[](Value index) const { return {{space_, id_, index.id()}, builder_}; }
  bool valid() const { return builder_ != nullptr; }
  int id() const { return id_; }

 private:
  Builder* builder_ = nullptr;
  Space space_ = Space::Global;
  int id_ = -1;
};

// An array of mbarriers of the kernel.
struct Mbarrier {
  MbarrierId id = -1;
};

// A register array; index with constants or variables of unrolled loops.
struct Array {
  ArrayId id = -1;
  Builder* builder = nullptr;
};

class Builder {
 public:
  Builder(std::string name, int threads, Math math = Math::Fast, std::string comment = "");

  // arguments, in call order
  Memory input(const std::string& name, Storage storage, const std::string& comment = "");
  Memory output(const std::string& name, Storage storage, const std::string& comment = "");
  Value argument(const std::string& name, Type type, const std::string& comment = "");
  Memory shared(const std::string& name, Storage storage, std::int64_t elements,
                const std::string& comment = "");
  // An integer the emitted text names (constexpr int NAME = value).
  Value named(const std::string& name, std::int64_t value, const std::string& comment = "");

  Value constant(std::int64_t value, Type type = Type::I32);
  Value real(double value);
  Value thread() { return builtin(Builtin::ThreadX); }
  Value block() { return builtin(Builtin::BlockX); }
  Value builtin(Builtin which);
  Value wide(Value a);     // to I64
  Value to_real(Value a);  // I32 or Pred to F32
  Value math(scalar::Op op, const std::vector<Value>& args);
  Value select(Value condition, Value a, Value b);
  Value pack(Storage storage, Value low, Value high);
  Value unpack(Storage storage, Value pair, bool high);
  Value round_tf32(Value a);
  // A draw of `stream` at a place of which all parts are I32.
  Value uniform(std::uint32_t stream, Value seed, Value row, Value step, Value head, Value channel);
  Value cluster_rank() { return builtin(Builtin::ClusterRank); }
  Value read(Array array, Value index);

  // statements
  Value let(const std::string& name, Value value);
  Value variable(const std::string& name, Value initial);  // change it with assign
  void assign(Value variable, Value value);
  Array array(const std::string& name, Type type, int size);
  void write(Array array, Value index, Value value);
  Value load(const std::string& name, Place from, CacheHint hint = CacheHint::Default);
  std::vector<Value> load_vector(const std::string& name, Place from, int count,
                                 CacheHint hint = CacheHint::Default);
  void store(Place to, Value value, CacheHint hint = CacheHint::Default);
  void store_vector(Place to, const std::vector<Value>& values, CacheHint hint = CacheHint::Default);
  void prefetch(Place from, int level = 1);
  void copy_async(Place to, Place from, int elements);
  void commit_copies();
  void wait_copies(int pending);
  // Packed pairs: `count` of them, i.e. twice as many 16-bit elements.
  std::vector<Value> load_packed(const std::string& name, Place from, int count,
                                 CacheHint hint = CacheHint::Default);
  void store_packed(Place to, const std::vector<Value>& pairs, CacheHint hint = CacheHint::Default);
  void barrier();
  void named_barrier(int id, int threads, bool waits = true);
  void warp_sync();
  void cluster_barrier();
  void mma(Storage storage, Array acc, Value acc_first, Array a, Value a_first, Array b, Value b_first,
           bool tf32x3 = false);
  void load_matrix(Array into, Value first, int count, bool transposed, Place row);
  // acc: columns / 2 elements from the first on.
  struct Panels {
    Place first;
    bool mn_major = false;
    int panel = 0;
  };
  void warpgroup_mma(Storage storage, int columns, int steps, Array acc, const Panels& a, const Panels& b);
  void wgmma_wait(int pending);
  // Matrix tiles of CPUs: rows `pitch` elements apart.
  struct TileOperand {
    Place first;
    std::int64_t pitch;
  };
  void tile_mma(int rows, int columns, Value steps, bool adds, const TileOperand& sums, const TileOperand& a,
                Place b);
  void pack_tile(const TileOperand& to, const TileOperand& from, bool transposed);
  void proxy_fence();
  Mbarrier mbarrier(const std::string& name, int count, int arrivals, const std::string& comment = "");
  void arrive(Mbarrier barrier, Value index, Value rank = {});  // rank: of the cluster; none: own block
  void expect(Mbarrier barrier, Value index, Value bytes);
  void wait(Mbarrier barrier, Value index, Value parity);
  void store_async(Place to, const std::vector<Value>& words, Value rank, Mbarrier barrier, Value index);
  void grid_arrive(Place counter);
  void grid_wait(Place counter, Value target);
  void store_self_flagged(Place to, const std::vector<Value>& words);
  void load_self_flagged(Array into, Value first, int vectors, Place from, Value stride,
                         bool together = false, int rest = 0);
  void grid_fence();
  void set_max_nreg(int count, bool more);
  Value shuffle(const std::string& name, Value from, ShuffleMode mode, Value lane);
  Value ballot(const std::string& name, Value predicate);  // I32: bit l is that of lane l
  void for_(const std::string& name, Value begin, Value end, Value step, int unroll,
            const std::function<void(Value)>& body);
  // Whether a register is the variable of a loop that is unrolled completely.
  bool is_unrolled(RegId variable) const { return unrolled_.count(variable) > 0; }
  void for_(const std::string& name, std::int64_t begin, std::int64_t end, int unroll,
            const std::function<void(Value)>& body);
  void if_(Value condition, const std::function<void()>& then_body,
           const std::function<void()>& else_body = {});
  // The same, where hardly a thread ever runs what is long of the two (If::cold).
  void if_cold(Value condition, const std::function<void()>& then_body,
               const std::function<void()>& else_body = {});
  void comment(const std::string& text);

  void set_min_blocks(int blocks) { kernel_.min_blocks = blocks; }
  void set_cluster(int blocks) { kernel_.cluster = blocks; }
  void set_cooperative() { kernel_.cooperative = true; }
  void set_status(const Memory& word) { kernel_.status = word.id(); }
  Kernel finish();  // simplified; throws std::logic_error with verify()'s findings if it is not well formed

  ExprId add(Expr expr);
  const Kernel& kernel() const { return kernel_; }

 private:
  RegId make_register(const std::string& name, Type type);
  std::vector<Value> load_registers(const std::string& name, Load load, int count, Type type);
  std::string unique(const std::string& name);
  void put(Stmt stmt);
  void put_if(If branch, const std::function<void()>& then_body, const std::function<void()>& else_body);

  Kernel kernel_;
  std::vector<Body*> scopes_;
  std::unordered_set<RegId> unrolled_;  // variables of loops that are, completely
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, int> next_number_;  // by name: the number its next namesake tries first
};

}  // namespace rondo::kernel
