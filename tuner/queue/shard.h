// A part of a list of problems: every n-th from the i-th on, so that machines share a list without talking to
// each other.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "compiler/support/result.h"

namespace rondo::tuner {

struct Shard {
  int number = 1, of = 1;   // from 1 to `of`
  std::string source = {};  // who says so: "--shard", "SLURM_PROCID"; "" for the whole list

  bool is_whole() const { return of == 1; }
  std::string text() const;  // "2/8"
  // Whether the item, counted from 0, is one of this part.
  bool has(std::size_t item) const;
  // The file that this part keeps its own records in: "tuning.2-of-8.db" for "tuning.db"; the whole list's is
  // the file itself.
  std::string file(const std::string& whole) const;
};

// "2/8". Error Input.
Result<Shard> parse_shard(const std::string& text);

// What a cluster's variables say, as std::getenv gives them ("" where there is none): of an array of jobs of
// SLURM (SLURM_ARRAY_TASK_ID among MIN to MAX), of its processes (SLURM_PROCID of SLURM_NTASKS), of
// torchrun's (RANK of WORLD_SIZE), and of an indexed job of Kubernetes (JOB_COMPLETION_INDEX of RONDO_SHARDS,
// which the job has to set). The first kind that is there counts; the whole list without one. Error Input:
// the number is there and not how many there are, or they make no part.
Result<Shard> shard_of_environment(const std::function<std::string(const char*)>& variable);

}  // namespace rondo::tuner
