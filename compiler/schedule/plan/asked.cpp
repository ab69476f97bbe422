#include "compiler/schedule/plan/asked.h"

#include "compiler/schedule/problem/serialise.h"
#include "compiler/step/serialise.h"
#include "compiler/support/hash.h"

namespace rondo::schedule {

std::string asked_hash(const step::Cell& cell, const Problem& problem, const target::Profile& profile) {
  ByteWriter writer;
  step::write_cell(writer, cell);
  write_problem(writer, problem);
  writer.text(target::to_json(profile));
  return sha256_hex(writer.bytes());
}

}  // namespace rondo::schedule
