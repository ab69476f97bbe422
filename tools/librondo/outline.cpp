#include "tools/librondo/outline.h"

namespace rondo::capi {

namespace {

class OutlineWork final : public Work {
 public:
  OutlineWork(executable::Launcher launcher, bool chosen) : launcher_(std::move(launcher)), chosen_(chosen) {}

  const std::vector<executable::Tensor>& tensors() const override { return launcher_.tensors(); }
  std::int64_t workspace_bytes(std::int64_t batch, std::int64_t time) const override {
    return launcher_.workspace_bytes(batch, time);
  }
  std::int32_t outline() const override { return chosen_ ? 1 : 2; }
  Status check_workspace() const override {
    if (chosen_) return success();
    return Error{ErrorKind::Unsupported, "the outline is of any plan, and its workspace depends on which one",
                 "make the outline with a context"};
  }
  Status launch(void*, const executable::Bindings&, std::int64_t, std::int64_t) const override {
    return no_code();
  }
  Status check_fits(std::int64_t, std::int64_t) const override { return no_code(); }
  Status prepare(const executable::Bindings&, std::int64_t, std::int64_t) const override { return no_code(); }
  Status copy(void*, executable::Address, executable::Address, std::int64_t) const override {
    return no_code();
  }

 private:
  static Status no_code() {
    return Error{ErrorKind::Unsupported, "the plan is an outline, which has no code to launch",
                 "rondo_plan_create() and rondo_training_create() make plans to launch"};
  }

  executable::Launcher launcher_;
  bool chosen_;
};

Result<std::unique_ptr<PlanObject>> outline(std::shared_ptr<const Device> device,
                                            const executable::Executable& executable, PlanFacts facts,
                                            bool chosen) {
  Result<executable::Launcher> launcher = executable::Launcher::make(executable);
  if (!launcher) return launcher.error();
  return make_plan(std::move(device), executable.identity,
                   std::make_unique<OutlineWork>(std::move(launcher).value(), chosen), std::move(facts));
}

}  // namespace

Result<std::unique_ptr<PlanObject>> outline_of(std::shared_ptr<const Device> device,
                                               const executable::Executable& executable, PlanFacts facts) {
  return outline(std::move(device), executable, std::move(facts), true);
}

Result<std::unique_ptr<PlanObject>> outline_of_any(const schedule::Task& task) {
  Result<executable::Executable> executable = reference_executable(task);
  if (!executable) return executable.error();
  executable->identity.strategy.clear();
  return outline(nullptr, *executable, {"", "the tensors of any plan of the problem", false, 0}, false);
}

}  // namespace rondo::capi
