// The table of sites (interface.h), in which the operator finds what it is to launch.
#ifndef RONDO_PYTHON_SHIM_SITES_H
#define RONDO_PYTHON_SHIM_SITES_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "interface.h"

namespace rondo::torch_shim {

// Given and made tensors of a call: a backward pass of many states has some 30.
inline constexpr std::size_t kMostTensors = 48;

struct Site {
  rondo_torch_site head{};  // its arrays are the ones below
  std::vector<rondo_tensor> tensors;
  std::vector<rondo_torch_given> given;
  std::vector<rondo_torch_made> made;
};

// A tensor of a call.
struct Seen {
  std::int32_t type = -1, rank = 0;
  std::int32_t on_cuda = 0, ordinal = 0;
  const std::int64_t* sizes = nullptr;
  const std::int64_t* strides = nullptr;
  void* data = nullptr;
};

// The site of the family for these tensors; null if there is none. Any number of threads may ask.
std::shared_ptr<const Site> find_site(std::int64_t family, std::span<const Seen> tensors);

void count_launch();

}  // namespace rondo::torch_shim

#endif
