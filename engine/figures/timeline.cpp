#include "engine/figures/timeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/support/units.h"
#include "engine/figures/axis.h"

namespace rondo::figures {
namespace {

using Of = TimelinePart::Of;

constexpr double kLaneLine = 16, kRow = 24, kBar = 16;
constexpr double kNarrowest = 480;    // below it labels stand above their bars
constexpr double kLabelWidth = 0.42;  // of the picture, where it is wide
constexpr double kValueWidth = 64;    // pixels of the times at the right
constexpr double kLeast = 0.004;      // of a step: shorter parts are in the table alone
constexpr double kBold = 1.2;         // at most how much wider a bold text is

struct Lane {
  std::string name, kind, value;
  double from = 0, seconds = 0;
};

struct Lanes {
  std::vector<Lane> chain, beside;
  double hidden = 0;  // seconds of the chain's parts that overlap
  double end = 0;     // of the longest
};

Lanes lanes_of(const std::vector<TimelinePart>& parts, double step_s) {
  Lanes lanes;
  for (const TimelinePart& part : parts) {
    if (part.of == Of::Launches) continue;
    if (part.seconds < 0) {
      lanes.hidden -= part.of == Of::Chain ? part.seconds : 0;
      continue;
    }
    const bool in_chain = part.of == Of::Chain;
    if (in_chain && part.seconds > 0) {
      lanes.chain.push_back({part.name, fmt::format("s{}", lanes.chain.size() % 5), duration(part.seconds),
                             lanes.chain.empty() ? 0 : lanes.chain.back().from + lanes.chain.back().seconds,
                             part.seconds});
      lanes.end = std::max(lanes.end, lanes.chain.back().from + part.seconds);
    } else if (part.seconds > kLeast * step_s) {
      lanes.beside.push_back({part.name, "work", duration(part.seconds), 0, part.seconds});
      lanes.end = std::max(lanes.end, part.seconds);
    }
  }
  lanes.end = std::max(lanes.end, step_s);
  std::erase_if(lanes.chain, [&](const Lane& lane) { return lane.seconds <= kLeast * step_s; });
  return lanes;
}

void draw_lane(Svg& svg, const Axis& axis, const Lane& lane, double y, bool narrow) {
  const double from = axis.at(lane.from), to = axis.at(lane.from + lane.seconds);
  svg.box({from, narrow ? y + kLaneLine : y}, std::max(to - from, 1.0), kBar, "bar " + lane.kind,
          lane.name + " " + lane.value, 2);
  if (narrow)
    svg.text({4, y + 11}, fitting(lane.name, svg.width() - text_width(lane.value) - 20), Anchor::Start,
             "halo");
  else
    svg.text({axis.from - 8, y + 12}, fitting(lane.name, axis.from - 12), Anchor::End);
  svg.text({svg.width() - 4, y + (narrow ? 11 : 12)}, lane.value, Anchor::End, "tick halo");
}

// Where the step ends, and its time.
void draw_end(Svg& svg, const Axis& axis, double step_s, double top, double bottom) {
  svg.line({axis.at(step_s), top}, {axis.at(step_s), bottom}, "reference");
  const std::string said = "a step: " + duration(step_s);
  const bool left = axis.at(step_s) + 6 + kBold * text_width(said) > svg.width();
  svg.text({axis.at(step_s) + (left ? -6 : 6), bottom - 5}, said, left ? Anchor::End : Anchor::Start,
           "halo strong");
}

Svg draw_lanes(const Lanes& lanes, double step_s, double width) {
  const bool narrow = width < kNarrowest;
  const double row = narrow ? kRow + kLaneLine : kRow, head = kLaneLine + 8;
  const double heads = lanes.beside.empty() ? 1 : 2;
  const auto rows = static_cast<double>(lanes.chain.size() + lanes.beside.size());
  const double top = 20, bottom = heads * head + rows * row + kLaneLine;
  Svg svg(width, bottom + 2 * kLaneLine + 8);
  Axis axis{"time of one step", Spacing::Linear, 0, std::max(lanes.end, 1e-12), 4, width - 16, duration};
  if (!narrow) {
    axis.from = width * kLabelWidth;
    axis.to = width - kValueWidth;
  }
  for (const double tick : axis.ticks(static_cast<int>((axis.to - axis.from) / 70))) {
    svg.line({axis.at(tick), top}, {axis.at(tick), bottom}, "grid");
    const std::string label = axis.label(tick);
    svg.text({middle_within(axis.at(tick), label, width), bottom + kLaneLine - 2}, label, Anchor::Middle,
             "tick");
  }
  svg.text({axis.to, bottom + 2 * kLaneLine}, axis.title, Anchor::End, "title");
  draw_end(svg, axis, step_s, top + 4, bottom);
  double y = kLaneLine;
  const auto draw_all = [&](const std::string& name, const std::vector<Lane>& all) {
    svg.text({4, y}, name, Anchor::Start, "title halo");
    y += 10;
    for (const Lane& lane : all) {
      draw_lane(svg, axis, lane, y, narrow);
      y += row;
    }
    y += head - 10;
  };
  draw_all("the chain: each waits for the one before", lanes.chain);
  if (!lanes.beside.empty()) draw_all("meanwhile: other work and memory", lanes.beside);
  return svg;
}

const char* name_of(Of of) {
  return of == Of::Chain ? "chain" : of == Of::Work ? "beside the chain" : "once a run";
}

}  // namespace

Figure timeline(const std::vector<TimelinePart>& parts, double step_s, const std::string& by) {
  Figure figure;
  figure.title = "One step over time";
  figure.about = fmt::format(
      "What a step is made of, {}. Parts of the chain wait for each other. The others are work of other "
      "threads and of memory, which goes on at the same time; they are drawn from the beginning of the step.",
      by);
  const Lanes lanes = lanes_of(parts, step_s);
  if (lanes.hidden > 0)
    figure.about += fmt::format(
        " The chain's parts hide {} of each other, so the step ends before they do in the picture.",
        duration(lanes.hidden));
  figure.table.head = {"part", "where", "time"};
  for (const TimelinePart& part : parts)
    figure.table.rows.push_back({part.name, name_of(part.of), duration(part.seconds)});
  figure.draw = [lanes, step_s](double width) { return draw_lanes(lanes, step_s, width); };
  return figure;
}

}  // namespace rondo::figures
