// NumPy's .npy files (NEP 1): arrays in and out of the command line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/kernel/ir/ir.h"
#include "compiler/support/result.h"

namespace rondo::engine {

// Bytes that nobody changes, as long as a copy of this lives: of memory, or of a mapped file.
class ArrayBytes {
 public:
  ArrayBytes() = default;
  ArrayBytes(std::string bytes) {  // NOLINT: a string is bytes
    auto own = std::make_shared<const std::string>(std::move(bytes));
    view_ = *own;
    owner_ = std::move(own);
  }
  ArrayBytes(std::shared_ptr<const void> owner, std::string_view bytes)
      : owner_(std::move(owner)), view_(bytes) {}

  std::string_view view() const { return view_; }
  const char* data() const { return view_.data(); }
  std::size_t size() const { return view_.size(); }
  bool operator==(const ArrayBytes& other) const { return view_ == other.view_; }

 private:
  std::shared_ptr<const void> owner_;
  std::string_view view_;
};

// Little-endian and in C order, as most machines write them.
struct NpyArray {
  // NumPy's name of the element type: "<f4", "<f8", "<f2", "<V2", "<u2", or an integer's (npy_integers).
  std::string descr;
  std::vector<std::int64_t> shape;  // outermost first; empty: one number
  ArrayBytes data;                  // elements() times the element size

  std::int64_t elements() const;
};

// Bytes of one element of a supported type; 0 for a type that Rondo does not read.
int npy_element_bytes(const std::string& descr);

// Any bytes are safe. Errors (Input) name `origin` (the file): no .npy, a version above 3, a malformed
// header or one of more than 64 KiB, Fortran order, big-endian or unsupported elements, fewer or more bytes
// than the shape says.
Result<NpyArray> parse_npy(std::string_view bytes, const std::string& origin);
// The data stay in the file, which is mapped where that can be (support/mapped_file.h). Errors: Missing where
// there is no such file, Input where it is a pipe or a device or is larger than this machine's memory, and
// those of parse_npy.
Result<NpyArray> read_npy(const std::string& path);
// The bytes of a version 1 file.
std::string to_npy(const NpyArray& array);

// The storage type that holds the elements without loss: fp32 for "<f4" and "<f8", fp16, and bf16 for "<V2"
// (what NumPy calls bfloat16 of ml_dtypes). None for "<u2", which is bf16 only if the user says so.
std::optional<kernel::Storage> natural_storage(const std::string& descr);

// The numbers. 16-bit words without a float type ("<V2", "<u2") count as bf16 if `storage` is; else Error
// Input.
Result<std::vector<double>> npy_values(const NpyArray& array, kernel::Storage storage,
                                       const std::string& origin);

// Whether its elements are numbers that npy_numbers() reads; Error Input as npy_values() says.
Status check_floats(const NpyArray& array, kernel::Storage storage, const std::string& origin);
// Elements of such an array, from `first` on, as fp32, of "<f8" rounded to it, or exactly as fp64.
void npy_numbers(const NpyArray& array, std::int64_t first, std::span<float> values);
void npy_numbers(const NpyArray& array, std::int64_t first, std::span<double> values);

// Are its elements integers or truth values?
bool holds_integers(const NpyArray& array);
// The numbers of an array of integers or truth values: bytes ("|u1", "|b1") or signed ones of 32 or 64 bits.
// Errors (Input): elements of another type, or beyond 32 bits.
Result<std::vector<double>> npy_integers(const NpyArray& array, const std::string& origin);

// An array of numbers as `storage` holds them. bf16 is written as "<f4": exact, and every NumPy reads it.
NpyArray npy_from(const std::vector<double>& values, std::vector<std::int64_t> shape,
                  kernel::Storage storage);

// "(8, 128, 1, 64)", as NumPy writes it.
std::string shape_tuple(const std::vector<std::int64_t>& shape);

}  // namespace rondo::engine
