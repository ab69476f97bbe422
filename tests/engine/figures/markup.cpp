#include "tests/engine/figures/markup.h"

#include <cctype>
#include <regex>
#include <set>

namespace rondo::test {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  std::vector<std::string> read() {
    if (text_.rfind("<!DOCTYPE html>", 0) == 0) at_ = 15;
    while (at_ < text_.size()) text_[at_] == '<' ? tag() : character();
    for (const std::string& name : open_) fault("never closed: " + name);
    return faults_;
  }

 private:
  void fault(const std::string& what) { faults_.push_back(what); }

  void character() {
    if (text_[at_] == '&') {
      static const std::regex entity("&(amp|lt|gt|quot|#39);");
      if (!std::regex_search(text_.begin() + static_cast<std::ptrdiff_t>(at_), text_.end(), entity,
                             std::regex_constants::match_continuous))
        fault("an & that begins no character: " + text_.substr(at_, 12));
    }
    if (text_[at_] == '>' && open_.empty()) fault("a > outside of all elements");
    ++at_;
  }

  std::string name() {
    const std::size_t first = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '-' || text_[at_] == ':'))
      ++at_;
    return text_.substr(first, at_ - first);
  }
  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  void tag() {
    const bool closing = text_.compare(at_, 2, "</") == 0;
    at_ += closing ? 2 : 1;
    const std::string of = name();
    if (of.empty()) return fault("a < that begins no element: " + text_.substr(at_, 12));
    if (closing) {
      if (open_.empty() || open_.back() != of) fault("closed, but not open last: " + of);
      if (!open_.empty()) open_.pop_back();
      at_ = text_.find('>', at_) + 1;
      return;
    }
    std::set<std::string> given;
    for (blanks(); at_ < text_.size() && text_[at_] != '>' && text_[at_] != '/'; blanks())
      attribute(of, given);
    const bool empty = at_ < text_.size() && text_[at_] == '/';
    if (empty) ++at_;
    if (at_ >= text_.size() || text_[at_] != '>') return fault("a tag without an end: " + of);
    ++at_;
    if (!empty) open_.push_back(of);
  }

  void attribute(const std::string& of, std::set<std::string>& given) {
    const std::string key = name();
    if (key.empty() || text_.compare(at_, 2, "=\"") != 0) {
      fault("an attribute without a name or quotes in " + of);
      at_ = text_.size();
      return;
    }
    const std::size_t first = at_ + 2, end = text_.find('"', first);
    const std::string value = text_.substr(first, end - first);
    if (value.find('<') != std::string::npos) fault("a < within an attribute of " + of);
    if (!given.insert(key).second) fault("given twice in " + of + ": " + key);
    if (key == "id" && !ids_.insert(value).second) fault("an id given twice: " + value);
    at_ = end == std::string::npos ? text_.size() : end + 1;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  std::vector<std::string> open_, faults_;
  std::set<std::string> ids_;
};

}  // namespace

std::vector<std::string> markup_faults(const std::string& text) { return Reader(text).read(); }

std::vector<std::string> contents_of(const std::string& text, const std::string& tag) {
  std::vector<std::string> all;
  for (std::size_t at = text.find(tag); at != std::string::npos; at = text.find(tag, at + 1)) {
    const std::size_t first = text.find('>', at) + 1;
    all.push_back(text.substr(first, text.find('<', first) - first));
  }
  return all;
}

std::vector<double> numbers_of(const std::string& text, const std::string& tag, const std::string& kind,
                               const std::string& attribute) {
  std::vector<double> all;
  for (std::size_t at = text.find(tag + " "); at != std::string::npos; at = text.find(tag + " ", at + 1)) {
    const std::string own = text.substr(at, text.find('>', at) - at);
    const std::size_t place = own.find(" " + attribute + "=\"");
    if (own.find("class=\"" + kind + "\"") != std::string::npos && place != std::string::npos)
      all.push_back(std::stod(own.substr(place + attribute.size() + 3)));
  }
  return all;
}

}  // namespace rondo::test
