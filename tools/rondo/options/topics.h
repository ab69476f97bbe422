// What help tells beside the options: examples of each command, and the topics of `rondo help TOPIC`. The man
// page and the footers of --help are made of the same texts.
#pragma once

#include <string>
#include <vector>

namespace rondo::tools {

struct Example {
  const char* command;  // that it is an example of: "tune", "package build"
  const char* line;     // "rondo tune lstm ...": one that can be typed as it is
  const char* what;
};
const std::vector<Example>& examples();
// Those of one command, under a heading, a line each; "" where there are none.
std::string examples_of(const std::string& command);

// "examples", "environment", "files" and "status".
const std::vector<std::string>& topics();
// The text of a topic; "" for no topic.
std::string topic_text(const std::string& topic);

}  // namespace rondo::tools
