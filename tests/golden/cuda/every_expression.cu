typedef long long i64;

__device__ __forceinline__ float rcp_approx(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ float fast_div(float x, float y) { return x * rcp_approx(y); }

extern "C" __global__ void __launch_bounds__(64, 1) every_expression(
    int* __restrict__ int_,    // named like a keyword
    float* __restrict__ min_,  // named like a built-in
    int n, i64 wide, float x)
{
  constexpr int kSize = 40;  // a size
  const int thread_x = threadIdx.x, grid_x = gridDim.x;

  const int m = thread_x + 3;
  int_[0] = n + m;
  int_[1] = int(wide + m);
  int_[2] = int(i64(m) + wide);
  int_[3] = int(wide + 5);
  int_[4] = n - m;
  int_[5] = int(wide - m);
  int_[6] = int(i64(m) - wide);
  int_[7] = int(wide - 5);
  int_[8] = n * m;
  int_[9] = int(wide * m);
  int_[10] = int(i64(m) * wide);
  int_[11] = int(wide * 5);
  int_[12] = n / m;
  int_[13] = int(wide / m);
  int_[14] = int(i64(m) / wide);
  int_[15] = int(wide / 5);
  int_[16] = n % m;
  int_[17] = int(wide % m);
  int_[18] = int(i64(m) % wide);
  int_[19] = int(wide % 5);
  int_[20] = min(n, m);
  int_[21] = int(min(wide, i64(m)));
  int_[22] = int(min(i64(m), wide));
  int_[23] = int(min(wide, 5LL));
  int_[24] = max(n, m);
  int_[25] = int(max(wide, i64(m)));
  int_[26] = int(max(i64(m), wide));
  int_[27] = int(max(wide, 5LL));
  int_[28] = n << m;
  int_[29] = int(wide << m);
  int_[30] = int(i64(m) << wide);
  int_[31] = int(wide << 5);
  int_[32] = n >> m;
  int_[33] = int(wide >> m);
  int_[34] = int(i64(m) >> wide);
  int_[35] = int(wide >> 5);
  int_[36] = n & m;
  int_[37] = int(wide & m);
  int_[38] = int(i64(m) & wide);
  int_[39] = int(wide & 5);
  int_[40] = n | m;
  int_[41] = int(wide | m);
  int_[42] = int(i64(m) | wide);
  int_[43] = int(wide | 5);
  int_[44] = n ^ m;
  int_[45] = int(wide ^ m);
  int_[46] = int(i64(m) ^ wide);
  int_[47] = int(wide ^ 5);
  int_[48] = n - (m - n) * (n + m) % m;
  int_[49] = n - m - (n - 2) - 7;
  int_[50] = n * kSize + m * n * m;
  int_[51] = n * (m * n) / (m / n);
  int_[52] = int(i64(n) * m + i64(n + m) * kSize);
  int_[53] = int(wide + 1099511627776LL);
  int_[54] = int(7 * i64(kSize) + wide);
  int_[55] = n * (-2147483647 - 1) - (-2147483647 - 1);
  int_[56] = grid_x * 2;
  const int limit = thread_x + 3;
  min_[57] = n < limit ? 1.0f : 0.0f;
  min_[58] = i64(n) < wide ? 1.0f : 0.0f;
  min_[59] = x < 0.5f ? 1.0f : 0.0f;
  min_[60] = n <= limit ? 1.0f : 0.0f;
  min_[61] = i64(n) <= wide ? 1.0f : 0.0f;
  min_[62] = x <= 0.5f ? 1.0f : 0.0f;
  min_[63] = n > limit ? 1.0f : 0.0f;
  min_[64] = i64(n) > wide ? 1.0f : 0.0f;
  min_[65] = x > 0.5f ? 1.0f : 0.0f;
  min_[66] = n >= limit ? 1.0f : 0.0f;
  min_[67] = i64(n) >= wide ? 1.0f : 0.0f;
  min_[68] = x >= 0.5f ? 1.0f : 0.0f;
  min_[69] = n == limit ? 1.0f : 0.0f;
  min_[70] = i64(n) == wide ? 1.0f : 0.0f;
  min_[71] = x == 0.5f ? 1.0f : 0.0f;
  min_[72] = n != limit ? 1.0f : 0.0f;
  min_[73] = i64(n) != wide ? 1.0f : 0.0f;
  min_[74] = x != 0.5f ? 1.0f : 0.0f;
  const bool inside = n < limit && (wide < n || n == 0);
  min_[75] = !inside ? 1.0f : 0.0f;
  min_[76] = !(n < limit || inside) && inside ? 1.0f : 0.0f;
  int_[77] = (inside ? (n < 2 ? n : limit) : limit < 3 ? limit : n) + 1;
  int_[78] = int(inside ? 9LL : i64(n));
  min_[79] = float(n) * x + (inside ? x : 0.0f);
  const i64 sent = __shfl_xor_sync(0xffffffffu, wide, 1);
  int_[80] = int(sent);
  min_[81] = 0.1f;
  min_[82] = -0.0f;
  min_[83] = 1.0f;
  min_[84] = -2.5f;
  min_[85] = 1e-45f;
  min_[86] = 3.4028235e+38f;
  min_[87] = 10000000000.0f;
  min_[88] = __int_as_float(0x7f800000);
  min_[89] = __int_as_float(0xff800000);
  min_[90] = __int_as_float(0x7fc00000);
  min_[91] = x - fast_div((x - x) * x, x * x);
  min_[92] = -(-x) - 3.0f;
  min_[93] = (x < 1.0f && x == 0.0f ? x : x != 0.0f ? (x < 1.0f ? 1.0f : 0.0f) : -1.0f) * x;
  min_[94] = (x < 1.0f && x == 0.0f || (x < (x < 1.0f ? 1.0f : 0.0f) ? 1.0f : 0.0f) == x ? 1.0f : 0.0f) + x;
}
