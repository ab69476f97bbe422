// What moves between databases, and its JSON form:
//
//   {"format": "rondo-tuning", "version": 1,
//    "devices": [{"key", "name", "compute", "sm_count", "driver", "origin", "calibrated_at", "profile"}],
//    "cells": [{"hash", "name", "source"}],
//    "problems": [{"cell", "device", "arch", "shape": {"B", "T", "H", "D"}, "dtype", "math", "pass",
//                  "trials": [{"strategy", "parameters", "status", "verified", ..., "best"}]}]}
//
// Cubins do not travel as JSON: they are rebuilt, or come with a whole database file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "tuning_db/records.h"

namespace rondo::db {

struct TunedProblem {
  Problem problem;
  std::vector<Trial> trials;        // ids have no meaning outside their database
  std::optional<std::size_t> best;  // index into trials
};

struct Contents {
  std::vector<Device> devices;
  std::vector<Cell> cells;
  std::vector<TunedProblem> problems;
};

// The same with the best trial of each problem alone, and without problems that have none and the cells and
// devices that nothing else names: what is shipped with Rondo.
Contents best_of(const Contents& contents);

enum class Layout {
  Indented,    // each field on a line of its own
  LineAnItem,  // each device, cell and problem on one, so that people can compare two files
};
// Error Input where a text is not UTF-8.
Result<std::string> to_json(const Contents& contents, Layout layout = Layout::Indented);
// Error Input naming `origin` (the file) and the place, "problems[3].trials[0].status".
Result<Contents> contents_from_json(const std::string& text, const std::string& origin);

}  // namespace rondo::db
