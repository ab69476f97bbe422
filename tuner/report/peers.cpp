#include "tuner/report/peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "compiler/schedule/problem/problem.h"
#include "tuner/report/record_text.h"

namespace rondo::tuner {
namespace {

using nlohmann::json;

const char* kWhat = "a record of benchmarks/results has such rows: cell, shape, dtype, pass, peer_ms, peer";

std::optional<std::int64_t> extent_at(const json& shape, const char* name) {
  const auto found = shape.find(name);
  if (found == shape.end() || !found->is_number_integer() || found->get<std::int64_t>() < 1)
    return std::nullopt;
  return found->get<std::int64_t>();
}

// The row of an object that has a peer's time. What is wrong with it: a text.
Result<PeerRow> row_of(const json& row, const std::string& place) {
  const auto wrong = [&](const std::string& what) {
    return Error{ErrorKind::Input, place + ": " + what, kWhat};
  };
  PeerRow made{text_at(row, "cell"), {}, text_at(row, "dtype"),
               text_at(row, "pass"), 0,  text_at(row, "peer")};
  if (made.cell.empty() || made.dtype.empty() || made.pass.empty())
    return wrong("a row with peer_ms needs the texts cell, dtype and pass");
  if (!row["peer_ms"].is_number() || !(row["peer_ms"].get<double>() > 0))
    return wrong("peer_ms is no number above zero");
  made.ms = row["peer_ms"].get<double>();
  const json shape = row.contains("shape") ? row["shape"] : json();
  if (!shape.is_object()) return wrong("shape is missing");
  const auto b = extent_at(shape, "B"), t = extent_at(shape, "T"), h = extent_at(shape, "H"),
             d = extent_at(shape, "D");
  if (!b || !t || !h || !d) return wrong("shape has not the whole numbers B, T, H and D");
  made.shape = {*b, *t, *h, *d};
  if (made.name.empty()) made.name = "a peer";
  return made;
}

Status add_rows(const json& list, const std::string& place, std::vector<PeerRow>& rows) {
  if (!list.is_array()) return Error{ErrorKind::Input, place + " is no list", kWhat};
  for (std::size_t i = 0; i < list.size(); ++i) {
    const json& row = list[i];
    if (!row.is_object() || !row.contains("peer_ms") || row["peer_ms"].is_null()) continue;
    Result<PeerRow> made = row_of(row, fmt::format("{}[{}]", place, i));
    if (!made) return made.error();
    rows.push_back(std::move(made).value());
  }
  return success();
}

// A key of a backward pass without what is saved: "bw+products" has "products".
std::string saved_of(const std::string& pass) {
  const std::size_t plus = pass.find('+');
  return plus == std::string::npos ? "" : pass.substr(plus + 1);
}
std::string direction_of(const std::string& pass) { return pass.substr(0, pass.find('+')); }

std::string comparison_name(const PeerRow& peer, const std::string& device) {
  const std::string pass =
      peer.pass == "fwbw" ? "forward (training) and backward" : schedule::pass_title(peer.pass);
  return fmt::format("{} B={},T={},H={},D={} {} {} on {}", peer.cell, peer.shape.B, peer.shape.T,
                     peer.shape.H, peer.shape.D, peer.dtype, pass, device);
}

// The least time of the peer's pass on a device; none where it was not timed.
std::optional<double> least_seconds(const PeerRow& peer, const std::string& device,
                                    const std::vector<TimedProblem>& problems) {
  std::optional<double> least;
  const auto take = [&](double seconds) { least = least ? std::min(*least, seconds) : seconds; };
  for (const TimedProblem& one : problems) {
    if (one.cell != peer.cell || one.problem.device != device || !(one.problem.shape == peer.shape) ||
        one.problem.dtype != peer.dtype)
      continue;
    if (direction_of(one.problem.pass) == peer.pass) take(one.seconds);
    if (peer.pass != "fwbw" || direction_of(one.problem.pass) != "fws") continue;
    db::Problem back = one.problem;
    for (const TimedProblem& other : problems) {
      back.pass = other.problem.pass;
      if (direction_of(back.pass) == "bw" && saved_of(back.pass) == saved_of(one.problem.pass) &&
          back == other.problem)
        take(one.seconds + other.seconds);
    }
  }
  return least;
}

}  // namespace

Result<std::vector<PeerRow>> peers_from_json(const std::string& text, const std::string& origin) {
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded()) return Error{ErrorKind::Input, fmt::format("'{}' is no JSON", origin), kWhat};
  std::vector<PeerRow> rows;
  const std::string place = fmt::format("'{}'", origin);
  if (document.is_array())
    if (Status status = add_rows(document, place, rows); !status) return status.error();
  if (document.is_object())
    for (const char* name : {"rows", "dense"})
      if (document.contains(name))
        if (Status status = add_rows(document[name], fmt::format("{} {}", place, name), rows); !status)
          return status.error();
  if (rows.empty())
    return Error{ErrorKind::Input, fmt::format("'{}' has no row with peer_ms", origin), kWhat};
  return rows;
}

std::vector<Comparison> compared(const std::vector<PeerRow>& peers,
                                 const std::vector<TimedProblem>& problems) {
  std::set<std::string> devices;
  for (const TimedProblem& one : problems) devices.insert(one.problem.device);
  std::vector<Comparison> all;
  for (const PeerRow& peer : peers)
    for (const std::string& device : devices)
      if (const auto seconds = least_seconds(peer, device, problems))
        all.push_back({comparison_name(peer, device), *seconds, peer.ms * 1e-3, peer.name});
  return all;
}

}  // namespace rondo::tuner
