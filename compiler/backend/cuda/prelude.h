// The helper functions and type aliases a kernel's text may use. Only those asked for, and what they need,
// are printed.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "compiler/backend/prelude/sections.h"
#include "compiler/kernel/ir/ir.h"
#include "compiler/target/target.h"

namespace rondo::backend::cuda {

inline constexpr std::size_t kColumns = 120;  // what is put on one line to save lines is not wider

// All helpers (prelude/*.cuh, sections marked "//:"), in the order in which their text is emitted: memory
// (aliases, 16-bit conversion, asynchronous copies), tensor (packed pairs, ldmatrix, mma), warpgroup
// (products of warpgroups), sync (barriers, mbarriers, clusters, grid flags), math (scalar functions), random
// (draws). For GPUs before compute capability 8.0 some have another form (prelude/turing).
const std::vector<Helper>& helpers(const target::Target& target = {});

// Loads or stores of 2, 4 or 8 elements as one access; or of 1, 2 or 4 packed pairs, whose storage is I32
// whatever they hold.
struct VectorAccess {
  kernel::Storage storage;
  int count;
  bool store;
  bool streaming;
  bool pairs = false;
  auto key() const { return std::tuple(storage, count, store, streaming, pairs); }
  bool operator<(const VectorAccess& other) const { return key() < other.key(); }
};
std::string name(const VectorAccess& access);  // e.g. load_bf16x4, store_fp32x2_streaming, load_pairs_x2

// A product of a warpgroup, all registers of whose accumulator its text names (warpgroup_product.cpp).
struct WarpgroupProduct {
  kernel::Storage storage;  // BF16 or F16
  int columns;              // a multiple of 16, up to 256
  auto key() const { return std::tuple(storage, columns); }
  bool operator<(const WarpgroupProduct& other) const { return key() < other.key(); }
};
std::string name(const WarpgroupProduct& product);  // e.g. warpgroup_mma_bf16_x128
std::string define(const WarpgroupProduct& product);
std::vector<std::string_view> needs(const WarpgroupProduct& product);  // names of the tables

// How an element of the storage type is spelled: float, int, bf16, fp16 (the last two are aliases to
// require()).
std::string_view element_type(kernel::Storage storage);

class Prelude {
 public:
  explicit Prelude(const target::Target& target) : target_(target) {}
  // Asks for a helper of the tables by name; names that are none (CUDA built-ins such as fmaf) are left
  // alone.
  void require(std::string_view name);
  // Asks for the helper of a vector access and returns its name.
  std::string require(const VectorAccess& access);
  std::string require(const WarpgroupProduct& product);

  // Everything asked for, in an order that compiles.
  std::string text() const;

 private:
  target::Target target_;
  std::set<std::string_view> required_;
  std::set<VectorAccess> accesses_;
  std::set<WarpgroupProduct> products_;
};

// Every name a prelude may define: kernels must not use them for their own registers.
std::vector<std::string> helper_names();

}  // namespace rondo::backend::cuda
