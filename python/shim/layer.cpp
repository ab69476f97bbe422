#include "layer.h"

#include <torch/csrc/inductor/aoti_torch/generated/c_shim_aten.h>

#include "launch.h"

namespace rondo::torch_shim {
namespace {

using Handle = AtenTensorHandle;

bool is_half(std::int32_t type) { return type == RONDO_TYPE_BF16 || type == RONDO_TYPE_F16; }

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

// Exact, as a sum: each element is that of `left` and one times that of `right`, which is rounded once.
Handle sum(Handle left, Handle right) {
  Handle made = nullptr;
  const AOTITorchError failed = aoti_torch_aten_subtract_Tensor(left, right, -1.0, &made);
  return failed == AOTI_TORCH_SUCCESS ? made : nullptr;
}

// Whether two vectors have a sum of that type, laid out as the first one.
bool may_add(const Seen& one, const Seen& other, std::int32_t type) {
  return one.rank == 1 && other.rank == 1 && one.sizes[0] == other.sizes[0] && one.strides[0] == 1 &&
         (other.type == type || is_half(other.type));
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

// The product of the input, as it will be: known before it is computed.
struct Product {
  std::array<std::int64_t, 3> sizes, strides;
};

Product product_of(const Seen& u, const Seen& matrix) {
  const std::int64_t width = matrix.sizes[0];
  return {{u.sizes[0], u.sizes[1], width}, {u.sizes[1] * width, width, 1}};
}

// The same as a tensor. Of a dense input without a bias it is one product of two matrices: what
// `aten::linear` comes to as well, by five operators.
Handle multiplied(Handle input, Handle matrix, const Seen& rows, Handle bias, const Product& as) {
  const Owned flat(bias == nullptr ? matrix_of(input).handle : nullptr);
  if (flat.get() == nullptr) return linear(input, matrix, bias);
  const Owned turned(
      view(matrix, std::array{rows.sizes[1], rows.sizes[0]}, std::array{rows.strides[1], rows.strides[0]}));
  const Owned made(product(flat.get(), turned.get()));
  return made.get() == nullptr ? nullptr : view(made.get(), as.sizes, as.strides);
}

bool address(Handle of, Seen& seen) { return aoti_torch_get_data_ptr(of, &seen.data) == AOTI_TORCH_SUCCESS; }

// A piece of the first tensor's memory in the place of that result, laid out as it.
bool move_result(Handle memory, std::int64_t first, const Seen& seen, Tensors& results, std::size_t number) {
  const auto rank = static_cast<std::size_t>(seen.rank);
  const Handle made = view(memory, {seen.sizes, rank}, {seen.strides, rank}, first);
  if (made != nullptr) results.replace(number, made);
  return made != nullptr;
}

// Converts results that are joined, by one operator, and gives the last of them twice if it is to be.
bool convert_joined(Joined& joined, std::int32_t type, bool twice, Tensors& results) {
  const Handle wide = joined.memory.get();
  Seen all, last;
  if (!see(wide, all) || !see(results.all()[joined.first + joined.count - 1], last)) return false;
  const std::int64_t count = all.sizes[0], again = elements_of(last.rank, last.sizes), stride = 1;
  const std::int64_t size = count + (twice ? again : 0);
  const Owned made(empty_of(all.on_cuda != 0, all.ordinal, type, 1, &size, &stride));
  const Owned plain(view(made.get(), std::array{count}, std::array{stride}));
  if (plain.get() == nullptr || aoti_torch_copy_(plain.get(), wide, 0) != AOTI_TORCH_SUCCESS) return false;
  std::int64_t next = 0;
  for (std::size_t number = joined.first; number < joined.first + joined.count; ++number) {
    Seen seen;
    if (!see(results.all()[number], seen)) return false;
    const std::int64_t first = next;
    next += elements_of(seen.rank, seen.sizes);
    if (!move_result(made.get(), first, seen, results, number)) return false;
  }
  if (!twice) return true;
  const std::size_t behind = joined.first + joined.count;
  if (!see(results.all()[behind - 1], last)) return false;
  const auto rank = static_cast<std::size_t>(last.rank);
  const Handle other = view(made.get(), {last.sizes, rank}, {last.strides, rank}, count);
  if (other == nullptr || !results.insert(behind, other)) return false;
  const Owned from(view(wide, {last.sizes, rank}, {last.strides, rank}, count - again));
  return from.get() != nullptr && aoti_torch_copy_(other, from.get(), 0) == AOTI_TORCH_SUCCESS;
}

// The same of results that lie apart.
bool convert_each(const Joined& joined, std::int32_t type, bool twice, Tensors& results) {
  for (std::size_t number = joined.first; number < joined.first + joined.count; ++number) {
    Seen seen;
    if (number >= results.size() || !see(results.all()[number], seen)) return false;
    const bool is_last = number + 1 == joined.first + joined.count;
    if (twice && is_last && !results.insert(number + 1, converted(results.all()[number], seen, type)))
      return false;
    if (seen.type == type) continue;
    const Handle made = converted(results.all()[number], seen, type);
    if (made == nullptr) return false;
    results.replace(number, made);
  }
  return true;
}

bool convert(Joined& joined, std::int32_t type, bool twice, Tensors& results) {
  return joined.memory.get() != nullptr ? convert_joined(joined, type, twice, results)
                                        : convert_each(joined, type, twice, results);
}

}  // namespace

bool forward(std::int64_t family, std::int64_t form, const Tensors& given, Tensors& results) {
  const std::span<const Handle> all = given.all();
  const bool two_biases = (form & Forward::kTwoBiases) != 0;
  const bool has_bias = two_biases || (form & Forward::kBias) != 0;
  const std::size_t first = (form & Forward::kBiasInProduct) != 0 ? 4 : 3;  // behind R, for the recurrence
  const std::size_t added = two_biases ? 1 : 0;
  Seen u, matrix, other;
  if (all.size() < first + (has_bias ? 1 : 0) + added || !see(all[0], u) || !see(all[1], matrix) ||
      u.rank != 3 || matrix.rank != 2)
    return false;

  std::array<Seen, kMostTensors> seen;
  const std::size_t count = all.size() - first - added + 2;
  for (std::size_t number = 1; number < count; ++number) {
    const std::size_t at = number == 1 ? 2 : first + number - 2 + (number == 2 ? 0 : added);
    if (!see(all[at], seen[number])) return false;
  }
  const Product x = product_of(u, matrix);
  seen[0] = u;
  seen[0].sizes = x.sizes.data(), seen[0].strides = x.strides.data();
  const Seen bias = seen[2];
  const bool widened = has_bias && is_half(bias.type);
  if (widened) seen[2].type = RONDO_TYPE_F32;
  if (two_biases && (!see(all[first + 1], other) || !may_add(bias, other, seen[2].type))) return false;
  const std::span<Seen> of_site(seen.data(), count);
  const std::shared_ptr<const Site> site = find_site(family, of_site);
  if (site == nullptr) return false;

  Owned made(multiplied(all[0], all[1], matrix, first == 4 ? all[3] : nullptr, x));
  if (made.get() == nullptr || !address(made.get(), of_site[0])) return false;
  Owned own_bias(widened ? converted(all[first], bias, RONDO_TYPE_F32) : nullptr);
  if (widened && own_bias.get() == nullptr) return false;
  if (two_biases) own_bias.take(sum(widened ? own_bias.get() : all[first], all[first + 1]));
  const bool owns_bias = widened || two_biases;
  if (owns_bias && (own_bias.get() == nullptr || !address(own_bias.get(), of_site[2]))) return false;
  // Last states, which are behind the output, are to be in the input's type.
  Joined states;
  states.first = 1, states.count = static_cast<std::size_t>(form / Forward::kStateUnit);
  if (!is_half(u.type)) states.count = 0;
  return run(*site, of_site, results, states) && convert(states, u.type, false, results) &&
         results.add(made.release()) && (!owns_bias || results.add(own_bias.release()));
}

bool backward(std::int64_t family, std::int64_t form, const Tensors& given, Tensors& results) {
  const std::span<const Handle> all = given.all();
  if (all.size() < 3) return false;
  const Handle w = all[all.size() - 2], u = all[all.size() - 1];
  Seen input;
  if (!see(u, input) || input.rank != 3) return false;
  const Owned flat_input(matrix_of(u).handle);
  if (flat_input.get() == nullptr) return false;
  const std::int64_t of_product_form = form & Backward::kOfProduct;
  Joined narrowed;
  narrowed.first = of_product_form != 0 ? 1 : 0;
  if (is_half(input.type))
    narrowed.count = ((form & Backward::kNarrowMatrix) != 0) + ((form & Backward::kNarrowBias) != 0);
  Tensors found;
  if (!launch(family, all.first(all.size() - 2), found, narrowed) ||
      !convert(narrowed, input.type, (form & Backward::kTwoBiases) != 0, found))
    return false;
  if (of_product_form == 0) return results.add_all(found);
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
