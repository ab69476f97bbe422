; What the CUDA text takes from the CUDA library: exp, expm1, log, log1p, erf, sin, cos in fp32. The bounds stand beside
; the functions, in units in the last place (ulp); tests/backend/llvm/math_test.cpp measures them. Polynomials are near-minimax
; fits by Chebyshev interpolation unless a source is named; all functions treat zeros, infinities, NaN and subnormal numbers
; as C does.

;: precise_exp
; 1.1 ulp. x = n log 2 + r, log 2 in two parts; adding 1.5 * 2^23 rounds to n. e^r as in Cephes (Moshier, expf.c). 2^n is
; multiplied in two halves, so that it may leave the range of normal numbers.
define internal float @precise_exp(float %x) alwaysinline {
  %deep = fcmp olt float %x, -104.0
  %y0 = select i1 %deep, float -104.0, float %x
  %high = fcmp ogt float %y0, 89.0
  %y = select i1 %high, float 89.0, float %y0
  %shifted = call float @llvm.fma.f32(float %y, float 0x3FF7154760000000, float 12582912.0)
  %n = fsub float %shifted, 12582912.0
  %r0 = call float @llvm.fma.f32(float %n, float 0xBFE6300000000000, float %y)
  %r = call float @llvm.fma.f32(float %n, float 0x3F2BD01060000000, float %r0)
  %p1 = call float @llvm.fma.f32(float %r, float 0x3F2A0D2CE0000000, float 0x3F56E879C0000000)
  %p2 = call float @llvm.fma.f32(float %r, float %p1, float 0x3F81112100000000)
  %p3 = call float @llvm.fma.f32(float %r, float %p2, float 0x3FA5553820000000)
  %p4 = call float @llvm.fma.f32(float %r, float %p3, float 0x3FC5555540000000)
  %p = call float @llvm.fma.f32(float %r, float %p4, float 0x3FE0000000000000)
  %pr = fmul float %p, %r
  %pm1 = call float @llvm.fma.f32(float %pr, float %r, float %r)
  %e = fadd float %pm1, 1.0
  %bits = bitcast float %shifted to i32
  %i = sub i32 %bits, 1262485504 ; the bits of 1.5 * 2^23
  %first = ashr i32 %i, 1
  %second = sub i32 %i, %first
  %biased_1 = add i32 %first, 127
  %biased_2 = add i32 %second, 127
  %field_1 = shl i32 %biased_1, 23
  %field_2 = shl i32 %biased_2, 23
  %scale_1 = bitcast i32 %field_1 to float
  %scale_2 = bitcast i32 %field_2 to float
  %half_way = fmul float %e, %scale_1
  %result = fmul float %half_way, %scale_2
  %number = fcmp ord float %x, 0.0
  %y_or_nan = select i1 %number, float %result, float %x
  ret float %y_or_nan
}

;: precise_expm1
; 2 ulp. With n and r as above e^x - 1 = 2^n (e^r - 1) + (2^n - 1), both at half their size, as 2^128 is no number.
define internal float @precise_expm1(float %x) alwaysinline {
  %deep = fcmp olt float %x, -17.5
  %y0 = select i1 %deep, float -17.5, float %x
  %high = fcmp ogt float %y0, 89.0
  %y = select i1 %high, float 89.0, float %y0
  %shifted = call float @llvm.fma.f32(float %y, float 0x3FF7154760000000, float 12582912.0)
  %n = fsub float %shifted, 12582912.0
  %r0 = call float @llvm.fma.f32(float %n, float 0xBFE6300000000000, float %y)
  %r = call float @llvm.fma.f32(float %n, float 0x3F2BD01060000000, float %r0)
  %p1 = call float @llvm.fma.f32(float %r, float 0x3F2A0D2CE0000000, float 0x3F56E879C0000000)
  %p2 = call float @llvm.fma.f32(float %r, float %p1, float 0x3F81112100000000)
  %p3 = call float @llvm.fma.f32(float %r, float %p2, float 0x3FA5553820000000)
  %p4 = call float @llvm.fma.f32(float %r, float %p3, float 0x3FC5555540000000)
  %p = call float @llvm.fma.f32(float %r, float %p4, float 0x3FE0000000000000)
  %pr = fmul float %p, %r
  %pm1 = call float @llvm.fma.f32(float %pr, float %r, float %r)
  %bits = bitcast float %shifted to i32
  %i = sub i32 %bits, 1262485504 ; the bits of 1.5 * 2^23
  %biased = add i32 %i, 126
  %field = shl i32 %biased, 23
  %scale = bitcast i32 %field to float
  %whole = fsub float %scale, 0.5
  %half = call float @llvm.fma.f32(float %pm1, float %scale, float %whole)
  %far = fmul float %half, 2.0
  %near = icmp eq i32 %i, 0
  %result = select i1 %near, float %pm1, float %far
  %number = fcmp ord float %x, 0.0
  %some = select i1 %number, float %result, float %x
  %none = fcmp oeq float %x, 0.0
  %y_or_nan = select i1 %none, float %x, float %some
  ret float %y_or_nan
}

;: log_of_sum
; log(1 + f) + n log 2 for 1 + f between the square roots of 1/2 and 2: f - f^2 / 2 + f^3 P(f).
define internal float @log_of_sum(float %f, float %n) alwaysinline {
  %square = fmul float %f, %f
  %p1 = call float @llvm.fma.f32(float %f, float 0x3FB1D8EA60000000, float 0xBFBD635BC0000000)
  %p2 = call float @llvm.fma.f32(float %f, float %p1, float 0x3FBDEA2820000000)
  %p3 = call float @llvm.fma.f32(float %f, float %p2, float 0xBFBFCF4C60000000)
  %p4 = call float @llvm.fma.f32(float %f, float %p3, float 0x3FC23D21A0000000)
  %p5 = call float @llvm.fma.f32(float %f, float %p4, float 0xBFC555B4A0000000)
  %p6 = call float @llvm.fma.f32(float %f, float %p5, float 0x3FC999D5A0000000)
  %p7 = call float @llvm.fma.f32(float %f, float %p6, float 0xBFCFFFFFC0000000)
  %p = call float @llvm.fma.f32(float %f, float %p7, float 0x3FD5555540000000)
  %cube = fmul float %square, %f
  %a = fmul float %p, %cube
  %b = call float @llvm.fma.f32(float %n, float 0xBF2BD01060000000, float %a) ; -2.12194440e-4
  %c = call float @llvm.fma.f32(float %square, float -0.5, float %b)
  %d = fadd float %f, %c
  %y = call float @llvm.fma.f32(float %n, float 0x3FE6300000000000, float %d) ; 0.693359375
  ret float %y
}

;: precise_log needs log_of_sum
; 1 ulp. x = 2^n m with m between the square roots of 1/2 and 2.
define internal float @precise_log(float %x) alwaysinline {
  %tiny = fcmp olt float %x, 0x3810000000000000 ; 2^-126
  %scaled = fmul float %x, 8388608.0
  %normal = select i1 %tiny, float %scaled, float %x
  %less = select i1 %tiny, float 23.0, float 0.0
  %bits = bitcast float %normal to i32
  %from = sub i32 %bits, 1060439283 ; the bits of the square root of 1/2
  %i = ashr i32 %from, 23
  %field = shl i32 %i, 23
  %m_bits = sub i32 %bits, %field
  %m = bitcast i32 %m_bits to float
  %f = fsub float %m, 1.0
  %exponent = sitofp i32 %i to float
  %n = fsub float %exponent, %less
  %y = call float @log_of_sum(float %f, float %n)
  %positive = fcmp ogt float %x, 0.0
  %finite = fcmp olt float %x, 0x7FF0000000000000
  %upper = select i1 %finite, float %y, float %x
  %zero = fcmp oeq float %x, 0.0
  %lower = select i1 %zero, float 0xFFF0000000000000, float 0x7FF8000000000000
  %result = select i1 %positive, float %upper, float %lower
  ret float %result
}

;: precise_log1p needs log_of_sum
; 1.5 ulp. 1 + x = 2^n (1 + f); n is that of the rounded sum, f comes of x itself. Where x is beyond 2^64 the one is lost.
define internal float @precise_log1p(float %x) alwaysinline {
  %huge = fcmp ogt float %x, 0x43F0000000000000 ; 2^64
  %lowered = fmul float %x, 0x3BF0000000000000 ; 2^-64
  %z = select i1 %huge, float %lowered, float %x
  %one = select i1 %huge, float 0.0, float 1.0
  %more = select i1 %huge, float 64.0, float 0.0
  %sum = fadd float %z, %one
  %bits = bitcast float %sum to i32
  %from = sub i32 %bits, 1060439283 ; the bits of the square root of 1/2
  %i = ashr i32 %from, 23
  %field = shl i32 %i, 23
  %scale_bits = sub i32 1065353216, %field
  %scale = bitcast i32 %scale_bits to float
  %scaled_one = fmul float %scale, %one
  %off = fsub float %scaled_one, 1.0
  %f = call float @llvm.fma.f32(float %z, float %scale, float %off)
  %exponent = sitofp i32 %i to float
  %n = fadd float %exponent, %more
  %y = call float @log_of_sum(float %f, float %n)
  %positive = fcmp ogt float %x, -1.0
  %finite = fcmp olt float %x, 0x7FF0000000000000
  %number = select i1 %finite, float %y, float %x
  %lost = fcmp oeq float %x, -1.0
  %lower = select i1 %lost, float 0xFFF0000000000000, float 0x7FF8000000000000
  %result = select i1 %positive, float %number, float %lower
  %zero = fcmp oeq float %x, 0.0
  %signed = select i1 %zero, float %x, float %result
  ret float %signed
}

;: precise_erf needs precise_exp
; 1.5 ulp. Below 1 an odd polynomial; above, 1 - e^-q, where the polynomial q is -log(erfc). Beyond 4 it is 1.
define internal float @precise_erf(float %x) alwaysinline {
  %size = call float @llvm.fabs.f32(float %x)
  %square = fmul float %size, %size
  %s1 = call float @llvm.fma.f32(float %square, float 0xBEE445F480000000, float 0x3F1D887500000000)
  %s2 = call float @llvm.fma.f32(float %square, float %s1, float 0xBF4BCCF660000000)
  %s3 = call float @llvm.fma.f32(float %square, float %s2, float 0x3F7562A600000000)
  %s4 = call float @llvm.fma.f32(float %square, float %s3, float 0xBF9B829C80000000)
  %s5 = call float @llvm.fma.f32(float %square, float %s4, float 0x3FBCE2F080000000)
  %s6 = call float @llvm.fma.f32(float %square, float %s5, float 0xBFD8127460000000)
  %s = call float @llvm.fma.f32(float %square, float %s6, float 0x3FC06EBA80000000)
  %near = call float @llvm.fma.f32(float %size, float %s, float %size)
  %beyond = fcmp ogt float %size, 4.0
  %t = select i1 %beyond, float 4.0, float %size
  %q1 = call float @llvm.fma.f32(float %t, float 0x3E745AC780000000, float 0xBECBDD4360000000)
  %q2 = call float @llvm.fma.f32(float %t, float %q1, float 0x3F1054C580000000)
  %q3 = call float @llvm.fma.f32(float %t, float %q2, float 0xBF46793700000000)
  %q4 = call float @llvm.fma.f32(float %t, float %q3, float 0x3F74BEFB60000000)
  %q5 = call float @llvm.fma.f32(float %t, float %q4, float 0xBF9BBFFA40000000)
  %q6 = call float @llvm.fma.f32(float %t, float %q5, float 0x3FBC6E1A00000000)
  %q7 = call float @llvm.fma.f32(float %t, float %q6, float 0x3FE430C460000000)
  %q8 = call float @llvm.fma.f32(float %t, float %q7, float 0x3FF2173EE0000000)
  %q = call float @llvm.fma.f32(float %t, float %q8, float 0xBF3B48D860000000)
  %minus = fneg float %q
  %e = call float @precise_exp(float %minus)
  %far = fsub float 1.0, %e
  %is_near = fcmp olt float %size, 1.0
  %y = select i1 %is_near, float %near, float %far
  %signed = call float @llvm.copysign.f32(float %y, float %x)
  ret float %signed
}

;: sin_of_part
; sin(r + q pi / 2) for |r| <= pi / 4: of the two series (Cephes, sinf.c) the one that the quadrant asks for.
define internal float @sin_of_part(float %r, i32 %q) alwaysinline {
  %square = fmul float %r, %r
  %s1 = call float @llvm.fma.f32(float %square, float 0xBF29943F20000000, float 0x3F811073C0000000)
  %s = call float @llvm.fma.f32(float %square, float %s1, float 0xBFC5555460000000)
  %cube = fmul float %square, %r
  %sine = call float @llvm.fma.f32(float %s, float %cube, float %r)
  %c1 = call float @llvm.fma.f32(float %square, float 0x3EF99EB9C0000000, float 0xBF56C0C340000000)
  %c = call float @llvm.fma.f32(float %square, float %c1, float 0x3FA55554A0000000)
  %c_square = fmul float %c, %square
  %c_half = fsub float %c_square, 0.5
  %cosine = call float @llvm.fma.f32(float %c_half, float %square, float 1.0)
  %odd = and i32 %q, 1
  %is_sine = icmp eq i32 %odd, 0
  %value = select i1 %is_sine, float %sine, float %cosine
  %two = and i32 %q, 2
  %as_it_is = icmp eq i32 %two, 0
  %minus = fneg float %value
  %y = select i1 %as_it_is, float %value, float %minus
  ret float %y
}

;: sin_of_large needs sin_of_part
; sin(x + q pi / 2) for any x of 2^16 or more in size (Payne and Hanek, 1983): 2 / pi is multiplied by the 24 bits of x, but for
; what are whole turns.
define internal float @sin_of_large(float %x, i32 %q) noinline {
  %all_bits = bitcast float %x to i32
  %bits = and i32 %all_bits, 2147483647
  %biased = lshr i32 %bits, 23
  %skip = sub i32 %biased, 120 ; 127 + 23 + 2, and 32 zeros before the digits below
  %word = lshr i32 %skip, 5
  %shift_32 = and i32 %skip, 31
  %is_1 = icmp uge i32 %word, 1
  %is_2 = icmp uge i32 %word, 2
  %is_3 = icmp uge i32 %word, 3
  %is_4 = icmp uge i32 %word, 4
  %w0_1 = select i1 %is_1, i32 -1560706194, i32 0
  %w0_2 = select i1 %is_2, i32 1313084713, i32 %w0_1
  %w0_3 = select i1 %is_3, i32 -64530479, i32 %w0_2
  %w0 = select i1 %is_4, i32 -181084736, i32 %w0_3
  %w1_1 = select i1 %is_1, i32 1313084713, i32 -1560706194
  %w1_2 = select i1 %is_2, i32 -64530479, i32 %w1_1
  %w1_3 = select i1 %is_3, i32 -181084736, i32 %w1_2
  %w1 = select i1 %is_4, i32 -614296167, i32 %w1_3
  %w2_1 = select i1 %is_1, i32 -64530479, i32 1313084713
  %w2_2 = select i1 %is_2, i32 -181084736, i32 %w2_1
  %w2_3 = select i1 %is_3, i32 -614296167, i32 %w2_2
  %w2 = select i1 %is_4, i32 1011060801, i32 %w2_3
  %w3_1 = select i1 %is_1, i32 -181084736, i32 -64530479
  %w3_2 = select i1 %is_2, i32 -614296167, i32 %w3_1
  %w3_3 = select i1 %is_3, i32 1011060801, i32 %w3_2
  %w3 = select i1 %is_4, i32 -28220501, i32 %w3_3
  %shift = zext i32 %shift_32 to i64
  %v0 = zext i32 %w0 to i64
  %v1 = zext i32 %w1 to i64
  %v2 = zext i32 %w2 to i64
  %v3 = zext i32 %w3 to i64
  %pair_0_up = shl i64 %v0, 32
  %pair_0 = or i64 %pair_0_up, %v1
  %pair_0_at = shl i64 %pair_0, %shift
  %d0 = lshr i64 %pair_0_at, 32
  %pair_1_up = shl i64 %v1, 32
  %pair_1 = or i64 %pair_1_up, %v2
  %pair_1_at = shl i64 %pair_1, %shift
  %d1 = lshr i64 %pair_1_at, 32
  %pair_2_up = shl i64 %v2, 32
  %pair_2 = or i64 %pair_2_up, %v3
  %pair_2_at = shl i64 %pair_2, %shift
  %d2 = lshr i64 %pair_2_at, 32
  %fraction = and i32 %bits, 8388607
  %m_32 = or i32 %fraction, 8388608
  %m = zext i32 %m_32 to i64
  %low = mul i64 %d2, %m
  %carry = lshr i64 %low, 32
  %middle = mul i64 %d1, %m
  %middle_sum = add i64 %middle, %carry
  %top = mul i64 %d0, %m
  %top_up = shl i64 %top, 32
  %turns = add i64 %top_up, %middle_sum ; in quarters, the point behind two digits
  %quarter = lshr i64 %turns, 62
  %part = shl i64 %turns, 2
  %round = lshr i64 %part, 63
  %nearest = add i64 %quarter, %round
  %n = trunc i64 %nearest to i32
  %part_real = sitofp i64 %part to double
  %r_double = fmul double %part_real, 0x3BF921FB54442D18 ; pi / 2 * 2^-64
  %r = fptrunc double %r_double to float
  %minus_r = fneg float %r
  %minus_n = sub i32 0, %n
  %negative = icmp slt i32 %all_bits, 0
  %signed_r = select i1 %negative, float %minus_r, float %r
  %signed_n = select i1 %negative, i32 %minus_n, i32 %n
  %all_q = add i32 %signed_n, %q
  %y = call float @sin_of_part(float %signed_r, i32 %all_q)
  %finite = icmp ult i32 %bits, 2139095040
  %y_or_nan = select i1 %finite, float %y, float 0x7FF8000000000000
  ret float %y_or_nan
}

;: sin_of_any needs sin_of_part sin_of_large
; sin(x + q pi / 2), 1.6 ulp. Up to 2^16 multiples of pi / 2, in three parts, are subtracted (Cody and Waite).
define internal float @sin_of_any(float %x, i32 %q) alwaysinline {
  %size = call float @llvm.fabs.f32(float %x)
  %small = fcmp olt float %size, 65536.0
  br i1 %small, label %near, label %far
near:
  %shifted = call float @llvm.fma.f32(float %x, float 0x3FE45F3060000000, float 12582912.0) ; 2 / pi
  %n = fsub float %shifted, 12582912.0
  %bits = bitcast float %shifted to i32
  %i = sub i32 %bits, 1262485504 ; the bits of 1.5 * 2^23
  %r0 = call float @llvm.fma.f32(float %n, float 0xBFF921FB60000000, float %x)
  %r1 = call float @llvm.fma.f32(float %n, float 0x3E6777A5C0000000, float %r0)
  %r = call float @llvm.fma.f32(float %n, float 0x3CDEE59DA0000000, float %r1)
  %all_q = add i32 %i, %q
  %here = call float @sin_of_part(float %r, i32 %all_q)
  ret float %here
far:
  %there = call float @sin_of_large(float %x, i32 %q)
  ret float %there
}

;: precise_sin needs sin_of_any
define internal float @precise_sin(float %x) alwaysinline {
  %y = call float @sin_of_any(float %x, i32 0)
  %zero = fcmp oeq float %x, 0.0
  %signed = select i1 %zero, float %x, float %y
  ret float %signed
}

;: precise_cos needs sin_of_any
define internal float @precise_cos(float %x) alwaysinline {
  %y = call float @sin_of_any(float %x, i32 1)
  ret float %y
}

;: exp2_of_part
; 2^r for r between -1/2 and 1/2: 1 + r P(r), P a polynomial of least error.
define internal float @exp2_of_part(float %r) alwaysinline {
  %p1 = call float @llvm.fma.f32(float %r, float 0x3F241FBBA0000000, float 0x3F55F3E540000000) ; 1.53533605e-4, 1.33988750e-3
  %p2 = call float @llvm.fma.f32(float %r, float %p1, float 0x3F83B2D4C0000000) ; 9.61843692e-3
  %p3 = call float @llvm.fma.f32(float %r, float %p2, float 0x3FAC6AEE80000000) ; 5.55033237e-2
  %p4 = call float @llvm.fma.f32(float %r, float %p3, float 0x3FCEBFBDC0000000) ; 2.40226477e-1
  %p = call float @llvm.fma.f32(float %r, float %p4, float 0x3FE62E4300000000) ; 6.93147182e-1
  %y = call float @llvm.fma.f32(float %r, float %p, float 1.0)
  ret float %y
}

;: times_power_of_2
; e 2^i, i between -252 and 254, in two halves, so that the result may leave the range of normal numbers.
define internal float @times_power_of_2(float %e, i32 %i) alwaysinline {
  %first = ashr i32 %i, 1
  %second = sub i32 %i, %first
  %biased_1 = add i32 %first, 127
  %biased_2 = add i32 %second, 127
  %field_1 = shl i32 %biased_1, 23
  %field_2 = shl i32 %biased_2, 23
  %scale_1 = bitcast i32 %field_1 to float
  %scale_2 = bitcast i32 %field_2 to float
  %half_way = fmul float %e, %scale_1
  %y = fmul float %half_way, %scale_2
  ret float %y
}

;: precise_exp2 needs exp2_of_part times_power_of_2
; 1 ulp. x = n + r; adding 1.5 * 2^23 rounds to n.
define internal float @precise_exp2(float %x) alwaysinline {
  %deep = fcmp olt float %x, -152.0
  %y0 = select i1 %deep, float -152.0, float %x
  %high = fcmp ogt float %y0, 129.0
  %y = select i1 %high, float 129.0, float %y0
  %shifted = fadd float %y, 12582912.0
  %n = fsub float %shifted, 12582912.0
  %r = fsub float %y, %n
  %e = call float @exp2_of_part(float %r)
  %bits = bitcast float %shifted to i32
  %i = sub i32 %bits, 1262485504 ; the bits of 1.5 * 2^23
  %result = call float @times_power_of_2(float %e, i32 %i)
  %number = fcmp ord float %x, 0.0
  %y_or_nan = select i1 %number, float %result, float %x
  ret float %y_or_nan
}

;: log2_in_double
; The logarithm of a positive number to base 2, in fp64 to 2^-43 of its size. x = 2^i m with m between the square roots of 1/2
; and 2; log m = 2 artanh s with s = (m - 1) / (m + 1), by a polynomial of least error in s^2.
define internal double @log2_in_double(float %x) alwaysinline {
  %wide = fpext float %x to double
  %bits = bitcast double %wide to i64
  %from = sub i64 %bits, 4604544271217802189 ; the bits of the square root of 1/2
  %i = ashr i64 %from, 52
  %field = shl i64 %i, 52
  %m_bits = sub i64 %bits, %field
  %m = bitcast i64 %m_bits to double
  %above = fadd double %m, 1.0
  %below = fsub double %m, 1.0
  %s = fdiv double %below, %above
  %z = fmul double %s, %s
  %a5 = fmul contract double %z, 0x3FD21BEAAF4CAE4D
  %p4 = fadd contract double %a5, 0x3FD4794686FCE3DE
  %a4 = fmul contract double %z, %p4
  %p3 = fadd contract double %a4, 0x3FDA61A345C2B7FE
  %a3 = fmul contract double %z, %p3
  %p2 = fadd contract double %a3, 0x3FE2776C28C7FFA1
  %a2 = fmul contract double %z, %p2
  %p1 = fadd contract double %a2, 0x3FEEC709DC542069
  %a1 = fmul contract double %z, %p1
  %p = fadd contract double %a1, 0x40071547652B8254
  %fraction = fmul contract double %s, %p
  %whole_32 = trunc i64 %i to i32
  %whole = sitofp i32 %whole_32 to double
  %y = fadd contract double %fraction, %whole
  ret double %y
}

;: precise_pow needs log2_in_double exp2_of_part times_power_of_2
; 1.1 ulp. |a|^b = 2^(b log2 |a|), the exponent in fp64, where adding 1.5 * 2^52 rounds to a whole number. The rest is as C has
; it: 1 for b = 0 and for a = 1 whatever the other; of a negative a the sign where b is odd, and no number where b is not whole.
define internal float @precise_pow(float %a, float %b) alwaysinline {
  %size = call float @llvm.fabs.f32(float %a)
  %some_log = call double @log2_in_double(float %size)
  %none = fcmp oeq float %size, 0.0
  %endless = fcmp oeq float %size, 0x7FF0000000000000
  %low_log = select i1 %none, double 0xFFF0000000000000, double %some_log
  %log = select i1 %endless, double 0x7FF0000000000000, double %low_log
  %wide = fpext float %b to double
  %product = fmul double %wide, %log
  %unit = fcmp oeq double %log, 0.0
  %flat = fcmp oeq float %b, 0.0
  %of_unit = select i1 %unit, double 0.0, double %product
  %any = select i1 %flat, double 0.0, double %of_unit
  %deep = fcmp olt double %any, -152.0
  %t0 = select i1 %deep, double -152.0, double %any
  %high = fcmp ogt double %t0, 129.0
  %t = select i1 %high, double 129.0, double %t0
  %shifted = fadd double %t, 6755399441055744.0
  %n = fsub double %shifted, 6755399441055744.0
  %r_double = fsub double %t, %n
  %r = fptrunc double %r_double to float
  %e = call float @exp2_of_part(float %r)
  %bits = bitcast double %shifted to i64
  %i = trunc i64 %bits to i32
  %power = call float @times_power_of_2(float %e, i32 %i)
  %down = call float @llvm.floor.f32(float %b)
  %half = fmul float %b, 0.5
  %half_down = call float @llvm.floor.f32(float %half)
  %whole = fcmp oeq float %down, %b
  %uneven = fcmp une float %half_down, %half
  %odd = and i1 %whole, %uneven
  %a_bits = bitcast float %a to i32
  %signed = icmp slt i32 %a_bits, 0
  %turns = and i1 %signed, %odd
  %minus = fneg float %power
  %value = select i1 %turns, float %minus, float %power
  %nan = select i1 %whole, float %value, float 0x7FF8000000000000
  %negative = fcmp olt float %a, 0.0
  %of_negative = select i1 %negative, float %nan, float %value
  %of_finite = select i1 %endless, float %value, float %of_negative
  %nothing = fcmp une float %a, %a
  %of_nothing = select i1 %flat, float 1.0, float %a
  %y = select i1 %nothing, float %of_nothing, float %of_finite
  ret float %y
}

;: precise_atan2
; 1.6 ulp. The angle of the smaller of |x| and |y| over the larger, q + q^3 P(q^2) with P a polynomial of least error, is taken from
; pi / 2 where y is the larger one, and from pi where x is negative; both of these in two parts.
define internal float @precise_atan2(float %y, float %x) alwaysinline {
  %high = call float @llvm.fabs.f32(float %y)
  %wide = call float @llvm.fabs.f32(float %x)
  %steep = fcmp ogt float %high, %wide
  %below = select i1 %steep, float %wide, float %high
  %above = select i1 %steep, float %high, float %wide
  %quotient = fdiv float %below, %above
  %sum = fadd float %high, %wide
  %nowhere = fcmp oeq float %sum, 0.0
  %near = select i1 %nowhere, float 0.0, float %quotient
  %endless = fcmp oeq float %below, 0x7FF0000000000000
  %equal = fcmp oeq float %below, %above
  %diagonal = and i1 %endless, %equal
  %q = select i1 %diagonal, float 1.0, float %near
  %s = fmul float %q, %q
  %p1 = call float @llvm.fma.f32(float %s, float 0xBF5D62E0C0000000, float 0x3F865A54E0000000)
  %p2 = call float @llvm.fma.f32(float %s, float %p1, float 0xBF9FED0640000000)
  %p3 = call float @llvm.fma.f32(float %s, float %p2, float 0x3FADAC9640000000)
  %p4 = call float @llvm.fma.f32(float %s, float %p3, float 0xBFB58346C0000000)
  %p5 = call float @llvm.fma.f32(float %s, float %p4, float 0x3FBC099F20000000)
  %p6 = call float @llvm.fma.f32(float %s, float %p5, float 0xBFC2421B40000000)
  %p7 = call float @llvm.fma.f32(float %s, float %p6, float 0x3FC9991FE0000000)
  %p = call float @llvm.fma.f32(float %s, float %p7, float 0xBFD55553E0000000)
  %cube = fmul float %s, %q
  %flat_angle = call float @llvm.fma.f32(float %cube, float %p, float %q)
  %less_quarter = fsub float %flat_angle, 0xBE6777A5C0000000 ; pi / 2 = 1.57079637 - 4.37113883e-8
  %steep_angle = fsub float 0x3FF921FB60000000, %less_quarter
  %right = select i1 %steep, float %steep_angle, float %flat_angle
  %less_half = fsub float %right, 0xBE7777A5C0000000 ; pi = 3.14159274 - 8.74227766e-8
  %left_angle = fsub float 0x400921FB60000000, %less_half
  %x_bits = bitcast float %x to i32
  %left = icmp slt i32 %x_bits, 0
  %angle = select i1 %left, float %left_angle, float %right
  %signed = call float @llvm.copysign.f32(float %angle, float %y)
  ret float %signed
}
