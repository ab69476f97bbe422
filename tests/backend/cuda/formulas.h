// The scalar functions of the prelude as functions of the CPU, with the hardware's approximations replaced by
// exact values displaced by the errors their documentation allows (PTX ISA 8.x, 9.7.3; CUDA C++ Programming
// Guide, "Mathematical Functions") or, where larger, an H200 showed over all floats (ex2.approx 2.06,
// expf 1.93 ulp). FORMULA holds a body once: it is compiled here and compared, as text, with what the backend
// emits.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace rondo::backend::cuda {
namespace device {

// Where in its error interval each approximation lands: -1, 0 or 1 times the bound.
struct Displacement {
  int ex2 = 0, rcp = 0, lg2 = 0, tanh = 0, library = 0;
};
inline Displacement displacement;

inline float flushed(float x) {
  return std::abs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x;
}

inline double ulp_of(double exact) {
  return std::ldexp(1.0, std::max(std::ilogb(exact), std::numeric_limits<float>::min_exponent - 1) - 23);
}

// The float furthest from `exact`, towards `sign`, that an error of at most `ulps` allows.
inline float displaced(double exact, double ulps, int sign) {
  if (!std::isfinite(exact) || exact == 0) return static_cast<float>(exact);
  const double limit = ulps * ulp_of(exact);
  const float moved = static_cast<float>(exact + sign * limit);
  return std::abs(moved - exact) <= limit ? moved : std::nextafter(moved, static_cast<float>(exact));
}

inline float ex2_approx(float x) {
  return flushed(displaced(std::exp2(static_cast<double>(x)), 2.1, displacement.ex2));
}
inline float rcp_approx(float x) { return flushed(displaced(1.0 / x, 1, displacement.rcp)); }
// Absolute error 2^-22 for arguments in (1/2, 2), relative outside.
inline float lg2_approx(float x) {
  const double exact = std::log2(static_cast<double>(x));
  return static_cast<float>(exact + 0x1p-22 * displacement.lg2 *
                                        std::max(std::isfinite(exact) ? std::abs(exact) : 0, 1.0));
}
inline float tanh_approx(float x) {
  return static_cast<float>(std::tanh(static_cast<double>(x)) * (1 + 0x1p-11 * displacement.tanh));
}
inline float log1pf(float x) {
  return displaced(std::log1p(static_cast<double>(x)), 1, displacement.library);
}
inline float erff(float x) { return displaced(std::erf(static_cast<double>(x)), 2, displacement.library); }
inline float __uint_as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline std::uint32_t __float_as_uint(float x) { return std::bit_cast<std::uint32_t>(x); }
inline float fmaf(float a, float b, float c) { return std::fma(a, b, c); }
inline float held(float x, float bound) { return x < -bound ? -bound : x > bound ? bound : x; }
inline float fabsf(float x) { return std::fabs(x); }
inline float fmaxf(float a, float b) { return std::fmax(a, b); }
inline float copysignf(float a, float b) { return std::copysign(a, b); }

struct Formula {
  std::string name;
  std::string body;
};
inline std::vector<Formula> formulas;
struct Recorded {
  Recorded(std::string name, std::string body) { formulas.push_back({std::move(name), std::move(body)}); }
};

// A template cannot give the text of what it compiles.
#define FORMULA(NAME, ...)                   \
  inline float NAME(float x) { __VA_ARGS__ } \
  inline const Recorded NAME##_recorded(#NAME, #__VA_ARGS__)

// clang-format off
FORMULA(fast_exp, return ex2_approx(x * 1.44269504f););
FORMULA(fast_expm1,
  const float series = x * fmaf(x, fmaf(x, fmaf(x, 1.0f / 24, 1.0f / 6), 0.5f), 1.0f);
  return fabsf(x) < 0.125f ? series : fast_exp(x) - 1.0f;
);
FORMULA(fast_log, return lg2_approx(x) * 0.693147181f;);
FORMULA(fast_log1p,
  const float series = x * fmaf(x, fmaf(x, 1.0f / 3, -0.5f), 1.0f);
  return fabsf(x) < 0.015625f ? series : fast_log(1.0f + x);
);
FORMULA(fast_sigmoid, return fmaf(0.5f, tanh_approx(0.5f * x), 0.5f););
FORMULA(fast_silu, const float half = 0.5f * x; return fmaf(half, tanh_approx(half), half););
FORMULA(fast_gelu, return 0.5f * x * (1.0f + erff(0.707106781f * x)););
FORMULA(fast_softplus, return fmaxf(x, 0.0f) + fast_log1p(fast_exp(-fabsf(x))););
FORMULA(exp_of_negative,
  const float y = x < -88.0f ? -88.0f : x;
  const float shifted = fmaf(y, 1.44269504f, 12583039.0f);
  const float n = shifted - 12583039.0f;
  const float r = fmaf(n, 2.12194440e-4f, fmaf(n, -0.693359375f, y));
  float p = fmaf(r, 1.98756915e-4f, 1.39819995e-3f);
  p = fmaf(r, p, 8.33345191e-3f);
  p = fmaf(r, p, 4.16657959e-2f);
  p = fmaf(r, p, 1.66666655e-1f);
  p = fmaf(r, p, 5.00000012e-1f);
  p = fmaf(p * r, r, r) + 1.0f;
  return p * __uint_as_float(__float_as_uint(shifted) << 23);
);
FORMULA(accurate_sigmoid,
  const float y = held(x, 88.0f);
  const float shifted = fmaf(y, -1.44269502f, 12583039.0f);
  const float n = shifted - 12583039.0f;
  const float s = fmaf(n, -2.12194440e-4f, fmaf(n, 0.693359375f, y));
  float p = fmaf(s, 0.00138145394f, -0.00836874545f);
  p = fmaf(s, p, 0.0416683890f);
  p = fmaf(s, p, -0.166665211f);
  p = fmaf(s, p, 0.499999940f);
  p = fmaf(s, p, -1.0f);
  p = fmaf(s, p, 1.0f);
  const float d = fmaf(p, __uint_as_float(__float_as_uint(shifted) << 23), 1.0f);
  const float r = rcp_approx(d);
  return fmaf(fmaf(-d, r, 1.0f), r, r);
);
FORMULA(accurate_silu,
  const float y = held(x, 93.0f);
  const float shifted = fmaf(y, -1.44269502f, 12583031.0f);
  const float n = shifted - 12583031.0f;
  const float s = fmaf(n, -2.12194440e-4f, fmaf(n, 0.693359375f, y));
  float p = fmaf(s, 0.00138145394f, -0.00836874545f);
  p = fmaf(s, p, 0.0416683890f);
  p = fmaf(s, p, -0.166665211f);
  p = fmaf(s, p, 0.499999940f);
  p = fmaf(s, p, -1.0f);
  p = fmaf(s, p, 1.0f);
  const float d = fmaf(p, __uint_as_float(__float_as_uint(shifted) << 23), 0.00390625f);
  const float i = rcp_approx(d);
  const float r = fmaf(fmaf(-d, i, 1.0f), i, i);
  return x > 64.0f ? x : y * r * 0.00390625f;
);
FORMULA(accurate_tanh,
  const float t = fabsf(x);
  const float u = t * t;
  float p = fmaf(u, -0.00551486947f, 0.0204691216f);
  p = fmaf(u, p, -0.0536879227f);
  p = fmaf(u, p, 0.133308291f);
  p = fmaf(u, p, -0.333332598f);
  const float near = fmaf(t * u, p, t);
  const float far = fmaf(-2.0f, rcp_approx(1.0f + ex2_approx(t * 2.88539008f)), 1.0f);
  return copysignf(t >= 0.65f ? far : near, x);
);
FORMULA(accurate_gelu,
  const float size = fabsf(x);
  const float t = size > 15.0f ? 15.0f : size;
  const float a = t * 0.707106769f;
  const float above = a + 3.0f;
  const float below = a - 3.0f;
  const float i = rcp_approx(above);
  const float near = below * i;
  const float q = fmaf(fmaf(-near, above, below), i, near);
  float r = fmaf(q, -0.000273596001f, -0.000788120728f);
  r = fmaf(q, r, 0.00200177124f);
  r = fmaf(q, r, 0.00257685641f);
  r = fmaf(q, r, -0.0237946641f);
  r = fmaf(q, r, 0.0682930276f);
  r = fmaf(q, r, -0.119271919f);
  r = fmaf(q, r, 0.129646719f);
  r = fmaf(q, r, -0.0475623198f);
  r = fmaf(q, r, -0.135621145f);
  r = fmaf(q, r, 1.25300801f);
  const float scaled = r * rcp_approx(fmaf(a, 2.0f, 1.0f));
  const float square = t * t;
  const float rest = fmaf(t, t, -square);
  const float corrected = fmaf(scaled, -0.5f * rest, scaled);
  const float part = -0.5f * t * corrected;
  return fmaf(part, exp_of_negative(-0.5f * square), fmaxf(x, 0.0f));
);
FORMULA(accurate_softplus, return fmaxf(x, 0.0f) + log1pf(exp_of_negative(-fabsf(x))););
// clang-format on

}  // namespace device

}  // namespace rondo::backend::cuda
