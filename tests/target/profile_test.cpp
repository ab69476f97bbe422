#include "compiler/target/profile.h"
#include "compiler/target/board_memory.h"
#include "compiler/target/target.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

namespace rondo::target {
namespace {

TEST(Profiles, EveryShippedBoardHasItsMemory) {
  for (const Profile& profile : shipped_profiles()) {
    EXPECT_GE(board_memory(profile), std::int64_t{11} * 1'000'000'000) << profile.key;
    const bool says_80 = profile.name.find("80GB") != std::string::npos;
    EXPECT_TRUE(!says_80 || board_memory(profile) == 80'000'000'000) << profile.name;
  }
  Profile other;
  other.key = "other";
  EXPECT_EQ(board_memory(other), 0);
}

TEST(Profile, EveryArchitectureHasOne) {
  std::set<std::string> archs;
  for (const Profile& p : shipped_profiles()) archs.insert(p.arch());
  EXPECT_EQ(archs, (std::set<std::string>{"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103",
                                          "sm_110", "sm_120", "sm_121"}));
}

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": all boards of a capability
// have the same limits of an SM and a block. A block may have all shared memory, from 8.0 on but 1 KB.
TEST(Profile, LimitsOfACapability) {
  struct Limit {
    const char* arch;
    int shared_kib, threads, blocks, cluster;
  };
  const Limit limits[] = {{"sm_75", 64, 1024, 16, 1},    {"sm_80", 164, 2048, 32, 1},
                          {"sm_86", 100, 1536, 16, 1},   {"sm_89", 100, 1536, 24, 1},
                          {"sm_90", 228, 2048, 32, 16},  {"sm_100", 228, 2048, 32, 16},
                          {"sm_103", 228, 2048, 32, 16}, {"sm_110", 228, 1536, 24, 8},
                          {"sm_120", 100, 1536, 24, 8},  {"sm_121", 100, 1536, 24, 8}};
  for (const Profile& p : shipped_profiles()) {
    const auto* const found = std::find_if(std::begin(limits), std::end(limits),
                                           [&](const Limit& l) { return p.arch() == l.arch; });
    ASSERT_NE(found, std::end(limits)) << p.arch();
    EXPECT_EQ(p.limits.shared_per_sm, found->shared_kib * 1024) << p.key;
    EXPECT_EQ(p.limits.shared_per_block, p.limits.shared_per_sm - (p.target.before_ampere() ? 0 : 1024))
        << p.key;
    EXPECT_EQ(p.limits.threads_per_sm, found->threads) << p.key;
    EXPECT_EQ(p.limits.blocks_per_sm, found->blocks) << p.key;
    EXPECT_EQ(p.limits.max_cluster, found->cluster) << p.key;
    EXPECT_EQ(p.limits.registers_per_sm, 65536) << p.key;
  }
}

TEST(Profile, FoundByKeyNameAndArchitecture) {
  EXPECT_EQ(find_profile("h200")->name, "NVIDIA H200");
  EXPECT_EQ(find_profile("NVIDIA H200")->key, "h200");
  EXPECT_EQ(find_profile("sm_90")->key, "h200");
  EXPECT_EQ(find_profile("sm_80")->key, "a100");
  const auto none = find_profile("sm_10");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::Input);
  EXPECT_NE(none.error().message.find("sm_10"), std::string::npos);
  EXPECT_NE(none.error().hint.find("rtx4090 (sm_89)"), std::string::npos);
}

TEST(Profile, JsonKeepsEveryField) {
  for (Profile p : shipped_profiles()) {
    p.limits.l2_bytes += 7;
    p.speeds.launch_s *= 1.25;
    const auto back = profile_from_json(to_json(p));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(to_json(*back), to_json(p));
    EXPECT_EQ(back->limits.l2_bytes, p.limits.l2_bytes);
    EXPECT_EQ(back->speeds.launch_s, p.speeds.launch_s);
  }
}

TEST(Profile, SpeedsThatCameLaterMayBeMissing) {
  const Profile h200 = find_profile("h200").value();
  std::string text = to_json(h200);
  for (const std::string name : {"\"graph_launch_s\"", "\"l2_bytes_per_s\"", "\"mma_flops_per_cycle_sm\""}) {
    const std::size_t at = text.find(name);
    ASSERT_NE(at, std::string::npos);
    text.insert(at + 1, "not_");
  }
  const auto back = profile_from_json(text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->speeds.l2_bytes_per_s, h200.speeds.l2_bytes_per_s);
  EXPECT_EQ(back->speeds.graph_launch_s, Speeds{}.graph_launch_s);
  EXPECT_EQ(back->speeds.mma_flops_per_cycle_sm, Speeds{}.mma_flops_per_cycle_sm);
}

TEST(Profile, BadJsonIsAnError) {
  for (const char* text : {"", "{", "[]", "{\"name\": 3}", "{\"name\":\"x\",\"key\":\"y\"}"}) {
    const auto parsed = profile_from_json(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::Input);
  }
}

// All faults at once, each with its range; numbers that would overflow are among them.
TEST(Profile, FiguresThatNoBoardHasAreRefused) {
  const std::string sound = to_json(find_profile("h200").value());
  const auto with = [&](const std::string& field, const std::string& value) {
    const std::size_t at = sound.find("\"" + field + "\": ");
    EXPECT_NE(at, std::string::npos) << field;
    const std::size_t from = at + field.size() + 4;
    const std::size_t end = sound.find_first_of(",\n", from);
    return sound.substr(0, from) + value + sound.substr(end);
  };
  const auto message = [](const std::string& text) {
    const auto parsed = profile_from_json(text);
    EXPECT_FALSE(parsed.ok()) << text;
    return parsed.ok() ? "" : parsed.error().message;
  };
  EXPECT_EQ(message(with("max_cluster", "2147483647")),
            "no device profile: limits.max_cluster is 2147483647, outside 1 ... 64");
  const std::pair<const char*, const char*> bad[] = {{"sm_count", "0"},
                                                     {"sm_count", "-5"},
                                                     {"sm_count", "18446744073709551615"},
                                                     {"sm_count", "132.5"},
                                                     {"sm_count", "\"132\""},
                                                     {"sm_count", "1e300"},
                                                     {"l2_bytes", "-1"},
                                                     {"shared_per_block", "233473"},
                                                     {"threads_per_block", "4097"},
                                                     {"clock_hz", "0"},
                                                     {"clock_hz", "1e308"},
                                                     {"clock_hz", "null"},
                                                     {"memory_latency_s", "-1e-6"},
                                                     {"launch_s", "[]"},
                                                     {"name", "7"}};
  for (const auto& [field, value] : bad)
    EXPECT_NE(message(with(field, value)).find(field), std::string::npos)
        << field << " " << value << ": " << message(with(field, value));
  std::string two = with("max_cluster", "2147483647");
  two.replace(two.find("\"launch_s\": "), 12, "\"launch_s\": 9e9, \"was\": ");
  EXPECT_NE(message(two).find("max_cluster"), std::string::npos);
  EXPECT_NE(message(two).find("launch_s"), std::string::npos) << message(two);
  // A reader that goes down one call a bracket would end here.
  EXPECT_NE(message(std::string(1'000'000, '[')).find("nested"), std::string::npos);
  EXPECT_NE(message("{\"limits\": 3, \"speeds\": []}").find("limits.sm_count is no integer"),
            std::string::npos);
}

TEST(Profile, SizesOfCachesAreRead) {
  EXPECT_EQ(cache_size_of("32768K\n"), std::int64_t{32} << 20);
  EXPECT_EQ(cache_size_of("260M"), std::int64_t{260} << 20);
  EXPECT_EQ(cache_size_of("512"), 512);
  for (const char* bad : {"", "K", "-1K", "0K", "32768G", "32768 pages", "99999999999999999999K"})
    EXPECT_EQ(cache_size_of(bad), 0) << bad;
  EXPECT_EQ(cache_size_of("1099511627776M"), std::int64_t{1} << 40) << "no overflow";
}

// In a virtual machine glibc may count what other groups of cores have too, so it is asked only where the
// system does not tell.
TEST(Profile, TheSharedCacheIsThatOfTheCores) {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  std::string text;
  std::getline(file, text);
  const std::int64_t told = cache_size_of(text);
  EXPECT_EQ(host_profile().cpu.l3_bytes, told > 0 ? told : std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE)));
}

// Profiles of CPUs have figures that those of GPUs do not have; they are read back whole, and checked alike.
TEST(Profile, OfCpus) {
  const Target level_3{Target::Kind::X86_64, 3};
  Profile cpus = host_profile(level_3);
  EXPECT_TRUE(cpus.is_cpu());
  EXPECT_EQ(cpus.arch(), "x86-64-v3");
  EXPECT_EQ(cpus.cpu.vector_bytes, 32);
  EXPECT_EQ(cpus.cpu.threads, usable_threads());
  cpus.cpu.l1_bytes = 49152, cpus.cpu.l3_bytes = std::int64_t{260} << 20;
  const auto read = profile_from_json(to_json(cpus));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read->is_cpu());
  EXPECT_EQ(read->target, level_3);
  EXPECT_EQ(read->name, cpus.name);
  EXPECT_EQ(read->cpu.threads, cpus.cpu.threads);
  EXPECT_EQ(read->cpu.l2_bytes, cpus.cpu.l2_bytes);
  EXPECT_EQ(read->cpu.vector_bytes, 32);
  EXPECT_EQ(read->cpu.l1_bytes, 49152);
  EXPECT_EQ(read->cpu.l3_bytes, std::int64_t{260} << 20);
  EXPECT_EQ(to_json(*read), to_json(cpus));
  EXPECT_EQ(to_json(find_profile("h200").value()).find("vector_bytes"), std::string::npos);
  cpus.cpu.vector_bytes = 0;
  EXPECT_NE(profile_from_json(to_json(cpus)).error().message.find("vector_bytes"), std::string::npos);
  const auto changed = [&](const std::string& was, const std::string& now) {
    std::string text = to_json(host_profile(level_3));
    text.replace(text.find(was), was.size(), now);
    return profile_from_json(text).error().message;
  };
  EXPECT_NE(changed("\"compute_minor\": 3", "\"compute_minor\": 9").find("no level of CPUs"),
            std::string::npos);
  EXPECT_NE(changed("\"compute_major\": 0", "\"compute_major\": 3").find("compute_major"), std::string::npos);
}

// Databases of earlier versions hold AArch64 as level 1 of CPUs.
TEST(Profile, TheStoredFormOfEveryTarget) {
  for (const char* name :
       {"aarch64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4-amx", "sm_80", "sm_90", "sm_121"}) {
    const Target target = *find_target(name);
    EXPECT_EQ(StoredTarget::of(target).target(), target) << name;
  }
  const StoredTarget arm = StoredTarget::of(*find_target("aarch64"));
  EXPECT_EQ(std::pair(arm.major, arm.minor), std::pair(0, 1));
  EXPECT_FALSE((StoredTarget{0, 6}).target());
}

// The CPUs at hand go by their name, level and number of threads; what other kinds have is not known here.
TEST(Profile, OfTheCpusHere) {
  const Profile here = find_profile("cpu").value();
  EXPECT_EQ(here.target, *host_target());
  EXPECT_NE(here.key.find(here.arch()), std::string::npos) << here.key;
  EXPECT_EQ(here.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos)
      << here.key;
  ASSERT_EQ(setenv("RONDO_THREADS", "3", 1), 0);
  const Profile three = find_profile("cpu").value();
  ASSERT_EQ(setenv("RONDO_THREADS", "5", 1), 0);
  const Profile five = find_profile("cpu").value();
  unsetenv("RONDO_THREADS");
  EXPECT_EQ(three.cpu.threads, 3);
  EXPECT_NE(three.key, five.key);
  const char* other = host_target()->kind == Target::Kind::AArch64 ? "x86-64-v2" : "aarch64";
  EXPECT_EQ(find_profile(other)->key, "cpu");
}

// What calibration measures travels with the profile; profiles of earlier versions, and shipped ones, have
// none.
TEST(Profile, FloorsInTheStoredForm) {
  Profile p = find_profile("h200").value();
  EXPECT_TRUE(p.floors.empty());
  EXPECT_EQ(to_json(p).find("floors"), std::string::npos);
  p.floors.all = {{MeasuredFloor::Of::GridExchange, "", 48, 12288, 5.5e-7, 0},
                  {MeasuredFloor::Of::Product, "mma.m16n8k16.bf16", 1, 0, 1.8e-8, 1024},
                  {MeasuredFloor::Of::Function, "tanh fast", 1, 0, 1e-8, 0}};
  const auto read = profile_from_json(to_json(p));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(p));
  ASSERT_EQ(read->floors.all.size(), 3U);
  EXPECT_EQ(read->floors.seconds(MeasuredFloor::Of::Function, "tanh fast"), 1e-8);
  EXPECT_EQ(read->floors.per_cycle_sm("mma.m16n8k16.bf16"), 1024);
  EXPECT_EQ(read->floors.seconds(MeasuredFloor::Of::Barrier), std::nullopt);
  const auto changed = [&](const std::string& was, const std::string& now) {
    std::string text = to_json(p);
    text.replace(text.find(was), was.size(), now);
    const auto wrong = profile_from_json(text);
    return wrong ? "" : wrong.error().message;
  };
  EXPECT_NE(changed("grid exchange", "post office").find("'post office'"), std::string::npos);
  EXPECT_NE(changed("\"blocks\": 48", "\"blocks\": 0").find("floors.blocks is 0"), std::string::npos);
  EXPECT_NE(changed("\"bytes\": 12288", "\"bytes\": 0.5").find("floors.bytes is no integer"),
            std::string::npos);
  EXPECT_NE(changed("5.5e-07", "-1").find("floors.seconds is -1"), std::string::npos);
  EXPECT_NE(changed("\"floors\": [", "\"floors\": 3, \"others\": [").find("floors are no list"),
            std::string::npos);
}

// Straight lines between what was measured; past the last bytes the last line goes on.
TEST(Floors, ExchangesLieOnLinesBetweenWhatWasMeasured) {
  using Of = MeasuredFloor::Of;
  Floors floors;
  floors.all = {{Of::GridExchange, "", 16, 1000, 1e-7, 0},
                {Of::GridExchange, "", 16, 3000, 2e-7, 0},
                {Of::GridExchange, "", 32, 1000, 3e-7, 0}};
  const auto at = [&](int blocks, double bytes) { return *floors.exchange(Of::GridExchange, blocks, bytes); };
  EXPECT_DOUBLE_EQ(at(16, 1000), 1e-7);
  EXPECT_DOUBLE_EQ(at(16, 2000), 1.5e-7);
  EXPECT_DOUBLE_EQ(at(16, 5000), 3e-7);
  EXPECT_DOUBLE_EQ(at(16, 10), 1e-7);
  EXPECT_DOUBLE_EQ(at(24, 1000), 2e-7);
  EXPECT_DOUBLE_EQ(at(32, 4000), 3e-7);  // one size of words alone
  EXPECT_DOUBLE_EQ(at(64, 1000), 3e-7);  // more blocks than were measured
  EXPECT_DOUBLE_EQ(at(2, 1000), 1e-7);
  EXPECT_EQ(floors.exchange(Of::ClusterExchange, 8, 100), std::nullopt);
  floors.all.push_back({Of::GridExchange, "", 32, 500, 4e-7, 0});
  EXPECT_DOUBLE_EQ(at(32, 500), 3e-7);  // one could send 1000 bytes
}

TEST(Profile, ShippedFiguresAreInRange) {
  for (const Profile& p : shipped_profiles()) EXPECT_TRUE(profile_from_json(to_json(p)).ok()) << p.key;
}

}  // namespace
}  // namespace rondo::target
