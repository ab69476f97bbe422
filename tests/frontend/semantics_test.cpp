// Shipped cells against loops written by hand from their papers, in fp64.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <map>
#include <random>
#include <tuple>

#include "compiler/scalar/philox.h"
#include "compiler/step/reference/executor.h"
#include "tests/frontend/support.h"

namespace rondo::frontend::testing {
namespace {

using Vector = std::vector<double>;
const step::Sizes kSizes{2, 5, 3, 4};  // B, T, H, D

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

// Random arguments for every tensor of a cell.
step::ForwardArguments<double> random_arguments(const step::Cell& cell, bool initial_states) {
  std::mt19937 random(11);
  std::normal_distribution<double> normal(0, 0.8);
  step::ForwardArguments<double> arguments;
  const auto fill = [&](const step::Tensor& tensor) {
    Vector values(static_cast<std::size_t>(step::element_count(tensor, kSizes)));
    for (double& value : values) value = normal(random);
    return values;
  };
  for (const step::Tensor& tensor : cell.tensors) {
    if (tensor.kind == step::TensorKind::Input) arguments.inputs[tensor.name] = fill(tensor);
    if (tensor.kind == step::TensorKind::Param) arguments.params[tensor.name] = fill(tensor);
    if (tensor.kind == step::TensorKind::State && initial_states)
      arguments.initial_states[tensor.name] = fill(tensor);
  }
  return arguments;
}

// One head of one batch row: states by name, each with D values a row, and the pre-activations of this step
// as [row][channel].
using States = std::map<std::string, Vector>;
struct Head {
  std::vector<Vector> x;  // this step's input rows
  Vector R, b;            // this head's parameters, flat
  States params;          // the same by name
  States states;
  std::size_t batch = 0, step = 0, number = 0;  // in the batch, in time, among the heads

  // (R[row] v)_i + b[row]_i; without b if there is none.
  double product(int row, const Vector& v, std::size_t i) const {
    const std::size_t d = v.size();
    double sum = b.empty() ? 0 : b[static_cast<std::size_t>(row) * d + i];
    for (std::size_t j = 0; j < d; ++j) sum += R[(static_cast<std::size_t>(row) * d + i) * d + j] * v[j];
    return sum;
  }
};
using StepFunction = std::function<void(Head&)>;  // advances head.states

Vector slice(const Vector& all, std::size_t begin, std::size_t count) {
  return {all.begin() + static_cast<std::ptrdiff_t>(begin),
          all.begin() + static_cast<std::ptrdiff_t>(begin + count)};
}

// Compares the cell with the loop over one (batch, head); `vector` names the per-channel parameter, if any.
void compare(const std::string& name, bool initial_states, const char* vector, const StepFunction& advance,
             const std::map<std::string, double>& constants = {}) {
  const step::Cell cell = shipped(name);
  step::ForwardArguments<double> arguments = random_arguments(cell, initial_states);
  arguments.constants = constants;
  const auto result = step::run_forward(cell, kSizes, arguments);
  ASSERT_TRUE(result.ok()) << result.error().message;
  const auto B = static_cast<std::size_t>(kSizes.batch), T = static_cast<std::size_t>(kSizes.time);
  const auto H = static_cast<std::size_t>(kSizes.heads), D = static_cast<std::size_t>(kSizes.dim);
  const auto rows = static_cast<std::size_t>(cell.tensors[static_cast<std::size_t>(*cell.find("x"))].rows);
  const Vector& x = arguments.inputs.at("x");
  for (std::size_t n = 0; n < B; ++n) {
    for (std::size_t k = 0; k < H; ++k) {
      Head head;
      if (arguments.params.contains("R"))
        head.R = slice(arguments.params.at("R"), k * rows * D * D, rows * D * D);
      if (vector) {
        const Vector& all = arguments.params.at(vector);
        head.b = slice(all, k * (all.size() / H), all.size() / H);
      }
      for (const auto& [param, all] : arguments.params)
        head.params[param] = slice(all, k * (all.size() / H), all.size() / H);
      head.batch = n;
      head.number = k;
      for (const step::TensorId id : cell.of_kind(step::TensorKind::State)) {
        const step::Tensor& state = cell.tensors[static_cast<std::size_t>(id)];
        const std::size_t size = static_cast<std::size_t>(state.rows) * D;
        head.states[state.name] =
            initial_states ? slice(arguments.initial_states.at(state.name), (n * H + k) * size, size)
                           : Vector(size, 0);
      }
      for (std::size_t t = 0; t < T; ++t) {
        head.step = t;
        head.x.clear();
        for (std::size_t row = 0; row < rows; ++row)
          head.x.push_back(slice(x, (((n * T + t) * H + k) * rows + row) * D, D));
        advance(head);
        const Vector& h = head.states.at("h");
        for (std::size_t i = 0; i < h.size(); ++i) {
          const double got = result->outputs.at("h")[((n * T + t) * H + k) * h.size() + i];
          ASSERT_NEAR(got, h[i], 1e-12) << name << " at b=" << n << " t=" << t << " head=" << k << " i=" << i;
        }
      }
      for (const auto& [state, values] : head.states) {
        for (std::size_t i = 0; i < values.size(); ++i) {
          ASSERT_NEAR(result->last_states.at(state)[(n * H + k) * values.size() + i], values[i], 1e-12)
              << name << " last " << state;
        }
      }
    }
  }
}

void lstm(Head& head) {
  States next = head.states;
  const Vector& h = head.states["h"];
  for (std::size_t i = 0; i < h.size(); ++i) {
    const double in = sigmoid(head.x[0][i] + head.product(0, h, i)),
                 forget = sigmoid(head.x[1][i] + head.product(1, h, i));
    const double cell = std::tanh(head.x[2][i] + head.product(2, h, i)),
                 out = sigmoid(head.x[3][i] + head.product(3, h, i));
    next["c"][i] = forget * head.states["c"][i] + in * cell;
    next["h"][i] = out * std::tanh(next["c"][i]);
  }
  head.states = next;
}

void gru(Head& head) {
  States next = head.states;
  const Vector& h = head.states["h"];
  for (std::size_t i = 0; i < h.size(); ++i) {
    const double reset = sigmoid(head.x[0][i] + head.product(0, h, i)),
                 update = sigmoid(head.x[1][i] + head.product(1, h, i));
    const double candidate =
        std::tanh(head.x[2][i] + reset * head.product(2, h, i));  // reset after the product
    next["h"][i] = (1 - update) * candidate + update * h[i];
  }
  head.states = next;
}

// Without stabiliser: c and n grow as exp, their ratio is what the stabilised form must give. From zero
// states m = 0.
void slstm_plain(Head& head) {
  States next = head.states;
  const Vector& h = head.states["h"];
  for (std::size_t i = 0; i < h.size(); ++i) {
    const double in = std::exp(head.x[0][i] + head.product(0, h, i)),
                 forget = sigmoid(head.x[1][i] + head.product(1, h, i));
    const double cell = std::tanh(head.x[2][i] + head.product(2, h, i)),
                 out = sigmoid(head.x[3][i] + head.product(3, h, i));
    // The states of the shipped cell are scaled by exp(-m): keep m beside, and scale back and forth.
    const double scale = std::exp(head.states["m"][i]);
    const double c = forget * head.states["c"][i] * scale + in * cell,
                 n = forget * head.states["n"][i] * scale + in;
    const double m = head.states["n"][i] == 0
                         ? std::log(in)
                         : std::max(std::log(forget) + head.states["m"][i], std::log(in));
    next["m"][i] = m;
    next["c"][i] = c / std::exp(m);
    next["n"][i] = n / std::exp(m);
    next["h"][i] = out * c / n;
  }
  head.states = next;
}

void mingru(Head& head) {
  for (std::size_t i = 0; i < head.states["h"].size(); ++i) {
    const double gate = sigmoid(head.x[0][i]);
    head.states["h"][i] = (1 - gate) * head.states["h"][i] + gate * head.x[1][i];
  }
}

void rglru(Head& head) {
  for (std::size_t i = 0; i < head.states["h"].size(); ++i) {
    const double a = std::pow(1 / (1 + std::exp(head.b[i])), 8 * sigmoid(head.x[0][i]));
    head.states["h"][i] =
        a * head.states["h"][i] + std::sqrt(1 - a * a) * sigmoid(head.x[1][i]) * head.x[2][i];
  }
}

void peephole(Head& head) {
  States next = head.states;
  const Vector &h = head.states["h"], &c = head.states["c"], &p = head.params["p"];
  for (std::size_t i = 0, d = h.size(); i < d; ++i) {
    const double in = sigmoid(head.x[0][i] + head.product(0, h, i) + p[i] * c[i]);
    const double forget = sigmoid(head.x[1][i] + head.product(1, h, i) + p[d + i] * c[i]);
    next["c"][i] = forget * c[i] + in * std::tanh(head.x[2][i] + head.product(2, h, i));
    const double out = sigmoid(head.x[3][i] + head.product(3, h, i) + p[2 * d + i] * next["c"][i]);
    next["h"][i] = out * std::tanh(next["c"][i]);
  }
  head.states = next;
}

void blockgru(Head& head) {
  States next = head.states;
  const Vector& h = head.states["h"];
  for (std::size_t i = 0; i < h.size(); ++i) {
    const double reset = sigmoid(head.x[0][i] + head.product(0, h, i));
    const double candidate = std::tanh(reset * (head.x[1][i] + head.product(1, h, i)));
    const double update = sigmoid(head.x[2][i] + head.product(2, h, i) - 1);
    next["h"][i] = update * candidate + (1 - update) * h[i];
  }
  head.states = next;
}

// What an LSTM makes of the states, of which draws keep some as they were; or the mean of both.
void zoneout(Head& head, bool training) {
  const States before = head.states;
  lstm(head);
  const auto kept = [&](const char* draw, double probability, std::size_t channel) {
    if (!training) return probability;
    const auto word = [](std::size_t place) { return static_cast<std::uint32_t>(place); };
    const float u =
        scalar::philox_uniform(static_cast<float>(head.params["seed"][0]), scalar::philox_stream(draw),
                               word(head.batch), word(head.step), word(head.number), word(channel));
    return static_cast<double>(u) < probability ? 1.0 : 0.0;
  };
  for (const auto& [state, draw, probability] :
       {std::tuple{"c", "zone_c", 0.5}, std::tuple{"h", "zone_h", 0.05}})
    for (std::size_t i = 0; i < before.at(state).size(); ++i) {
      const double keep = kept(draw, probability, i);
      head.states[state][i] = keep * before.at(state)[i] + (1 - keep) * head.states[state][i];
    }
}

// R v of all rows, [row][channel] flat, without its bias.
Vector products(const Head& head, const Vector& v) {
  Vector result;
  for (std::size_t row = 0; row < head.x.size(); ++row)
    for (std::size_t i = 0; i < v.size(); ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < v.size(); ++j) sum += head.R[(row * v.size() + i) * v.size() + j] * v[j];
      result.push_back(sum);
    }
  return result;
}

// Ba et al. 2016, equation 4, over all elements; without `centre` Zhang and Sennrich 2019, equation 4.
Vector normalised(const Vector& v, const Vector& gain, bool centre = true) {
  double mean = 0, square = 0;
  for (const double value : v) mean += centre ? value / static_cast<double>(v.size()) : 0;
  for (const double value : v) square += (value - mean) * (value - mean) / static_cast<double>(v.size());
  Vector result;
  for (std::size_t i = 0; i < v.size(); ++i)
    result.push_back(gain[i] * (v[i] - mean) / std::sqrt(square + 1e-5));
  return result;
}

void normalised_lstm(Head& head, bool layer_norm) {
  const std::size_t d = head.states["h"].size();
  Vector v = normalised(products(head, head.states["h"]), head.params["gamma"], layer_norm);
  for (std::size_t i = 0; i < 4 * d; ++i) v[i] += head.x[i / d][i % d] + head.b[i];
  Vector& c = head.states["c"];
  for (std::size_t i = 0; i < d; ++i)
    c[i] = sigmoid(v[d + i]) * c[i] + sigmoid(v[i]) * std::tanh(v[2 * d + i]);
  Vector out = c;
  if (layer_norm) {
    out = normalised(c, head.params["gamma_h"]);
    for (std::size_t i = 0; i < d; ++i) out[i] += head.params["beta_h"][i];
  }
  for (std::size_t i = 0; i < d; ++i) head.states["h"][i] = sigmoid(v[3 * d + i]) * std::tanh(out[i]);
}

void lngru(Head& head) {
  Vector& h = head.states["h"];
  const std::size_t d = h.size();
  Vector v = normalised(products(head, h), head.params["gamma"]);
  for (std::size_t i = 0; i < 3 * d; ++i) v[i] += head.b[i];
  for (std::size_t i = 0; i < d; ++i) {
    const double r = sigmoid(head.x[0][i] + v[i]), z = sigmoid(head.x[1][i] + v[d + i]);
    h[i] = z * h[i] + (1 - z) * std::tanh(head.x[2][i] + r * v[2 * d + i]);
  }
}

// Shen et al. 2019, section 4.1: the cumulative sum of a softmax.
Vector cumax(const Vector& v, std::size_t first, std::size_t count) {
  double sum = 0, so_far = 0;
  for (std::size_t i = 0; i < count; ++i) sum += std::exp(v[first + i]);
  Vector result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(so_far += std::exp(v[first + i]) / sum);
  return result;
}

// Section 4.2.
void onlstm(Head& head) {
  Vector &h = head.states["h"], &c = head.states["c"];
  const std::size_t d = h.size();
  Vector v = products(head, h);
  for (std::size_t i = 0; i < 6 * d; ++i) v[i] += head.x[i / d][i % d] + head.b[i];
  const Vector master_forget = cumax(v, 4 * d, d), rest = cumax(v, 5 * d, d);
  for (std::size_t k = 0; k < d; ++k) {
    const double admit = 1 - rest[k], overlap = master_forget[k] * admit;
    const double forget = sigmoid(v[d + k]) * overlap + (master_forget[k] - overlap);
    const double in = sigmoid(v[k]) * overlap + (admit - overlap);
    c[k] = forget * c[k] + in * std::tanh(v[2 * d + k]);
    h[k] = sigmoid(v[3 * d + k]) * std::tanh(c[k]);
  }
}

// Orvieto et al. 2023, section 3.3: a diagonal of complex numbers, exp(-exp(nu) + i exp(theta)).
void lru(Head& head) {
  Vector& h = head.states["h"];
  const std::size_t d = h.size() / 2;
  for (std::size_t k = 0; k < d; ++k) {
    const std::complex<double> turn(-std::exp(head.params["nu"][k]), std::exp(head.params["theta"][k]));
    const std::complex<double> next =
        std::exp(turn) * std::complex<double>(h[k], h[d + k]) +
        std::exp(head.params["gamma"][k]) * std::complex<double>(head.x[0][k], head.x[1][k]);
    h[k] = next.real();
    h[d + k] = next.imag();
  }
}

TEST(Semantics, Lstm) {
  compare("lstm", true, "b", lstm);
  compare("lstm", false, "b", lstm);
}
TEST(Semantics, Gru) { compare("gru", true, "b", gru); }
TEST(Semantics, Peephole) { compare("peephole", true, "b", peephole); }
TEST(Semantics, Blockgru) { compare("blockgru", true, nullptr, blockgru); }
TEST(Semantics, ZoneoutDrawsInTrainingAndTakesTheMeanInEvaluation) {
  compare("zoneout", true, "b", [](Head& head) { zoneout(head, true); });
  compare("zoneout", true, "b", [](Head& head) { zoneout(head, false); }, {{"training", 0}});
}
TEST(Semantics, LayerNormalised) {
  compare("lnlstm", true, "b", [](Head& head) { normalised_lstm(head, true); });
  compare("lngru", true, "b", lngru);
}
TEST(Semantics, RmsNormalised) {
  compare("rmslstm", true, "b", [](Head& head) { normalised_lstm(head, false); });
}
TEST(Semantics, OrderedNeurons) { compare("onlstm", true, "b", onlstm); }
TEST(Semantics, LinearRecurrentUnit) {
  compare("lru", true, nullptr, lru);
  compare("lru", false, nullptr, lru);
}
TEST(Semantics, Slstm) { compare("slstm", false, "b", slstm_plain); }
TEST(Semantics, Mingru) { compare("mingru", true, nullptr, mingru); }
TEST(Semantics, Rglru) { compare("rglru", true, "lambda", rglru); }

// Gates driven far out: the stabilised cells stay finite where their plain forms would overflow or become
// 0/0.
TEST(Semantics, ExtremeGatesStayFinite) {
  for (const char* name : {"slstm", "minlstm", "rglru", "hgrn"}) {
    for (const double level : {-200.0, 200.0}) {
      const step::Cell cell = shipped(name);
      step::ForwardArguments<double> arguments = random_arguments(cell, false);
      for (double& value : arguments.inputs.at("x")) value += level;
      const auto result = step::run_forward(cell, kSizes, arguments);
      ASSERT_TRUE(result.ok()) << result.error().message;
      for (const double value : result->outputs.at("h"))
        EXPECT_TRUE(std::isfinite(value)) << name << " at " << level;
    }
  }
}

}  // namespace
}  // namespace rondo::frontend::testing
