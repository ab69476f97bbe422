; Scalar functions as LLVM IR: the same steps, and so the same bounds, as in compiler/backend/cuda/prelude/math.cuh.
; Hardware approximations are intrinsics (PTX ISA 8.x, 9.7.3). tests/backend/llvm/math_test.cpp evaluates this text on the
; CPU. Where the CUDA text calls the CUDA library (exp, log, erf, sin, ...) the functions of precise.ll stand in.

;: tanh_approx
define internal float @tanh_approx(float %x) alwaysinline {
  %y = call float asm "tanh.approx.f32 $0, $1;", "=f,f"(float %x)
  ret float %y
}

;: sign
define internal float @sign(float %x) alwaysinline {
  %positive = fcmp ogt float %x, 0.0
  %negative = fcmp olt float %x, 0.0
  %below = select i1 %negative, float -1.0, float 0.0
  %y = select i1 %positive, float 1.0, float %below
  ret float %y
}

;: fast_div
define internal float @fast_div(float %x, float %y) alwaysinline {
  %r = call float @llvm.nvvm.rcp.approx.ftz.f(float %y)
  %q = fmul contract float %x, %r
  ret float %q
}

;: fast_exp
define internal float @fast_exp(float %x) alwaysinline {
  %a = fmul contract float %x, 0x3FF7154760000000 ; 1.44269504
  %y = call float @llvm.nvvm.ex2.approx.ftz.f(float %a)
  ret float %y
}

;: fast_expm1 needs fast_exp
; Near zero e^x - 1 would cancel: there the series, right to x^4 / 120.
define internal float @fast_expm1(float %x) alwaysinline {
  %c = call float @llvm.fma.f32(float %x, float 0x3FA5555560000000, float 0x3FC5555560000000) ; 1/24, 1/6
  %b = call float @llvm.fma.f32(float %x, float %c, float 0.5)
  %a = call float @llvm.fma.f32(float %x, float %b, float 1.0)
  %series = fmul contract float %x, %a
  %e = call float @fast_exp(float %x)
  %far = fsub contract float %e, 1.0
  %size = call float @llvm.fabs.f32(float %x)
  %near = fcmp olt float %size, 0.125
  %y = select i1 %near, float %series, float %far
  ret float %y
}

;: fast_log
define internal float @fast_log(float %x) alwaysinline {
  %l = call float @llvm.nvvm.lg2.approx.ftz.f(float %x)
  %y = fmul contract float %l, 0x3FE62E4300000000 ; 0.693147181
  ret float %y
}

;: fast_log1p needs fast_log
; Near zero 1 + x would round x away: there the series, right to x^3 / 4.
define internal float @fast_log1p(float %x) alwaysinline {
  %b = call float @llvm.fma.f32(float %x, float 0x3FD5555560000000, float -0.5) ; 1/3
  %a = call float @llvm.fma.f32(float %x, float %b, float 1.0)
  %series = fmul contract float %x, %a
  %sum = fadd contract float %x, 1.0
  %far = call float @fast_log(float %sum)
  %size = call float @llvm.fabs.f32(float %x)
  %near = fcmp olt float %size, 0.015625
  %y = select i1 %near, float %series, float %far
  ret float %y
}

;: fast_sigmoid needs tanh_approx
; (1 + tanh(x / 2)) / 2: one special-function instruction.
define internal float @fast_sigmoid(float %x) alwaysinline {
  %half = fmul contract float %x, 0.5
  %t = call float @tanh_approx(float %half)
  %y = call float @llvm.fma.f32(float %t, float 0.5, float 0.5)
  ret float %y
}

;: fast_silu needs tanh_approx
; x (1 + tanh(x / 2)) / 2 = h + h tanh(h) with h = x / 2.
define internal float @fast_silu(float %x) alwaysinline {
  %half = fmul contract float %x, 0.5
  %t = call float @tanh_approx(float %half)
  %y = call float @llvm.fma.f32(float %half, float %t, float %half)
  ret float %y
}

;: fast_gelu needs precise_erf
define internal float @fast_gelu(float %x) alwaysinline {
  %a = fmul contract float %x, 0x3FE6A09E60000000 ; 0.707106781
  %e = call float @precise_erf(float %a)
  %half = fmul contract float %x, 0.5
  %sum = fadd contract float %e, 1.0
  %y = fmul contract float %half, %sum
  ret float %y
}

;: fast_softplus needs fast_exp fast_log1p
; log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)
define internal float @fast_softplus(float %x) alwaysinline {
  %size = call float @llvm.fabs.f32(float %x)
  %minus = fneg float %size
  %e = call float @fast_exp(float %minus)
  %l = call float @fast_log1p(float %e)
  %positive = call float @llvm.maxnum.f32(float %x, float 0.0)
  %y = fadd contract float %positive, %l
  ret float %y
}

;: exp_of_negative
; e^x for x <= 0, 1.02 ulp; 0 below -88. x = n log 2 + r, log 2 in two parts; adding 1.5 * 2^23 + 127 rounds to n and leaves
; the exponent field of 2^n in the lowest bits. e^r as in Cephes (Moshier, expf.c).
define internal float @exp_of_negative(float %x) alwaysinline {
  %deep = fcmp olt float %x, -88.0
  %y = select i1 %deep, float -88.0, float %x
  %shifted = call float @llvm.fma.f32(float %y, float 0x3FF7154760000000, float 12583039.0)
  %n = fsub float %shifted, 12583039.0
  %r0 = call float @llvm.fma.f32(float %n, float -0.693359375, float %y)
  %r = call float @llvm.fma.f32(float %n, float 0x3F2BD01060000000, float %r0) ; 2.12194440e-4
  %p1 = call float @llvm.fma.f32(float %r, float 0x3F2A0D2CE0000000, float 0x3F56E879C0000000) ; 1.98756915e-4, 1.39819995e-3
  %p2 = call float @llvm.fma.f32(float %r, float %p1, float 0x3F81112100000000) ; 8.33345191e-3
  %p3 = call float @llvm.fma.f32(float %r, float %p2, float 0x3FA5553820000000) ; 4.16657959e-2
  %p4 = call float @llvm.fma.f32(float %r, float %p3, float 0x3FC5555540000000) ; 1.66666655e-1
  %p5 = call float @llvm.fma.f32(float %r, float %p4, float 0.5)
  %pr = fmul float %p5, %r
  %p6 = call float @llvm.fma.f32(float %pr, float %r, float %r)
  %p = fadd float %p6, 1.0
  %bits = bitcast float %shifted to i32
  %field = shl i32 %bits, 23
  %scale = bitcast i32 %field to float
  %e = fmul contract float %p, %scale
  ret float %e
}

;: accurate_sigmoid
; 2 ulp; 0 below -87.3. 1 / (1 + e^-x), x held between -88 and 88: e^-x is no number that a float cannot hold, and at -88 its
; reciprocal is flushed to 0. x = s - n log 2, log 2 in two parts; e^-s by a polynomial of least error. Adding
; 1.5 * 2^23 + 127 rounds to n and leaves the exponent field of 2^n in the lowest bits. One Newton step on the reciprocal.
define internal float @accurate_sigmoid(float %x) alwaysinline {
  %above = call float @llvm.maximum.f32(float %x, float -88.0) ; max.NaN and min.NaN: NaN stays
  %held = call float @llvm.minimum.f32(float %above, float 88.0)
  %shifted = call float @llvm.fma.f32(float %held, float 0xBFF7154760000000, float 12583039.0) ; -1.44269502
  %n = fsub float %shifted, 12583039.0
  %s0 = call float @llvm.fma.f32(float %n, float 0.693359375, float %held)
  %s = call float @llvm.fma.f32(float %n, float 0xBF2BD01060000000, float %s0) ; -2.12194440e-4
  %p5 = call float @llvm.fma.f32(float %s, float 0x3F56A23CE0000000, float 0xBF8123A200000000) ; 0.00138145394, -0.00836874545
  %p4 = call float @llvm.fma.f32(float %s, float %p5, float 0x3FA5558F20000000) ; 0.0416683890
  %p3 = call float @llvm.fma.f32(float %s, float %p4, float 0xBFC5554920000000) ; -0.166665211
  %p2 = call float @llvm.fma.f32(float %s, float %p3, float 0x3FDFFFFFC0000000) ; 0.499999940
  %p1 = call float @llvm.fma.f32(float %s, float %p2, float -1.0)
  %p = call float @llvm.fma.f32(float %s, float %p1, float 1.0)
  %bits = bitcast float %shifted to i32
  %field = shl i32 %bits, 23
  %scale = bitcast i32 %field to float
  %d = call float @llvm.fma.f32(float %p, float %scale, float 1.0)
  %r = call float @llvm.nvvm.rcp.approx.ftz.f(float %d)
  %minus_d = fneg float %d
  %off = call float @llvm.fma.f32(float %minus_d, float %r, float 1.0)
  %y = call float @llvm.fma.f32(float %off, float %r, float %r)
  ret float %y
}

;: accurate_silu
; 3 ulp. x times the sigmoid as above, which comes as 2^8 of it: the product is a normal number down to -91.9, where the sigmoid
; is none from -87.3 on. 0 below -93; from 64 on the sigmoid is 1.
define internal float @accurate_silu(float %x) alwaysinline {
  %above = call float @llvm.maximum.f32(float %x, float -93.0) ; max.NaN and min.NaN: NaN stays
  %held = call float @llvm.minimum.f32(float %above, float 93.0)
  %shifted = call float @llvm.fma.f32(float %held, float 0xBFF7154760000000, float 12583031.0) ; -1.44269502
  %n = fsub float %shifted, 12583031.0
  %s0 = call float @llvm.fma.f32(float %n, float 0.693359375, float %held)
  %s = call float @llvm.fma.f32(float %n, float 0xBF2BD01060000000, float %s0) ; -2.12194440e-4
  %p5 = call float @llvm.fma.f32(float %s, float 0x3F56A23CE0000000, float 0xBF8123A200000000) ; 0.00138145394, -0.00836874545
  %p4 = call float @llvm.fma.f32(float %s, float %p5, float 0x3FA5558F20000000) ; 0.0416683890
  %p3 = call float @llvm.fma.f32(float %s, float %p4, float 0xBFC5554920000000) ; -0.166665211
  %p2 = call float @llvm.fma.f32(float %s, float %p3, float 0x3FDFFFFFC0000000) ; 0.499999940
  %p1 = call float @llvm.fma.f32(float %s, float %p2, float -1.0)
  %p = call float @llvm.fma.f32(float %s, float %p1, float 1.0)
  %bits = bitcast float %shifted to i32
  %field = shl i32 %bits, 23
  %scale = bitcast i32 %field to float
  %d = call float @llvm.fma.f32(float %p, float %scale, float 0.00390625)
  %i = call float @llvm.nvvm.rcp.approx.ftz.f(float %d)
  %minus_d = fneg float %d
  %off = call float @llvm.fma.f32(float %minus_d, float %i, float 1.0)
  %r = call float @llvm.fma.f32(float %off, float %i, float %i)
  %product = fmul float %held, %r
  %near = fmul float %product, 0.00390625
  %far = fcmp ogt float %x, 64.0
  %y = select i1 %far, float %x, float %near
  ret float %y
}

;: accurate_tanh
; 3 ulp. Below 0.65 an odd polynomial; above, 1 - 2 / (1 + e^2t), whose error shrinks with the distance from 1. Both are
; computed: no divergence.
define internal float @accurate_tanh(float %x) alwaysinline {
  %t = call float @llvm.fabs.f32(float %x)
  %u = fmul float %t, %t
  %p1 = call float @llvm.fma.f32(float %u, float 0xBF7696C280000000, float 0x3F94F5DB80000000) ; -0.00551486947, 0.0204691216
  %p2 = call float @llvm.fma.f32(float %u, float %p1, float 0xBFAB7CFBC0000000) ; -0.0536879227
  %p3 = call float @llvm.fma.f32(float %u, float %p2, float 0x3FC1103F00000000) ; 0.133308291
  %p = call float @llvm.fma.f32(float %u, float %p3, float 0xBFD5555240000000) ; -0.333332598
  %tu = fmul float %t, %u
  %near = call float @llvm.fma.f32(float %tu, float %p, float %t)
  %a = fmul float %t, 0x4007154760000000 ; 2.88539008
  %e = call float @llvm.nvvm.ex2.approx.ftz.f(float %a)
  %d = fadd float %e, 1.0
  %r = call float @llvm.nvvm.rcp.approx.ftz.f(float %d)
  %far = call float @llvm.fma.f32(float %r, float -2.0, float 1.0)
  %is_far = fcmp oge float %t, 0x3FE4CCCCC0000000 ; 0.65
  %size = select i1 %is_far, float %far, float %near
  %y = call float @llvm.copysign.f32(float %size, float %x)
  ret float %y
}

;: accurate_gelu needs exp_of_negative
; 7 ulp. max(x, 0) - |x|/2 erfc(|x| / sqrt 2), which does not cancel. erfc(a) = e^(-a^2) R / (1 + 2 a) with R a polynomial in
; (a - 3) / (a + 3), whose quotient gets a Newton step; a^2 is that of x, halved, with its rounding error. Beyond 15 the function
; is x or 0.
define internal float @accurate_gelu(float %x) alwaysinline {
  %size = call float @llvm.fabs.f32(float %x)
  %beyond = fcmp ogt float %size, 15.0
  %t = select i1 %beyond, float 15.0, float %size
  %a = fmul float %t, 0x3FE6A09E60000000 ; 0.707106769
  %above = fadd float %a, 3.0
  %below = fsub float %a, 3.0
  %i = call float @llvm.nvvm.rcp.approx.ftz.f(float %above)
  %near = fmul float %below, %i
  %minus_near = fneg float %near
  %off = call float @llvm.fma.f32(float %minus_near, float %above, float %below)
  %q = call float @llvm.fma.f32(float %off, float %i, float %near)
  %r1 = call float @llvm.fma.f32(float %q, float 0xBF31EE2DE0000000, float 0xBF49D33C60000000)
  %r2 = call float @llvm.fma.f32(float %q, float %r1, float 0x3F606604C0000000)
  %r3 = call float @llvm.fma.f32(float %q, float %r2, float 0x3F651C0F40000000)
  %r4 = call float @llvm.fma.f32(float %q, float %r3, float 0xBF985DA0E0000000)
  %r5 = call float @llvm.fma.f32(float %q, float %r4, float 0x3FB17BA6E0000000)
  %r6 = call float @llvm.fma.f32(float %q, float %r5, float 0xBFBE889AC0000000)
  %r7 = call float @llvm.fma.f32(float %q, float %r6, float 0x3FC0984380000000)
  %r8 = call float @llvm.fma.f32(float %q, float %r7, float 0xBFA85A16A0000000)
  %r9 = call float @llvm.fma.f32(float %q, float %r8, float 0xBFC15C08A0000000)
  %r = call float @llvm.fma.f32(float %q, float %r9, float 0x3FF40C5220000000)
  %d = call float @llvm.fma.f32(float %a, float 2.0, float 1.0)
  %j = call float @llvm.nvvm.rcp.approx.ftz.f(float %d)
  %scaled = fmul float %r, %j
  %square = fmul float %t, %t
  %minus_square = fneg float %square
  %rest = call float @llvm.fma.f32(float %t, float %t, float %minus_square)
  %half_rest = fmul float %rest, -0.5
  %corrected = call float @llvm.fma.f32(float %scaled, float %half_rest, float %scaled)
  %minus_half = fmul float %t, -0.5
  %part = fmul float %minus_half, %corrected
  %exponent = fmul float %square, -0.5
  %e = call float @exp_of_negative(float %exponent)
  %positive = call float @llvm.maxnum.f32(float %x, float 0.0)
  %y = call float @llvm.fma.f32(float %part, float %e, float %positive)
  ret float %y
}

;: accurate_softplus needs exp_of_negative precise_log1p
; 3 ulp. log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)
define internal float @accurate_softplus(float %x) alwaysinline {
  %size = call float @llvm.fabs.f32(float %x)
  %minus = fneg float %size
  %e = call float @exp_of_negative(float %minus)
  %l = call float @precise_log1p(float %e)
  %positive = call float @llvm.maxnum.f32(float %x, float 0.0)
  %y = fadd contract float %positive, %l
  ret float %y
}
