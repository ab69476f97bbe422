// The part of StatementWriter for loads, stores and copies. Included by statements.cpp alone.
#pragma once

#include <string>

#include "compiler/backend/llvm/host/half_bits.h"
#include "compiler/backend/llvm/host/statements.h"
#include "compiler/kernel/passes/codegen.h"

namespace rondo::backend::host {

struct StatementWriter::Access {
  StatementWriter& w;

  // The bits of an element in memory.
  static std::string_view bits_of(kernel::Storage storage) {
    switch (storage) {
      case kernel::Storage::F32: return "float";
      case kernel::Storage::F64: return "double";
      case kernel::Storage::I32: return "i32";
      case kernel::Storage::F16: return "half";
      case kernel::Storage::BF16: return "i16";
      case kernel::Storage::U8: return "i8";
    }
    return "";
  }
  kernel::MemRef moved(const kernel::MemRef& place) const { return place; }

  // What a lane reads or writes at once: an element in memory's own type, or a pair of 16 bits as a word.
  struct Unit {
    std::string_view element;
    int bytes;
    int elements;  // of memory
  };
  Unit unit(const kernel::MemRef& place, bool packed) const {
    const kernel::Storage storage = storage_of(w.kernel_, place);
    if (packed) return {"i32", 4, 2};
    return {bits_of(storage), storage_bytes(storage), 1};
  }

  // Unit `offset` after the place, of all lanes or of the one that they share.
  std::string fetch(const kernel::MemRef& place, const Unit& unit, int offset, bool uniform) const {
    const int bytes = unit.bytes / unit.elements;  // of an element, to which addresses are aligned
    const std::string_view element = unit.element;
    Operand at = w.values_.address(place, bytes);
    at.text = shifted(at, offset, unit.bytes);
    if (uniform) return w.text_.value("load {}, ptr {}, align {}", element, at.text, bytes);
    const std::string whole = w.values_.vector_type(element);
    const std::string& mask = w.values_.mask();
    if (at.spread == Spread::strided(unit.elements)) {
      if (mask.empty()) return w.text_.value("load {}, ptr {}, align {}", whole, at.text, bytes);
      return w.text_.value(
          "call {0} @llvm.masked.load.v{1}{2}.p0(ptr {3}, i32 {4}, {5} {6}, {0} zeroinitializer)", whole,
          w.values_.lanes(), mangled(element), at.text, bytes, w.values_.vector_type("i1"), mask);
    }
    return w.text_.value(
        "call {0} @llvm.masked.gather.v{1}{2}.v{1}p0({3} {4}, i32 {5}, {6} {7}, {0} zeroinitializer)", whole,
        w.values_.lanes(), mangled(element), w.values_.vector_type("ptr"), pointers(at, bytes), bytes,
        w.values_.vector_type("i1"), mask.empty() ? "splat (i1 true)" : mask);
  }
  std::string shifted(const Operand& at, int offset, int bytes) const {
    if (offset == 0) return at.text;
    if (!at.spread.is_varying())
      return w.text_.value("getelementptr inbounds i8, ptr {}, i64 {}", at.text, offset * bytes);
    return w.text_.value("getelementptr inbounds i8, {} {}, i64 {}", w.values_.vector_type("ptr"), at.text,
                         offset * bytes);
  }
  static std::string mangled(std::string_view element) {
    return element == "float"    ? "f32"
           : element == "double" ? "f64"
           : element == "half"   ? "f16"
                                 : std::string(element);
  }
  // A pointer a lane.
  std::string pointers(const Operand& at, int bytes) const {
    if (at.spread.is_varying()) return at.text;
    std::string steps;
    for (int lane = 0; lane < w.values_.lanes(); ++lane)
      steps += fmt::format("{}i64 {}", lane > 0 ? ", " : "", lane * at.spread.stride * bytes);
    return w.text_.value("getelementptr i8, ptr {}, {} <{}>", at.text, w.values_.vector_type("i64"), steps);
  }

  // ---- numbers ----
  HalfBits half_bits(bool uniform) const {
    return {w.text_, uniform ? "" : fmt::format("{}", w.values_.lanes())};
  }
  std::string type_for(std::string_view element, bool uniform) const {
    return uniform ? std::string(element) : w.values_.vector_type(element);
  }
  std::string widened(kernel::Storage storage, const std::string& bits, bool uniform) const {
    const std::string real = type_for("float", uniform), word = type_for("i32", uniform);
    if (storage == kernel::Storage::F16 && !w.values_.target().has_fma_and_half())
      return half_bits(uniform).widened(bits);
    if (storage == kernel::Storage::F16)
      return w.text_.value("fpext {} {} to {}", type_for("half", uniform), bits, real);
    if (storage == kernel::Storage::U8)
      return w.text_.value("zext {} {} to {}", type_for("i8", uniform), bits, word);
    if (storage != kernel::Storage::BF16) return bits;
    const std::string wide = w.text_.value("zext {} {} to {}", type_for("i16", uniform), bits, word);
    const std::string high = w.text_.value("shl {} {}, {}", word, wide, uniform ? "16" : "splat (i32 16)");
    return w.text_.value("bitcast {} {} to {}", word, high, real);
  }
  // To nearest even, by the bits: the instruction for it takes small numbers for zero. A NaN stays one.
  std::string rounded(kernel::Storage storage, const std::string& value) const {
    const std::string real = type_for("float", false), word = type_for("i32", false);
    if (storage == kernel::Storage::F16 && !w.values_.target().has_fma_and_half())
      return half_bits(false).rounded(value);
    if (storage == kernel::Storage::F16)
      return w.text_.value("fptrunc {} {} to {}", real, value, type_for("half", false));
    if (storage != kernel::Storage::BF16) return value;
    const std::string bits = w.text_.value("bitcast {} {} to {}", real, value, word);
    const std::string up = w.text_.value("lshr {} {}, splat (i32 16)", word, bits);
    const std::string odd = w.text_.value("and {} {}, splat (i32 1)", word, up);
    const std::string half = w.text_.value("add {} {}, splat (i32 32767)", word, odd);
    const std::string sum = w.text_.value("add {} {}, {}", word, bits, half);
    const std::string near = w.text_.value("lshr {} {}, splat (i32 16)", word, sum);
    const std::string quiet = w.text_.value("or {} {}, splat (i32 64)", word, up);
    const std::string number = w.text_.value("fcmp ord {} {}, zeroinitializer", real, value);
    const std::string chosen =
        w.text_.value("select {0} {1}, {2} {3}, {2} {4}", type_for("i1", false), number, word, near, quiet);
    return w.text_.value("trunc {} {} to {}", word, chosen, type_for("i16", false));
  }

  void operator()(const kernel::Load& s) const {
    const bool uniform = !w.values_.spreads().of_register(s.into[0]).is_varying();
    const kernel::Storage storage = storage_of(w.kernel_, s.from);
    for (std::size_t i = 0; i < s.into.size(); ++i) {
      // Lanes may see one place, and the register vary all the same.
      const bool one = w.values_.spreads().of(s.from.index).is_uniform();
      std::string value = fetch(s.from, unit(s.from, s.packed), static_cast<int>(i), one);
      if (!s.packed) value = widened(storage, value, one);
      if (one && !uniform) value = w.values_.splat(value, nvptx::type_text(w.values_.type(s.into[i])));
      w.values_.set_known(s.into[i], std::nullopt);
      w.values_.set(s.into[i], w.text_.named(value, w.values_.name(s.into[i])));
    }
  }

  // Of the line of the first lane: what the others ask for lies beside it.
  void operator()(const kernel::Prefetch& s) const {
    const Operand at = w.values_.address(s.from, storage_bytes(storage_of(w.kernel_, s.from)));
    if (at.spread.is_varying()) return;
    w.text_.line(
        fmt::format("call void @llvm.prefetch.p0(ptr {}, i32 0, i32 {}, i32 1)", at.text, 4 - s.level));
  }

  void operator()(const kernel::Store& s) const {
    for (std::size_t i = 0; i < s.values.size(); ++i) {
      const std::string value = w.values_.vector(s.values[i]);
      put(s.to, unit(s.to, s.packed), static_cast<int>(i),
          s.packed ? value : rounded(storage_of(w.kernel_, s.to), value),
          streaming(w.kernel_, s.to, s.hint, false));
    }
  }
  void put(const kernel::MemRef& place, const Unit& unit, int offset, const std::string& value,
           bool past_caches) const {
    const int bytes = unit.bytes / unit.elements;
    const std::string_view element = unit.element;
    const std::string whole = w.values_.vector_type(element);
    Operand at = w.values_.address(place, bytes);
    at.text = shifted(at, offset, unit.bytes);
    const std::string& mask = w.values_.mask();
    if (at.spread == Spread::strided(1) && unit.elements == 1 && mask.empty() && past_caches)
      return stream(whole, value, at.text, bytes);
    if (at.spread == Spread::strided(unit.elements) && mask.empty())
      return w.text_.line(fmt::format("store {} {}, ptr {}, align {}", whole, value, at.text, bytes));
    if (at.spread == Spread::strided(unit.elements))
      return w.text_.line(fmt::format("call void @llvm.masked.store.v{}{}.p0({} {}, ptr {}, i32 {}, {} {})",
                                      w.values_.lanes(), mangled(element), whole, value, at.text, bytes,
                                      w.values_.vector_type("i1"), mask));
    w.text_.line(fmt::format(
        "call void @llvm.masked.scatter.v{0}{1}.v{0}p0({2} {3}, {4} {5}, i32 {6}, {7} {8})",
        w.values_.lanes(), mangled(element), whole, value, w.values_.vector_type("ptr"), pointers(at, bytes),
        bytes, w.values_.vector_type("i1"), mask.empty() ? "splat (i1 true)" : mask));
  }
  // A whole vector past the caches, where it lies on a multiple of its size: x86 has no such store elsewhere.
  // Which it is shows only when the kernel runs, because callers choose addresses and strides.
  void stream(const std::string& whole, const std::string& value, const std::string& at, int bytes) const {
    const int size = w.values_.lanes() * bytes;
    const std::string low =
        w.text_.value("and i64 {}, {}", w.text_.value("ptrtoint ptr {} to i64", at), size - 1);
    const std::string past = w.text_.label("past"), through = w.text_.label("through");
    const std::string done = w.text_.label("stored");
    w.text_.branch(w.text_.value("icmp eq i64 {}, 0", low), past, through);
    w.text_.begin(past);
    w.text_.line(
        fmt::format("store {} {}, ptr {}, align {}{}", whole, value, at, size, w.module_.nontemporal()));
    w.text_.jump(done);
    w.text_.begin(through);
    w.text_.line(fmt::format("store {} {}, ptr {}, align {}", whole, value, at, bytes));
    w.text_.jump(done);
    w.text_.begin(done);
  }
};

}  // namespace rondo::backend::host
