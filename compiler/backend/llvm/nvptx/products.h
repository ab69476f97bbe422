// The part of StatementWriter for tensor cores. Included by statements.cpp alone.
#pragma once

#include <string>
#include <vector>

#include "compiler/backend/llvm/nvptx/statements.h"
#include "compiler/kernel/passes/codegen.h"

namespace rondo::backend::nvptx {

struct StatementWriter::Products {
  StatementWriter& w;
  using Words = std::vector<std::string>;

  static std::string list(std::string_view type, const Words& values) {
    std::string text;
    for (const std::string& value : values)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", type, value);
    return text;
  }
  static std::string aggregate(std::string_view type, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("{}{}", i > 0 ? ", " : "{ ", type);
    return text + " }";
  }
  Words read(const kernel::ArraySlice& slice, int count) const {
    Words values;
    for (int i = 0; i < count; ++i) values.push_back(w.values_.read(slice, i));
    return values;
  }
  void write(const kernel::ArraySlice& slice, const Words& values) const {
    for (std::size_t i = 0; i < values.size(); ++i) w.values_.write(slice, static_cast<int>(i), values[i]);
  }
  Words parts(const std::string& type, const std::string& whole, int count) const {
    Words values;
    for (int i = 0; i < count; ++i) values.push_back(w.text_.value("extractvalue {} {}, {}", type, whole, i));
    return values;
  }
  Words bits(const Words& numbers) const {
    Words result;
    for (const std::string& x : numbers) result.push_back(w.text_.value("bitcast float {} to i32", x));
    return result;
  }

  // One product of a warp (PTX ISA, mma), which it runs together: "convergent" keeps LLVM from moving it
  // under the condition that its result is used under. It is assembly with an effect, as in the CUDA text,
  // not the intrinsic: that reads no memory, and LLVM moved it down to where its sum is used, so that all
  // operands lived until then and spilled.
  Words mma(kernel::Storage storage, const Words& acc, const Words& a, const Words& b) const {
    if (w.target_.before_ampere()) return mma_before_ampere(storage, acc, a, b);
    const char* of = storage == kernel::Storage::BF16  ? "m16n8k16.row.col.f32.bf16.bf16.f32"
                     : storage == kernel::Storage::F16 ? "m16n8k16.row.col.f32.f16.f16.f32"
                                                       : "m16n8k8.row.col.f32.tf32.tf32.f32";
    const std::string whole = w.text_.value(
        "call {{ float, float, float, float }} asm sideeffect \"mma.sync.aligned.{} {{$0, $1, $2, $3}}, "
        "{{$4, $5, $6, "
        "$7}}, {{$8, $9}}, {{$10, $11, $12, $13}};\", \"=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f\"({}, {}, {}) "
        "convergent",
        of, list("i32", a), list("i32", b), list("float", acc));
    return parts("{ float, float, float, float }", whole, 4);
  }
  // For GPUs before compute capability 8.0 (compiler/backend/cuda/prelude/turing): products of fp16 of depth
  // 8, one after the other, or of bf16 multiply-adds of what other lanes have. There are none of fp32.
  Words mma_before_ampere(kernel::Storage storage, Words acc, const Words& a, const Words& b) const {
    for (std::size_t half = 0; half < b.size(); ++half)
      acc = storage == kernel::Storage::F16 ? mma_k8(acc, some(a, 2 * half, 2), b[half])
                                            : multiply_adds(acc, some(a, 2 * half, 2), b[half]);
    return acc;
  }
  Words mma_k8(const Words& acc, const Words& a, const std::string& b) const {
    const std::string whole = w.text_.value(
        "call {{ float, float, float, float }} asm sideeffect "
        "\"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {{$0, $1, $2, $3}}, {{$4, $5}}, {{$6}}, {{$7, "
        "$8, "
        "$9, $10}};\", \"=f,=f,=f,=f,r,r,r,f,f,f,f\"({}, i32 {}, {}) convergent",
        list("i32", a), b, list("float", acc));
    return parts("{ float, float, float, float }", whole, 4);
  }
  Words multiply_adds(Words acc, const Words& a, const std::string& b) const {
    const std::string thread =
        w.text_.once("thread_x", "thread_x", "call i32 @llvm.nvvm.read.ptx.sreg.tid.x()");
    const std::string column = integer("shl", integer("and", thread, 3), 3);
    // PTX ISA, shfl: 31 are all lanes, with 28 << 8 the four around this one.
    const auto from_lane = [&](const std::string& word, const std::string& lane, int lanes) {
      return w.text_.value("call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 {}, i32 {}, i32 {})", word,
                           lane, lanes);
    };
    const auto numbers = [&](const std::string& word) {
      return Words{w.values_.call("float", "low_bf16", "i32 " + word),
                   w.values_.call("float", "high_bf16", "i32 " + word)};
    };
    for (int k = 0; k < 4; ++k) {
      std::vector<Words> left, right;
      for (int i = 0; i < 2; ++i) {
        left.push_back(numbers(from_lane(a[static_cast<std::size_t>(i)], std::to_string(k), 28 << 8 | 31)));
        right.push_back(numbers(from_lane(b, integer("add nsw", column, 4 * i + k), 31)));
      }
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t e = 0; e < 2; ++e)
          acc[i] = w.text_.value("call float @llvm.fma.f32(float {}, float {}, float {})", left[i / 2][e],
                                 right[i % 2][e], acc[i]);
    }
    return acc;
  }
  static Words some(const Words& words, std::size_t first, std::size_t count) {
    return {words.begin() + static_cast<std::ptrdiff_t>(first),
            words.begin() + static_cast<std::ptrdiff_t>(first + count)};
  }

  void operator()(const kernel::Mma& s) const {
    const kernel::MmaRegisters of = kernel::mma_registers(s.storage);
    const Words acc = read(s.acc, of.acc), a = read(s.a, of.a), b = read(s.b, of.b);
    if (s.storage != kernel::Storage::F32) return write(s.acc, mma(s.storage, acc, a, b));
    if (s.tf32x3) return write(s.acc, in_three_terms(acc, a, b));
    const Words left = bits(a), right = bits(b);
    const Words half = mma(s.storage, acc, some(left, 0, 4), some(right, 0, 2));
    write(s.acc, mma(s.storage, half, some(left, 4, 4), some(right, 2, 2)));
  }

  // Products of fp32 from products of tf32, the small ones first, summed from zero (the CUDA text's
  // prelude/tensor.cuh says why). What a is split into is not to be kept beside a matrix that stays in
  // registers: it is hidden that it is always the same.
  Words in_three_terms(const Words& acc, const Words& a, const Words& b) const {
    Words big[2], small[2];
    for (int side = 0; side < 2; ++side)
      for (std::string x : side == 0 ? a : b) {
        if (side == 0) x = w.values_.call("float", "hidden", "float " + x);
        big[side].push_back(w.values_.call("i32", "big_tf32", "float " + x));
        small[side].push_back(
            w.values_.call("i32", "small_tf32", fmt::format("float {}, i32 {}", x, big[side].back())));
      }
    constexpr auto kStorage = kernel::Storage::F32;
    Words sum(4, "0.0");
    for (std::size_t half = 0; half < 2; ++half) {
      sum = mma(kStorage, sum, some(small[0], 4 * half, 4), some(big[1], 2 * half, 2));
      sum = mma(kStorage, sum, some(big[0], 4 * half, 4), some(small[1], 2 * half, 2));
    }
    for (std::size_t half = 0; half < 2; ++half)
      sum = mma(kStorage, sum, some(big[0], 4 * half, 4), some(big[1], 2 * half, 2));
    for (std::size_t i = 0; i < 4; ++i) sum[i] = w.text_.value("fadd contract float {}, {}", acc[i], sum[i]);
    return sum;
  }

  Words load_matrix(int count, bool transposed, const std::string& row) const {
    const std::string helper = fmt::format("load_matrix_x{}{}", count, transposed ? "_transposed" : "");
    if (count == 1) return {w.values_.call("i32", helper, row)};
    const std::string type = aggregate("i32", count);
    return parts(type, w.values_.call(type, helper, row), count);
  }
  void operator()(const kernel::LoadMatrix& s) const {
    const std::string row = w.values_.address(s.row);
    write(s.into, load_matrix(s.count, s.transposed, row));
  }

  // ---- products of warpgroups (PTX ISA 8.x, 9.7.15) ----
  void operator()(const kernel::WarpgroupMma& s) const {
    const std::string a = w.values_.address(s.a.first), b = w.values_.address(s.b.first);
    if (w.has_warpgroups())
      begin_product(s, a, b);
    else
      product_of_warps(s, a, b);
  }
  void begin_product(const kernel::WarpgroupMma& s, const std::string& a, const std::string& b) const {
    const int registers = s.columns / 2;
    const auto descriptor = [&](const kernel::PanelOperand& operand, const std::string& first) {
      return w.values_.call("i64", "panel_operand",
                            fmt::format("{}, i64 {}", first, kernel::panel_elements(operand)));
    };
    const std::string left = descriptor(s.a, a), right = descriptor(s.b, b);
    std::string numbers, outputs, ties;
    for (int i = 0; i < registers; ++i) {
      numbers += fmt::format("{}${}", i > 0 ? ", " : "", i);
      outputs += "=f,";
      ties += fmt::format("{},", i);
    }
    const char* type = s.storage == kernel::Storage::BF16 ? "bf16" : "f16";
    const int first = 2 * registers;  // inputs that are tied to outputs have numbers too
    const std::string text = fmt::format(
        "{{ .reg .pred add; setp.ne.b32 add, 1, 0; wgmma.mma_async.sync.aligned.m64n{}k16.f32.{}.{} {{{}}}, "
        "${}, ${}, add, 1, 1, {}, {}; }}",
        s.columns, type, type, numbers, first, first + 1, int(s.a.mn_major), int(s.b.mn_major));
    const std::string result = aggregate("float", registers);
    w.text_.line("call void @llvm.nvvm.wgmma.fence.sync.aligned()");
    Words acc = read(s.acc, registers);
    for (int step = 0; step < s.steps; ++step) {
      const auto at = [&](const std::string& operand, bool along_result) {
        return w.text_.value("add i64 {}, {}", operand, step * (along_result ? 128 : 2));
      };
      const std::string here = at(left, s.a.mn_major), there = at(right, s.b.mn_major);
      const std::string whole =
          w.text_.value("call {} asm sideeffect \"{}\", \"{}{}l,l\"({}, i64 {}, i64 {}) convergent", result,
                        text, outputs, ties, list("float", acc), here, there);
      acc = parts(result, whole, registers);
    }
    w.text_.line("call void @llvm.nvvm.wgmma.commit_group.sync.aligned()");
    write(s.acc, acc);
  }

  // The place `offset` (i32, bytes) behind `first`.
  std::string behind(const std::string& first, const std::string& offset) const {
    return "ptr addrspace(3) " + w.text_.value("getelementptr inbounds i8, {}, i32 {}", first, offset);
  }
  std::string integer(std::string_view op, const std::string& a, int b) const {
    return w.text_.value("{} i32 {}, {}", op, a, b);
  }
  std::string sum(const std::string& a, const std::string& b) const {
    return w.text_.value("add nsw i32 {}, {}", a, b);
  }
  // For architectures without them: each warp multiplies its rows at once.
  void product_of_warps(const kernel::WarpgroupMma& s, const std::string& a, const std::string& b) const {
    const std::string thread =
        w.text_.once("thread_x", "thread_x", "call i32 @llvm.nvvm.read.ptx.sreg.tid.x()");
    const std::string lane = integer("and", thread, 31);
    const std::string row = integer("shl", integer("and", integer("lshr", thread, 5), 3), 4);
    const std::string in_16 = integer("and", lane, 15), next_8 = integer("shl", integer("lshr", lane, 4), 3);
    const std::string in_8 = sum(integer("and", lane, 7), next_8);
    const std::string second_8 = integer("and", lane, 8);
    // Elements (row `r` of 64, place `c`) from the operand's beginning, with `more` elements added.
    const auto load = [&](const std::string& first, const std::string& r, const std::string& c, int more,
                          bool transposed) {
      const std::string elements = integer("add nsw", sum(integer("shl", r, 6), c), more);
      const std::string place = behind(first, integer("shl", elements, 1));
      return load_matrix(4, transposed,
                         "ptr addrspace(3) " + w.values_.call("ptr addrspace(3)", "swizzled", place));
    };
    Words acc = read(s.acc, s.columns / 2);
    for (int step = 0; step < s.steps; ++step) {
      const Words left = s.a.mn_major ? load(a, in_8, sum(row, second_8), 16 * step * 64, true)
                                      : load(a, sum(row, in_16), next_8, 16 * step, false);
      for (int n = 0; n < s.columns; n += 16) {
        const int panel = n / 64 * kernel::panel_elements(s.b);
        const Words right = s.b.mn_major ? load(b, in_16, next_8, panel + 16 * step * 64 + n % 64, true)
                                         : load(b, in_8, second_8, n * 64 + 16 * step, false);
        for (int half = 0; half < 2; ++half) {
          const auto at = static_cast<std::size_t>(n / 2 + 4 * half);
          const Words done =
              mma(s.storage, some(acc, at, 4), left, some(right, static_cast<std::size_t>(2 * half), 2));
          std::ranges::copy(done, acc.begin() + static_cast<std::ptrdiff_t>(at));
        }
      }
    }
    write(s.acc, acc);
  }

  void operator()(const kernel::WgmmaWait& s) const {
    if (w.has_warpgroups())
      w.text_.line(fmt::format("call void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64 {})", s.pending));
    if (s.pending > 0) return;
    for (const kernel::ArrayId acc : w.accumulators_) {
      const int size = w.kernel_.arrays[static_cast<std::size_t>(acc)].size;
      for (int i = 0; i < size; ++i)
        w.values_.write(acc, i, w.values_.call("float", "settled", "float " + w.values_.read(acc, i)));
    }
  }
  void operator()(const kernel::TileMma&) const { of_cpus(); }
  void operator()(const kernel::PackTile&) const { of_cpus(); }
  static void of_cpus() { throw std::logic_error("a node that is an instruction of CPUs"); }
  void operator()(const kernel::ProxyFence&) const {
    if (w.target_.level >= 90) w.text_.line("call void @llvm.nvvm.fence.proxy.async.shared_cta()");
  }
};

}  // namespace rondo::backend::nvptx
