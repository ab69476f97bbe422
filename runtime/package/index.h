// The table of contents of a package: which kernels it holds, for which problems and GPUs, and where its
// parts lie.
//
// A package is one flat file (docs/packages.md says why):
//
//   header   "RONDOPKG", the format's version (u32), zero (u32), bytes of the file (u64), bytes of the index
//            (u64), SHA-256 of the index (64 hex digits)
//   index    this file's Index (compiler/support/bytes.h)
//   parts    each from a multiple of kAlignment on, in the order of the index, with zeros between them
//
// The index holds the SHA-256 of every part, so its own hash vouches for the whole file: it is the hash of
// the package. Opening checks header and index; a part is checked when it is taken.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/executable/executable.h"
#include "compiler/support/result.h"

namespace rondo::package {

inline constexpr std::string_view kMagic = "RONDOPKG";
inline constexpr std::uint32_t kFormatVersion = 4;
inline constexpr std::size_t kHashDigits = 64;  // of SHA-256 as hex
inline constexpr std::size_t kHeaderBytes = 8 + 4 + 4 + 8 + 8 + kHashDigits;
inline constexpr std::size_t kAlignment = 64;  // more than the driver asks of an image

enum class PartKind : std::uint8_t { Manifest, Executable, Cubin, Ptx, SelfTest };
const char* part_kind_name(PartKind kind);  // "manifest", "executable", ...

// Bytes of the file, stored once however many entries use them.
struct Part {
  PartKind kind = PartKind::Manifest;
  std::uint64_t offset = 0;  // in the file
  std::uint64_t bytes = 0;
  std::string hash;  // SHA-256 of these bytes, as hex
  bool operator==(const Part&) const = default;
};

inline constexpr std::uint32_t kNoPart = 0xFFFFFFFFU;

// The code of an entry's kernels for one target: an executable::Image whose bytes are a part.
struct Code {
  std::string target;  // "sm_90", "sm_90a"; of PTX the architecture it was made for: "sm_80"
  executable::ImageKind kind = executable::ImageKind::Cubin;
  std::string compiler;
  std::vector<executable::KernelResources> resources;
  std::uint32_t part = 0;
  bool operator==(const Code&) const = default;
};

// The kernels of one problem, as they were chosen for one architecture.
struct Entry {
  std::string cell, cell_hash;  // name, and hash of the canonical form with the values of constants
  std::string variant;  // what it has beside its text: "p_c=0.1 clip_forward=2 resets"; "" for nothing
  std::string storage, math, pass;    // "bf16", "fast", "bw+products"
  std::int64_t batch = 1, time = 1;   // that it was chosen for; a call is free to use others
  std::int64_t heads = 1, dim = 1;    // compiled in
  std::string arch;                   // "sm_90": what it was chosen for
  std::string board;                  // "NVIDIA H200": likewise; "" of what is for any
  std::int64_t multiprocessors = 0;   // of the board; 0 of what is for any
  std::string strategy, parameters;   // "stream", "channels=64 ..."
  std::string origin;                 // where the choice comes from: "tuned", "by model"
  std::string note;                   // the same in a line: for what, on which GPU, by which Rondo, when
  double expected_ms = 0;             // as measured, or the model's estimate; 0: not known
  std::uint32_t executable = 0;       // part: an executable without images
  std::uint32_t self_test = kNoPart;  // part: a SelfTest
  std::vector<Code> codes;            // one at least
  bool operator==(const Entry&) const = default;
};

struct Index {
  std::string producer;     // "rondo 0.1.0"
  std::vector<Part> parts;  // the first is the manifest
  std::vector<Entry> entries;
  bool operator==(const Index&) const = default;
};

// Of the same length whatever offsets, sizes and hashes of the parts are.
std::string index_to_bytes(const Index& index);
// Errors: Input where the bytes are none, or where a part that an entry names is missing or of another kind.
Result<Index> index_from_bytes(std::string_view bytes, const std::string& origin);

// "lstm fw bf16 fast H=1 D=512", with the variant behind the name, "lstm (clip_forward=2)": what a call may
// ask for.
std::string kind_text(const Entry& entry);
// "lstm fw bf16 fast H=1 D=512, for B=16 T=1024 on sm_90 (NVIDIA H200)": an entry in messages.
std::string describe(const Entry& entry);

// Why a package is refused; the hint says what to do.
Error refused(const std::string& origin, const std::string& what);

}  // namespace rondo::package
