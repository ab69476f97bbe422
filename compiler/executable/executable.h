// Executable: the launchable artifact. It holds all that is needed to load and launch the kernels of one
// pass, and nothing of the compiler that made them: a plain value that is stored, sent to other processes,
// and packaged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/executable/tensor.h"
#include "compiler/support/result.h"

namespace rondo::executable {

// What the code of a kernel uses, as its compiler reports it. Counts are per thread, except shared_bytes and
// max_threads (per block).
struct KernelResources {
  std::string name;
  int registers = 0;          // 32-bit registers
  int shared_bytes = 0;       // static shared memory
  int stack_bytes = 0;        // local memory for the stack, callees included
  int spill_store_bytes = 0;  // callees included
  int spill_load_bytes = 0;
  int max_threads = 0;  // threads of a block that the kernel was compiled for; 0: not known

  bool spills() const { return spill_store_bytes > 0 || spill_load_bytes > 0; }
  bool operator==(const KernelResources&) const = default;
};

enum class ImageKind : std::uint8_t { Cubin, Ptx, Object };
const char* image_kind_name(ImageKind kind);  // "cubin", "ptx", "object"

// The code of all kernels for one target.
struct Image {
  std::string target;  // "sm_90", "sm_90a": what the code was made for
  ImageKind kind = ImageKind::Cubin;
  std::string compiler;  // name and version: "nvrtc 13.0"
  std::string bytes;
  std::vector<KernelResources> resources;
  std::string hash = {};  // SHA-256 of the bytes, as hex; seal() sets it
  bool operator==(const Image&) const = default;

  void seal();
};

// A kernel and what its launch needs.
struct Kernel {
  std::string name;               // in the image
  int threads = 1;                // of a block
  int cluster = 1;                // blocks of a cluster; 1: no clusters
  std::int64_t shared_bytes = 0;  // dynamic shared memory of a block
  bool cooperative = false;       // its blocks wait for each other: all must be resident at once
  bool waits = false;             // it sets the status word when it has waited in vain
  bool operator==(const Kernel&) const = default;
};

// One kernel parameter.
struct Argument {
  enum class Kind : std::uint8_t {
    Pointer,    // to the tensor
    StrideB,    // elements between its batch rows, and
    StrideT,    // between its time steps
    Batch,      // B, or the rows that the launch counts for it (SizeRule::batch_rows)
    Time,       // T
    FirstTile,  // batch tiles before this part of the launch
    StepCount,  // steps done before this repetition
    // Of tensors whose time is walked from its end:
    LastStep,     // pointer to step T - 1 of the tensor, and
    StrideTBack,  // elements from a time step to the one before
  } kind = Kind::Batch;
  std::uint8_t bytes = 4;    // of the parameter: 4 or 8
  std::uint16_t tensor = 0;  // index into Executable::tensors, of the first three and the last two
  bool operator==(const Argument&) const = default;
};

// Blocks of a launch: `blocks` at the call's B and T. At most `tiles_together` batch tiles (of
// blocks.batch_tile rows) run at once; more are launched one part after the other. 0: any number.
struct Grid {
  SizeRule blocks;
  std::int64_t tiles_together = 0;
  bool operator==(const Grid&) const = default;
};

// How often a launch runs. Neighbouring launches with the same repetition other than Once run together, in
// order, as often as it says.
struct Repetition {
  enum class Kind : std::uint8_t {
    Once,
    EachStep,  // once for each time step
    Until,     // until the word `condition` is not 0, at most `most` times
  } kind = Kind::Once;
  std::int32_t most = 1;
  // Of Until: index of an int32 tensor. A launcher that cannot look at the word without waiting runs all
  // `most` repetitions: kernels find out themselves that nothing is left to be done.
  std::uint16_t condition = 0;
  bool operator==(const Repetition&) const = default;
};

struct Launch {
  std::uint16_t kernel = 0;  // index into Executable::kernels
  Grid grid;
  Repetition repetition;
  std::vector<Argument> arguments;
  bool operator==(const Launch&) const = default;
};

// What was compiled, for whom, and by what.
struct Identity {
  std::string cell_name;
  std::string cell_hash;  // of the canonical form, with the values of its constants
  std::string variant;    // what it has beside its text: "p_c=0.1 clip_forward=2 resets"; "" for nothing
  std::int64_t batch = 1, time = 1;  // the sizes it was tuned for; a call is free to use others
  std::int64_t heads = 1, dim = 1;   // compiled in
  std::string storage;               // "bf16"
  std::string math;                  // "fast"
  std::string pass;                  // "fw", "bw+products"
  std::string strategy;              // "stream"
  std::string parameters;            // "channels=64 steps=32 ..."
  std::string source_hash;           // SHA-256 of the text that was compiled
  std::string producer;              // "rondo 0.1.0"
  std::string build;                 // of the producer (build_id())
  // Of all that the producer was asked for beside strategy and parameters (schedule::asked_hash()); "" where
  // the kernels are not just what a strategy made of it.
  std::string asked;
  bool operator==(const Identity&) const = default;
};

inline constexpr std::size_t kMaxTensors = 128;
inline constexpr std::size_t kMaxArguments = 256;  // of a launch

struct Executable {
  Identity identity;
  std::vector<Tensor> tensors;
  std::vector<Kernel> kernels;
  std::vector<Launch> launches;  // in order, on one stream
  std::vector<Image> images;
  bool operator==(const Executable&) const = default;

  // "stream channels=64 ...", for messages.
  std::string plan_name() const { return identity.strategy + " " + identity.parameters; }
  // The same without code: what two builds of one plan have in common.
  Executable without_images() const;
};

// Whether kernels walk over the tensor's time from its end (Argument::Kind::LastStep).
bool is_walked_from_end(const Executable& executable, std::size_t tensor);

// Whether it contradicts itself: an index past its end, an argument that no kernel parameter can be, a size
// below zero. Error Internal, naming the part.
Status check(const Executable& executable);

}  // namespace rondo::executable
