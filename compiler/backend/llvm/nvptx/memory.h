// The part of StatementWriter for loads, stores and copies. Included by statements.cpp alone.
#pragma once

#include <string>
#include <vector>

#include "compiler/backend/llvm/nvptx/statements.h"
#include "compiler/kernel/passes/codegen.h"

namespace rondo::backend::nvptx {

struct StatementWriter::Memory {
  StatementWriter& w;

  // What an access moves: `words` values of `type`, of `bytes` each.
  struct Carrier {
    std::string type;
    int words, bytes;
    char constraint;  // of inline assembly
    std::string whole() const { return words == 1 ? type : fmt::format("<{} x {}>", words, type); }
  };
  static Carrier carrier(kernel::Storage storage, std::size_t registers, bool packed) {
    const int count = static_cast<int>(registers);
    if (packed) return {"i32", count, 4, 'r'};
    if (storage == kernel::Storage::F32) return {"float", count, 4, 'f'};
    if (storage == kernel::Storage::I32) return {"i32", count, 4, 'r'};
    if (storage == kernel::Storage::U8) return {"i8", count, 1, 'h'};
    if (count == 1) return {"i16", 1, 2, 'h'};
    return {"i32", count / 2, 4, 'r'};
  }
  // ".v4.b32 {$0, $1, $2, $3}": the words of an access, numbered from `first`.
  static std::string operands(const Carrier& c, int first) {
    const std::string type = c.constraint == 'f' ? "f32" : fmt::format("b{}", 8 * c.bytes);
    if (c.words == 1) return fmt::format(".{} ${}", type, first);
    std::string list;
    for (int i = 0; i < c.words; ++i) list += fmt::format("{}${}", i > 0 ? ", " : "", first + i);
    return fmt::format(".v{}.{} {{{}}}", c.words, type, list);
  }

  // ---- loads ----
  std::vector<std::string> words(const Carrier& c, const std::string& from, bool streams) const {
    std::vector<std::string> result;
    if (!streams) {
      const std::string whole = w.text_.value("load {}, {}, align {}", c.whole(), from, c.words * c.bytes);
      if (c.words == 1) return {whole};
      for (int i = 0; i < c.words; ++i)
        result.push_back(w.text_.value("extractelement {} {}, i32 {}", c.whole(), whole, i));
      return result;
    }
    std::string types, outputs;
    for (int i = 0; i < c.words; ++i) {
      types += fmt::format("{}{}", i > 0 ? ", " : "", c.type);
      outputs += fmt::format("={},", c.constraint);
    }
    const std::string type = c.words == 1 ? types : "{ " + types + " }";
    const std::string whole = w.text_.value("call {} asm \"ld.global.cs{}, [${}];\", \"{}l\"({})", type,
                                            operands(c, 0), c.words, outputs, from);
    if (c.words == 1) return {whole};
    for (int i = 0; i < c.words; ++i)
      result.push_back(w.text_.value("extractvalue {} {}, {}", type, whole, i));
    return result;
  }
  // A word of 16 bits, as a number.
  std::string widened(kernel::Storage storage, const std::string& bits) const {
    if (storage == kernel::Storage::F16)
      return w.text_.value("fpext half {} to float", w.text_.value("bitcast i16 {} to half", bits));
    const std::string wide = w.text_.value("zext i16 {} to i32", bits);
    return w.text_.value("bitcast i32 {} to float", w.text_.value("shl i32 {}, 16", wide));
  }
  void operator()(const kernel::Load& s) const {
    const kernel::Storage storage = storage_of(w.kernel_, s.from);
    const Carrier c = carrier(storage, s.into.size(), s.packed);
    const std::string from = w.values_.address(s.from);
    std::vector<std::string> loaded = words(c, from, streaming(w.kernel_, s.from, s.hint, true));
    if (is_half(storage) && !s.packed) {
      std::vector<std::string> numbers;
      for (const std::string& word : loaded) {
        if (c.words == 1 && c.bytes == 2) {
          numbers.push_back(widened(storage, word));
          continue;
        }
        for (const char* half : {"low", "high"})
          numbers.push_back(
              w.values_.call("float", fmt::format("{}_{}", half, storage_name(storage)), "i32 " + word));
      }
      loaded = std::move(numbers);
    }
    if (storage == kernel::Storage::U8)
      for (std::string& word : loaded) word = w.text_.value("zext i8 {} to i32", word);
    for (std::size_t i = 0; i < s.into.size(); ++i) {
      w.values_.set_known(s.into[i], std::nullopt);
      w.values_.set(s.into[i],
                    i + 1 == s.into.size() ? w.text_.named(loaded[i], w.values_.name(s.into[i])) : loaded[i]);
    }
  }

  // ---- stores ----
  std::string rounded(kernel::Storage storage, const std::string& value) const {
    if (storage == kernel::Storage::BF16 && w.target_.before_ampere())
      return w.text_.value("trunc i32 {} to i16",
                           w.values_.call("i32", "pack_bf16", fmt::format("float {}, float 0.0", value)));
    const char* type = storage == kernel::Storage::F16 ? "half" : "bfloat";
    const std::string half = w.text_.value("fptrunc float {} to {}", value, type);
    return w.text_.value("bitcast {} {} to i16", type, half);
  }
  void operator()(const kernel::Store& s) const {
    const kernel::Storage storage = storage_of(w.kernel_, s.to);
    const Carrier c = carrier(storage, s.values.size(), s.packed);
    const std::string to = w.values_.address(s.to);
    std::vector<std::string> values;
    for (const kernel::ExprId value : s.values) values.push_back(w.values_.write(value));
    if (is_half(storage) && !s.packed) {
      std::vector<std::string> halves;
      if (c.bytes == 2) halves.push_back(rounded(storage, values[0]));
      for (std::size_t i = 0; i + 1 < values.size(); i += 2)
        halves.push_back(w.values_.call("i32", fmt::format("pack_{}", storage_name(storage)),
                                        fmt::format("float {}, float {}", values[i], values[i + 1])));
      values = std::move(halves);
    }
    if (streaming(w.kernel_, s.to, s.hint, false)) return store_streaming(c, to, values);
    std::string whole = values[0];
    if (c.words > 1) {
      whole = "poison";
      for (int i = 0; i < c.words; ++i)
        whole = w.text_.value("insertelement {} {}, {} {}, i32 {}", c.whole(), whole, c.type,
                              values[static_cast<std::size_t>(i)], i);
    }
    w.text_.line(fmt::format("store {} {}, {}, align {}", c.whole(), whole, to, c.words * c.bytes));
  }
  void store_streaming(const Carrier& c, const std::string& to,
                       const std::vector<std::string>& values) const {
    std::string inputs = "l", arguments = to, list = operands(c, 1);
    for (const std::string& value : values) {
      inputs += fmt::format(",{}", c.constraint);
      arguments += fmt::format(", {} {}", c.type, value);
    }
    const std::size_t blank = list.find(' ');
    w.text_.line(fmt::format("call void asm sideeffect \"st.global.cs{} [$0],{};\", \"{},~{{memory}}\"({})",
                             list.substr(0, blank), list.substr(blank), inputs, arguments));
  }

  void operator()(const kernel::Prefetch& s) const {
    w.text_.line(fmt::format("call void asm sideeffect \"prefetch.global.L{} [$0];\", \"l\"({})", s.level,
                             w.values_.address(s.from)));
  }

  // ---- asynchronous copies ----
  // Sixteen bytes go past the L1 cache, which would only hold a second copy of what goes to shared memory.
  void operator()(const kernel::CopyAsync& s) const {
    const int bytes = s.elements * storage_bytes(storage_of(w.kernel_, s.to));
    const std::string to = w.values_.address(s.to), from = w.values_.address(s.from);
    w.text_.line(fmt::format("call void @llvm.nvvm.cp.async.{}.shared.global.{}({}, {})",
                             bytes == 16 ? "cg" : "ca", bytes, to, from));
  }
  void operator()(const kernel::CommitCopies&) const {
    w.text_.line("call void @llvm.nvvm.cp.async.commit.group()");
  }
  void operator()(const kernel::WaitCopies& s) const {
    w.text_.line(fmt::format("call void @llvm.nvvm.cp.async.wait.group(i32 {})", s.pending));
  }
};

}  // namespace rondo::backend::nvptx
