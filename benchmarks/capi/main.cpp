// Times launches through Rondo's C interface with CUDA events, and shows that graphs, threads and devices
// give equal bits. benchmarks/capi.py runs it beside `rondo bench`.
//
//   bench_capi time|host|check --cell lstm --shape B=16,T=1024,H=1,D=768 [--dtype bf16] [--pass fw]
//              [--save products] [--db FILE] [--strategy NAME] [--param "a=1 b=2"] [--tune SECONDS]
//              [--package FILE] [--samples 21]
//
//   time    seconds of a launch, timed as `rondo bench` does, and how long it took to the first one
//   host    host time of a launch, and the driver's of an empty kernel
//   check   a captured graph, two threads with two streams, and all devices: equal bits
//
// It prints one JSON object. bench_capi_rt is the same over librondo_rt, which needs a package. Without a GPU
// it ends with status 77; where bits differ, with 1.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "benchmarks/capi/plan.h"

namespace bench {
namespace {

[[noreturn]] void usage(const std::string& what) {
  std::fprintf(stderr, "bench_capi: %s\n", what.c_str());
  std::exit(2);
}

void read_shape(const std::string& text, Wanted& wanted) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    const std::int64_t value = part.size() > 2 ? std::atoll(part.c_str() + 2) : 0;
    if (value < 1 || part[1] != '=') usage("bad --shape " + text);
    if (part[0] == 'B')
      wanted.batch = value;
    else if (part[0] == 'T')
      wanted.time = value;
    else if (part[0] == 'H')
      wanted.heads = value;
    else if (part[0] == 'D')
      wanted.dim = value;
    else
      usage("bad --shape " + text);
    at = end + 1;
  }
}

Wanted read_arguments(int argc, char** argv) {
  Wanted wanted;
  for (int i = 2; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) usage(name + " needs a value");
    const std::string value = argv[i + 1];
    if (name == "--cell")
      wanted.cell = value;
    else if (name == "--shape")
      read_shape(value, wanted);
    else if (name == "--dtype")
      wanted.type = value;
    else if (name == "--pass")
      wanted.pass = value;
    else if (name == "--save")
      wanted.save = value;
    else if (name == "--db")
      wanted.database = value;
    else if (name == "--strategy")
      wanted.strategy = value;
    else if (name == "--param")
      wanted.parameters = value;
    else if (name == "--tune")
      wanted.tune_s = std::max(0.1, std::atof(value.c_str()));
    else if (name == "--package")
      wanted.package = value;
    else if (name == "--samples")
      wanted.samples = std::max(1, std::atoi(value.c_str()));
    else
      usage("unknown option " + name);
  }
  return wanted;
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

// What every mode says of its plan.
void print_plan(const api::Plan& plan, const char* mode) {
  const rondo_plan_info info = need(plan.info());
  std::printf(
      "{\"mode\": \"%s\", \"cell\": \"%s\", \"pass\": \"%s\", \"strategy\": \"%s\", \"parameters\": \"%s\", ",
      mode, info.cell, info.pass, info.strategy, info.parameters);
  std::printf("\"origin\": \"%s\", \"verified\": %s, \"tensors\": %d, ", info.origin,
              info.verified != 0 ? "true" : "false", static_cast<int>(info.tensors));
}

// ---- time ----

constexpr double kSample_s = 2e-3;
constexpr double kBusy_s = 0.1;  // before the first sample: a GPU that was idle is slower at first
constexpr int kMostRepetitions = 200, kWarmUp = 3;

class Timing {
 public:
  Timing(const api::Plan& plan, const Wanted& wanted, Memory&& first, void* stream)
      : plan_(plan), stream_(stream) {
    // The sets of `rondo bench`: each run finds its inputs outside L2, and where a kernel may iterate there
    // are at least 8 draws. There are no more than 8, so that plans of several kernels keep a graph of each.
    constexpr std::size_t kMostSets = 8, kDraws = 8;
    const bool iterates = std::strcmp(need(plan.info()).strategy, "shoot") == 0;
    std::int64_t bytes = first.bytes();
    sets_.push_back(std::move(first));
    for (; sets_.size() < kMostSets && bytes < 2 * l2_bytes(0); bytes += sets_.back().bytes())
      sets_.emplace_back(plan, wanted, static_cast<int>(sets_.size()), stream);
    for (const std::size_t whole = sets_.size(); iterates && sets_.size() < kDraws;)
      sets_.push_back(sets_[sets_.size() % whole].draw(static_cast<int>(sets_.size()), stream));
    workspace_ = std::make_unique<Buffer>(workspace_for(plan, wanted));
    for (const Memory& set : sets_) arguments_.push_back(set.arguments(*workspace_, stream));
  }

  std::vector<double> samples(int count) {
    (void)sample(kWarmUp);
    double expected = sample(1);
    const auto next = [&] {
      const double wanted = std::ceil(kSample_s / std::max(expected, 1e-7));
      return expected = sample(static_cast<int>(std::clamp(wanted, 1.0, double{kMostRepetitions})));
    };
    // `rondo bench` has measured the bandwidth of copies at this point.
    for (const double begin = now(); now() - begin < kBusy_s;) (void)next();
    std::vector<double> seconds;
    for (int i = 0; i < count; ++i) seconds.push_back(next());
    return seconds;
  }
  std::size_t sets() const { return sets_.size(); }
  const Memory& last_set() const { return sets_.back(); }

 private:
  double sample(int repetitions) {
    for (std::size_t i = 0; i < std::min<std::size_t>(static_cast<std::size_t>(repetitions), sets_.size());
         ++i)
      need(plan_.prepare(arguments_[(next_ + i) % sets_.size()]));
    {
      const Hold hold(stream_);
      timer_.begin(stream_);
      for (int i = 0; i < repetitions; ++i) {
        need(plan_.launch(arguments_[next_]));
        next_ = (next_ + 1) % sets_.size();
      }
    }
    return timer_.end_ms(stream_) * 1e-3 / repetitions;
  }

  const api::Plan& plan_;
  std::unique_ptr<Buffer> workspace_;
  void* stream_;
  std::vector<Memory> sets_;
  std::vector<api::Arguments> arguments_;
  std::size_t next_ = 0;
  Timer timer_;
};

int time_launches(const Wanted& wanted) {
  const double begin = now();
  make_current(0);
  const double driver = now();
  const api::Context context = need(api::Context::cuda_current());
  void* const stream = new_stream();
  const double ready = now();  // a context exists
  double open_s = 0;
  const api::Plan plan = make_plan(context, wanted, &open_s);
  const double planned = now();
  Memory first(plan, wanted, 0, stream);
  double launch_s = 0;
  {
    const Buffer workspace = workspace_for(plan, wanted);
    const api::Arguments arguments = first.arguments(workspace, stream);
    const double before = now();
    need(plan.launch(arguments));
    wait(stream);
    launch_s = now() - before;
  }
  Timing timing(plan, wanted, std::move(first), stream);
  const std::vector<double> seconds = timing.samples(wanted.samples);
  need(plan.check());
  const double median = quantile(seconds, 0.5);
  print_plan(plan, "time");
  std::printf("\"median_ms\": %.9g, \"spread\": %.4g, \"samples\": %zu, \"sets\": %zu, ", median * 1e3,
              (quantile(seconds, 0.9) - quantile(seconds, 0.1)) / median, seconds.size(), timing.sets());
  // From an existing context to the end of the first launch, its memory left out.
  std::printf(
      "\"driver_ms\": %.6g, \"context_ms\": %.6g, \"open_ms\": %.6g, \"plan_ms\": %.6g, \"launch_ms\": "
      "%.6g, ",
      (driver - begin) * 1e3, (ready - driver) * 1e3, open_s * 1e3, (planned - ready - open_s) * 1e3,
      launch_s * 1e3);
  std::printf("\"first_ms\": %.6g, \"last_set\": %s}\n", (planned - ready + launch_s) * 1e3,
              timing.last_set().first_numbers(stream).c_str());
  return 0;
}

// ---- host ----

constexpr int kBursts = 200, kLaunches = 32;
constexpr std::int64_t kWorkspaceStep = 256;  // bytes, to which workspaces are aligned

// Microseconds of host time of a launch, in bursts that the GPU's queue takes without waiting.
template <class Launch>
std::vector<double> launches_us(void* stream, const Launch& launch) {
  std::vector<double> us;
  for (int burst = 0; burst < kBursts; ++burst) {
    const double begin = now();
    for (int i = 0; i < kLaunches; ++i) launch();
    us.push_back((now() - begin) / kLaunches * 1e6);
    wait(stream);
  }
  return us;
}

// Of a call that comes again, and of one that does not; beside the driver's own, of an empty kernel with as
// many pointers.
int time_host(const Wanted& wanted) {
  make_current(0);
  const api::Context context = need(api::Context::cuda_current());
  void* const stream = new_stream();
  const api::Plan plan = make_plan(context, wanted);
  const Memory memory(plan, wanted, 0, stream);
  const Buffer workspace = workspace_for(plan, wanted);
  const api::Arguments arguments = memory.arguments(workspace, stream);
  const rondo_launch_args args = arguments.get();
  const EmptyKernel empty(static_cast<int>(need(plan.info()).tensors));
  const std::vector<double> us = launches_us(stream, [&] {
    if (rondo_launch(plan.get(), &args) != RONDO_OK) need(plan.launch(arguments));
  });
  const std::vector<double> driver_us = launches_us(stream, [&] { empty.launch(stream); });
  // Each with a workspace of its own, so that no call comes again.
  const Buffer moving(workspace.bytes() + std::int64_t{kBursts} * kLaunches * kWorkspaceStep);
  rondo_launch_args next = args;
  next.workspace = moving.data();
  const std::vector<double> new_us = launches_us(stream, [&] {
    if (rondo_launch(plan.get(), &next) != RONDO_OK) need(plan.launch(arguments));
    next.workspace = static_cast<char*>(next.workspace) + kWorkspaceStep;
  });
  print_plan(plan, "host");
  std::printf("\"launch_us\": %.4g, \"launch_us_p90\": %.4g, \"new_us\": %.4g, \"driver_us\": %.4g}\n",
              quantile(us, 0.5), quantile(us, 0.9), quantile(new_us, 0.5), quantile(driver_us, 0.5));
  return 0;
}

// ---- check ----

using Bytes = std::vector<unsigned char>;

Bytes launched(const api::Plan& plan, const Memory& memory, const Buffer& workspace, void* stream) {
  memory.clear_results(stream);
  need(plan.launch(memory.arguments(workspace, stream)));
  wait(stream);
  return memory.results(stream);
}

// A launch captured in a CUDA graph, and replayed.
bool graph_gives(const Bytes& expected, const api::Plan& plan, const Memory& memory, const Buffer& workspace,
                 void* stream) {
  constexpr int kThreadLocal = 1, kReplays = 3;
  const api::Arguments arguments = memory.arguments(workspace, stream);
  need(plan.prepare(arguments));
  void *graph = nullptr, *ready = nullptr;
  cu("cuStreamBeginCapture_v2", stream, kThreadLocal);
  need(plan.launch(arguments));
  cu("cuStreamEndCapture", stream, &graph);
  cu("cuGraphInstantiateWithFlags", &ready, graph, 0ULL);
  bool equal = true;
  for (int i = 0; i < kReplays; ++i) {
    memory.clear_results(stream);
    cu("cuGraphLaunch", ready, stream);
    wait(stream);
    equal = equal && memory.results(stream) == expected;
  }
  cu("cuGraphExecDestroy", ready);
  cu("cuGraphDestroy", graph);
  return equal;
}

// Two threads, each with a stream, memory and workspace of its own, and one plan.
bool threads_give(const Bytes expected[2], const api::Plan& plan, const Wanted& wanted) {
  constexpr int kTurns = 20;
  bool equal[2] = {true, true};
  const auto work = [&](int number) {
    make_current(0);
    void* const stream = new_stream();
    const Memory memory(plan, wanted, number, stream);
    const Buffer workspace = workspace_for(plan, wanted);
    for (int turn = 0; turn < kTurns; ++turn)
      equal[number] = launched(plan, memory, workspace, stream) == expected[number] && equal[number];
  };
  std::thread first(work, 0), second(work, 1);
  first.join();
  second.join();
  return equal[0] && equal[1];
}

// The same on every device there is; those that are of another kind only have to run.
bool devices_give(const Bytes& expected, const Wanted& wanted, int count, int& alike) {
  bool equal = true;
  std::string kind;
  alike = 0;
  for (int device = 0; device < count; ++device) {
    make_current(device);
    const api::Context context = need(api::Context::cuda(device));
    const std::string name = need(context.info()).name;
    if (device == 0) kind = name;
    const api::Plan plan = make_plan(context, wanted);
    void* const stream = new_stream();
    const Memory memory(plan, wanted, 0, stream);
    const Buffer workspace = workspace_for(plan, wanted);
    const Bytes found = launched(plan, memory, workspace, stream);
    if (name != kind) continue;
    ++alike;
    equal = equal && found == expected;
  }
  make_current(0);
  return equal;
}

int check_bits(const Wanted& wanted) {
  make_current(0);
  const api::Context context = need(api::Context::cuda_current());
  void* const stream = new_stream();
  const api::Plan plan = make_plan(context, wanted);
  const Buffer workspace = workspace_for(plan, wanted);
  Bytes expected[2];
  bool graph = false;
  for (int number : {1, 0}) {
    const Memory memory(plan, wanted, number, stream);
    expected[number] = launched(plan, memory, workspace, stream);
    if (number == 0) graph = graph_gives(expected[0], plan, memory, workspace, stream);
  }
  const bool threads = threads_give(expected, plan, wanted);
  const int count = device_count();
  int alike = 0;
  const bool devices = devices_give(expected[0], wanted, count, alike);
  need(plan.check());
  print_plan(plan, "check");
  const auto word = [](bool value) { return value ? "true" : "false"; };
  std::printf("\"result_bytes\": %zu, \"inputs_matter\": %s, \"graph_equal\": %s, \"threads_equal\": %s, ",
              expected[0].size(), word(expected[0] != expected[1]), word(graph), word(threads));
  std::printf("\"devices\": %d, \"devices_alike\": %d, \"devices_equal\": %s}\n", count, alike,
              word(devices));
  return graph && threads && devices ? 0 : 1;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const bench::Wanted wanted = bench::read_arguments(argc, argv);
  if (mode == "time") return bench::time_launches(wanted);
  if (mode == "host") return bench::time_host(wanted);
  if (mode == "check") return bench::check_bits(wanted);
  bench::usage("time, host or check is expected first");
}
