#include "compiler/frontend/declare.h"

#include <fmt/format.h>

#include "compiler/frontend/value.h"
#include "compiler/support/enum_text.h"

namespace rondo::frontend {
namespace {

using step::TensorKind;

constexpr EnumText<TensorKind> kKindsWithArticle[] = {
    {TensorKind::Input, "an input"},   {TensorKind::Param, "a param"}, {TensorKind::State, "a state"},
    {TensorKind::Output, "an output"}, {TensorKind::Reset, "resets"},  {TensorKind::Length, "lengths"}};
static_assert(is_total(kKindsWithArticle));

const char* word(TensorKind kind) { return to_text(kKindsWithArticle, kind); }

class DeclarationCheck {
 public:
  DeclarationCheck(const ast::TensorDeclaration& declaration, const std::string& dimension,
                   const OwnExtents& extents, Diagnostics& diagnostics)
      : declaration_(declaration), dimension_(dimension), extents_(extents), diagnostics_(diagnostics) {}

  std::optional<step::Tensor> run(TensorKind kind) {
    step::Tensor tensor{kind, declaration_.name, step::Tail::Vector, {}, 1, declaration_.span};
    for (const ast::Extent& extent : declaration_.extents) {
      if (const auto* name = std::get_if<std::string>(&extent.value)) {
        named(*name, extent.span, tensor);
      } else {
        leading(extent, std::get<double>(extent.value), tensor);
      }
      if (!good_) return std::nullopt;
    }
    tail(tensor);
    if (!good_) return std::nullopt;
    return tensor;
  }

 private:
  // The head dimension, or an extent of the cell's own. Of a matrix its output channels come first.
  void named(const std::string& name, step::Span span, step::Tensor& tensor) {
    const auto own = extents_.find(name);
    if (own == extents_.end() && name != dimension_)
      return report(span, fmt::format("unknown extent '{}'", name),
                    fmt::format("extents are integers, then the head dimension {}, or one that the cell "
                                "declares: 'cell name({}, {} = 128)'",
                                dimension_, dimension_, name));
    if (++heads_ > 2)
      return report(span, fmt::format("'{}' has more than two head dimensions", declaration_.name),
                    "a matrix has two, a vector one");
    tensor.outer = tensor.inner;
    tensor.inner = own == extents_.end() ? step::InnerExtent{} : own->second;
    channels_ = name;
  }

  void leading(const ast::Extent& extent, double value, step::Tensor& tensor) {
    if (heads_ > 0) {
      report(extent.span, "leading extents come before the head dimension",
             fmt::format("write {}[{}, {}]", declaration_.name, value, channels_));
    } else if (!extent.integer || value < 1) {
      report(extent.span, "an extent must be a positive integer");
    } else if (value * tensor.rows > kMaxRows) {
      report(extent.span, fmt::format("'{}' has more than {} rows", declaration_.name, kMaxRows),
             "the step is unrolled over leading extents, so they are meant for gates");
    } else if (tensor.lead.size() == kMaxLead) {
      report(extent.span, fmt::format("'{}' has more than {} leading extents", declaration_.name, kMaxLead));
    } else {
      tensor.lead.push_back(static_cast<int>(value));
      tensor.rows *= static_cast<int>(value);
    }
  }

  void tail(step::Tensor& tensor) {
    tensor.tail = heads_ == 0 ? step::Tail::Scalar : heads_ == 1 ? step::Tail::Vector : step::Tail::Matrix;
    if (tensor.kind != TensorKind::Param && heads_ > 1)
      report(declaration_.span, fmt::format("{} cannot be a matrix", word(tensor.kind)),
             fmt::format("only a param can; {}[4, {}] has four values a channel", declaration_.name,
                         dimension_));
  }

  void report(step::Span span, std::string message, std::string help = "") {
    diagnostics_.error(span, std::move(message), std::move(help));
    good_ = false;
  }

  const ast::TensorDeclaration& declaration_;
  const std::string& dimension_;
  const OwnExtents& extents_;
  Diagnostics& diagnostics_;
  int heads_ = 0;         // extents of channels
  std::string channels_;  // the last of them
  bool good_ = true;
};

}  // namespace

std::optional<step::Tensor> check_declaration(TensorKind kind, const ast::TensorDeclaration& declaration,
                                              const std::string& dimension, const OwnExtents& extents,
                                              Diagnostics& diagnostics) {
  return DeclarationCheck(declaration, dimension, extents, diagnostics).run(kind);
}

}  // namespace rondo::frontend
