// What is worked out of a cell's step alone, whatever the sizes. A search over sizes asks for it again and
// again, and for a step of many operations it takes longer than all that is asked of the sizes.
#pragma once

#include <any>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace rondo::schedule {

class StepFacts {
 public:
  // The fact of this name; `make` is called once, while other threads wait. The name says all that it depends
  // on beside the cell, and stands for one type. `make` may ask for other facts.
  template <class T>
  std::shared_ptr<const T> remember(const std::string& name, const std::function<T()>& make) {
    const std::lock_guard lock(mutex_);
    if (const auto found = facts_.find(name); found != facts_.end())
      return std::any_cast<std::shared_ptr<const T>>(found->second);
    auto made = std::make_shared<const T>(make());
    facts_[name] = made;
    return made;
  }

 private:
  std::recursive_mutex mutex_;
  std::map<std::string, std::any> facts_;
};

}  // namespace rondo::schedule
