// The table of sites (interface.h): launches by their text and device.
#ifndef RONDO_PYTHON_FFI_SITES_H
#define RONDO_PYTHON_FFI_SITES_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "interface.h"

namespace rondo::jax_ffi {

struct Site {
  const rondo_plan* plan = nullptr;
  rondo_launch_args args{};
  std::vector<rondo_tensor> tensors;
  std::vector<std::int32_t> places;
  std::vector<rondo_jax_hidden> hidden;
  std::int64_t buffer_bytes = 0;
};

// Where a launch runs; `ordinal` counts GPUs.
struct Device {
  std::int32_t on_cuda = 0, ordinal = 0;
};

// A site, or why there is none.
struct Answer {
  std::shared_ptr<const Site> site;
  rondo_status status = RONDO_ERROR_INTERNAL;
  std::string text = "rondo.jax was not imported";
};

// The site of a text, which is made at its first use. Any number of threads may ask.
Answer find_site(std::string_view text, Device device);

// What rondo_jax_begin() was given; its functions are null before.
const rondo_jax_calls& calls();

void count_launch();

}  // namespace rondo::jax_ffi

#endif
