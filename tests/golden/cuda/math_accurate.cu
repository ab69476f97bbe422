__device__ __forceinline__ float ex2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ float rcp_approx(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ float square(float x) { return x * x; }
__device__ __forceinline__ float sign(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : 0.0f; }

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

// x, but no further from 0 than the bound. NaN stays: min and max with .NaN (PTX ISA 8.x, 9.7.3) take one instruction, a
// comparison and a selection two.
__device__ __forceinline__ float held(float x, float bound) {
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(x) : "f"(-bound));
  asm("min.NaN.f32 %0, %0, %1;" : "+f"(x) : "f"(bound));
  return x;
}

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

// 3 ulp. log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)
__device__ __forceinline__ float accurate_softplus(float x) { return fmaxf(x, 0.0f) + log1pf(exp_of_negative(-fabsf(x))); }

extern "C" __global__ void __launch_bounds__(32, 1) every_op_accurate(
    const float* __restrict__ in,  // [3]
    float* __restrict__ out)       // [ops]
{
  const float x = in[0];
  const float y = in[1];
  const float z = in[2];
  const float add = x + y;
  out[0] = add;
  const float sub = x - y;
  out[1] = sub;
  const float mul = x * y;
  out[2] = mul;
  const float div = x / y;
  out[3] = div;
  const float neg = -x;
  out[4] = neg;
  const float fma = fmaf(x, y, z);
  out[5] = fma;
  const float min_ = fminf(x, y);
  out[6] = min_;
  const float max_ = fmaxf(x, y);
  out[7] = max_;
  const float abs = fabsf(x);
  out[8] = abs;
  const float sign_ = sign(x);
  out[9] = sign_;
  const float exp = expf(x);
  out[10] = exp;
  const float expm1 = expm1f(x);
  out[11] = expm1;
  const float log = logf(x);
  out[12] = log;
  const float log1p = log1pf(x);
  out[13] = log1p;
  const float sqrt = sqrtf(x);
  out[14] = sqrt;
  const float rsqrt = rsqrtf(x);
  out[15] = rsqrt;
  const float square_ = square(x);
  out[16] = square_;
  const float recip = 1.0f / x;
  out[17] = recip;
  const float sigmoid = accurate_sigmoid(x);
  out[18] = sigmoid;
  const float tanh = accurate_tanh(x);
  out[19] = tanh;
  const float relu = fmaxf(x, 0.0f);
  out[20] = relu;
  const float silu = accurate_silu(x);
  out[21] = silu;
  const float gelu = accurate_gelu(x);
  out[22] = gelu;
  const float softplus = accurate_softplus(x);
  out[23] = softplus;
  const float erf = erff(x);
  out[24] = erf;
  const float sin = sinf(x);
  out[25] = sin;
  const float cos = cosf(x);
  out[26] = cos;
  const float less = x < y ? 1.0f : 0.0f;
  out[27] = less;
  const float less_equal = x <= y ? 1.0f : 0.0f;
  out[28] = less_equal;
  const float greater = x > y ? 1.0f : 0.0f;
  out[29] = greater;
  const float greater_equal = x >= y ? 1.0f : 0.0f;
  out[30] = greater_equal;
  const float equal = x == y ? 1.0f : 0.0f;
  out[31] = equal;
  const float not_equal = x != y ? 1.0f : 0.0f;
  out[32] = not_equal;
  const float and_ = x != 0.0f && y != 0.0f ? 1.0f : 0.0f;
  out[33] = and_;
  const float or_ = x != 0.0f || y != 0.0f ? 1.0f : 0.0f;
  out[34] = or_;
  const float not_ = x == 0.0f ? 1.0f : 0.0f;
  out[35] = not_;
  const float select = x != 0.0f ? y : z;
  out[36] = select;
  const float round = rintf(x);
  out[37] = round;
  const float floor = floorf(x);
  out[38] = floor;
  const float exp2 = exp2f(x);
  out[39] = exp2;
  const float pow = powf(x, y);
  out[40] = pow;
  const float atan2 = atan2f(x, y);
  out[41] = atan2;
}
