__device__ __forceinline__ float ex2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ float lg2_approx(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ float rcp_approx(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ float sqrt_approx(float x) {
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ float rsqrt_approx(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ float tanh_approx(float x) {
  asm("tanh.approx.f32 %0, %0;" : "+f"(x));
  return x;
}

__device__ __forceinline__ float square(float x) { return x * x; }
__device__ __forceinline__ float sign(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : 0.0f; }
__device__ __forceinline__ float fast_div(float x, float y) { return x * rcp_approx(y); }
__device__ __forceinline__ float fast_exp(float x) { return ex2_approx(x * 1.44269504f); }

// Near zero e^x - 1 would cancel: there the series, right to x^4 / 120.
__device__ __forceinline__ float fast_expm1(float x) {
  const float series = x * fmaf(x, fmaf(x, fmaf(x, 1.0f / 24, 1.0f / 6), 0.5f), 1.0f);
  return fabsf(x) < 0.125f ? series : fast_exp(x) - 1.0f;
}

__device__ __forceinline__ float fast_log(float x) { return lg2_approx(x) * 0.693147181f; }

// Near zero 1 + x would round x away: there the series, right to x^3 / 4.
__device__ __forceinline__ float fast_log1p(float x) {
  const float series = x * fmaf(x, fmaf(x, 1.0f / 3, -0.5f), 1.0f);
  return fabsf(x) < 0.015625f ? series : fast_log(1.0f + x);
}

// (1 + tanh(x / 2)) / 2: one special-function instruction.
__device__ __forceinline__ float fast_sigmoid(float x) { return fmaf(0.5f, tanh_approx(0.5f * x), 0.5f); }

// x (1 + tanh(x / 2)) / 2 = h + h tanh(h) with h = x / 2: one instruction less than by way of the sigmoid, the same error.
__device__ __forceinline__ float fast_silu(float x) {
  const float half = 0.5f * x;
  return fmaf(half, tanh_approx(half), half);
}

__device__ __forceinline__ float fast_gelu(float x) { return 0.5f * x * (1.0f + erff(0.707106781f * x)); }

// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)
__device__ __forceinline__ float fast_softplus(float x) { return fmaxf(x, 0.0f) + fast_log1p(fast_exp(-fabsf(x))); }

extern "C" __global__ void __launch_bounds__(32, 1) every_op_fast(
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
  const float div = fast_div(x, y);
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
  const float exp = fast_exp(x);
  out[10] = exp;
  const float expm1 = fast_expm1(x);
  out[11] = expm1;
  const float log = fast_log(x);
  out[12] = log;
  const float log1p = fast_log1p(x);
  out[13] = log1p;
  const float sqrt = sqrt_approx(x);
  out[14] = sqrt;
  const float rsqrt = rsqrt_approx(x);
  out[15] = rsqrt;
  const float square_ = square(x);
  out[16] = square_;
  const float recip = rcp_approx(x);
  out[17] = recip;
  const float sigmoid = fast_sigmoid(x);
  out[18] = sigmoid;
  const float tanh = tanh_approx(x);
  out[19] = tanh;
  const float relu = fmaxf(x, 0.0f);
  out[20] = relu;
  const float silu = fast_silu(x);
  out[21] = silu;
  const float gelu = fast_gelu(x);
  out[22] = gelu;
  const float softplus = fast_softplus(x);
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
  const float exp2 = ex2_approx(x);
  out[39] = exp2;
  const float pow = powf(x, y);
  out[40] = pow;
  const float atan2 = atan2f(x, y);
  out[41] = atan2;
}
