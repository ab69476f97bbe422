#include "tools/librondo/cell.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "compiler/step/forms.h"
#include "compiler/step/without.h"
#include "engine/request/load_cell.h"
#include "engine/request/problem_text.h"
#include "runtime/capi/launch/call.h"

namespace rondo::capi {

namespace {

constexpr std::size_t kFirstCellOptions = RONDO_SIZE_TO(rondo_cell_options, clip_gradient);
constexpr std::size_t kFirstDiagnostic = RONDO_SIZE_TO(rondo_diagnostic, rendered);
constexpr std::size_t kFirstCellInfo = RONDO_SIZE_TO(rondo_cell_info, clip_gradient);
constexpr std::size_t kFirstCellTensor = RONDO_SIZE_TO(rondo_cell_tensor, line);
constexpr std::size_t kMostCellText = 1 << 20;  // bytes, as of a cell file
constexpr std::size_t kMostLeftOut = 4096;      // parameters of a cell

static_assert(RONDO_KIND_INPUT == static_cast<int>(step::TensorKind::Input) &&
              RONDO_KIND_PARAM == static_cast<int>(step::TensorKind::Param) &&
              RONDO_KIND_STATE == static_cast<int>(step::TensorKind::State) &&
              RONDO_KIND_OUTPUT == static_cast<int>(step::TensorKind::Output) &&
              RONDO_KIND_RESET == static_cast<int>(step::TensorKind::Reset) &&
              RONDO_KIND_LENGTH == static_cast<int>(step::TensorKind::Length));
static_assert(RONDO_TAIL_SCALAR == static_cast<int>(step::Tail::Scalar) &&
              RONDO_TAIL_VECTOR == static_cast<int>(step::Tail::Vector) &&
              RONDO_TAIL_MATRIX == static_cast<int>(step::Tail::Matrix));

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

Result<engine::CellFile> cell_file(const rondo_cell_options& options) {
  const std::string path = text_of(options.path);
  if (options.text == nullptr) {
    if (path.empty())
      return Error{ErrorKind::Input, "rondo_cell_options has neither a text nor a path",
                   "give the text of a cell, a file, or the name of a shipped cell"};
    return engine::load_cell_file(path);
  }
  const std::size_t bytes = options.text_bytes > 0 ? options.text_bytes : std::strlen(options.text);
  if (bytes > kMostCellText)
    return Error{ErrorKind::Input,
                 fmt::format("a cell's text has {} bytes; the most is {}", bytes, kMostCellText)};
  engine::CellFile file{path.empty() ? "text" : path, std::string(options.text, bytes), {}};
  file.parsed = frontend::parse(file.text, file.path);
  return file;
}

Result<std::vector<std::string>> left_out(const rondo_cell_options& options) {
  std::vector<std::string> names;
  if (options.without_count == 0) return names;
  if (Status status = not_null(options.without, "rondo_cell_options.without"); !status) return status.error();
  if (options.without_count > kMostLeftOut)
    return Error{
        ErrorKind::Input,
        fmt::format("{} parameters are left out; the most is {}", options.without_count, kMostLeftOut), ""};
  for (std::size_t i = 0; i < options.without_count; ++i) {
    if (Status status = not_null(options.without[i], "the name of a parameter"); !status)
      return status.error();
    names.emplace_back(options.without[i]);
  }
  return names;
}

std::unique_ptr<DiagnosticsObject> diagnostics_of(const engine::CellFile& file) {
  auto object = std::make_unique<DiagnosticsObject>();
  object->diagnostics = file.parsed.diagnostics;
  for (const frontend::Diagnostic& diagnostic : object->diagnostics)
    object->rendered.push_back(frontend::render(diagnostic, file.text, file.path));
  return object;
}

std::unique_ptr<CellObject> cell_object(step::Cell cell) {
  auto object = std::make_unique<CellObject>();
  object->hash = step::canonical_hash(cell);
  object->analysis = step::analyze(cell);
  object->structure = step::describe(cell, object->analysis);
  object->saves_products = engine::can_save_products(cell);
  object->cell = std::make_shared<const step::Cell>(std::move(cell));
  return object;
}

Result<std::unique_ptr<CellObject>> create_cell(const rondo_cell_options* given,
                                                rondo_diagnostics** diagnostics) {
  const auto read = read_struct(given, kFirstCellOptions, "rondo_cell_options");
  if (!read) return read.error();
  const rondo_cell_options& options = *read;
  const Result<engine::CellFile> file = cell_file(options);
  if (!file) return file.error();
  if (!file->parsed.ok()) {
    if (diagnostics != nullptr) *diagnostics = new_handle(diagnostics_of(*file));
    return Error{ErrorKind::Input, frontend::render_all(file->parsed, file->text, file->path),
                 "docs/language.md describes the language of cells"};
  }
  Result<step::Cell> selected = engine::select_cell(*file, text_of(options.name));
  if (!selected) return selected.error();
  const auto names = left_out(options);
  if (!names) return names.error();
  selected = step::without_parameters(*selected, *names);
  if (!selected) return selected.error();
  const std::pair<std::int32_t, const char*> forms[] = {
      {options.resets, "resets"},         {options.lengths, "lengths"},
      {options.reversed, "reversed"},     {options.reset_states, "reset_states"},
      {options.directions, "directions"}, {options.tangents, "tangents"}};
  for (const auto& [field, name] : forms)
    if (Status status = zero_or_one(field, name); !status) return status.error();
  step::Clip clip;
  if (options.clip_forward != 0) clip.forward = options.clip_forward;
  if (options.clip_gradient != 0) clip.gradient = options.clip_gradient;
  selected =
      engine::changed_cell(*selected, clip,
                           {options.resets != 0, options.lengths != 0, options.reversed != 0,
                            options.reset_states != 0, options.directions != 0, options.tangents != 0});
  if (!selected) return selected.error();
  return cell_object(std::move(selected).value());
}

rondo_cell_info describe(const CellObject& object) {
  rondo_cell_info info{};
  info.name = object.cell->name.c_str();
  info.hash = object.hash.c_str();
  info.dimension = object.cell->dimension.c_str();
  info.structure = object.structure.c_str();
  info.tensors = static_cast<std::int32_t>(object.cell->tensors.size());
  info.constants = static_cast<std::int32_t>(object.cell->constants.size());
  info.state_rows = object.analysis.states;
  info.all_diagonal = object.analysis.all_diagonal ? 1 : 0;
  info.affine = object.analysis.affine ? 1 : 0;
  info.has_matrix = object.analysis.has_matrix ? 1 : 0;
  info.has_reduction = object.analysis.has_reduction ? 1 : 0;
  info.saves_products = object.saves_products ? 1 : 0;
  info.clip_forward = object.cell->clip.forward.value_or(0);
  info.clip_gradient = object.cell->clip.gradient.value_or(0);
  const step::Forms forms = step::forms_of(*object.cell);
  info.resets = forms.resets ? 1 : 0;
  info.lengths = forms.lengths ? 1 : 0;
  info.reversed = forms.reversed ? 1 : 0;
  info.reset_states = forms.reset_states ? 1 : 0;
  info.directions = forms.directions ? 1 : 0;
  info.tangents = forms.tangents ? 1 : 0;
  info.draws = object.cell->seed() ? 1 : 0;
  return info;
}

}  // namespace
}  // namespace rondo::capi

using namespace rondo;  // NOLINT: a source of the C interface

extern "C" {

rondo_status rondo_cell_create(const rondo_cell_options* options, rondo_cell** cell,
                               rondo_diagnostics** diagnostics) {
  if (diagnostics != nullptr) *diagnostics = nullptr;
  return capi::create<capi::CellObject>(cell, "cell",
                                        [&] { return capi::create_cell(options, diagnostics); });
}

rondo_status rondo_cell_destroy(rondo_cell* cell) { return capi::destroy<capi::CellObject>(cell); }

rondo_status rondo_diagnostics_count(const rondo_diagnostics* diagnostics, int32_t* count) {
  return capi::with<capi::DiagnosticsObject>(diagnostics, [&](const auto& object) -> Status {
    if (Status status = capi::not_null(count, "count"); !status) return status;
    *count = static_cast<std::int32_t>(object.diagnostics.size());
    return success();
  });
}

rondo_status rondo_diagnostics_get(const rondo_diagnostics* diagnostics, int32_t index,
                                   rondo_diagnostic* diagnostic) {
  return capi::with<capi::DiagnosticsObject>(diagnostics, [&](const auto& object) -> Status {
    const auto found = capi::element_of(object.diagnostics, index, "diagnostic");
    if (!found) return found.error();
    rondo_diagnostic result{};
    result.line = (*found)->span.line;
    result.column = (*found)->span.column;
    result.length = (*found)->span.length;
    result.message = (*found)->message.c_str();
    result.help = (*found)->help.c_str();
    result.rendered = object.rendered[static_cast<std::size_t>(index)].c_str();
    return capi::write_struct(result, diagnostic, capi::kFirstDiagnostic, "rondo_diagnostic");
  });
}

rondo_status rondo_diagnostics_destroy(rondo_diagnostics* diagnostics) {
  return capi::destroy<capi::DiagnosticsObject>(diagnostics);
}

rondo_status rondo_cell_get_info(const rondo_cell* cell, rondo_cell_info* info) {
  return capi::with<capi::CellObject>(cell, [&](const auto& object) -> Status {
    return capi::write_struct(capi::describe(object), info, capi::kFirstCellInfo, "rondo_cell_info");
  });
}

rondo_status rondo_cell_get_tensor(const rondo_cell* cell, int32_t index, rondo_cell_tensor* tensor) {
  return capi::with<capi::CellObject>(cell, [&](const auto& object) -> Status {
    const auto found = capi::element_of(object.cell->tensors, index, "tensor");
    if (!found) return found.error();
    rondo_cell_tensor result{};
    result.name = (*found)->name.c_str();
    result.kind = static_cast<std::int32_t>((*found)->kind);
    result.tail = static_cast<std::int32_t>((*found)->tail);
    result.rows = (*found)->rows;
    result.line = (*found)->span.line;
    return capi::write_struct(result, tensor, capi::kFirstCellTensor, "rondo_cell_tensor");
  });
}

rondo_status rondo_cell_get_constant(const rondo_cell* cell, int32_t index, rondo_constant* constant) {
  return capi::with<capi::CellObject>(cell, [&](const auto& object) -> Status {
    if (Status status = capi::not_null(constant, "constant"); !status) return status;
    const auto found = capi::element_of(object.cell->constants, index, "constant");
    if (!found) return found.error();
    // Field by field: an older program's struct may be shorter, and none says how long it is.
    constant->name = (*found)->name.c_str();
    constant->value = (*found)->value;
    return success();
  });
}

}  // extern "C"
