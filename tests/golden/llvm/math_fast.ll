target triple = "nvptx64-nvidia-cuda"

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

define internal float @precise_sin(float %x) alwaysinline {
  %y = call float @sin_of_any(float %x, i32 0)
  %zero = fcmp oeq float %x, 0.0
  %signed = select i1 %zero, float %x, float %y
  ret float %signed
}

define internal float @precise_cos(float %x) alwaysinline {
  %y = call float @sin_of_any(float %x, i32 1)
  ret float %y
}

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

define internal float @tanh_approx(float %x) alwaysinline {
  %y = call float asm "tanh.approx.f32 $0, $1;", "=f,f"(float %x)
  ret float %y
}

define internal float @sign(float %x) alwaysinline {
  %positive = fcmp ogt float %x, 0.0
  %negative = fcmp olt float %x, 0.0
  %below = select i1 %negative, float -1.0, float 0.0
  %y = select i1 %positive, float 1.0, float %below
  ret float %y
}

define internal float @fast_div(float %x, float %y) alwaysinline {
  %r = call float @llvm.nvvm.rcp.approx.ftz.f(float %y)
  %q = fmul contract float %x, %r
  ret float %q
}

define internal float @fast_exp(float %x) alwaysinline {
  %a = fmul contract float %x, 0x3FF7154760000000 ; 1.44269504
  %y = call float @llvm.nvvm.ex2.approx.ftz.f(float %a)
  ret float %y
}

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

define internal float @fast_log(float %x) alwaysinline {
  %l = call float @llvm.nvvm.lg2.approx.ftz.f(float %x)
  %y = fmul contract float %l, 0x3FE62E4300000000 ; 0.693147181
  ret float %y
}

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

; (1 + tanh(x / 2)) / 2: one special-function instruction.
define internal float @fast_sigmoid(float %x) alwaysinline {
  %half = fmul contract float %x, 0.5
  %t = call float @tanh_approx(float %half)
  %y = call float @llvm.fma.f32(float %t, float 0.5, float 0.5)
  ret float %y
}

; x (1 + tanh(x / 2)) / 2 = h + h tanh(h) with h = x / 2.
define internal float @fast_silu(float %x) alwaysinline {
  %half = fmul contract float %x, 0.5
  %t = call float @tanh_approx(float %half)
  %y = call float @llvm.fma.f32(float %half, float %t, float %half)
  ret float %y
}

define internal float @fast_gelu(float %x) alwaysinline {
  %a = fmul contract float %x, 0x3FE6A09E60000000 ; 0.707106781
  %e = call float @precise_erf(float %a)
  %half = fmul contract float %x, 0.5
  %sum = fadd contract float %e, 1.0
  %y = fmul contract float %half, %sum
  ret float %y
}

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

define ptx_kernel void @every_op_fast(ptr addrspace(1) noalias readonly align 4 %in, ptr addrspace(1) noalias align 4 %out) convergent nounwind "nvvm.maxntid"="32" "nvvm.minctasm"="1" {
entry:
  %.0 = getelementptr inbounds i32, ptr addrspace(1) %in, i64 0
  %x = load float, ptr addrspace(1) %.0, align 4
  %.2 = getelementptr inbounds i32, ptr addrspace(1) %in, i64 1
  %y = load float, ptr addrspace(1) %.2, align 4
  %.4 = getelementptr inbounds i32, ptr addrspace(1) %in, i64 2
  %z = load float, ptr addrspace(1) %.4, align 4
  %add = fadd contract float %x, %y
  %.7 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 0
  store float %add, ptr addrspace(1) %.7, align 4
  %sub = fsub contract float %x, %y
  %.9 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 1
  store float %sub, ptr addrspace(1) %.9, align 4
  %mul = fmul contract float %x, %y
  %.11 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 2
  store float %mul, ptr addrspace(1) %.11, align 4
  %div = call float @fast_div(float %x, float %y)
  %.13 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 3
  store float %div, ptr addrspace(1) %.13, align 4
  %neg = fneg float %x
  %.15 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 4
  store float %neg, ptr addrspace(1) %.15, align 4
  %fma = call float @llvm.fma.f32(float %x, float %y, float %z)
  %.17 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 5
  store float %fma, ptr addrspace(1) %.17, align 4
  %min = call float @llvm.minnum.f32(float %x, float %y)
  %.19 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 6
  store float %min, ptr addrspace(1) %.19, align 4
  %max = call float @llvm.maxnum.f32(float %x, float %y)
  %.21 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 7
  store float %max, ptr addrspace(1) %.21, align 4
  %abs = call float @llvm.fabs.f32(float %x)
  %.23 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 8
  store float %abs, ptr addrspace(1) %.23, align 4
  %sign = call float @sign(float %x)
  %.25 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 9
  store float %sign, ptr addrspace(1) %.25, align 4
  %exp = call float @fast_exp(float %x)
  %.27 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 10
  store float %exp, ptr addrspace(1) %.27, align 4
  %expm1 = call float @fast_expm1(float %x)
  %.29 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 11
  store float %expm1, ptr addrspace(1) %.29, align 4
  %log = call float @fast_log(float %x)
  %.31 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 12
  store float %log, ptr addrspace(1) %.31, align 4
  %log1p = call float @fast_log1p(float %x)
  %.33 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 13
  store float %log1p, ptr addrspace(1) %.33, align 4
  %sqrt = call float @llvm.nvvm.sqrt.approx.ftz.f(float %x)
  %.35 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 14
  store float %sqrt, ptr addrspace(1) %.35, align 4
  %rsqrt = call float @llvm.nvvm.rsqrt.approx.ftz.f(float %x)
  %.37 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 15
  store float %rsqrt, ptr addrspace(1) %.37, align 4
  %square = fmul contract float %x, %x
  %.39 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 16
  store float %square, ptr addrspace(1) %.39, align 4
  %recip = call float @llvm.nvvm.rcp.approx.ftz.f(float %x)
  %.41 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 17
  store float %recip, ptr addrspace(1) %.41, align 4
  %sigmoid = call float @fast_sigmoid(float %x)
  %.43 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 18
  store float %sigmoid, ptr addrspace(1) %.43, align 4
  %tanh = call float @tanh_approx(float %x)
  %.45 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 19
  store float %tanh, ptr addrspace(1) %.45, align 4
  %relu = call float @llvm.maxnum.f32(float %x, float 0.0)
  %.47 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 20
  store float %relu, ptr addrspace(1) %.47, align 4
  %silu = call float @fast_silu(float %x)
  %.49 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 21
  store float %silu, ptr addrspace(1) %.49, align 4
  %gelu = call float @fast_gelu(float %x)
  %.51 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 22
  store float %gelu, ptr addrspace(1) %.51, align 4
  %softplus = call float @fast_softplus(float %x)
  %.53 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 23
  store float %softplus, ptr addrspace(1) %.53, align 4
  %erf = call float @precise_erf(float %x)
  %.55 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 24
  store float %erf, ptr addrspace(1) %.55, align 4
  %sin = call float @precise_sin(float %x)
  %.57 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 25
  store float %sin, ptr addrspace(1) %.57, align 4
  %cos = call float @precise_cos(float %x)
  %.59 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 26
  store float %cos, ptr addrspace(1) %.59, align 4
  %.60 = fcmp olt float %x, %y
  %less = select i1 %.60, float 1.0, float 0.0
  %.62 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 27
  store float %less, ptr addrspace(1) %.62, align 4
  %.63 = fcmp ole float %x, %y
  %less_equal = select i1 %.63, float 1.0, float 0.0
  %.65 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 28
  store float %less_equal, ptr addrspace(1) %.65, align 4
  %.66 = fcmp ogt float %x, %y
  %greater = select i1 %.66, float 1.0, float 0.0
  %.68 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 29
  store float %greater, ptr addrspace(1) %.68, align 4
  %.69 = fcmp oge float %x, %y
  %greater_equal = select i1 %.69, float 1.0, float 0.0
  %.71 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 30
  store float %greater_equal, ptr addrspace(1) %.71, align 4
  %.72 = fcmp oeq float %x, %y
  %equal = select i1 %.72, float 1.0, float 0.0
  %.74 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 31
  store float %equal, ptr addrspace(1) %.74, align 4
  %.75 = fcmp une float %x, %y
  %not_equal = select i1 %.75, float 1.0, float 0.0
  %.77 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 32
  store float %not_equal, ptr addrspace(1) %.77, align 4
  %.78 = fcmp une float %x, 0.0
  %.79 = fcmp une float %y, 0.0
  %.80 = select i1 %.78, i1 %.79, i1 false
  %and = select i1 %.80, float 1.0, float 0.0
  %.82 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 33
  store float %and, ptr addrspace(1) %.82, align 4
  %.83 = fcmp une float %x, 0.0
  %.84 = fcmp une float %y, 0.0
  %.85 = select i1 %.83, i1 true, i1 %.84
  %or = select i1 %.85, float 1.0, float 0.0
  %.87 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 34
  store float %or, ptr addrspace(1) %.87, align 4
  %.88 = fcmp oeq float %x, 0.0
  %not = select i1 %.88, float 1.0, float 0.0
  %.90 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 35
  store float %not, ptr addrspace(1) %.90, align 4
  %.91 = fcmp une float %x, 0.0
  %select = select i1 %.91, float %y, float %z
  %.93 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 36
  store float %select, ptr addrspace(1) %.93, align 4
  %round = call float @llvm.rint.f32(float %x)
  %.95 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 37
  store float %round, ptr addrspace(1) %.95, align 4
  %floor = call float @llvm.floor.f32(float %x)
  %.97 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 38
  store float %floor, ptr addrspace(1) %.97, align 4
  %exp2 = call float @llvm.nvvm.ex2.approx.ftz.f(float %x)
  %.99 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 39
  store float %exp2, ptr addrspace(1) %.99, align 4
  %pow = call float @precise_pow(float %x, float %y)
  %.101 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 40
  store float %pow, ptr addrspace(1) %.101, align 4
  %atan2 = call float @precise_atan2(float %x, float %y)
  %.103 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 41
  store float %atan2, ptr addrspace(1) %.103, align 4
  ret void
}
