// The tiling space of FlashRNN's fused kernels for one head size, batch and GPU: the forward and the backward
// half of the constraint system in its autotuner (arXiv 2412.07752, "automatic tuning"; NX-AI/flashrnn,
// 16-bit types). Shared by the solver's tests and benchmarks/constraint_bench.cpp.
#pragma once

#include <string>

#include "compiler/constraint/system.h"

namespace rondo::constraint::example {

struct FusedShape {
  Value head_dim = 768;
  Value heads = 1;
  Value batch = 16;
  Value gates = 4;
  Value multiprocessors = 132;
  Value shared_bytes = 227000;        // a CTA
  Value register_halves = 65536 * 2;  // a CTA, counted in 16-bit values
  Value threads = 1024;               // a CTA
};

// The names of one half. `out` is the dimension that warps own whole tiles of (gates x head forward, head
// backward); `along` is the one they sum over.
struct FusedHalf {
  std::string prefix;
  Value out_size;
  Value along_size;
};

// Thirteen variables a half; the derived sizes that FlashRNN's solver also searches over are definitions
// here, except the number of warps and the cached registers, which its equations leave implicit.
inline void add_fused_half(System& s, const FusedShape& shape, const FusedHalf& half) {
  const auto count = [&](const std::string& name, Value most, const std::string& description) {
    return s.var(half.prefix + name, range(1, most), description);
  };
  const Var tile_batch = s.var(half.prefix + "tile_batch", values({8, 16, 32}), "batch rows of one mma tile");
  const Var tile_out = s.var(half.prefix + "tile_out", values({8, 16, 32}), "output columns of one mma tile");
  const Value tile_along = 16;
  const Var cta_out = count("ctas_out", half.out_size, "CTAs across the output dimension");
  const Var cta_along = count("ctas_along", half.along_size, "CTAs along the summed dimension");
  const Var cta_batch = count("ctas_batch", shape.batch, "CTAs across the batch");
  const Var cta_heads = count("ctas_heads", shape.heads, "heads side by side");
  const Var warps_along = count("warps_along", half.along_size, "warps of a CTA along the summed dimension");
  const Var warps_batch = count("warps_batch", shape.batch, "warps of a CTA across the batch");
  const Var loop_batch = count("loop_batch", 4, "batch tiles that a warp walks through");
  const Var loop_out = count("loop_out", half.out_size, "output tiles that a warp walks through");
  const Var cached = count("cached_tiles", half.along_size, "tiles of R that a warp keeps in registers");
  const Var warps = count("warps", 1024, "warps of a CTA");
  const Var cached_halves = s.var(half.prefix + "cached_values", range(256, shape.register_halves, 256),
                                  "values of R in the registers of a CTA");

  s.require(tile_batch * tile_out == 256, half.prefix + "mma tile shape");
  s.require(warps_along * warps_batch * half.out_size == warps * cta_out * loop_out * tile_out,
            half.prefix + "warps cover the output dimension");
  s.require(divides(cta_along * warps_along * tile_along, half.along_size),
            half.prefix + "tiles cover the summed dimension");
  s.require(divides(loop_out * cta_out * tile_out, half.out_size),
            half.prefix + "tiles cover the output dimension");
  s.require(divides(cta_batch * warps_batch * loop_batch * tile_batch, shape.batch),
            half.prefix + "tiles cover the batch");
  s.require(divides(cta_heads, shape.heads), half.prefix + "groups of heads are equal");
  s.require(cta_along * cached * warps_along * tile_along <= half.along_size,
            half.prefix + "cached tiles lie within R");
  s.require(tile_along * tile_out * cached * warps == cached_halves * warps_batch,
            half.prefix + "cached tiles fill the registers");

  const Expr blocks = s.define(half.prefix + "blocks", cta_out * cta_along * cta_batch * cta_heads, "CTAs");
  const Expr threads = s.define(half.prefix + "threads", 32 * warps, "threads a CTA");
  const Expr registers = s.define(
      half.prefix + "registers",
      cached_halves + warps * tile_batch * tile_out * loop_batch * 2 + warps * tile_batch * tile_along,
      "16-bit values in the registers of a CTA");
  const Value recurrent = 2 * half.out_size * half.along_size;
  const Expr left_over = s.define(half.prefix + "recurrent_bytes",
                                  cta_batch * (recurrent + 2 * half.out_size * 8) + 64 -
                                      2 * cached_halves * cta_batch * cta_out * cta_along,
                                  "bytes of R left to the shared memory of all CTAs");
  const Expr batch_rows = cta_batch * warps_batch * loop_batch * tile_batch;
  const Expr sums = s.define(half.prefix + "sum_bytes",
                             4 * warps_along * cta_along * batch_rows * (half.out_size + cta_out * 8),
                             "bytes of partial sums in the shared memory of all CTAs");
  s.require(left_over >= 1, half.prefix + "R is cached once");
  s.require(threads <= shape.threads, half.prefix + "threads a CTA");
  s.require(blocks <= shape.multiprocessors, half.prefix + "co-resident CTAs");
  s.require(registers <= shape.register_halves, half.prefix + "registers a CTA");
  s.require(cta_heads * (left_over + sums) <= shape.shared_bytes * blocks, half.prefix + "shared memory");
}

inline System fused_forward(const FusedShape& shape) {
  System s;
  add_fused_half(s, shape, {"fw_", shape.gates * shape.head_dim, shape.head_dim});
  return s;
}

inline System fused_backward(const FusedShape& shape) {
  System s;
  add_fused_half(s, shape, {"bw_", shape.head_dim, shape.gates * shape.head_dim});
  return s;
}

// Both at once, as FlashRNN hands them to its solver: 26 variables.
inline System fused_both(const FusedShape& shape) {
  System s;
  add_fused_half(s, shape, {"fw_", shape.gates * shape.head_dim, shape.head_dim});
  add_fused_half(s, shape, {"bw_", shape.head_dim, shape.gates * shape.head_dim});
  return s;
}

}  // namespace rondo::constraint::example
