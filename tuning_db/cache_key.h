// The content address of a compiled kernel: everything that decides what the compiler produces.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace rondo::db {

// SHA-256, as 64 hex digits, of a domain name and fields. Each field goes in with its length before it, so
// that moving bytes from one field to its neighbour ("ab","c" and "a","bc") gives another hash.
std::string hash_fields(std::string_view domain, std::initializer_list<std::string_view> fields);

// Two kernels share a cubin only when all four are equal byte for byte.
struct CacheKey {
  std::string source;            // CUDA C++ text, whole
  std::string flags;             // compiler options, joined by one blank in the order given
  std::string arch;              // what the code is made for: "sm_90", "sm_90a"
  std::string compiler_version;  // backend and version: "nvrtc 12.4"

  std::string hash() const;  // 64 hex digits; the key of the cubin in the database
  bool operator==(const CacheKey&) const = default;
};

}  // namespace rondo::db
