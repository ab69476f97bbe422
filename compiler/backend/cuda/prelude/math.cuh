// Scalar functions in CUDA C++. `fast_*` rest on hardware approximations (PTX ISA 8.x, 9.7.3 floating point
// instructions); `accurate_*` are branch-free and right to a few units in the last place (ulp). The bounds stand beside
// them. tests/backend/cuda/math_test.cpp checks them on the CPU: it repeats the formulas with the hardware's worst
// errors. An H200, over all floats, gave 1.8 ulp for tanh and 1.6 for softplus; of the fast ones an absolute error of 4e-6
// for sigmoid and 8e-6 for tanh, 64 ulp for exp, 108 for log1p and softplus. All take infinities without producing NaN from
// their insides (fast silu and gelu of minus infinity are NaN, as -inf * 0 is; accurate ones are 0), and pass NaN on.

//: ex2_approx
__device__ __forceinline__ float ex2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

//: lg2_approx
__device__ __forceinline__ float lg2_approx(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

//: rcp_approx
__device__ __forceinline__ float rcp_approx(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

//: sqrt_approx
__device__ __forceinline__ float sqrt_approx(float x) {
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

//: rsqrt_approx
__device__ __forceinline__ float rsqrt_approx(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

//: tanh_approx
__device__ __forceinline__ float tanh_approx(float x) {
  asm("tanh.approx.f32 %0, %0;" : "+f"(x));
  return x;
}

//: square
__device__ __forceinline__ float square(float x) { return x * x; }

//: sign
__device__ __forceinline__ float sign(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : 0.0f; }

//: fast_div needs rcp_approx
__device__ __forceinline__ float fast_div(float x, float y) { return x * rcp_approx(y); }

//: fast_exp needs ex2_approx
__device__ __forceinline__ float fast_exp(float x) { return ex2_approx(x * 1.44269504f); }

//: fast_expm1 needs fast_exp
// Near zero e^x - 1 would cancel: there the series, right to x^4 / 120.
__device__ __forceinline__ float fast_expm1(float x) {
  const float series = x * fmaf(x, fmaf(x, fmaf(x, 1.0f / 24, 1.0f / 6), 0.5f), 1.0f);
  return fabsf(x) < 0.125f ? series : fast_exp(x) - 1.0f;
}

//: fast_log needs lg2_approx
__device__ __forceinline__ float fast_log(float x) { return lg2_approx(x) * 0.693147181f; }

//: fast_log1p needs fast_log
// Near zero 1 + x would round x away: there the series, right to x^3 / 4.
__device__ __forceinline__ float fast_log1p(float x) {
  const float series = x * fmaf(x, fmaf(x, 1.0f / 3, -0.5f), 1.0f);
  return fabsf(x) < 0.015625f ? series : fast_log(1.0f + x);
}

//: fast_sigmoid needs tanh_approx
// (1 + tanh(x / 2)) / 2: one special-function instruction.
__device__ __forceinline__ float fast_sigmoid(float x) { return fmaf(0.5f, tanh_approx(0.5f * x), 0.5f); }

//: fast_silu needs tanh_approx
// x (1 + tanh(x / 2)) / 2 = h + h tanh(h) with h = x / 2: one instruction less than by way of the sigmoid, the same error.
__device__ __forceinline__ float fast_silu(float x) {
  const float half = 0.5f * x;
  return fmaf(half, tanh_approx(half), half);
}

//: fast_gelu
__device__ __forceinline__ float fast_gelu(float x) { return 0.5f * x * (1.0f + erff(0.707106781f * x)); }

//: fast_softplus needs fast_exp fast_log1p
// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)
__device__ __forceinline__ float fast_softplus(float x) { return fmaxf(x, 0.0f) + fast_log1p(fast_exp(-fabsf(x))); }

//: exp_of_negative
// e^x for x <= 0, 1.02 ulp; 0 below -88. x = n log 2 + r, log 2 in two parts; adding 1.5 * 2^23 + 127 rounds to n and leaves
// the exponent field of 2^n in the lowest bits. e^r as in Cephes (Moshier, expf.c).
__device__ __forceinline__ float exp_of_negative(float x) {
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
}

//: held
// x, but no further from 0 than the bound. NaN stays: min and max with .NaN (PTX ISA 8.x, 9.7.3) take one instruction, a
// comparison and a selection two.
__device__ __forceinline__ float held(float x, float bound) {
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(x) : "f"(-bound));
  asm("min.NaN.f32 %0, %0, %1;" : "+f"(x) : "f"(bound));
  return x;
}

//: accurate_sigmoid needs held rcp_approx
// 2 ulp; 0 below -87.3. 1 / (1 + e^-x), x held between -88 and 88: e^-x is no number that a float cannot hold, and at -88 its
// reciprocal is flushed to 0. x = s - n log 2, log 2 in two parts; e^-s by a polynomial of least error. Adding
// 1.5 * 2^23 + 127 rounds to n and leaves the exponent field of 2^n in the lowest bits. One Newton step on the reciprocal.
__device__ __forceinline__ float accurate_sigmoid(float x) {
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
}

//: accurate_silu needs held rcp_approx
// 3 ulp. x times the sigmoid as above, which comes as 2^8 of it: the product is a normal number down to -91.9, where the sigmoid
// is none from -87.3 on. 0 below -93; from 64 on the sigmoid is 1.
__device__ __forceinline__ float accurate_silu(float x) {
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
}

//: accurate_tanh needs ex2_approx rcp_approx
// 3 ulp. Below 0.65 the odd polynomial t + t^3 P(t^2), P of degree 4 by Remez's exchange for least relative error (0.12 ulp);
// above, 1 - 2 / (1 + e^2t), whose error shrinks with the distance from 1. Both are computed: no divergence.
__device__ __forceinline__ float accurate_tanh(float x) {
  const float t = fabsf(x);
  const float u = t * t;
  float p = fmaf(u, -0.00551486947f, 0.0204691216f);
  p = fmaf(u, p, -0.0536879227f);
  p = fmaf(u, p, 0.133308291f);
  p = fmaf(u, p, -0.333332598f);
  const float near = fmaf(t * u, p, t);
  const float far = fmaf(-2.0f, rcp_approx(1.0f + ex2_approx(t * 2.88539008f)), 1.0f);
  return copysignf(t >= 0.65f ? far : near, x);
}

//: accurate_gelu needs exp_of_negative rcp_approx
// 7 ulp. max(x, 0) - |x|/2 erfc(|x| / sqrt 2), which does not cancel. erfc(a) = e^(-a^2) R / (1 + 2 a) with R a polynomial in
// (a - 3) / (a + 3), whose quotient gets a Newton step; a^2 is that of x, halved, with its rounding error. Beyond 15 the function
// is x or 0.
__device__ __forceinline__ float accurate_gelu(float x) {
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
}

//: accurate_softplus needs exp_of_negative
// 3 ulp. log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)
__device__ __forceinline__ float accurate_softplus(float x) { return fmaxf(x, 0.0f) + log1pf(exp_of_negative(-fabsf(x))); }
