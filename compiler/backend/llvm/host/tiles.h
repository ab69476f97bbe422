// The part of StatementWriter for matrix tiles (Intel AMX). Included by statements.cpp alone.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "compiler/backend/llvm/host/statements.h"

namespace rondo::backend::host {

// Registers are named by the text: accumulators from 0 on, behind them those of a, and the last two of b in
// turn, so that the next one is loaded while one is multiplied.
struct StatementWriter::Tiles {
  StatementWriter& w;

  static constexpr int kRegisters = 8, kOfB = 2;
  static constexpr int kRowBytes = 64;
  static constexpr int kPairs = kernel::kTileStep / 2;
  static constexpr int kTileBytes = 2 * kernel::kTileElements;

  // An address so many bytes further, or so many for each of `step`.
  std::string moved(const std::string& from, std::int64_t bytes) const {
    return bytes == 0 ? from : w.text_.value("getelementptr i8, ptr {}, i64 {}", from, bytes);
  }
  std::string moved(const std::string& from, const std::string& step, std::int64_t bytes) const {
    return w.text_.value("getelementptr i8, ptr {}, i64 {}", from,
                         w.text_.value("mul i64 {}, {}", step, bytes));
  }
  std::string place(const kernel::MemRef& of) const {
    return w.values_.address(of, storage_bytes(storage_of(w.kernel_, of))).text;
  }

  // Intel's manual, LDTILECFG: palette 1; bytes a row of each register from byte 16 on, their rows from 48
  // on.
  void configure(int rows, int of_a) const {
    std::array<std::uint32_t, 16> words = {1};
    for (int i = 0; i < kRegisters; ++i) {
      words[static_cast<std::size_t>(4 + i / 2)] |= static_cast<std::uint32_t>(kRowBytes) << (16 * (i % 2));
      const auto own = static_cast<std::uint32_t>(i < kRegisters - kOfB ? rows / of_a : kPairs);
      words[static_cast<std::size_t>(12 + i / 4)] |= own << (8 * (i % 4));
    }
    std::string text;
    for (const std::uint32_t word : words) text += fmt::format("{}i32 {}", text.empty() ? "" : ", ", word);
    const std::string slot = w.text_.slot("<16 x i32>", "tile_config");
    w.text_.line(fmt::format("store <16 x i32> <{}>, ptr {}", text, slot));
    w.text_.line(fmt::format("call void @llvm.x86.ldtilecfg(ptr {})", slot));
  }

  void operator()(const kernel::TileMma& s) const {
    if (!w.values_.target().has_matrix_tiles())
      throw std::logic_error("a product of matrix tiles, which the target does not have");
    const int of_a = s.rows > kernel::kTileRows ? 2 : 1, columns = s.columns / kernel::kTileRows;
    const int most = (kRegisters - kOfB - of_a) / of_a;
    const int groups = (columns + most - 1) / most, each = (columns + groups - 1) / groups;
    const Place at{place(s.sums), place(s.a), place(s.b), w.values_.write(s.steps).text, of_a};
    configure(s.rows, of_a);
    for (int first = 0; first < columns; first += each) group(s, at, first, std::min(each, columns - first));
  }

  struct Place {
    std::string sums, a, b, steps;
    int of_a;  // registers of a: tiles of rows
  };
  // Some tiles of columns, whose sums are in registers at once.
  void group(const kernel::TileMma& s, const Place& at, int first, int count) const {
    const auto accumulator = [&](int row, int column) { return row * count + column; };
    const auto each = [&](auto&& act) {
      for (int row = 0; row < at.of_a; ++row)
        for (int column = 0; column < count; ++column)
          act(accumulator(row, column),
              moved(at.sums, 4 * (std::int64_t{row} * kernel::kTileRows * s.sum_pitch +
                                  (first + column) * kernel::kTileRows)));
    };
    each([&](int reg, const std::string& sums) {
      if (s.adds)
        load(reg, sums, 4 * s.sum_pitch);
      else
        w.text_.line(fmt::format("call void @llvm.x86.tilezero(i8 {})", reg));
    });
    loop(at.steps, [&](const std::string& step) {
      const std::string a = moved(at.a, step, kRowBytes);
      const std::string b = moved(moved(at.b, step, kTileBytes * std::int64_t{s.columns / kernel::kTileRows}),
                                  kTileBytes * std::int64_t{first});
      const int first_a = at.of_a * count;
      for (int row = 0; row < at.of_a; ++row)
        load(first_a + row, moved(a, 2 * std::int64_t{row} * kernel::kTileRows * s.a_pitch), 2 * s.a_pitch);
      for (int column = 0; column < count; ++column) {
        const int of_b = kRegisters - kOfB + column % kOfB;
        load(of_b, moved(b, kTileBytes * std::int64_t{column}), kRowBytes);
        for (int row = 0; row < at.of_a; ++row)
          w.text_.line(fmt::format("call void @llvm.x86.tdpbf16ps(i8 {}, i8 {}, i8 {})",
                                   accumulator(row, column), first_a + row, of_b));
      }
    });
    each([&](int reg, const std::string& sums) {
      w.text_.line(
          fmt::format("call void @llvm.x86.tilestored64(i8 {}, ptr {}, i64 {})", reg, sums, 4 * s.sum_pitch));
    });
  }
  void load(int reg, const std::string& from, int bytes) const {
    w.text_.line(fmt::format("call void @llvm.x86.tileloadd64(i8 {}, ptr {}, i64 {})", reg, from, bytes));
  }
  // body(i64) for each number below `count`, an i32.
  template <class Body>
  void loop(const std::string& count, Body&& body) const {
    const std::string counter = w.text_.slot("i64", "tile_step");
    const std::string end = w.text_.value("sext i32 {} to i64", count);
    w.text_.line(fmt::format("store i64 0, ptr {}", counter));
    const std::string head = w.text_.label("tiles"), inside = w.text_.label("tile"),
                      done = w.text_.label("tiles_done");
    w.text_.jump(head);
    w.text_.begin(head);
    const std::string step = w.text_.value("load i64, ptr {}", counter);
    w.text_.branch(w.text_.value("icmp slt i64 {}, {}", step, end), inside, done);
    w.text_.begin(inside);
    body(step);
    w.text_.line(fmt::format("store i64 {}, ptr {}", w.text_.value("add nsw i64 {}, 1", step), counter));
    w.text_.jump(head);
    w.text_.begin(done);
    w.values_.next_statement();
  }

  // ---- order of operands ----
  void operator()(const kernel::PackTile& s) const {
    const std::string from = place(s.from), to = place(s.to);
    std::vector<std::string> rows;
    for (int p = 0; p < kPairs; ++p) {
      const auto row = [&](int of) {
        return w.text_.value("load <16 x i16>, ptr {}, align 2",
                             moved(from, 2 * std::int64_t{of} * s.from_pitch));
      };
      const std::string even = row(2 * p), odd = row(2 * p + 1);
      const std::string pairs =
          w.text_.value("shufflevector <16 x i16> {}, <16 x i16> {}, <32 x i32> {}", even, odd,
                        lanes([](int i) { return i / 2 + i % 2 * kPairs; }, 32));
      rows.push_back(w.text_.value("bitcast <32 x i16> {} to <16 x i32>", pairs));
    }
    if (s.transposed)
      for (int distance = kPairs / 2; distance > 0; distance /= 2) exchange(rows, distance);
    for (int p = 0; p < kPairs; ++p)
      w.text_.line(fmt::format("store <16 x i32> {}, ptr {}, align 2", rows[static_cast<std::size_t>(p)],
                               moved(to, 2 * std::int64_t{p} * s.to_pitch)));
  }
  // Of a transposition of words: blocks `distance` beside and below the diagonal change places.
  void exchange(std::vector<std::string>& rows, int distance) const {
    for (int p = 0; p < kPairs; ++p) {
      if ((p & distance) != 0) continue;
      std::string& upper = rows[static_cast<std::size_t>(p)];
      std::string& lower = rows[static_cast<std::size_t>(p + distance)];
      const auto chosen = [&](auto&& of) {
        return w.text_.value("shufflevector <16 x i32> {}, <16 x i32> {}, <16 x i32> {}", upper, lower,
                             lanes(of, kPairs));
      };
      const std::string left = chosen([&](int i) { return (i & distance) == 0 ? i : kPairs + i - distance; });
      lower = chosen([&](int i) { return (i & distance) == 0 ? i + distance : kPairs + i; });
      upper = left;
    }
  }
  template <class Of>
  static std::string lanes(Of&& of, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("{}i32 {}", i > 0 ? ", " : "", of(i));
    return "<" + text + ">";
  }
};

}  // namespace rondo::backend::host
