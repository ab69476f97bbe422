// Numbers with their units, as people read them in texts and pictures.
#pragma once

#include <string>

namespace rondo {

// Three digits, and all of those before the point: "0.0291", "72.6", "1030".
std::string digits(double value);
// Three digits, with a prefix of the unit from k to T: "495 TFLOP/s".
std::string with_prefix(double value, const std::string& unit);
// Three digits: "1.15 s", "72.6 ms", "31.3 µs", "230 ns"; "0".
std::string duration(double seconds);
// "92%", "0.4%".
std::string percent(double share);
// "1.15×", "12×".
std::string times(double factor);
// With as few digits as tell a tick from its neighbours: "0.02", "5", "200".
std::string plain(double value);

}  // namespace rondo
