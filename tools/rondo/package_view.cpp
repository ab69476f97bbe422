#include "tools/rondo/package_view.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/support/bundle.h"

namespace rondo::tools {

using package::Code;
using package::Entry;
using package::Package;
using package::PartKind;

namespace {

std::string code_text(const Package& package, const Code& code) {
  return fmt::format("{} {} {} bytes", executable::image_kind_name(code.kind), code.target,
                     package.index().parts[code.part].bytes);
}

const char* ending_of(PartKind kind) {
  switch (kind) {
    case PartKind::Manifest: return "json";
    case PartKind::Executable: return "executable";
    case PartKind::Cubin: return "cubin";
    case PartKind::Ptx: return "ptx";
    case PartKind::SelfTest: return "test";
  }
  return "part";
}

bool uses(const Entry& entry, std::uint32_t part) {
  return entry.executable == part || entry.self_test == part ||
         std::ranges::any_of(entry.codes, [&](const Code& code) { return code.part == part; });
}

// The name of its files without their endings.
std::string stem_of(const package::Index& index, std::uint32_t part) {
  if (index.parts[part].kind == PartKind::Manifest) return "manifest";
  const auto entry = std::ranges::find_if(index.entries, [&](const Entry& e) { return uses(e, part); });
  if (entry == index.entries.end()) return std::to_string(part);
  std::string name = fmt::format("{}-{}-{}-{}", part, entry->cell, entry->pass, entry->arch);
  for (char& c : name)
    if (c == '/' || c == '\0') c = '_';
  return name;
}

}  // namespace

std::string package_lines(const Package& package) {
  std::string text;
  for (const Entry& e : package.index().entries) {
    text += fmt::format("{:<10} {:<11} {:<5} {:<8} B={},T={},H={},D={} {:<10} {} ({})", e.cell, e.pass,
                        e.storage, e.math, e.batch, e.time, e.heads, e.dim, e.arch, e.strategy, e.origin);
    if (!e.variant.empty()) text += ", with " + e.variant;
    if (!e.board.empty()) text += fmt::format(", chosen for {}", e.board);
    for (const Code& code : e.codes) text += ", " + code_text(package, code);
    text += "\n";
  }
  return text;
}

std::string package_summary(const Package& package) {
  std::size_t code = 0, code_bytes = 0;
  for (const package::Part& part : package.index().parts)
    if (part.kind == PartKind::Cubin || part.kind == PartKind::Ptx) {
      ++code;
      code_bytes += part.bytes;
    }
  return fmt::format("{} entries, {} parts, {} with code of {} bytes, {} bytes in all\nhash {}\n",
                     package.index().entries.size(), package.index().parts.size(), code, code_bytes,
                     package.bytes(), package.hash());
}

std::string package_details(const Package& package) {
  std::string text = fmt::format("built by {}\n{}", package.index().producer, package_summary(package));
  for (const Entry& e : package.index().entries) {
    text += fmt::format("{}\n  cell {}\n  {} {} ({})\n", package::describe(e), e.cell_hash, e.strategy,
                        e.parameters, e.origin);
    if (!e.note.empty())
      text +=
          fmt::format("  {}{}\n", e.note, e.expected_ms > 0 ? fmt::format(", {:.4f} ms", e.expected_ms) : "");
    text += e.self_test == package::kNoPart ? "  no self-test\n" : "  with a self-test\n";
    for (const Code& code : e.codes) {
      text += fmt::format("  {}, {}, sha256 {}\n", code_text(package, code), code.compiler,
                          package.index().parts[code.part].hash);
      for (const executable::KernelResources& r : code.resources)
        text +=
            fmt::format("    {}: {} registers, {} bytes of shared memory, {} of stack, {} spilled\n", r.name,
                        r.registers, r.shared_bytes, r.stack_bytes, r.spill_store_bytes + r.spill_load_bytes);
    }
  }
  return text;
}

std::string package_check_text(const Package& package, const PackageCheck& check) {
  std::string text = fmt::format("{} is whole: {} parts are what their hashes say\n", package.origin(),
                                 package.index().parts.size());
  std::size_t passed = 0;
  for (const PackageCheck::Test& test : check.tests) {
    if (!test.differs.empty()) text += fmt::format("WRONG {}: {}\n", test.what, test.differs);
    if (!test.not_run.empty()) text += fmt::format("not run {}: {}\n", test.what, test.not_run);
    passed += test.differs.empty() && test.not_run.empty();
  }
  if (!check.gpu.empty())
    text +=
        fmt::format("{} of {} self-tests for this GPU, {}, pass\n", passed, check.tests.size(), check.gpu);
  if (!check.no_gpu.empty()) text += fmt::format("no self-test was run: {}\n", check.no_gpu);
  return text;
}

std::string package_check_json(const Package& package, const PackageCheck& check) {
  nlohmann::ordered_json tests = nlohmann::ordered_json::array();
  for (const PackageCheck::Test& test : check.tests)
    tests.push_back({{"entry", test.what},
                     {"passed", test.differs.empty() && test.not_run.empty()},
                     {"differs", test.differs},
                     {"not_run", test.not_run}});
  const nlohmann::ordered_json gpu =
      check.gpu.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(check.gpu);
  const nlohmann::ordered_json all = {{"hash", package.hash()},
                                      {"parts", package.index().parts.size()},
                                      {"gpu", gpu},
                                      {"passed", check.passed()},
                                      {"tests", tests}};
  return all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::vector<PartFile> files_of_part(const package::Index& index, std::uint32_t part, std::string_view bytes) {
  const PartKind kind = index.parts[part].kind;
  const std::string stem = stem_of(index, part), ending = ending_of(kind);
  const auto members = kind == PartKind::Cubin ? members_of(bytes) : std::nullopt;
  if (!members || members->size() == 1) return {{stem + "." + ending, bytes}};
  std::vector<PartFile> files;
  for (const std::string_view member : *members)
    files.push_back({fmt::format("{}.{}.{}", stem, files.size() + 1, ending), member});
  return files;
}

std::string built_json(const Package& package, const std::vector<std::string>& written) {
  auto all = nlohmann::ordered_json::parse(package.manifest());
  all["written"] = written;
  return all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string files_json(const std::vector<std::string>& files) {
  return nlohmann::ordered_json{{"files", files}}.dump(2, ' ', false,
                                                       nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace rondo::tools
