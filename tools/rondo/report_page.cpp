// `rondo report`: a page with pictures of what is tuned, or of one problem.
#include "tuner/report/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/support/text_file.h"
#include "engine/arrays/staged_files.h"
#include "engine/choice/shipped_layer.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/explained.h"
#include "tools/rondo/json_view.h"
#include "tools/rondo/session.h"
#include "tuner/report/machine_figures.h"
#include "tuner/report/page.h"
#include "tuner/report/record.h"

namespace rondo::tools {
namespace {

Result<std::vector<tuner::PeerRow>> peers_of(const Options& options) {
  if (options.peers.empty()) return std::vector<tuner::PeerRow>();
  const Result<std::string> text = read_text_file(options.peers);
  if (!text) return text.error();
  return tuner::peers_from_json(*text, options.peers);
}

// What is shipped for every GPU, or what RONDO_SHIPPED names in its place.
Result<db::Contents> shipped_contents(const Options& options) {
  const Result<const engine::ShippedLayer*> layer = shipped_of(options);
  if (!layer) return layer.error();
  if (*layer == nullptr)
    return Error{ErrorKind::Input, "--shipped and --no-db exclude each other", "leave out one of them"};
  return (*layer)->contents();
}

Result<tuner::Report> report_of_all(const Options& options, const std::vector<tuner::PeerRow>& peers) {
  if (options.shipped) {
    const Result<db::Contents> contents = shipped_contents(options);
    if (!contents) return contents.error();
    return tuner::report_of(*contents, "The choices that are shipped with Rondo.", peers);
  }
  if (!options.record.empty()) {
    const Result<std::string> text = read_text_file(options.record);
    if (!text) return text.error();
    return tuner::report_of_record(*text, options.record, peers);
  }
  Result<std::optional<db::Database>> database = open_database(options, Use::Optional);
  if (!database) return database.error();
  if (!database->has_value())
    return tuner::report_of(
        db::Contents(),
        "There is no tuning database to read; `rondo report --shipped` shows what is shipped.", peers);
  const Result<db::Contents> contents = (*database)->contents();
  if (!contents) return contents.error();
  return tuner::report_of(*contents, fmt::format("The tuning database {}.", (*database)->path()), peers);
}

Result<tuner::Report> report_of_one(const Options& options, const std::vector<tuner::PeerRow>& peers) {
  Result<Explained> found = explained(options);
  if (!found) return found.error();
  db::Contents contents;
  if (found->database) {
    Result<db::Contents> stored = found->database->contents(engine::database_problem(found->task).cell);
    if (stored) contents = std::move(stored).value();
  }
  const tuner::Explanation& why = found->why;
  return tuner::report_of(
      found->task, why, contents,
      fmt::format("On {}: {} ({}). {}", found->task.profile.name, why.choice.strategy,
                  engine::label(why.choice),
                  why.measured ? "Measured in this run." : "By the model: nothing was run."),
      peers);
}

struct Written {
  std::string text;  // HTML or SVG
  std::size_t figures = 0;
};

Result<Written> page_or_picture(const Options& options, const tuner::Report& report) {
  if (options.picture.empty()) {
    tuner::Page page = tuner::page_of(report);
    return Written{std::move(page.html), page.figures};
  }
  Result<std::string> picture = tuner::picture_of(report, options.picture);
  if (!picture) return picture.error();
  return Written{std::move(picture).value(), 1};
}

std::string report_json(const Options& options, const tuner::Report& report, std::size_t figures) {
  const nlohmann::json made = {{"written", {options.output}}, {"problems", report.problems.size()},
                               {"trials", report.trials()},   {"peers", report.comparisons.size()},
                               {"figures", figures},          {"remarks", report.remarks}};
  return made.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

Status report_page(const Options& options) {
  if (options.json && options.output == "-")
    return Error{ErrorKind::Input, "the page or picture and --json cannot both go to standard output",
                 "name a file: -o FILE"};
  const Result<std::vector<tuner::PeerRow>> peers = peers_of(options);
  if (!peers) return peers.error();
  const Result<tuner::Report> report =
      options.cell.empty() ? report_of_all(options, *peers) : report_of_one(options, *peers);
  if (!report) return report.error();
  const Result<Written> written = page_or_picture(options, *report);
  if (!written) return written.error();
  if (options.output == "-") {
    print(written->text);
    return success();
  }
  if (Status status = engine::write_output(options.output, written->text, input_files_of(options)); !status)
    return status;
  if (options.json) print(report_json(options, *report, written->figures));
  return success();
}

}  // namespace rondo::tools
