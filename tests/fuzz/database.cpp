// The bytes of a tuning database's file.
#include "tests/fuzz/read_database.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rondo;
  static const fuzz::Folder folder;
  fuzz::use_database(folder, folder.database("fuzz.db", fuzz::text_of(data, size)));
  return 0;
}
