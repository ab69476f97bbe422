#include "engine/data/random_arrays.h"

#include <fmt/format.h>
#include <unistd.h>

#include "engine/data/host_problem.h"

namespace rondo::engine {
namespace {

// Numbers are drawn as doubles, and written beside that.
Status check_memory(const schedule::Task& task) {
  constexpr double kBytesEach = 16;
  double bytes = 0;
  for (const step::Tensor& tensor : task.written.tensors)
    if (tensor.kind != step::TensorKind::Output)
      bytes += kBytesEach * static_cast<double>(step::element_count(tensor, task.problem.sizes));
  const double memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (bytes <= memory) return success();
  return Error{ErrorKind::Memory,
               fmt::format("drawing these arrays takes {:.1f} GB; this machine has {:.1f} GB", bytes / 1e9,
                           memory / 1e9),
               "take a smaller shape"};
}

// Of a tensor of flags: whole numbers, as bytes or as integers of 32 bits.
NpyArray flags_array(const std::vector<double>& values, std::vector<std::int64_t> shape,
                     kernel::Storage storage) {
  const auto size = static_cast<std::size_t>(kernel::storage_bytes(storage));
  std::string data(values.size() * size, '\0');
  for (std::size_t i = 0; i < values.size(); ++i)
    encode(storage, values[i], reinterpret_cast<std::byte*>(data.data() + i * size));
  return {storage == kernel::Storage::U8 ? "|u1" : "<i4", std::move(shape), std::move(data)};
}

}  // namespace

Result<RunArrays> random_arrays(const schedule::Task& task, std::uint64_t seed) {
  const step::Cell& cell = task.written;
  const step::Sizes& sizes = task.problem.sizes;
  if (Status status = check_memory(task); !status) return status.error();
  Result<HostProblem> drawn = random_problem(task, sizes, {.seed = seed});
  if (!drawn) return drawn.error();
  step::fill_past_ends(cell, sizes, 0, drawn->forward, drawn->loss);
  const kernel::Storage computed = scalar::computed_in(task.problem.storage);
  RunArrays arrays;
  for (step::TensorId id = 0; id < static_cast<step::TensorId>(cell.tensors.size()); ++id) {
    const step::Tensor& tensor = cell.tensor(id);
    const auto put = [&](std::vector<NamedArray>& into, const std::vector<double>& values,
                         kernel::Storage storage) {
      const std::vector<std::int64_t> shape = shape_of(tensor, sizes);
      into.push_back({tensor.name, "random numbers",
                      scalar::is_integer(storage) ? flags_array(values, shape, storage)
                                                  : npy_from(values, shape, storage)});
    };
    using step::TensorKind;
    if (tensor.kind == TensorKind::Input)
      put(arrays.inputs, drawn->forward.inputs.at(tensor.name), task.problem.storage);
    if (tensor.kind == TensorKind::Param && cell.seed() != id)
      put(arrays.params, drawn->forward.params.at(tensor.name), computed);
    if (tensor.kind == TensorKind::State)
      put(arrays.states, drawn->forward.initial_states.at(tensor.name), computed);
    if (tensor.kind == TensorKind::Reset)
      put(arrays.resets, drawn->forward.flags.at(tensor.name), kernel::Storage::U8);
    if (tensor.kind == TensorKind::Length)
      put(arrays.lengths, drawn->forward.flags.at(tensor.name), kernel::Storage::I32);
  }
  return arrays;
}

}  // namespace rondo::engine
