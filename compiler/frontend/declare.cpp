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
  void named(const std::string& name, step::Span span, step::Tensor& tensor) {
    if (const auto own = extents_.find(name); own != extents_.end())
      return inner(name, own->second, span, tensor);
    if (tensor.inner) return behind_inner(span);
    head(name, span);
  }

  // An extent of the cell's own stands last: of an input it is the only one, of a matrix behind D.
  void inner(const std::string& name, step::InnerExtent extent, step::Span span, step::Tensor& tensor) {
    if (tensor.inner) return behind_inner(span);
    const int wanted = tensor.kind == TensorKind::Param ? 1 : 0;
    if (tensor.kind == TensorKind::State || heads_ != wanted)
      return report(span,
                    fmt::format("{} cannot have the extent '{}' here: that is not possible yet",
                                word(tensor.kind), name),
                    fmt::format("it can be the last one of an input, u[{1}], and of a matrix that multiplies "
                                "such inputs, W[{0}, {1}]",
                                dimension_, name));
    tensor.inner = extent;
    inner_ = name;
  }

  void behind_inner(step::Span span) {
    report(span, fmt::format("nothing can stand behind the extent '{}'", inner_),
           fmt::format("a matrix is declared as W[{0}, {1}], output channels first, and an input as u[{1}]",
                       dimension_, inner_));
  }

  void head(const std::string& name, step::Span span) {
    if (name != dimension_) {
      report(span, fmt::format("unknown extent '{}'", name),
             heads_ == 0
                 ? fmt::format("extents are integers, then the head dimension {}", dimension_)
                 : fmt::format(
                       "a matrix is square, from a head's channels to the same channels: {0}[{1}, {1}]; "
                       "for an input of another width declare it in the head, 'cell name({1}, {2} = 128)'",
                       declaration_.name, dimension_, name));
    } else if (++heads_ > 2) {
      report(span, fmt::format("'{}' has more than two head dimensions", declaration_.name),
             "a matrix has two, a vector one");
    }
  }

  void leading(const ast::Extent& extent, double value, step::Tensor& tensor) {
    if (!inner_.empty()) {
      behind_inner(extent.span);
    } else if (heads_ > 0) {
      report(extent.span, "leading extents come before the head dimension",
             fmt::format("write {}[{}, {}]", declaration_.name, value, dimension_));
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
    const int tails = heads_ + (tensor.inner ? 1 : 0);
    tensor.tail = tails == 0 ? step::Tail::Scalar : tails == 1 ? step::Tail::Vector : step::Tail::Matrix;
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
  std::string inner_;  // the extent of the cell's own that the tensor has
  int heads_ = 0;
  bool good_ = true;
};

}  // namespace

std::optional<step::Tensor> check_declaration(TensorKind kind, const ast::TensorDeclaration& declaration,
                                              const std::string& dimension, const OwnExtents& extents,
                                              Diagnostics& diagnostics) {
  return DeclarationCheck(declaration, dimension, extents, diagnostics).run(kind);
}

}  // namespace rondo::frontend
