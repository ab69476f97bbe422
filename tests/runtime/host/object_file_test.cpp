// Object files that are none, are cut off or belong to another machine; blocks shared by threads.
#include "runtime/host/object_file.h"
#include "runtime/host/launch_cost.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <limits>
#include <random>

#include "compiler/target/target.h"
#include "runtime/host/thread_pool.h"

#ifdef RONDO_BUILT_LLVM
#include "compiler/backend/llvm/llvm.h"
#include "compiler/backend/llvm/llvm_backend.h"
#endif

namespace rondo::runtime {
namespace {

TEST(ObjectFile, WhatIsNoneIsRefused) {
  for (const std::string& bytes : {std::string(), std::string("ELF"), std::string(4096, 'x')}) {
    const auto loaded = ObjectFile::load(bytes);
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.error().kind, ErrorKind::Input);
  }
}

// An object file by hand: code, names, one function, and one relocation of it.
struct HandMade {
  Elf64_Shdr code{0, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, 0, 64, 0, 0, 16, 0};
  Elf64_Shdr names{0, SHT_STRTAB, 0, 0, 0, 7, 0, 0, 1, 0};
  Elf64_Shdr symbols{0, SHT_SYMTAB, 0, 0, 0, 2 * sizeof(Elf64_Sym), 2, 1, 8, sizeof(Elf64_Sym)};
  Elf64_Shdr relocations{0, SHT_RELA, 0, 0, 0, sizeof(Elf64_Rela), 3, 1, 8, sizeof(Elf64_Rela)};
  Elf64_Rela relocation{8, ELF64_R_INFO(1, R_X86_64_64), 0};

  std::string file() const {
    const Elf64_Sym symbol[2] = {{}, {1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0, 16}};
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_type = ET_REL;
    header.e_machine = EM_X86_64;
    header.e_shnum = 5;
    std::string bytes(sizeof header, '\0');
    Elf64_Shdr sections[5] = {{}, code, names, symbols, relocations};
    const auto add = [&](Elf64_Shdr& section, const void* content, std::size_t size) {
      section.sh_offset = bytes.size();
      bytes.append(static_cast<const char*>(content), size);
    };
    const std::string text(64, '\xC3');
    add(sections[1], text.data(), text.size());
    add(sections[2], "\0entry", 7);
    add(sections[3], symbol, sizeof symbol);
    add(sections[4], &relocation, sizeof relocation);
    header.e_shoff = bytes.size();
    bytes.append(reinterpret_cast<const char*>(sections), sizeof sections);
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
  }
};

void expect_refused(const HandMade& made, const char* why) {
  const auto loaded = ObjectFile::load(made.file());
  ASSERT_FALSE(loaded.ok()) << why;
  EXPECT_NE(loaded.error().message.find(why), std::string::npos) << loaded.error().message;
}

TEST(ObjectFile, HandMadeOneIsLoaded) {
  const auto loaded = ObjectFile::load(HandMade().file());
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_NE(loaded->function("entry"), nullptr);
}

// A section of type NULL is none, though it says that it belongs into memory and lies beyond the file.
TEST(ObjectFile, SectionsOfNoTypeAreNotRead) {
  HandMade made;
  made.code.sh_type = SHT_NULL;
  made.code.sh_size = 1 << 20;
  const auto loaded = ObjectFile::load(made.file());
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->function("entry"), nullptr);
}

TEST(ObjectFile, NamesMustBeInTheFile) {
  for (const std::uint32_t type : {SHT_NULL, SHT_NOBITS}) {
    HandMade made;
    made.names.sh_type = type;
    made.names.sh_size = 1 << 20;
    expect_refused(made, "symbols without names");
  }
}

// Of any addend: the sum is of addresses, modulo 2^64, and what does not fit is refused.
TEST(ObjectFile, AddendsDoNotOverflow) {
  for (const std::int64_t addend :
       {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    HandMade made;
    made.relocation.r_addend = addend;
    EXPECT_TRUE(ObjectFile::load(made.file()).ok());
    made.relocation.r_info = ELF64_R_INFO(1, R_X86_64_PC64);
    EXPECT_TRUE(ObjectFile::load(made.file()).ok());
    made.relocation.r_info = ELF64_R_INFO(1, R_X86_64_PC32);
    expect_refused(made, "does not fit");
  }
}

// Every kind of relocation, and places before and behind its own: what is in memory is the symbol and the
// addend, less the place where it counts from there.
TEST(ObjectFile, RelocationsOfEveryKindAreWhatTheySay) {
  for (const std::uint64_t type : {R_X86_64_64, R_X86_64_PC64, R_X86_64_PC32, R_X86_64_PLT32})
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{56}})
      for (const std::int64_t addend : {std::int64_t{-4}, std::int64_t{0}, std::int64_t{40}}) {
        HandMade made;
        made.relocation = {offset, ELF64_R_INFO(1, type), addend};
        const auto loaded = ObjectFile::load(made.file());
        ASSERT_TRUE(loaded.ok()) << loaded.error().message;
        const char* const entry = static_cast<const char*>(loaded->function("entry"));
        const std::int64_t counted_from =
            type == R_X86_64_64 ? 0 : reinterpret_cast<std::intptr_t>(entry + offset);
        const std::int64_t wanted = reinterpret_cast<std::intptr_t>(entry) + addend - counted_from;
        std::int64_t got = 0;
        if (type == R_X86_64_64 || type == R_X86_64_PC64) {
          std::memcpy(&got, entry + offset, 8);
        } else {
          std::int32_t narrow = 0;
          std::memcpy(&narrow, entry + offset, 4);
          got = narrow;
        }
        EXPECT_EQ(got, wanted) << type << " at " << offset;
      }
}

// Otherwise a short file could ask for any amount of work.
TEST(ObjectFile, SectionsMayNotOverlap) {
  HandMade made;
  made.code.sh_size = 460;
  expect_refused(made, "overlap");
}

// Numbers of symbols are those of one table: what has a second is refused, whichever of them comes first.
TEST(ObjectFile, ThereIsOneTableOfSymbols) {
  HandMade made;
  made.relocations = made.symbols;
  made.relocations.sh_size = sizeof(Elf64_Rela);  // as many bytes as a symbol has
  static_assert(sizeof(Elf64_Rela) == sizeof(Elf64_Sym));
  made.relocation = {};
  expect_refused(made, "two tables of symbols");
}

#ifdef RONDO_BUILT_LLVM
std::string compiled(const char* ir, const target::Target& target) {
  const auto object = (*backend::Llvm::get())
                          ->compile(ir, "test", backend::host_machine(target), backend::LlvmOutput::Object);
  EXPECT_TRUE(object.ok()) << object.error().message;
  return object.ok() ? *object : "";
}

constexpr const char* kSum = R"(@table = internal constant [4 x i32] [i32 3, i32 5, i32 7, i32 11]
define i32 @entry(i64 %i) {
  %place = getelementptr [4 x i32], ptr @table, i64 0, i64 %i
  %value = load i32, ptr %place
  ret i32 %value
}
)";

TEST(ObjectFile, FunctionsFindTheirConstants) {
  const auto loaded = ObjectFile::load(compiled(kSum, *target::host_target()));
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const auto entry = reinterpret_cast<int (*)(std::int64_t)>(loaded->function("entry"));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry(1), 5);
  EXPECT_EQ(entry(3), 11);
  EXPECT_EQ(loaded->function("other"), nullptr);
}

TEST(ObjectFile, OtherMachinesAndMissingSymbolsAreRefused) {
  const auto other = ObjectFile::load(compiled(kSum, *target::find_target("aarch64")));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().kind, ErrorKind::Unsupported);
  const auto missing = ObjectFile::load(
      compiled("declare void @elsewhere()\ndefine void @f() {\n  call void @elsewhere()\n  ret void\n}\n",
               *target::find_target("x86-64-v2")));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(missing.error().message.find("elsewhere"), std::string::npos) << missing.error().message;
}

// Any change of a byte, and any end, gives an answer: loaded or refused.
TEST(ObjectFile, DamagedOnesDoNoHarm) {
  const std::string whole = compiled(kSum, *target::find_target("x86-64-v2"));
  for (std::size_t size = 0; size < whole.size(); size += 7) (void)ObjectFile::load(whole.substr(0, size));
  std::mt19937 random(5);
  for (int turn = 0; turn < 5000; ++turn) {
    std::string damaged = whole;
    for (int change = 0; change < 3; ++change)
      damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
    (void)ObjectFile::load(damaged);
  }
}
#endif

TEST(ThreadPool, EachBlockRunsOnce) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    ASSERT_EQ(pool.threads(), threads);
    for (const int blocks : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(1000);
      for (int turn = 0; turn < 20; ++turn)
        pool.run(
            blocks,
            [](void* context, std::int64_t block, int) {
              ++(*static_cast<std::vector<std::atomic<int>>*>(context))[static_cast<std::size_t>(block)];
            },
            &runs);
      for (int block = 0; block < 1000; ++block)
        ASSERT_EQ(runs[static_cast<std::size_t>(block)], block < blocks ? 20 : 0) << threads << " " << blocks;
    }
  }
}

TEST(ThreadPool, NoMoreThreadsThanAskedFor) {
  ThreadPool pool(5);
  for (const int most : {1, 2, 3, 5, 9, 2, 1}) {
    struct Seen {
      std::array<std::atomic<int>, 5> blocks{};
      std::atomic<int> highest{0};
    } seen;
    for (int turn = 0; turn < 20; ++turn)
      pool.run(100,
               [](void* context, std::int64_t, int thread) {
                 auto& s = *static_cast<Seen*>(context);
                 ++s.blocks[static_cast<std::size_t>(thread)];
                 for (int before = s.highest;
                      before < thread && !s.highest.compare_exchange_weak(before, thread);) {
                 }
               },
               &seen, {most, turn % 2 != 0, false});
    int all = 0;
    for (const auto& blocks : seen.blocks) all += blocks;
    EXPECT_EQ(all, 20 * 100) << most;
    EXPECT_LT(seen.highest, most) << most;
  }
}

TEST(LaunchCost, AThreadMustBeWorthItsWaking) {
  LaunchCost cost;
  EXPECT_EQ(cost.threads(64, 16), 16) << "nothing is known";
  cost.measured(1e5, 4);  // of cold caches
  for (int i = 0; i < 3; ++i) cost.measured(200, 4);
  EXPECT_EQ(cost.threads(4, 16), 1) << "0.2 us of work";
  EXPECT_EQ(cost.threads(1, 16), 1);
  for (int i = 0; i < 200; ++i) cost.measured(1e5, 4);
  EXPECT_EQ(cost.threads(64, 16), 16) << "1.6 ms of work";
  EXPECT_EQ(cost.threads(3, 16), 3) << "no thread without a block";
  EXPECT_EQ(cost.threads(64, 2), 2);
}

// However long a thread was interrupted, its time counts as four times what was known.
TEST(LaunchCost, AnInterruptionCountsAsFourTimesAtMost) {
  for (const double known : {50.0, 400.0, 2000.0, 1e5})
    for (const double took : {4.5, 10.0, 1e3, 1e9})
      for (int blocks = 1; blocks <= 64; blocks *= 2) {
        LaunchCost interrupted, bounded;
        for (int i = 0; i < 5; ++i) interrupted.measured(known, 1), bounded.measured(known, 1);
        interrupted.measured(took * known, 1);
        bounded.measured(4 * known, 1);
        EXPECT_EQ(interrupted.threads(blocks, 1000), bounded.threads(blocks, 1000)) << known << " " << took;
      }
}

// A launch that was interrupted, or some noise, does not move blocks to other threads.
TEST(LaunchCost, NoiseChangesNothing) {
  LaunchCost cost;
  for (int i = 0; i < 20; ++i) cost.measured(2000, 1);
  const int before = cost.threads(16, 16);
  EXPECT_GT(before, 1);
  EXPECT_LT(before, 16);
  for (int i = 0; i < 20; ++i) {
    cost.measured(i % 2 == 0 ? 1800 : 2200, 1);
    EXPECT_EQ(cost.threads(16, 16), before);
  }
}

}  // namespace
}  // namespace rondo::runtime
