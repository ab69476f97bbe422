#include "tests/structure/walk.h"

#include <map>
#include <utility>

#include "tests/structure/functions.h"

namespace rondo::structure {
namespace {

struct BodyInFile : Body {
  const SourceFile* file = nullptr;
};

// A function may have several: overloads, and members of different classes.
std::vector<BodyInFile> bodies_at(const Stop& stop, const std::vector<SourceFile>& files) {
  std::vector<BodyInFile> found;
  for (const SourceFile& file : files)
    if (folder_of(file.path) == stop.folder)
      for (Body& body : bodies_of(file.text))
        if (last_name(body.name) == stop.function) found.push_back({std::move(body), &file});
  return found;
}

class Checking {
 public:
  Checking(const Walk& walk, const std::vector<SourceFile>& files, const FolderTable& table)
      : walk_(walk), table_(table) {
    for (const Stop& stop : walk) bodies_.push_back(bodies_at(stop, files));
  }

  Findings run() {
    for (std::size_t i = 0; i < walk_.size(); ++i) {
      if (bodies_[i].empty()) add(i, "walk", "has no body in " + walk_[i].folder);
      std::size_t caller = i;
      while (caller > 0 && walk_[caller].depth >= walk_[i].depth) --caller;
      if (i > 0) check_call(caller, i);
    }
    check_returns();
    return std::move(findings_);
  }

 private:
  void check_call(std::size_t caller, std::size_t callee) {
    bool called = bodies_[caller].empty();  // which is found already
    for (const BodyInFile& body : bodies_[caller]) called |= body.calls(walk_[callee].function);
    if (!called) add(callee, "walk", "is not called by " + walk_[caller].function);
    const auto from = table_.rows.find(walk_[caller].folder), to = table_.rows.find(walk_[callee].folder);
    if (from == table_.rows.end() || to == table_.rows.end())
      add(callee, "walk", "has a folder, or a caller's, without a row in " + table_.file);
    else if (to->second.line > from->second.line)
      add(callee, "climb", "climbs from " + from->first + " to " + to->first);
  }

  void check_returns() {
    std::map<std::string, int> entered;
    for (std::size_t i = 0; i < walk_.size(); ++i)
      if (i == 0 || walk_[i].folder != walk_[i - 1].folder)
        if (++entered[walk_[i].folder] == 3) add(i, "return", "returns to " + walk_[i].folder + " again");
  }

  void add(std::size_t stop, const char* rule, const std::string& message) {
    const bool found = !bodies_[stop].empty();
    findings_.push_back({found ? bodies_[stop][0].file->path : walk_[stop].folder,
                         found ? bodies_[stop][0].line : 0, rule, walk_[stop].function + " " + message});
  }

  const Walk& walk_;
  const FolderTable& table_;
  std::vector<std::vector<BodyInFile>> bodies_;
  Findings findings_;
};

}  // namespace

Findings check_walk(const Walk& walk, const std::vector<SourceFile>& files, const FolderTable& table) {
  return Checking(walk, files, table).run();
}

}  // namespace rondo::structure
