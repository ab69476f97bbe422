#include "compiler/schedule/plan/asked.h"

#include "compiler/schedule/problem/serialise.h"
#include "compiler/step/serialise.h"
#include "compiler/support/hash.h"

namespace rondo::schedule {

std::string asked_hash(const Task& task) {
  ByteWriter writer;
  step::write_cell(writer, task.cell);
  write_problem(writer, task.problem);
  writer.text(target::to_json(task.profile));
  if (task.profile.portable) writer.text("portable");
  return sha256_hex(writer.bytes());
}

}  // namespace rondo::schedule
