#include "compiler/schedule/problem/serialise.h"

#include <utility>

namespace rondo::schedule {

void write_problem(ByteWriter& writer, const Problem& problem) {
  const step::Sizes& sizes = problem.sizes;
  for (const std::int64_t extent : {sizes.batch, sizes.time, sizes.heads, sizes.dim}) writer.i64(extent);
  writer.u8(static_cast<std::uint8_t>(problem.storage));
  writer.u8(static_cast<std::uint8_t>(problem.pass));
  writer.u8(static_cast<std::uint8_t>(problem.math));
  writer.count(problem.constants.size());
  for (const auto& [name, value] : problem.constants) {
    writer.text(name);
    writer.f64(value);
  }
  writer.flag(problem.save_products);
}

Problem read_problem(ByteReader& reader) {
  Problem problem;
  step::Sizes& sizes = problem.sizes;
  for (std::int64_t* extent : {&sizes.batch, &sizes.time, &sizes.heads, &sizes.dim}) *extent = reader.i64();
  problem.storage = reader.one_of(kernel::Storage::I32);
  problem.pass = reader.one_of(Pass::Backward);
  problem.math = reader.one_of(kernel::Math::Tf32);
  for (std::size_t left = reader.count(12); left > 0; --left) {
    std::string name = reader.text();
    problem.constants[std::move(name)] = reader.f64();
  }
  problem.save_products = reader.flag();
  return problem;
}

}  // namespace rondo::schedule
