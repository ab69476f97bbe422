// The values a variable may take.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/constraint/checked.h"

namespace rondo::constraint {

// A finite set of values, kept ascending and without repeats; copies share it. May be empty: a system with an
// empty domain has no solution and explain() names the variable.
class Domain {
 public:
  static constexpr std::size_t kMaxSize = std::size_t{1} << 22;

  explicit Domain(std::vector<Value> values);
  const std::vector<Value>& values() const { return *values_; }
  bool contains(Value value) const;
  std::string to_string() const;  // "16, 32, 64", "1 to 768", or the first and last of a long list

 private:
  std::shared_ptr<const std::vector<Value>> values_;
};

// Each throws std::length_error (a std::logic_error) for more than Domain::kMaxSize values.
Domain values(std::vector<Value> list);
Domain range(Value first, Value last,
             Value step = 1);                   // both ends included; step >= 1, else std::logic_error
Domain powers_of_two(Value least, Value most);  // those of 1, 2, 4, ... within [least, most]

}  // namespace rondo::constraint
