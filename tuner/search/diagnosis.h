// Why a search has no winner although candidates ran: all of them are wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/check/verdict.h"
#include "engine/choice/candidates.h"

namespace rondo::tuner {

struct Diagnosis {
  // Wrong candidates by the tensor that is furthest beyond its limit, the commonest first.
  struct Tensor {
    std::string name;
    std::size_t candidates = 0;
    double least_excess = 0;  // error over limit, of the one nearest to it
  };
  struct Strategy {
    std::string name;
    std::size_t tried = 0;  // compiled, or not compiled
    std::size_t wrong = 0;  // ran
  };

  std::size_t wrong = 0;
  std::vector<Tensor> tensors;
  std::vector<Strategy> strategies;  // that had a turn, in the order of their names
  std::vector<std::string> untried;  // strategies that had none
  engine::Candidate nearest;         // to right
  engine::Verdict verdict;           // its
  std::uint64_t other_seed = 0;      // that it was compared on again; 0: it was not, or could not be
  engine::Verdict with_other_seed;

  std::string text() const;    // what was found, several lines
  std::string advice() const;  // what to do about it
};

}  // namespace rondo::tuner
