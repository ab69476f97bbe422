// The C interface of librondo_llvm.so, the shared library that holds LLVM: text of LLVM IR in, assembly or an
// object file out. It is opened at run time (compiler/backend/llvm/llvm.h), so that the program starts
// without it, and it exports one symbol, rondo_llvm_entry. Nothing but plain C crosses it: both sides have a
// C++ runtime of their own.
#pragma once

#include <stddef.h>

extern "C" {

// Changes with every change of this file; a library of another number is refused.
#define RONDO_LLVM_INTERFACE 2

struct rondo_llvm_request {
  const char* ir;  // ends with a zero byte at ir[size]
  size_t size;
  const char* name;      // how messages call the text
  const char* triple;    // "nvptx64-nvidia-cuda"
  const char* cpu;       // "sm_90a"
  const char* features;  // "+ptx81"
  int object;            // 0: assembly as text; 1: an object file
  int optimise;          // 1: the passes of -O3; 0: the IR as it is written
  int print_ir;          // 1: the answer is the optimised IR, as text
};

enum { RONDO_LLVM_OK = 0, RONDO_LLVM_REJECTED = 1, RONDO_LLVM_NO_MEMORY = 2 };

// What became of it; the library owns `bytes` until release().
struct rondo_llvm_answer {
  int status;  // RONDO_LLVM_REJECTED: `bytes` is a message of one or more lines; _NO_MEMORY: nothing is there
  char* bytes;
  size_t size;
};

struct rondo_llvm_interface {
  int interface_version;  // RONDO_LLVM_INTERFACE
  const char* version;    // of LLVM: "22.1.8"
  const char* targets;    // built in, parted by blanks: "nvptx64"
  // May run in several threads at once. The verifier runs on the IR before and after the passes.
  void (*compile)(const struct rondo_llvm_request*, struct rondo_llvm_answer*);
  void (*release)(struct rondo_llvm_answer*);
};

// Lives as long as the library is open.
__attribute__((visibility("default"))) const struct rondo_llvm_interface* rondo_llvm_entry(void);
}
