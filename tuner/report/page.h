// A report as one HTML page that needs nothing else: no network, no other file.
#pragma once

#include <cstddef>
#include <string>

#include "tuner/report/report.h"

namespace rondo::tuner {

struct Page {
  std::string html;
  std::size_t figures = 0;
};

// Deterministic: the same report gives the same bytes. Whatever the report's texts hold, they stay text.
Page page_of(const Report& report);

}  // namespace rondo::tuner
