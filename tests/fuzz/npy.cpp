// The bytes of a .npy file, in memory and as a file, and the sizes that a run takes from its array.
#include <sys/mman.h>

#include "compiler/frontend/frontend.h"
#include "engine/arrays/npy.h"
#include "engine/arrays/run_arrays.h"
#include "tests/fuzz/target.h"

namespace rondo::fuzz {
namespace {

constexpr const char* kCell = "cell c(D) { input x[2, D]; state h[D]; next h = x[0] * h + x[1]; output h }";

bool same(const engine::NpyArray& a, const engine::NpyArray& b) {
  return a.descr == b.descr && a.shape == b.shape && a.data == b.data;
}

// The same by way of a file.
Result<engine::NpyArray> from_file(std::string_view bytes) {
  static const int file = ::memfd_create("fuzz", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  require(::ftruncate(file, 0) == 0 && ::pwrite(file, bytes.data(), bytes.size(), 0) >= 0, "there is a file");
  return engine::read_npy(path);
}

void check_array(const engine::NpyArray& array) {
  const auto bytes = static_cast<std::size_t>(array.elements()) *
                     static_cast<std::size_t>(engine::npy_element_bytes(array.descr));
  require(bytes == array.data.size(), "the data fill the shape");
  const Result<engine::NpyArray> again = engine::parse_npy(engine::to_npy(array), "again.npy");
  require(again.ok() && same(*again, array), "what was read is written");
  static const step::Cell cell = frontend::parse(kCell, "fuzz.cell").cells.at(0);
  const engine::RunArrays arrays{.inputs = {{"x", "fuzz.npy", array}}, .params = {}, .states = {}};
  const kernel::Storage storage = engine::natural_storage(array.descr).value_or(kernel::Storage::BF16);
  const Result<step::Sizes> sizes = engine::deduce_sizes(cell, arrays, std::nullopt);
  if (sizes) require(engine::shape_of(cell.tensors[0], *sizes) == array.shape, "the sizes are the array's");
  (void)engine::to_arguments(arrays, storage);
}

}  // namespace
}  // namespace rondo::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rondo;
  const std::string_view bytes = fuzz::text_of(data, size);
  const Result<engine::NpyArray> array = engine::parse_npy(bytes, "fuzz.npy");
  const Result<engine::NpyArray> read = fuzz::from_file(bytes);
  fuzz::require(array.ok() == read.ok(), "a file is read as its bytes are");
  if (!array) return 0;
  fuzz::require(fuzz::same(*array, *read), "a file holds what its bytes hold");
  fuzz::check_array(*array);
  return 0;
}
