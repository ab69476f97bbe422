// The JSON of a device profile.
#include "compiler/target/profile.h"
#include "compiler/target/cluster_cost.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rondo;
  const Result<target::Profile> profile = target::profile_from_json(std::string(fuzz::text_of(data, size)));
  if (!profile) return 0;
  const std::string text = target::to_json(*profile);
  const Result<target::Profile> again = target::profile_from_json(text);
  fuzz::require(again.ok() && target::to_json(*again) == text, "what was read is written");
  fuzz::require(!profile->arch().empty(), "it has an architecture");
  for (int size_of = 1; size_of <= target::largest_cluster(profile->limits); size_of *= 2)
    fuzz::require(target::clusters_at_once(profile->limits, size_of, 1) >= 0, "clusters are counted");
  return 0;
}
