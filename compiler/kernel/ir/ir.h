// KernelIR: a small SIMT language. One Kernel is what one __global__ function does, written per thread: typed
// registers, register arrays with compile-time indices, structured control flow, global and shared memory,
// asynchronous copies, barriers, shuffles. Schedules build it (builder.h), verify.h checks it, simulate.h
// runs it on the CPU, and a backend turns each node into a line of text.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "compiler/kernel/ir/expression.h"

namespace rondo::kernel {

// ---- memory ----
// An element of a global buffer (a pointer argument) or of a shared array; index in elements (I32 or I64).
enum class Space { Global, Shared };
struct MemRef {
  Space space = Space::Global;
  int id = -1;  // ParamId of a buffer, or SharedId
  ExprId index = -1;
};
// Streaming: read or written once, so the first to leave the L2 (ld/st.global.cs).
enum class CacheHint { Default, Streaming };

// ---- statements ----
struct Stmt;
using Body = std::vector<Stmt>;

// Declares reg with its value; never assigned again.
struct Let {
  RegId reg;
  ExprId value;
};
// Declares reg; Assign may change it.
struct Variable {
  RegId reg;
  ExprId initial;
};
struct Assign {
  RegId reg;
  ExprId value;
};
// Uninitialised register array.
struct DeclareArray {
  ArrayId array;
};
struct ArrayWrite {
  ArrayId array;
  ExprId index;
  ExprId value;
};
// Loads `into.size()` (1, 2, 4 or 8) consecutive elements as one access, aligned to its size; registers of
// their element_type(), declared here. With `packed` (16-bit memory only) each register is an I32 packed
// pair: 1, 2 or 4 pairs.
struct Load {
  std::vector<RegId> into;
  MemRef from;
  CacheHint hint = CacheHint::Default;
  bool packed = false;
};
// Values as Load's registers.
struct Store {
  std::vector<ExprId> values;
  MemRef to;
  CacheHint hint = CacheHint::Default;
  bool packed = false;
};
// Asks for the cache line of an element of a global buffer, which may lie past the buffer's end: it changes
// nothing but the time of a load. `level`: the cache that it is brought to, 1 or 2.
struct Prefetch {
  MemRef from;
  int level = 1;
};
// Atomic-free asynchronous copy global -> shared of `elements` consecutive elements, 4, 8 or 16 bytes (PTX
// cp.async). Visible to the issuing thread after WaitCopies, to others after a barrier on top.
struct CopyAsync {
  MemRef to;
  MemRef from;
  int elements;
};
struct CommitCopies {};  // closes this thread's group of copies (cp.async.commit_group)
// Waits until at most `pending` newest groups of this thread are unfinished.
struct WaitCopies {
  int pending;
};
// A barrier of all threads of the block (threads == 0), or named barrier `id`, 1 to 15, of `threads` threads
// in whole warps (PTX ISA, barrier). A named one may stand under a condition that whole warps share, and
// warps of different roles may reach it at different places. A warp that arrives without waiting is counted
// too.
struct Barrier {
  int id = 0;
  int threads = 0;
  bool waits = true;
};
struct WarpSync {};        // all threads of the warp
struct ClusterBarrier {};  // all threads of the cluster (barrier.cluster, release and acquire)
// into = value of `from` in another lane of the warp; all 32 lanes take part.
enum class ShuffleMode { Up, Down, Xor, Index };
struct Shuffle {
  RegId into;
  ExprId from;
  ShuffleMode mode;
  ExprId lane;
};
// into = I32 whose bit l is the predicate (Pred) of lane l of the warp; all 32 lanes take part and get the
// same word (PTX ISA, vote.sync.ballot).
struct Ballot {
  RegId into;
  ExprId predicate;
};
// ---- tensor cores (PTX ISA, mma.sync.m16n8k16, mma.sync.m16n8k8 with tf32, and ldmatrix; all 32 lanes take
// part) ----
// Consecutive elements of a register array from `first` on (constants and variables of unrolled loops only).
struct ArraySlice {
  ArrayId array = -1;
  ExprId first = -1;
};
// acc += A * B: acc 4 F32 (m16n8), a m16k16, b k16n8, in the fragment layouts of the PTX ISA. Storage BF16 or
// F16: a 4 and b 2 packed pairs. Storage F32: a 8 and b 4 F32, the operands of two m16n8k8 of tf32 one after
// the other, the first with columns of a 0 to 7. Without `tf32x3` both operands must be numbers of tf32
// already (RoundExpr). With it each is split into two numbers of tf32, x = big + small up to one unit in the
// last place of fp32, and small * big + big * small + big * big is added. An infinite operand then gives NaN.
struct Mma {
  Storage storage;
  ArraySlice acc, a, b;
  bool tf32x3 = false;  // storage F32 only
};
// Registers of a lane that each operand has.
struct MmaRegisters {
  int acc, a, b;
};
MmaRegisters mma_registers(Storage storage);
// Loads `count` (1, 2 or 4) 8 x 8 matrices of 16-bit elements from shared memory into as many packed pairs:
// lane 8m + i gives the place of row i of matrix m (16-byte aligned); lane 4g + q receives elements 2q and
// 2q + 1 of row g, or with `transposed` rows 2q and 2q + 1 of column g.
struct LoadMatrix {
  ArraySlice into;
  int count;
  bool transposed;
  MemRef row;
};

// ---- tensor cores by warpgroups (PTX ISA, wgmma; sm_90a): four neighbouring warps, the first a multiple of
// four, start a product of operands in shared memory and go on while it runs ----
// An operand in rows of 64 16-bit elements, 128 bytes, swizzled: the k-th 16 bytes stand at place
// k ^ row % 8, so neither rows nor columns meet in a bank. Its array begins at a multiple of 1024 bytes. Each
// row holds the elements of the sum for one element of the result. With `mn_major` each row holds elements of
// the result for one element of the sum, and from the 65th on they stand `panel` elements further.
struct PanelOperand {
  MemRef first;  // of the first row, before swizzling
  bool mn_major = false;
  int panel = 0;
};
// acc += A * B: A 64 x 16 steps, B 16 steps x columns, of storage BF16 or F16; acc has columns / 2 F32. Warp
// w of the four holds rows 16w to 16w + 15, each 8 columns as an Mma's acc. acc and both operands belong to
// the product until a WgmmaWait: none may be touched.
struct WarpgroupMma {
  Storage storage;
  int columns;  // a multiple of 16, up to 256
  int steps;
  ArraySlice acc;
  PanelOperand a, b;
};
// Waits until at most `pending` newest products of this thread's warpgroup are unfinished.
struct WgmmaWait {
  int pending;
};
// Makes this thread's writes to shared memory, and the copies that it has waited for, visible to every
// WarpgroupMma that is ordered after this (fence.proxy.async).
struct ProxyFence {};

// ---- matrix tiles of CPUs (Intel AMX, TDPBF16PS): the threads of the block do it together ----
inline constexpr int kTileRows = 16;  // of a tile, and columns of its fp32 numbers
inline constexpr int kTileStep = 32;  // elements of the sum: rows of 64 bytes
// sums (+)= A * B, all of bf16 but the sums, which are fp32: `rows` (1 to 16, or 32) by `columns` (a multiple
// of 16) numbers, over `steps` (I32) times 32 elements of the sum. Small numbers below fp32's normal ones are
// zero. A barrier of the block stands between it and the threads that write what it reads, or read the sums.
struct TileMma {
  int rows, columns;
  ExprId steps;
  bool adds = false;  // to the sums, which else begin at zero
  MemRef sums;        // shared, rows `sum_pitch` elements apart
  int sum_pitch;
  MemRef a;  // shared: rows of the elements of the sum, `a_pitch` apart
  int a_pitch;
  // Shared, or global and not written: tiles one behind the other, for each step those of all columns. A
  // tile has 16 rows of pairs: row p has elements 2p and 2p + 1 of the sum side by side, column by column.
  MemRef b;
};
inline constexpr int kTileElements = kTileRows * kTileStep;  // of 16 bits
// Brings 32 rows of 16 columns of 16-bit elements, `from_pitch` apart, into the order of an operand of
// TileMma, 16 rows of 32 elements, `to_pitch` apart: those of a tile of b; or, `transposed`, those of a,
// where row c has the 32 elements of column c. Barriers as for TileMma.
struct PackTile {
  MemRef to;
  int to_pitch;
  MemRef from;
  int from_pitch;
  bool transposed;
};

// ---- mbarriers (PTX ISA, mbarrier): Kernel::mbarriers, initialised before the body runs ----
struct MbarrierRef {
  MbarrierId id = -1;
  ExprId index = -1;  // I32, below MbarrierArray::count
};
// Each executing thread arrives once (release). rank: -1 own block, else the block of that rank in the
// cluster.
struct MbarrierArrive {
  MbarrierRef barrier;
  ExprId rank = -1;
};
// Each executing thread arrives once and adds `bytes` (I32) to what the current phase waits for (sm_90).
struct MbarrierExpect {
  MbarrierRef barrier;
  ExprId bytes;
};
// Waits until the phase of parity `parity` (I32, 0 or 1) of the own block's mbarrier has completed (acquire).
// What comes too late: Kernel::status.
struct MbarrierWait {
  MbarrierRef barrier;
  ExprId parity;
};
// st.async (sm_90): stores 1, 2 or 4 words (packed pairs or, to F32 memory, F32 values) to the same place of
// the shared memory of the block of `rank` in the cluster, and counts their bytes on that block's mbarrier.
// Visible there to who waits for the phase.
struct StoreAsync {
  std::vector<ExprId> values;
  MemRef to;
  ExprId rank;
  MbarrierRef barrier;
};

// ---- grid-wide flags: kernels with `cooperative` only, counters are I32 elements of a written buffer ----
// Adds 1 (red.release.gpu). All that this thread has done or seen happens before a GridWait that sees the
// sum.
struct GridArrive {
  MemRef counter;
};
// Waits until the counter is at least `target` (I32; ld.acquire.gpu). What comes too late: Kernel::status.
struct GridWait {
  MemRef counter;
  ExprId target;
};
// Self-flagging words: kEmpty means not yet written; readers poll the data itself. Rounding never makes a
// pair of 16-bit floats with these bits. An F32 NaN that has them is sent as another NaN. The words are I32
// elements of a written buffer.
inline constexpr std::int32_t kEmpty = -1;
// Stores 1, 2 or 4 words, I32 or the bits of F32, for LoadSelfFlagged (st.relaxed.gpu). A word may be written
// again only after a StoreSelfFlagged of kEmpty and, after that, a GridFence by its writer and by all its
// readers.
struct StoreSelfFlagged {
  std::vector<ExprId> values;
  MemRef to;
};
// Loads `vectors` vectors of 4 words, `stride` (I32) elements apart, into 4 * vectors I32 or F32 array
// elements, and again until none of the words is kEmpty (ld.relaxed.gpu). What comes too late:
// Kernel::status. With `once` it takes what is there, without waiting (ablate.h). With `together` all 32
// lanes of a warp execute it, and none goes on before the others. It waits `rest` cycles before the
// first poll. A poll that is too early costs a full round trip.
struct LoadSelfFlagged {
  ArraySlice into;
  int vectors;
  MemRef from;
  ExprId stride;
  bool once = false;
  bool together = false;
  int rest = 0;
};
struct GridFence {};  // fence.acq_rel.gpu
// Sets the registers of a thread from here on (setmaxnreg). All threads of four neighbouring warps, the first
// a multiple of four, execute it. It does nothing where the architecture has no such instruction.
struct SetMaxNReg {
  int count;  // a multiple of 8, 24 to 256
  bool more;
};

struct For {
  RegId variable;           // I32, declared here
  ExprId begin, end, step;  // runs while variable < end (step > 0)
  int unroll = 1;  // 1: leave rolled; n: unroll n times; kFullUnroll: completely, bounds are constants
  Body body;
};
inline constexpr int kFullUnroll = 0;
struct If {
  ExprId condition;
  Body then_body;
  Body else_body;
  // Hardly a thread ever takes the longer way, so the rest of the kernel keeps nothing in registers for it:
  // the text for a GPU has it as a function, or reads built-in numbers and buffers' addresses anew in both
  // bodies, and rematerialise.h computes anew what comes of these.
  bool cold = false;
};
struct Comment {
  std::string text;
};

struct Stmt {
  std::variant<Let, Variable, Assign, DeclareArray, ArrayWrite, Load, Store, Prefetch, CopyAsync,
               CommitCopies, WaitCopies, Barrier, WarpSync, ClusterBarrier, Shuffle, Ballot, Mma, LoadMatrix,
               WarpgroupMma, WgmmaWait, ProxyFence, TileMma, PackTile, MbarrierArrive, MbarrierExpect,
               MbarrierWait, StoreAsync, GridArrive, GridWait, StoreSelfFlagged, LoadSelfFlagged, GridFence,
               SetMaxNReg, For, If, Comment>
      node;
};

struct Register {
  std::string name;
  Type type;
};
struct RegisterArray {
  std::string name;
  Type type;
  int size;
};
struct Param {
  std::string name;
  bool buffer = false;             // a pointer to `storage` elements, or a scalar of `type`
  Storage storage = Storage::F32;  // buffers
  bool written = false;   // buffers: may be stored to; otherwise const and read-only during the launch
  Type type = Type::I32;  // scalars: I32, I64, F32 or F64
  std::string comment;    // shape and meaning
};
struct SharedArray {
  std::string name;
  Storage storage = Storage::F32;
  std::int64_t elements = 0;
  std::string comment;
};

// `count` mbarriers side by side, each completing a phase with every `arrivals` arrivals (and the bytes
// expected).
struct MbarrierArray {
  std::string name;
  int count = 1;
  int arrivals = 1;
  std::string comment;
};

// A constexpr of the emitted text: gives a number of the body a name. IntConst nodes refer to it by
// `constant_names`.
struct NamedInt {
  std::string name;
  std::int64_t value;
  std::string comment;
};

struct Kernel {
  std::string name;
  std::string comment;  // what it computes; heads the emitted text
  int threads = 32;     // block size (one-dimensional)
  int min_blocks = 1;   // resident blocks per SM asked of the compiler (__launch_bounds__'s second argument)
  // Blocks a cluster (sm_90, up to 8, or 16 where the device allows it); the grid is a multiple of it.
  int cluster = 1;
  // All blocks of the launch must be resident at once: they wait for each other by GridWait.
  bool cooperative = false;
  // A written I32 buffer of one word, or -1. A wait for a phase, counter or self-flagging words that lasts
  // some seconds sets the word to 1. From then on every wait that lasts ends, met or not: the kernel ends
  // with wrong results, and the launcher reads the reason. A kernel without a status traps instead.
  ParamId status = -1;
  Math math = Math::Fast;
  bool may_contract = true;  // whether the compiler may make one multiply-add of a product and a sum
  std::vector<Param> params;
  std::vector<SharedArray> shared;  // laid out in this order in dynamic shared memory, each 16-byte aligned
  std::vector<MbarrierArray> mbarriers;  // in shared memory, after the arrays
  std::vector<NamedInt> named;           // constants to name in the text
  std::vector<Register> registers;
  std::vector<RegisterArray> arrays;
  std::vector<Expr> expressions;
  std::vector<std::pair<ExprId, int>> named_uses;  // IntConst expressions written as named[second]
  Body body;

  const Expr& expr(ExprId id) const { return expressions[static_cast<std::size_t>(id)]; }
};

// Whether real numbers of the kernel are doubles: all of them (verify.h), those of no other are.
bool is_in_double(const Kernel& kernel);

// Of all kernels of a translation unit, for compilers decide it once for all.
bool may_contract(const std::vector<const Kernel*>& kernels);

// Byte offset of each shared array; then of each mbarrier array; and the total with both (the dynamic shared
// memory of a launch).
std::vector<std::int64_t> shared_offsets(const Kernel& kernel);
std::vector<std::int64_t> mbarrier_offsets(const Kernel& kernel);
std::int64_t shared_bytes(const Kernel& kernel);

}  // namespace rondo::kernel
