// How a pass runs: watched, if somebody watches, and with its verifier after it.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/pipeline/passes.h"

namespace rondo::pipeline {

// What a pass made. It is printed and verified only if somebody wants to.
struct Made {
  std::function<std::string()> print;                // empty: the pass failed
  std::function<std::vector<std::string>()> verify;  // every defect, in plain words; empty: no verifier
};

// Who is told of every pass; one compilation at a time. Passes lie in each other: Lower holds those over the
// step that it runs.
class PassWatcher {
 public:
  virtual ~PassWatcher() = default;
  virtual bool verifies() const { return false; }  // wants the verifier after each pass that has one
  virtual void begins(Pass pass) = 0;
  virtual void ends(Pass pass, const Made& made) = 0;
  virtual void verified(Pass) {}  // after ends(), where the verifier ran
};

// A pass made something that its verifier refuses.
class BrokenPass : public std::logic_error {
 public:
  BrokenPass(Pass pass, const std::string& defect);
  Pass pass;
};

// Whether the verifier of the pass runs while nobody watches: in debug builds, and where PassInfo says so.
bool always_verified(Pass pass);
// Tells the watcher, if there is one, and verifies. Throws BrokenPass.
void finish_pass(PassWatcher* watcher, Pass pass, const Made& made);

// The result of `run()`. `made` tells of it as Made, and is not asked while nobody wants to know.
template <class Run, class Describe>
auto watched(PassWatcher* watcher, Pass pass, const Run& run, const Describe& made) {
  if (watcher == nullptr && !always_verified(pass)) return run();
  if (watcher != nullptr) watcher->begins(pass);
  auto result = run();
  finish_pass(watcher, pass, made(result));
  return result;
}

}  // namespace rondo::pipeline
