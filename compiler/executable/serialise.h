// An Executable as bytes: for the database, for other processes and for packages.
//
// Layout: the magic "RONDOEXE", the format's version (u32), the length of the payload (u64), its SHA-256 (64
// hex digits), the payload (compiler/support/bytes.h). The hash covers the payload, and what stands before it
// is compared, so that a change of any byte is refused. Each image has a hash of its own in the payload, for
// whoever takes the image alone. Reading does not work it out again, since the payload's hash vouches for
// bytes and hash alike; only where that fails it tells whether an image is what was damaged.
#pragma once

#include <string>
#include <string_view>

#include "compiler/executable/executable.h"
#include "compiler/support/result.h"

namespace rondo::executable {

// Also stands for what kernels of two passes must agree on without reading each other: the types of what one
// saves for the other. Since 5 some histories of fp16 problems are fp32; since 6 a tensor says in which
// result it lies; since 7 sizes and launches may count several rows for each batch row.
inline constexpr std::uint32_t kFormatVersion = 7;

std::string to_bytes(const Executable& executable);

// Errors: Input (no executable, cut short, altered), Unsupported (another version of the format), and those
// of check(). `origin` names the source in messages: a file, a row of the database.
Result<Executable> from_bytes(std::string_view bytes, const std::string& origin);

// Layouts of parts that other files hold too (compiler/support/bytes.h).
inline constexpr auto kTensorRef = [](auto& archive, auto& ref) {
  archive.one_of(ref.role, Role::Lengths);
  archive(ref.tensor);
};
inline constexpr std::size_t kLeastResources = 4 + 6 * 4;
inline constexpr auto kResources = [](auto& archive, auto& r) {
  archive(r.name, r.registers, r.shared_bytes, r.stack_bytes, r.spill_store_bytes, r.spill_load_bytes,
          r.max_threads);
};

// SHA-256, as hex, of tensors, kernels and launches: equal for two executables that launch their code in the
// same way, whatever they are called.
std::string launch_hash(const Executable& executable);

}  // namespace rondo::executable
