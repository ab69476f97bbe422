#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/executable/producer.h"
#include "runtime/package/writer/writer.h"

namespace rondo::package {

using nlohmann::ordered_json;

namespace {

ordered_json resources_json(const executable::KernelResources& r) {
  return {{"kernel", r.name},
          {"registers", r.registers},
          {"shared_bytes", r.shared_bytes},
          {"stack_bytes", r.stack_bytes},
          {"spill_store_bytes", r.spill_store_bytes},
          {"spill_load_bytes", r.spill_load_bytes},
          {"max_threads", r.max_threads}};
}

ordered_json part_json(const Index& index, std::uint32_t part) {
  return {{"part", part}, {"bytes", index.parts[part].bytes}, {"sha256", index.parts[part].hash}};
}

ordered_json code_json(const Index& index, const Code& code) {
  ordered_json json = {
      {"target", code.target}, {"kind", executable::image_kind_name(code.kind)}, {"compiler", code.compiler}};
  json.update(part_json(index, code.part));
  json["kernels"] = ordered_json::array();
  for (const executable::KernelResources& r : code.resources) json["kernels"].push_back(resources_json(r));
  return json;
}

// The tolerance of a result is the largest limit of its elements, relative to the largest element.
ordered_json test_json(const Index& index, std::uint32_t part, const SelfTest& test) {
  ordered_json json = {{"B", test.batch}, {"T", test.time}};
  json.update(part_json(index, part));
  json["results"] = ordered_json::array();
  for (const SelfTest::Expected& expected : test.expected) {
    double largest = 0, limit = 0;
    for (const SelfTest::Sample& sample : expected.samples) {
      largest = std::max(largest, std::abs(sample.value));
      limit = std::max(limit, sample.limit);
    }
    json["results"].push_back({{"role", executable::role_info(expected.tensor.role).text},
                               {"tensor", expected.tensor.tensor},
                               {"elements", expected.elements},
                               {"compared", expected.samples.size()},
                               {"tolerance", largest > 0 ? limit / largest : limit}});
  }
  return json;
}

ordered_json entry_json(const Index& index, const Entry& e, const std::map<std::uint32_t, SelfTest>& tests,
                        const std::string& maker) {
  ordered_json json = {{"cell", e.cell},
                       {"cell_hash", e.cell_hash},
                       {"variant", e.variant},
                       {"pass", e.pass},
                       {"dtype", e.storage},
                       {"math", e.math},
                       {"shape", {{"B", e.batch}, {"T", e.time}, {"H", e.heads}, {"D", e.dim}}},
                       {"arch", e.arch},
                       {"board", e.board},
                       {"multiprocessors", e.multiprocessors},
                       {"strategy", e.strategy},
                       {"parameters", e.parameters},
                       {"origin", e.origin},
                       {"note", e.note},
                       {"compiled_by", maker},
                       {"expected_ms", e.expected_ms},
                       {"executable", part_json(index, e.executable)},
                       {"code", ordered_json::array()}};
  for (const Code& code : e.codes) json["code"].push_back(code_json(index, code));
  json["self_test"] = nullptr;
  if (const auto test = tests.find(e.self_test); test != tests.end())
    json["self_test"] = test_json(index, test->first, test->second);
  return json;
}

}  // namespace

std::string manifest_of(const Index& index, const std::map<std::uint32_t, SelfTest>& tests,
                        const std::vector<std::string>& makers) {
  ordered_json entries = ordered_json::array();
  for (std::size_t i = 0; i < index.entries.size(); ++i)
    entries.push_back(entry_json(index, index.entries[i], tests, makers[i]));
  const ordered_json manifest = {{"format", "rondo-package"},
                                 {"version", kFormatVersion},
                                 {"producer", index.producer},
                                 {"entries", std::move(entries)}};
  return manifest.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rondo::package
