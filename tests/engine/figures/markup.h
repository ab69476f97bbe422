// Is a text well-formed XML, as far as pictures and pages use it?
#pragma once

#include <string>
#include <vector>

namespace rondo::test {

// Every fault, in words: an element that is not closed or not opened, an attribute without quotes or given
// twice, an
// `&` that begins no character, an id given twice. Empty where the text is well-formed.
std::vector<std::string> markup_faults(const std::string& text);

// The texts between a tag that begins so ("<text") and its end, as they are written.
std::vector<std::string> contents_of(const std::string& text, const std::string& tag);
// The values of an attribute in all tags that begin so and have the class ("<rect", "bar bytes", "width").
std::vector<double> numbers_of(const std::string& text, const std::string& tag, const std::string& kind,
                               const std::string& attribute);

}  // namespace rondo::test
