#include "tests/step/gradient_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "compiler/support/index.h"
#include "tests/step/central_difference.h"

namespace rondo::step::testing {

namespace {

// The loss of every (batch, head), and the sum of the magnitudes of its terms.
struct Losses {
  std::vector<double> value, magnitude;
};

class Check {
 public:
  Check(const Cell& cell, const Sizes& sizes, const ForwardArguments<double>& arguments,
        const LossGradients<double>& loss)
      : cell_(cell), sizes_(sizes), arguments_(arguments), loss_(loss) {
    options_.threads = 1;
  }

  GradientReport run() {
    const auto gradients = run_backward(cell_, sizes_, arguments_, loss_, options_);
    if (!gradients) {
      report_.mismatch = gradients.error().message;
      return report_;
    }
    for (TensorId id = 0; id < static_cast<TensorId>(cell_.tensors.size()); ++id) {
      const Tensor& tensor = cell_.tensors[at(id)];
      if (cell_.seed() == id) continue;  // other bits are other draws: there is no difference to take
      switch (tensor.kind) {
        case TensorKind::Input: check(tensor, arguments_.inputs, gradients->inputs); break;
        case TensorKind::Param: check(tensor, arguments_.params, gradients->params); break;
        case TensorKind::State: check(tensor, arguments_.initial_states, gradients->initial_states); break;
        case TensorKind::Output:
        case TensorKind::Reset:
        case TensorKind::Length: break;
      }
    }
    return report_;
  }

 private:
  Losses losses() const {
    const auto forward = run_forward(cell_, sizes_, arguments_, options_);
    Losses losses{std::vector<double>(at(sizes_.batch * sizes_.heads)),
                  std::vector<double>(at(sizes_.batch * sizes_.heads))};
    const auto add = [&](const std::vector<double>& values, const std::vector<double>& weights,
                         std::int64_t time) {
      const std::int64_t block =
          static_cast<std::int64_t>(values.size()) / (sizes_.batch * time * sizes_.heads);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::int64_t place = static_cast<std::int64_t>(i) / block;
        const std::size_t item = at(place / sizes_.heads / time * sizes_.heads + place % sizes_.heads);
        losses.value[item] += values[i] * weights[i];
        losses.magnitude[item] += std::abs(values[i] * weights[i]);
      }
    };
    for (const auto& [name, weights] : loss_.outputs) add(forward->outputs.at(name), weights, sizes_.time);
    for (const auto& [name, weights] : loss_.last_states) add(forward->last_states.at(name), weights, 1);
    return losses;
  }

  // `values` is a map inside arguments_. Elements are [B,] [T,] H, block in memory.
  void check(const Tensor& tensor, TensorMap<double>& map, const TensorMap<double>& gradients) {
    std::vector<double>& values = map.at(tensor.name);
    const std::vector<double>& gradient = gradients.at(tensor.name);
    const std::int64_t batch = tensor.kind == TensorKind::Param ? 1 : sizes_.batch;
    const std::int64_t time = tensor.kind == TensorKind::Input ? sizes_.time : 1;
    const std::int64_t block = static_cast<std::int64_t>(values.size()) / (batch * time * sizes_.heads);
    for (std::int64_t t = 0; t < time; ++t) {
      for (std::int64_t k = 0; k < block; ++k) {
        std::vector<std::size_t> elements;  // the same for every (batch, head)
        for (std::int64_t item = 0; item < batch * sizes_.heads; ++item)
          elements.push_back(
              at(((item / sizes_.heads * time + t) * sizes_.heads + item % sizes_.heads) * block + k));
        compare(tensor, values, gradient, elements);
      }
    }
  }

  void compare(const Tensor& tensor, std::vector<double>& values, const std::vector<double>& gradient,
               const std::vector<std::size_t>& elements) {
    const auto folded = [&](const std::vector<double>& by_item) {
      std::vector<double> sums(elements.size(), 0.0);  // over the batch, for parameters
      for (std::size_t i = 0; i < by_item.size(); ++i) sums[i % elements.size()] += by_item[i];
      return sums;
    };
    const auto evaluate = [&](double dx) {
      std::vector<double> kept;
      for (const std::size_t element : elements) {
        kept.push_back(values[element]);
        values[element] += dx;
      }
      std::vector<double> result = folded(losses().value);
      for (std::size_t i = 0; i < elements.size(); ++i) values[elements[i]] = kept[i];
      return result;
    };
    const std::vector<Measured> measured = central_differences(evaluate, folded(losses().magnitude));
    for (std::size_t i = 0; i < elements.size(); ++i)
      judge(tensor, elements[i], gradient[elements[i]], measured[i]);
  }

  void judge(const Tensor& tensor, std::size_t element, double gradient, const Measured& measured) {
    if (!measured.usable) {
      ++report_.unusable;
      return;
    }
    ++report_.compared;
    report_.nonzero += gradient != 0 ? 1 : 0;
    const double difference = std::abs(gradient - measured.value);
    if (measured.error > 0) report_.worst = std::max(report_.worst, difference / measured.error);
    if (difference <= measured.error || !report_.mismatch.empty()) return;
    report_.mismatch = fmt::format("d loss / d {}, element {}: {} derived, {} measured, within {}",
                                   tensor.name, element, gradient, measured.value, measured.error);
  }

  const Cell& cell_;
  Sizes sizes_;
  ForwardArguments<double> arguments_;
  const LossGradients<double>& loss_;
  RunOptions<double> options_;
  GradientReport report_;
};

}  // namespace

GradientReport check_gradients(const Cell& cell, const Sizes& sizes,
                               const ForwardArguments<double>& arguments, const LossGradients<double>& loss) {
  return Check(cell, sizes, arguments, loss).run();
}

}  // namespace rondo::step::testing
