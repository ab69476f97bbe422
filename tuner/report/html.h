// The parts of a page: its frame, and a picture with its words and numbers.
#pragma once

#include <string>

#include "engine/figures/figure.h"

namespace rondo::tuner {

// The whole page. `title` is text, `body` is HTML.
std::string html_page(const std::string& title, const std::string& body);

// <p class="kind">text</p>.
std::string paragraph(const std::string& text, const std::string& kind = "");
std::string table_of(const figures::Table& table);

// A figure with its title, its words, the picture for wide and for narrow windows, and its numbers as a
// table. `id` is unlike that of every other figure of the page.
std::string figure_of(const figures::Figure& figure, const std::string& id);

}  // namespace rondo::tuner
