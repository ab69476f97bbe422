#include "engine/choice/shipped_layer.h"

#include <utility>

#include "compiler/frontend/frontend.h"
#include "compiler/support/environment.h"
#include "compiler/support/text_file.h"

namespace rondo::engine {

namespace {

// "" where this version cannot read the text: its choices then serve this very cell alone.
std::string structure_of(const db::Cell& cell) {
  const frontend::Parsed parsed = frontend::parse(cell.source, cell.name);
  if (!parsed.ok()) return "";
  for (const step::Cell& each : parsed.cells)
    if (each.name == cell.name) return structure_key(each);
  return "";
}

Status add_export(ShippedLayer& layer, const std::string& text, const std::string& origin) {
  const Result<db::Contents> contents = db::contents_from_json(text, origin);
  if (!contents) return contents.error();
  layer.add(*contents, structure_of);
  return success();
}

Result<ShippedLayer> read_layer() {
  const std::string named = environment("RONDO_SHIPPED");
  if (named == "none") return ShippedLayer();
  if (!named.empty()) {
    const Result<std::string> text = read_text_file(named);
    if (!text) return text.error();
    return layer_from(*text, named);
  }
  ShippedLayer layer;
  for (const EmbeddedText& file : embedded_tuning())
    if (Status status = add_export(layer, file.text, "shipped:" + file.name + ".json"); !status)
      return status.error();
  return layer;
}

}  // namespace

Result<ShippedLayer> layer_from(const std::string& text, const std::string& origin) {
  ShippedLayer layer;
  if (Status status = add_export(layer, text, origin); !status) return status.error();
  return layer;
}

const Result<ShippedLayer>& shipped_layer() {
  static const Result<ShippedLayer> layer = read_layer();
  return layer;
}

Result<ShippedLayer> known_choices(const ShippedLayer* shipped, db::Database* database) {
  ShippedLayer known = shipped == nullptr ? ShippedLayer() : *shipped;
  if (database == nullptr) return known;
  db::Contents contents;
  Result<std::vector<db::Device>> devices = database->devices();
  if (!devices) return devices.error();
  contents.devices = std::move(devices).value();
  Result<std::vector<db::Cell>> cells = database->cells();
  if (!cells) return cells.error();
  contents.cells = std::move(cells).value();
  Result<std::vector<db::ProblemSummary>> problems = database->list();
  if (!problems) return problems.error();
  for (db::ProblemSummary& each : *problems)
    if (each.best) contents.problems.push_back({each.problem, {std::move(*each.best)}, 0});
  known.add(contents, structure_of);
  return known;
}

}  // namespace rondo::engine
