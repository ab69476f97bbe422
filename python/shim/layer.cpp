#include "layer.h"

#include <utility>

#include "launch.h"

namespace rondo::torch_shim {
namespace {

using Handle = AtenTensorHandle;

// A tensor that is owned here.
class Owned {
 public:
  explicit Owned(Handle handle) : handle_(handle) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle_ != nullptr) aoti_torch_delete_tensor_object(handle_);
  }
  Handle get() const { return handle_; }
  Handle release() { return std::exchange(handle_, nullptr); }

 private:
  Handle handle_;
};

// As an operator of PyTorch takes it, which then owns it.
StableIValue lent(Handle handle) {
  Handle made = nullptr;
  aoti_torch_new_tensor_handle(handle, &made);
  return stable(made);
}

// An operator of PyTorch, whose only result it is; null where it fails.
template <std::size_t kArguments>
Handle call(const char* name, const char* overload, std::array<StableIValue, kArguments> arguments) {
  const AOTITorchError failed = torch_call_dispatcher(name, overload, arguments.data(), TORCH_ABI_VERSION);
  return failed == AOTI_TORCH_SUCCESS ? value_of<Handle>(arguments[0]) : nullptr;
}

Handle product(Handle left, Handle right) {
  return left == nullptr || right == nullptr ? nullptr : call<2>("aten::mm", "", {lent(left), lent(right)});
}

Handle linear(Handle input, Handle matrix, Handle bias) {
  StableIValue optional = stable<StableIValue*>(nullptr);
  if (bias != nullptr) optional = stable(new StableIValue(lent(bias)));  // its taker deletes it
  return call<3>("aten::linear", "", {lent(input), lent(matrix), optional});
}

// The sum of the rows of a matrix.
Handle sum_of_rows(Handle matrix) {
  if (matrix == nullptr) return nullptr;
  StableListHandle axes = nullptr;
  torch_new_list_reserve_size(1, &axes);
  torch_list_push_back(axes, stable(std::int64_t{0}));
  const StableIValue axis = stable(new StableIValue(stable(axes)));
  return call<4>("aten::sum", "dim_IntList",
                 {lent(matrix), axis, stable(std::int64_t{0}), stable<StableIValue*>(nullptr)});
}

// Of the memory from the tensor's first element on.
Handle view(Handle of, std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides) {
  Handle made = nullptr;
  const AOTITorchError failed = aoti_torch__reinterpret_tensor(of, static_cast<std::int64_t>(sizes.size()),
                                                               sizes.data(), strides.data(), 0, &made);
  return failed == AOTI_TORCH_SUCCESS ? made : nullptr;
}

struct Matrix {
  Handle handle = nullptr;
  std::int64_t rows = 0, columns = 0;
};

// A dense tensor as a matrix of all but its last axis; without a handle where it is not dense.
Matrix matrix_of(Handle of) {
  Seen seen;
  bool dense = false;
  if (!see(of, seen) || seen.rank < 2 || aoti_torch_is_contiguous(of, &dense) != AOTI_TORCH_SUCCESS || !dense)
    return {};
  Matrix made;
  made.rows = 1, made.columns = seen.sizes[seen.rank - 1];
  for (std::int32_t axis = 0; axis + 1 < seen.rank; ++axis) made.rows *= seen.sizes[axis];
  made.handle = view(of, std::array{made.rows, made.columns}, std::array{made.columns, std::int64_t{1}});
  return made;
}

Handle transposed(const Matrix& matrix) {
  return view(matrix.handle, std::array{matrix.columns, matrix.rows},
              std::array{std::int64_t{1}, matrix.columns});
}

// A dense one of the same shape in another type.
Handle converted(Handle of, const Seen& seen, std::int32_t type) {
  std::array<std::int64_t, RONDO_MOST_AXES> strides{};
  std::int64_t step = 1;
  for (std::int32_t axis = seen.rank - 1; axis >= 0; --axis) {
    strides[static_cast<std::size_t>(axis)] = step;
    step *= seen.sizes[axis];
  }
  Owned made(empty_of(seen.on_cuda != 0, seen.ordinal, type, seen.rank, seen.sizes, strides.data()));
  if (made.get() == nullptr || aoti_torch_copy_(made.get(), of, 0) != AOTI_TORCH_SUCCESS) return nullptr;
  return made.release();
}

bool is_half(std::int32_t type) { return type == RONDO_TYPE_BF16 || type == RONDO_TYPE_F16; }

// The product of the input, as it will be: known before it is computed.
struct Product {
  std::array<std::int64_t, 3> sizes, strides;
};

Product product_of(const Seen& u, const Seen& matrix) {
  const std::int64_t width = matrix.sizes[0];
  return {{u.sizes[0], u.sizes[1], width}, {u.sizes[1] * width, width, 1}};
}

bool address(Handle of, Seen& seen) { return aoti_torch_get_data_ptr(of, &seen.data) == AOTI_TORCH_SUCCESS; }

// Last states, which are behind the output, in the input's type.
bool convert_states(std::int64_t states, std::int32_t type, Tensors& results) {
  for (std::int64_t state = 1; state <= states; ++state) {
    const std::size_t number = static_cast<std::size_t>(state);
    Seen seen;
    if (number >= results.size() || !see(results.all()[number], seen)) return false;
    if (seen.type == type) continue;
    const Handle made = converted(results.all()[number], seen, type);
    if (made == nullptr) return false;
    results.replace(number, made);
  }
  return true;
}

}  // namespace

bool forward(std::int64_t family, std::int64_t form, const Tensors& given, Tensors& results) {
  const std::span<const Handle> all = given.all();
  const bool has_bias = (form & Forward::kBias) != 0;
  const std::size_t first = (form & Forward::kBiasInProduct) != 0 ? 4 : 3;  // behind R, for the recurrence
  Seen u, matrix;
  if (all.size() < first + (has_bias ? 1 : 0) || !see(all[0], u) || !see(all[1], matrix) || u.rank != 3 ||
      matrix.rank != 2)
    return false;

  std::array<Seen, kMostTensors> seen;
  const std::size_t count = all.size() - first + 2;
  for (std::size_t number = 1; number < count; ++number)
    if (!see(all[number == 1 ? 2 : first + number - 2], seen[number])) return false;
  const Product x = product_of(u, matrix);
  seen[0] = u;
  seen[0].sizes = x.sizes.data(), seen[0].strides = x.strides.data();
  const bool widened = has_bias && is_half(seen[2].type);
  const Seen bias = seen[2];
  if (widened) seen[2].type = RONDO_TYPE_F32;
  const std::span<Seen> of_site(seen.data(), count);
  const std::shared_ptr<const Site> site = find_site(family, of_site);
  if (site == nullptr) return false;

  Owned made(linear(all[0], all[1], first == 4 ? all[3] : nullptr));
  Owned wide(widened ? converted(all[first], bias, RONDO_TYPE_F32) : nullptr);
  if (made.get() == nullptr || !address(made.get(), of_site[0])) return false;
  if (widened && (wide.get() == nullptr || !address(wide.get(), of_site[2]))) return false;
  return run(*site, of_site, results) && convert_states(form / Forward::kStateUnit, u.type, results) &&
         results.add(made.release()) && (!widened || results.add(wide.release()));
}

bool backward(std::int64_t family, std::int64_t form, const Tensors& given, Tensors& results) {
  const std::span<const Handle> all = given.all();
  if (all.size() < 3) return false;
  const Handle w = all[all.size() - 2], u = all[all.size() - 1];
  Seen input;
  if (!see(u, input) || input.rank != 3) return false;
  const Owned flat_input(matrix_of(u).handle);
  if (flat_input.get() == nullptr) return false;
  Tensors found;
  if (!launch(family, all.first(all.size() - 2), found)) return false;
  if (form == 0) return results.add_all(found);
  if (found.size() == 0) return false;
  const Matrix of_product = matrix_of(found.all()[0]);
  const Owned x(of_product.handle);
  if (x.get() == nullptr) return false;
  if ((form & Backward::kOfInput) != 0) {
    const Owned flat(product(x.get(), w));
    if (flat.get() == nullptr) return false;
    const std::int64_t width = input.sizes[2], row = input.sizes[1] * width;
    const std::array<std::int64_t, 3> sizes = {input.sizes[0], input.sizes[1], width};
    if (!results.add(view(flat.get(), sizes, std::array{row, width, std::int64_t{1}}))) return false;
  }
  if ((form & Backward::kOfMatrix) != 0) {
    const Owned turned(transposed(of_product));
    if (!results.add(product(turned.get(), flat_input.get()))) return false;
  }
  if ((form & Backward::kOfBias) != 0 && !results.add(sum_of_rows(x.get()))) return false;
  found.drop_first();
  return results.add_all(found);
}

}  // namespace rondo::torch_shim
