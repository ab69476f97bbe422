// The text of a lock file.
#include "tests/fuzz/target.h"
#include "tuning_db/lock_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rondo;
  const Result<db::PinnedChoices> pinned =
      db::PinnedChoices::parse(std::string(fuzz::text_of(data, size)), "fuzz.lock");
  if (!pinned) return 0;
  const db::Problem wanted{"c0ffee", "h200", "sm_90", {8, 4096, 1, 1536}, "bf16", "fast", "fw"};
  const db::PinnedChoice* nearest = pinned->nearest(wanted);
  if (nearest == nullptr) return 0;
  const db::PinnedChoice* found = pinned->find(nearest->problem);
  fuzz::require(found == nearest, "what is pinned is found");
  const Result<std::string> text = db::to_lock_text({*found});
  fuzz::require(text.ok() && db::PinnedChoices::parse(*text, "again.lock").ok(), "what was read is written");
  return 0;
}
