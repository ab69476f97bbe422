#include "compiler/backend/prelude/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace rondo::backend {

namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) return words;
    const std::size_t length = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, length));
    line.remove_prefix(length);
  }
}

// Where a line that begins with the mark stands, from `from` on; the end of the text where there is none.
std::size_t next_mark(std::string_view text, std::string_view mark, std::size_t from) {
  for (std::size_t at = text.find(mark, from); at != std::string_view::npos; at = text.find(mark, at + 1))
    if (at == 0 || text[at - 1] == '\n') return at;
  return text.size();
}

// A section, from its mark to the next one.
Helper parse_section(std::string_view section, std::string_view mark, std::ptrdiff_t line) {
  const std::size_t end_of_line = std::min(section.find('\n'), section.size());
  const std::vector<std::string_view> words =
      words_of(section.substr(mark.size(), end_of_line - mark.size()));
  std::string_view text = section.substr(std::min(end_of_line + 1, section.size()));
  while (text.ends_with("\n\n")) text.remove_suffix(1);
  const bool named = words.size() == 1 || (words.size() > 2 && words[1] == "needs");
  if (!named || text.find_first_not_of(" \n") == std::string_view::npos || !text.ends_with('\n'))
    throw std::logic_error(
        fmt::format("prelude, line {0}: '{1} NAME' or '{1} NAME needs OTHER ...' and a declaration below it "
                    "were expected",
                    line, mark));
  return {words.front(), {words.begin() + (words.size() > 2 ? 2 : 1), words.end()}, text};
}

}  // namespace

std::vector<Helper> parse_helpers(std::string_view text, std::string_view mark) {
  std::vector<Helper> result;
  for (std::size_t at = next_mark(text, mark, 0); at < text.size();) {
    const std::size_t end = next_mark(text, mark, at + 1);
    result.push_back(parse_section(text.substr(at, end - at), mark,
                                   std::count(text.begin(), text.begin() + at, '\n') + 1));
    at = end;
  }
  return result;
}

std::vector<Helper> read_helpers(const std::vector<EmbeddedText>& files,
                                 std::span<const std::string_view> order, std::string_view mark) {
  std::vector<Helper> all;
  for (const std::string_view name : order) {
    const auto file = std::ranges::find(files, name, &EmbeddedText::name);
    if (file == files.end()) throw std::logic_error(fmt::format("prelude/{} is not embedded", name));
    std::ranges::move(parse_helpers(file->text, mark), std::back_inserter(all));
  }
  if (files.size() != order.size())
    throw std::logic_error("a file of prelude/ is missing in the order of emission");
  return all;
}

std::vector<Helper> with_forms(std::vector<Helper> helpers, const std::vector<Helper>& forms) {
  for (const Helper& form : forms) {
    const auto place = std::ranges::find(helpers, form.name, &Helper::name);
    if (place == helpers.end())
      throw std::logic_error(fmt::format("'{}' is a form of a helper that there is not", form.name));
    *place = form;
  }
  return helpers;
}

void require_helper(const std::vector<Helper>& helpers, std::string_view name,
                    std::set<std::string_view>& required) {
  const auto found = std::ranges::find(helpers, name, &Helper::name);
  if (found == helpers.end() || !required.insert(found->name).second) return;
  for (const std::string_view needed : found->needs) require_helper(helpers, needed, required);
}

}  // namespace rondo::backend
