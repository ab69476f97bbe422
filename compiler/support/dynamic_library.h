// A shared library opened at run time, so that Rondo starts where the library is not installed.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "compiler/support/environment.h"
#include "compiler/support/result.h"

namespace rondo {

// Owns one dlopen handle; closes it when destroyed. Movable, not copyable.
class DynamicLibrary {
 public:
  // Opens the first of `candidates` (paths, or bare names that the dynamic linker searches for). An error of
  // kind Missing lists what was tried and why each failed; `what` names the library in it and `hint` ends up
  // in the error. Memory where one was there and did not fit.
  struct How {
    bool global = false;  // its symbols satisfy libraries opened later
    // The paths were looked for and not named by the user: those that others_may_change() are passed over.
    bool found = false;
  };
  static Result<DynamicLibrary> open(std::span<const std::string> candidates, const std::string& what,
                                     const std::string& hint, How how = {.global = false, .found = false});

  DynamicLibrary() = default;
  DynamicLibrary(DynamicLibrary&& other) noexcept;
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept;
  DynamicLibrary(const DynamicLibrary&) = delete;
  DynamicLibrary& operator=(const DynamicLibrary&) = delete;
  ~DynamicLibrary();

  // The address of an exported symbol, or null.
  void* symbol(const char* name) const;

  // Sets `function` to the symbol's address. False, with `function` null, when the library does not export
  // it.
  template <class F>
  bool load(F*& function, const char* name) const {
    function = reinterpret_cast<F*>(symbol(name));
    return function != nullptr;
  }

  const std::string& opened_as() const { return opened_as_; }  // the candidate that opened

  // The absolute path of the file that was mapped; opened_as() when the system cannot tell.
  std::string path() const;

 private:
  void* handle_ = nullptr;
  std::string opened_as_;
};

// Looks up the functions of a table, and remembers the names that the library lacks, so that one error lists
// them all:
//
//   struct Api {
//     explicit Api(const DynamicLibrary& library) : imports{library} {}
//     Imports imports;
//     Imported<decltype(cuInit)> init{imports, "cuInit"};
//   };
struct Imports {
  const DynamicLibrary& library;
  std::string missing = {};  // with commas
};

enum class Need { Always, Optional };  // of a function, so that a table serves at all

// A function of a library, which knows its name.
template <class F>
class Imported {
 public:
  Imported(Imports& from, const char* name, Need need = Need::Always) : name_(name) {
    if (!from.library.load(function_, name) && need == Need::Always)
      from.missing += (from.missing.empty() ? "" : ", ") + std::string(name);
  }
  template <class... Arguments>
  auto operator()(Arguments... arguments) const {
    return function_(arguments...);
  }
  explicit operator bool() const { return function_ != nullptr; }
  const char* name() const { return name_; }

 private:
  const char* name_;
  F* function_ = nullptr;
};

// The process's own library: opened at the first call, by T::open() with what the environment variable says.
// Never destroyed: such libraries have state that other static destructors may still reach.
template <class T>
Result<const T*> library_of_process(const char* variable) {
  static const auto* opened = new Result<std::unique_ptr<const T>>(T::open(environment(variable)));
  if (!*opened) return opened->error();
  return (**opened).get();
}

}  // namespace rondo
