// The CUDA driver, opened when the program runs, for the benchmark of the C interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace bench {

void* driver_symbol(const char* name);          // ends the program with status 77 where there is none
void check_driver(int code, const char* name);  // ends the program with status 1 unless it is 0

// Calls a function of the driver. Arguments have the very types of its parameters.
template <class... Arguments>
void cu(const char* name, Arguments... arguments) {
  check_driver(reinterpret_cast<int (*)(Arguments...)>(driver_symbol(name))(arguments...), name);
}

using DeviceMemory = std::uint64_t;  // CUdeviceptr

double now();  // seconds

// Device memory that frees itself.
class Buffer {
 public:
  explicit Buffer(std::int64_t bytes);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer();
  DeviceMemory address() const { return address_; }
  void* data() const { return reinterpret_cast<void*>(address_); }
  std::int64_t bytes() const { return bytes_; }
  // Repeats the bytes from the first on, to the end.
  void fill(const std::vector<unsigned char>& pattern, void* stream) const;
  void clear(void* stream) const;
  std::vector<unsigned char> read(void* stream) const;

 private:
  DeviceMemory address_ = 0;
  std::int64_t bytes_ = 0;
};

void* new_stream();
void wait(void* stream);

// Until a Hold is destroyed, but for 20 ms at most, nothing begins that is submitted to the stream after it.
// So a sample has no time in which the GPU waits for launches. `rondo bench` does so by runtime/cuda's
// hold(), which the C interface, all that this program may use, does not offer.
class Hold {
 public:
  explicit Hold(void* stream);
  Hold(const Hold&) = delete;
  ~Hold();

 private:
  struct Gate;
  std::shared_ptr<Gate> gate_;
};

void make_current(int ordinal);  // the GPU's primary context, which stays until the program ends
int device_count();
std::int64_t l2_bytes(int ordinal);

// Milliseconds between two points of a stream.
class Timer {
 public:
  Timer();
  void begin(void* stream) const;
  double end_ms(void* stream) const;  // waits

 private:
  void* begin_ = nullptr;
  void* end_ = nullptr;
};

// A kernel that does nothing, with so many pointers as arguments: what a launch costs at least.
class EmptyKernel {
 public:
  explicit EmptyKernel(int pointers);
  EmptyKernel(const EmptyKernel&) = delete;
  void launch(void* stream) const;

 private:
  void *function_ = nullptr, *launch_ = nullptr;
  std::vector<DeviceMemory> pointers_;
  std::vector<void*> arguments_;
};

}  // namespace bench
