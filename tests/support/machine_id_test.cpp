// Machines and their processors are told apart.
#include "compiler/support/machine_id.h"

#include <gtest/gtest.h>

namespace rondo {
namespace {

constexpr const char* kProcessors =
    "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 106\nmodel name\t: Xeon\n"
    "stepping\t: 6\nmicrocode\t: 0xd0003f5\n\nprocessor\t: 1\nmicrocode\t: 0x1\n";

std::string changed(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(MachineId, IsMoreThanTheProcessorsName) {
  const std::string here = machine_id_of("aaaa\n", kProcessors);
  EXPECT_EQ(here.size(), 16U);
  EXPECT_EQ(machine_id_of("aaaa\n", kProcessors), here);
  EXPECT_NE(machine_id_of("bbbb\n", kProcessors), here) << "another machine of the same kind";
  EXPECT_NE(machine_id_of("aaaa\n", changed(kProcessors, "stepping\t: 6", "stepping\t: 7")), here);
  EXPECT_NE(machine_id_of("aaaa\n", changed(kProcessors, ": 106", ": 143")), here);
  EXPECT_EQ(here.find("aaaa"), std::string::npos) << "the id is confidential";
  EXPECT_EQ(machine_id(), machine_id());
}

TEST(MachineId, MicrocodeIsOfTheFirstProcessor) {
  EXPECT_EQ(microcode_of(kProcessors), "microcode 0xd0003f5");
  EXPECT_EQ(microcode_of("processor\t: 0\n"), "");
}

}  // namespace
}  // namespace rondo
