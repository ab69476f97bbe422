#include "engine/figures/times.h"

#include "compiler/support/units.h"
#include "engine/figures/bars.h"

namespace rondo::figures {

Figure time_bars(const std::string& title, const std::string& about, const std::vector<NamedTime>& times) {
  Figure figure;
  figure.title = title;
  figure.about = about;
  figure.table.head = {"what", "time", "made of"};
  BarChart chart;
  chart.axis.title = "time";
  chart.axis.label = duration;
  for (const NamedTime& time : times) {
    figure.table.rows.push_back({time.name, duration(time.seconds), time.detail});
    chart.rows.push_back(
        {time.name, duration(time.seconds), {{time.seconds, time.kind, time.detail}}, time.kind == "time"});
  }
  figure.draw = [chart](double width) { return figures::draw(chart, width); };
  return figure;
}

Figure ratio_bars(const std::string& title, const std::string& about, const std::string& axis,
                  const std::vector<std::string>& head, const std::vector<Ratio>& ratios) {
  Figure figure;
  figure.title = title;
  figure.about = about;
  figure.table.head = {"what", "factor"};
  figure.table.head.insert(figure.table.head.end(), head.begin(), head.end());
  BarChart chart;
  chart.axis.title = axis;
  chart.axis.label = [](double value) { return plain(value) + "×"; };
  chart.line = 1;
  for (const Ratio& ratio : ratios) {
    std::vector<std::string> cells = {ratio.name, times(ratio.factor)};
    cells.insert(cells.end(), ratio.cells.begin(), ratio.cells.end());
    figure.table.rows.push_back(std::move(cells));
    chart.rows.push_back(
        {ratio.name, times(ratio.factor), {{ratio.factor, ratio.factor > 1 ? "peer" : "time", ""}}});
  }
  figure.draw = [chart](double width) { return figures::draw(chart, width); };
  return figure;
}

}  // namespace rondo::figures
