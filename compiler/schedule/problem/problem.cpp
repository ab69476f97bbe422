#include "compiler/schedule/problem/problem.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/step/forms.h"

namespace rondo::schedule {

const char* pass_name(Pass pass) {
  switch (pass) {
    case Pass::Forward: return "fw";
    case Pass::ForwardSave: return "fws";
    case Pass::Backward: return "bw";
  }
  return "?";
}

bool passes_products(const Problem& problem) {
  return problem.save_products && problem.pass != Pass::Forward;
}

std::string pass_key(const Problem& problem) {
  return std::string(pass_name(problem.pass)) + (passes_products(problem) ? "+products" : "");
}

std::vector<Problem> in_all_passes(const Problem& problem) {
  std::vector<Problem> all;
  for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward})
    for (const bool save_products : {false, true}) {
      if (pass == Pass::Forward && save_products) continue;  // it saves nothing
      Problem& of_pass = all.emplace_back(problem);
      of_pass.pass = pass;
      of_pass.save_products = save_products;
    }
  return all;
}

std::string pass_title(const std::string& key) {
  const std::size_t plus = key.find('+');
  const std::string saved = plus == std::string::npos ? "" : ", " + key.substr(plus + 1) + " saved";
  const std::string pass = key.substr(0, plus);
  if (pass == pass_name(Pass::Forward)) return "forward" + saved;
  if (pass == pass_name(Pass::ForwardSave)) return "forward (training)" + saved;
  if (pass == pass_name(Pass::Backward)) return "backward" + saved;
  return key;
}

kernel::Math default_math(kernel::Storage storage) {
  return scalar::is_half(storage) ? kernel::Math::Fast : kernel::Math::Accurate;
}

kernel::Math math_in(kernel::Storage storage, kernel::Math asked) {
  return storage == kernel::Storage::F64 ? kernel::Math::Accurate : asked;
}

bool has_mma(const target::Target& target, kernel::Storage storage) {
  return !target.is_cpu() && (!target.before_ampere() || storage == kernel::Storage::F16);
}

std::vector<double> constant_values(const step::Cell& cell, const Problem& problem) {
  std::vector<double> values;
  for (const step::NamedConstant& constant : cell.constants) {
    const auto given = problem.constants.find(constant.name);
    values.push_back(given == problem.constants.end() ? constant.value : given->second);
  }
  return values;
}

step::Cell cell_with_constants(const step::Cell& cell, const Problem& problem) {
  step::Cell result = cell;
  const std::vector<double> values = constant_values(cell, problem);
  for (std::size_t i = 0; i < values.size(); ++i) result.constants[i].value = values[i];
  return result;
}

std::string variant_text(const step::Cell& cell, const Problem& problem) {
  std::vector<std::string> words;
  for (const step::NamedConstant& constant : cell.constants) {
    const auto given = problem.constants.find(constant.name);
    if (given != problem.constants.end() && given->second != constant.value)
      words.push_back(fmt::format("{}={}", constant.name, given->second));
  }
  if (cell.clip.forward) words.push_back(fmt::format("clip_forward={}", *cell.clip.forward));
  if (cell.clip.gradient) words.push_back(fmt::format("clip_gradient={}", *cell.clip.gradient));
  for (const std::string& form : step::form_names(step::forms_of(cell))) words.push_back(form);
  return fmt::to_string(fmt::join(words, " "));
}

}  // namespace rondo::schedule
