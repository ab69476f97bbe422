#include "benchmarks/capi/cuda.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

namespace bench {

void* driver_symbol(const char* name) {
  static void* const library = [] {
    const char* given = std::getenv("RONDO_LIBCUDA");
    return ::dlopen(given != nullptr ? given : "libcuda.so.1", RTLD_NOW);
  }();
  void* const found = library == nullptr ? nullptr : ::dlsym(library, name);
  if (found != nullptr) return found;
  std::fprintf(stderr, "bench_capi: there is no %s: this needs the CUDA driver\n", name);
  std::exit(77);
}

void check_driver(int code, const char* name) {
  if (code == 0) return;
  std::fprintf(stderr, "bench_capi: %s failed: CUDA error %d\n", name, code);
  std::exit(1);
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Buffer::Buffer(std::int64_t bytes) : bytes_(bytes) {
  cu("cuMemAlloc_v2", &address_, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 256)));
}

Buffer::Buffer(Buffer&& other) noexcept
    : address_(std::exchange(other.address_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}

Buffer::~Buffer() {
  if (address_ != 0) cu("cuMemFree_v2", address_);
}

void Buffer::fill(const std::vector<unsigned char>& pattern, void* stream) const {
  auto done = std::min(static_cast<std::int64_t>(pattern.size()), bytes_);
  if (done == 0) return;
  cu("cuMemcpyHtoDAsync_v2", address_, static_cast<const void*>(pattern.data()),
     static_cast<std::size_t>(done), stream);
  for (; done < bytes_; done *= 2)
    cu("cuMemcpyDtoDAsync_v2", address_ + static_cast<DeviceMemory>(done), address_,
       static_cast<std::size_t>(std::min(done, bytes_ - done)), stream);
  wait(stream);
}

void Buffer::clear(void* stream) const {
  cu("cuMemsetD8Async", address_, static_cast<unsigned char>(0), static_cast<std::size_t>(bytes_), stream);
}

std::vector<unsigned char> Buffer::read(void* stream) const {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(bytes_));
  cu("cuMemcpyDtoHAsync_v2", static_cast<void*>(bytes.data()), address_, bytes.size(), stream);
  wait(stream);
  return bytes;
}

void* new_stream() {
  void* stream = nullptr;
  cu("cuStreamCreate", &stream, 1U);
  return stream;
}

void wait(void* stream) { cu("cuStreamSynchronize", stream); }

struct Hold::Gate {
  std::mutex lock;
  std::condition_variable opened;
  bool open = false;
};

Hold::Hold(void* stream) : gate_(std::make_shared<Gate>()) {
  void (*const wait_at)(void*) = [](void* share) {
    const std::unique_ptr<std::shared_ptr<Gate>> gate(static_cast<std::shared_ptr<Gate>*>(share));
    std::unique_lock lock((*gate)->lock);
    (*gate)->opened.wait_for(lock, std::chrono::milliseconds(20), [&] { return (*gate)->open; });
  };
  // The driver's thread owns its share of the gate.
  cu("cuLaunchHostFunc", stream, wait_at, static_cast<void*>(new std::shared_ptr<Gate>(gate_)));
}

Hold::~Hold() {
  const std::scoped_lock lock(gate_->lock);
  gate_->open = true;
  gate_->opened.notify_all();
}

void make_current(int ordinal) {
  cu("cuInit", 0U);
  void* context = nullptr;
  int device = 0;
  cu("cuDeviceGet", &device, ordinal);
  cu("cuDevicePrimaryCtxRetain", &context, device);
  cu("cuCtxSetCurrent", context);
}

int device_count() {
  int count = 0;
  cu("cuInit", 0U);
  cu("cuDeviceGetCount", &count);
  return count;
}

std::int64_t l2_bytes(int ordinal) {
  constexpr int kL2CacheSize = 38;  // CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
  int bytes = 0;
  cu("cuDeviceGetAttribute", &bytes, kL2CacheSize, ordinal);
  return bytes;
}

Timer::Timer() {
  cu("cuEventCreate", &begin_, 0U);
  cu("cuEventCreate", &end_, 0U);
}

void Timer::begin(void* stream) const { cu("cuEventRecord", begin_, stream); }

double Timer::end_ms(void* stream) const {
  float ms = 0;
  cu("cuEventRecord", end_, stream);
  cu("cuEventSynchronize", end_);
  cu("cuEventElapsedTime", &ms, begin_, end_);
  return static_cast<double>(ms);
}

EmptyKernel::EmptyKernel(int pointers)
    : launch_(driver_symbol("cuLaunchKernel")), pointers_(static_cast<std::size_t>(pointers)) {
  std::string ptx = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry empty(";
  for (int i = 0; i < pointers; ++i) ptx += (i > 0 ? ", .param .u64 p" : ".param .u64 p") + std::to_string(i);
  ptx += ") { ret; }\n";
  void* module = nullptr;
  cu("cuModuleLoadData", &module, static_cast<const void*>(ptx.c_str()));
  cu("cuModuleGetFunction", &function_, module, "empty");
  for (DeviceMemory& pointer : pointers_) arguments_.push_back(&pointer);
}

void EmptyKernel::launch(void* stream) const {
  using Launch = int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                         void**, void**);
  check_driver(reinterpret_cast<Launch>(launch_)(function_, 1, 1, 1, 32, 1, 1, 0, stream,
                                                 const_cast<void**>(arguments_.data()), nullptr),
               "cuLaunchKernel");
}

}  // namespace bench
