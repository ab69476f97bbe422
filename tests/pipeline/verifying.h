// A watcher under which every pass is verified.
#pragma once

#include "compiler/pipeline/watch.h"

namespace rondo::pipeline::testing {

class Verifying final : public PassWatcher {
 public:
  bool verifies() const override { return true; }
  void begins(Pass) override {}
  void ends(Pass, const Made&) override {}
};

}  // namespace rondo::pipeline::testing
