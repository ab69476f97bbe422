#include "tuner/report/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/support/embedded_text.h"
#include "engine/figures/alone.h"
#include "tuner/report/page_texts.h"

namespace rondo::tuner {
namespace {

using figures::escaped;

// Pixels of the pictures: two beside each other on a page of 1280, and one on a page of 400 (page/style.css).
constexpr double kWide = 560, kNarrow = 352;

const std::string& text_named(const std::string& name) {
  static const std::string none;
  const auto& all = embedded_page();
  const auto found = std::ranges::find(all, name, &EmbeddedText::name);
  return found == all.end() ? none : found->text;
}

std::string pictures(const figures::Figure& figure, const std::string& id) {
  if (!figure.draw) return "";
  if (figure.fixed)
    return fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">{}</div>\n",
                       escaped(figure.title), figure.draw(kWide).finish(id, figure.title, figure.about));
  return fmt::format("<div class=\"wide\">{}</div>\n<div class=\"narrow\">{}</div>\n",
                     figure.draw(kWide).finish(id, figure.title, figure.about),
                     figure.draw(kNarrow).finish(id + "n", figure.title, figure.about));
}

}  // namespace

std::string paragraph(const std::string& text, const std::string& kind) {
  return kind.empty() ? fmt::format("<p>{}</p>\n", escaped(text))
                      : fmt::format("<p class=\"{}\">{}</p>\n", escaped(kind), escaped(text));
}

std::string table_of(const figures::Table& table) {
  std::string html = "<table>\n<thead><tr>";
  for (const std::string& name : table.head) html += fmt::format("<th scope=\"col\">{}</th>", escaped(name));
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (const std::string& cell : row) html += fmt::format("<td>{}</td>", escaped(cell));
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>\n";
}

std::string figure_of(const figures::Figure& figure, const std::string& id) {
  std::string html =
      fmt::format("<figure id=\"{}\"{}>\n<figcaption><h3>{}</h3>\n{}</figcaption>\n", escaped(id),
                  figure.fixed ? " class=\"whole\"" : "", escaped(figure.title), paragraph(figure.about));
  html += pictures(figure, id + "-");
  if (!figure.table.rows.empty())
    html += fmt::format(
        "<details class=\"numbers\"><summary>The numbers as a table</summary>\n<div class=\"scroll\" "
        "tabindex=\"0\" role=\"group\" aria-label=\"{}\">{}</div></details>\n",
        escaped("numbers: " + figure.title), table_of(figure.table));
  return html + "</figure>\n";
}

std::string html_page(const std::string& title, const std::string& body) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
         "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
         "style-src "
         "'unsafe-inline'; script-src 'unsafe-inline'\"/>\n"
         "<link rel=\"icon\" href=\"data:,\"/>\n" +
         fmt::format(
             "<title>{}</title>\n<style>\n{}{}</style>\n</head>\n<body>\n{}<script>\n{}</script>\n</body>\n</"
             "html>\n",
             escaped(title), figures::style(), text_named("style"), body, text_named("script"));
}

}  // namespace rondo::tuner
