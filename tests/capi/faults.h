// What does not hold of a wrapper in C++, told to a test in C.
#pragma once

#include <string>

class Faults {
 public:
  void check(bool holds, const char* what) {
    if (!holds) text_ += std::string(what) + "\n";
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};
