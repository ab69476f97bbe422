// The text of an export, and its way into a database.
#include "tuning_db/exchange.h"
#include "tests/fuzz/read_database.h"

namespace rondo::fuzz {
namespace {

constexpr std::size_t kMostProblems = 8;  // of what is merged: a database takes milliseconds

void merge(const std::string& text) {
  static const Folder folder;
  db::Database database = empty_database(folder);
  if (!database.import_json(text, "fuzz.json").ok()) return;
  read_all(database);
  const Result<db::MergeReport> again = database.import_json(text, "fuzz.json");
  require(again.ok() && again->trials == 0 && again->problems == 0, "importing twice adds nothing");
  require(database.check()->empty(), "what was imported is sound");
}

}  // namespace
}  // namespace rondo::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rondo;
  const std::string text(fuzz::text_of(data, size));
  const Result<db::Contents> contents = db::contents_from_json(text, "fuzz.json");
  if (!contents) return 0;
  const Result<std::string> written = db::to_json(*contents);
  fuzz::require(written.ok(), "what was read can be written");
  const Result<db::Contents> again = db::contents_from_json(*written, "again.json");
  fuzz::require(again.ok() && *db::to_json(*again) == *written, "what was written is read as the same");
  if (contents->problems.size() <= fuzz::kMostProblems) fuzz::merge(text);
  return 0;
}
