// Figures of ncu's table: summed over launches, and refused where one is missing.
#include "tuner/why/counters.h"

#include <gtest/gtest.h>

namespace rondo::tuner {
namespace {

// The form of `ncu --csv --print-units base`: what the program says, then a row for each launch and metric.
const std::string kTable =
    "==PROF== Connected to process 4711\n"
    "==PROF== Profiling \"lstm_persistent_fw\" - 0: 0%....50%....100% - 4 passes\n"
    "lstm B=16,T=1024,H=1,D=768 bf16\n"
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block "
    "Size\","
    "\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";

std::string row(int id, const std::string& metric, const std::string& unit, const std::string& value) {
  return "\"" + std::to_string(id) +
         "\",\"4711\",\"rondo\",\"127.0.0.1\",\"lstm_persistent_fw(const float *, int)\"," +
         "\"1\",\"13\",\"(384, 1, 1)\",\"(96, 1, 1)\",\"0\",\"9.0\",\"Command line profiler metrics\",\"" +
         metric + "\",\"" + unit + "\",\"" + value + "\"\n";
}
constexpr const char* kTensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";

TEST(Counters, AreSummedOverLaunches) {
  const std::string csv = kTable + row(0, "dram__bytes.sum", "byte", "100,000,000") +
                          row(0, "gpu__time_duration.sum", "ns", "3,000,000") + row(0, kTensor, "%", "10") +
                          row(1, "dram__bytes.sum", "byte", "50000000") +
                          row(1, "gpu__time_duration.sum", "nsecond", "1000000") +
                          row(1, kTensor, "%", "50.5") + row(1, "sm__cycles_active.avg", "cycle", "77");
  const auto counters = counters_of(csv);
  ASSERT_TRUE(counters) << counters.error().message;
  EXPECT_EQ(counters->launches, 2);
  EXPECT_DOUBLE_EQ(counters->bytes, 150e6);
  EXPECT_DOUBLE_EQ(counters->seconds, 4e-3);
  EXPECT_NEAR(counters->tensor_share, (0.1 * 3 + 0.505 * 1) / 4, 1e-12);
}

TEST(Counters, SayWhatIsMissing) {
  const auto message = [](const std::string& csv) {
    const auto counters = counters_of(csv);
    return counters ? std::string() : counters.error().message + " / " + counters.error().hint;
  };
  EXPECT_NE(message("==ERROR== ERR_NVGPUCTRPERM\n").find("there is no table"), std::string::npos);
  EXPECT_NE(message("").find("ncu --csv --print-units base --metrics dram__bytes.sum,"), std::string::npos);
  EXPECT_NE(message(kTable).find("no launch has a metric"), std::string::npos);
  EXPECT_NE(message(kTable + row(3, "dram__bytes.sum", "byte", "1")).find("launch 3 has no sm__pipe_tensor"),
            std::string::npos);
  EXPECT_NE(message(kTable + row(3, "dram__bytes.sum", "Mbyte", "1")).find("is '1' in 'Mbyte'"),
            std::string::npos);
  EXPECT_NE(message(kTable + row(3, "dram__bytes.sum", "byte", "n/a")).find("is 'n/a'"), std::string::npos);
}

}  // namespace
}  // namespace rondo::tuner
