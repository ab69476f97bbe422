; The scalar functions of kernels in fp64 that cells have more rarely: those of errors and angles, and powers. As in double.ll.

;: erfc_in_parts_f64 needs exp_of_sum_f64
; erfc(a) times a factor, 6 ulp, for a = x sqrt(1/2) of 0 <= x <= 40: e^(-x^2 / 2) R / (1 + 2 a) with R a polynomial in
; (a - 3) / (a + 3), x^2 with its rounding error.
define internal double @erfc_in_parts_f64(double %x, double %factor) alwaysinline {
  %a = fmul double %x, 0x3FE6A09E667F3BCD
  %above = fadd double %a, 3.0
  %below = fsub double %a, 3.0
  %q = fdiv double %below, %above
  %r21 = call double @llvm.fma.f64(double %q, double 0xBE32150F332779A1, double 0xBE4240FD782DBBF8)
  %r20 = call double @llvm.fma.f64(double %q, double %r21, double 0x3E61ABFCE4DAB5A4)
  %r19 = call double @llvm.fma.f64(double %q, double %r20, double 0x3E78A8BCF6B1DBF4)
  %r18 = call double @llvm.fma.f64(double %q, double %r19, double 0xBE819921EE6BE774)
  %r17 = call double @llvm.fma.f64(double %q, double %r18, double 0xBEA44CF3C31A9FFF)
  %r16 = call double @llvm.fma.f64(double %q, double %r17, double 0x3E976BA2F4878A4C)
  %r15 = call double @llvm.fma.f64(double %q, double %r16, double 0x3ECD0EE0C85F55B9)
  %r14 = call double @llvm.fma.f64(double %q, double %r15, double 0xBEA869EDFF44BFFC)
  %r13 = call double @llvm.fma.f64(double %q, double %r14, double 0xBEF512A5F53C593F)
  %r12 = call double @llvm.fma.f64(double %q, double %r13, double 0x3ED4C10888027B82)
  %r11 = call double @llvm.fma.f64(double %q, double %r12, double 0x3F206598F0EBFDAD)
  %r10 = call double @llvm.fma.f64(double %q, double %r11, double 0xBF1B91224996E6CA)
  %r9 = call double @llvm.fma.f64(double %q, double %r10, double 0xBF498DB48CB9A9E4)
  %r8 = call double @llvm.fma.f64(double %q, double %r9, double 0x3F5EF1BDC7D439FE)
  %r7 = call double @llvm.fma.f64(double %q, double %r8, double 0x3F64B884E04CF18A)
  %r6 = call double @llvm.fma.f64(double %q, double %r7, double 0xBF98574C40A9B0E5)
  %r5 = call double @llvm.fma.f64(double %q, double %r6, double 0x3FB17CA287812733)
  %r4 = call double @llvm.fma.f64(double %q, double %r5, double 0xBFBE88B803A4D084)
  %r3 = call double @llvm.fma.f64(double %q, double %r4, double 0x3FC098366A5B3EAB)
  %r2 = call double @llvm.fma.f64(double %q, double %r3, double 0xBFA85A15C58AA35E)
  %r1 = call double @llvm.fma.f64(double %q, double %r2, double 0xBFC15C084BB9E8E1)
  %r = call double @llvm.fma.f64(double %q, double %r1, double 0x3FF40C522D7E4987)
  %d = call double @llvm.fma.f64(double %a, double 2.0, double 1.0)
  %scaled = fdiv double %r, %d
  %part = fmul double %scaled, %factor
  %square = fmul double %x, %x
  %minus_square = fneg double %square
  %rest = call double @llvm.fma.f64(double %x, double %x, double %minus_square)
  %exponent = fmul double %square, -0.5
  %low = fmul double %rest, -0.5
  %e = call double @exp_of_sum_f64(double %exponent, double %low)
  %y = fmul double %part, %e
  ret double %y
}

;: accurate_gelu_f64 needs erfc_in_parts_f64
; 5.5 ulp. max(x, 0) - |x|/2 erfc(|x| / sqrt 2), which does not cancel. Beyond 40 the function is x or 0.
define internal double @accurate_gelu_f64(double %x) alwaysinline {
  %size = call double @llvm.fabs.f64(double %x)
  %beyond = fcmp ogt double %size, 40.0
  %t = select i1 %beyond, double 40.0, double %size
  %minus_half = fmul double %t, -0.5
  %part = call double @erfc_in_parts_f64(double %t, double %minus_half)
  %negative = fcmp olt double %x, 0.0
  %positive = select i1 %negative, double 0.0, double %x
  %y = fadd double %positive, %part
  ret double %y
}

;: precise_erf_f64 needs erfc_in_parts_f64
; 1.7 ulp. Below 1 an odd polynomial; above, 1 - erfc(x). Beyond 6 it is 1.
define internal double @precise_erf_f64(double %x) alwaysinline {
  %size = call double @llvm.fabs.f64(double %x)
  %square = fmul double %size, %size
  %s11 = call double @llvm.fma.f64(double %square, double 0x3DD05FFD737FB32E, double 0xBE1389D4F2641625)
  %s10 = call double @llvm.fma.f64(double %square, double %s11, double 0x3E4F7B4BF3B13964)
  %s9 = call double @llvm.fma.f64(double %square, double %s10, double 0xBE85F1ECB6F0764C)
  %s8 = call double @llvm.fma.f64(double %square, double %s9, double 0x3EBB9DF224CA4B97)
  %s7 = call double @llvm.fma.f64(double %square, double %s8, double 0xBEEF4D1E3183F7AE)
  %s6 = call double @llvm.fma.f64(double %square, double %s7, double 0x3F1F9A321D5B8E1E)
  %s5 = call double @llvm.fma.f64(double %square, double %s6, double 0xBF4C02DB3DAC435F)
  %s4 = call double @llvm.fma.f64(double %square, double %s5, double 0x3F7565BCD0DBAA38)
  %s3 = call double @llvm.fma.f64(double %square, double %s4, double 0xBF9B82CE31284E00)
  %s2 = call double @llvm.fma.f64(double %square, double %s3, double 0x3FBCE2F21A042B30)
  %s1 = call double @llvm.fma.f64(double %square, double %s2, double 0xBFD812746B0379E6)
  %s = call double @llvm.fma.f64(double %square, double %s1, double 0x3FC06EBA8214DB69)
  %near = call double @llvm.fma.f64(double %size, double %s, double %size)
  %beyond = fcmp ogt double %size, 6.0
  %t = select i1 %beyond, double 6.0, double %size
  %times_root = fmul double %t, 0x3FF6A09E667F3BCD ; the square root of 2
  %c = call double @erfc_in_parts_f64(double %times_root, double 1.0)
  %far = fsub double 1.0, %c
  %is_near = fcmp olt double %size, 1.0
  %y = select i1 %is_near, double %near, double %far
  %number = fcmp ord double %x, 0.0
  %y_or_nan = select i1 %number, double %y, double %x
  %signed = call double @llvm.copysign.f64(double %y_or_nan, double %x)
  ret double %signed
}

;: sin_of_part_f64
; sin(r + q pi / 2) for |r| <= pi / 4: of the two series the one that the quadrant asks for.
define internal double @sin_of_part_f64(double %r, i32 %q) alwaysinline {
  %square = fmul double %r, %r
  %s4 = call double @llvm.fma.f64(double %square, double 0x3DE5E0B1995F429A, double 0xBE5AE600B01A40CC)
  %s3 = call double @llvm.fma.f64(double %square, double %s4, double 0x3EC71DE379689090)
  %s2 = call double @llvm.fma.f64(double %square, double %s3, double 0xBF2A01A019E83AA2)
  %s1 = call double @llvm.fma.f64(double %square, double %s2, double 0x3F81111111110BB2)
  %s = call double @llvm.fma.f64(double %square, double %s1, double 0xBFC5555555555555)
  %cube = fmul double %square, %r
  %sine = call double @llvm.fma.f64(double %s, double %cube, double %r)
  %c4 = call double @llvm.fma.f64(double %square, double 0xBDA907DA304CE77B, double 0x3E21EEB68E8B2372)
  %c3 = call double @llvm.fma.f64(double %square, double %c4, double 0xBE927E4FA17D9864)
  %c2 = call double @llvm.fma.f64(double %square, double %c3, double 0x3EFA01A019F4EAFA)
  %c1 = call double @llvm.fma.f64(double %square, double %c2, double 0xBF56C16C16C16967)
  %c = call double @llvm.fma.f64(double %square, double %c1, double 0x3FA5555555555555)
  %c_half = call double @llvm.fma.f64(double %c, double %square, double -0.5)
  %cosine = call double @llvm.fma.f64(double %c_half, double %square, double 1.0)
  %odd = and i32 %q, 1
  %is_sine = icmp eq i32 %odd, 0
  %value = select i1 %is_sine, double %sine, double %cosine
  %two = and i32 %q, 2
  %as_it_is = icmp eq i32 %two, 0
  %minus = fneg double %value
  %y = select i1 %as_it_is, double %value, double %minus
  ret double %y
}

;: word_of_2_over_pi_f64
; The digits of 2 / pi behind a word of zeros, 64 a word.
define internal i64 @word_of_2_over_pi_f64(i64 %at) noinline {
  %word = extractelement <20 x i64> <i64 0, i64 -6703182060581546711, i64 -277156292786332224,
      i64 -2638381946312093631, i64 -121206125134887583, i64 -5249950069107600672,
      i64 452944820249399836, i64 -135693905287338178, i64 -1692731182770600828,
      i64 -1613291254968254911, i64 4148332274289687028, i64 -7168499653074671557,
      i64 2303758334597371919, i64 -1211730484530615009, i64 7869616827067468215,
      i64 5712322887342352941, i64 8441921394348257659, i64 4397547296490951402,
      i64 7780917995555872008, i64 6197850593633725355>, i64 %at
  ret i64 %word
}

;: sin_of_large_f64 needs sin_of_part_f64 word_of_2_over_pi_f64
; sin(x + q pi / 2) for any x of 2^19 or more in size (Payne and Hanek, 1983): the 53 bits of x times three words of 2 / pi, from
; those on that do not give whole turns.
define internal double @sin_of_large_f64(double %x, i32 %q) noinline {
  %all_bits = bitcast double %x to i64
  %bits = and i64 %all_bits, 9223372036854775807
  %biased = lshr i64 %bits, 52
  %skip_any = sub i64 %biased, 1013 ; 1023 + 52 + 2 - 64
  %finite = icmp ult i64 %bits, 9218868437227405312
  %skip = select i1 %finite, i64 %skip_any, i64 0
  %word = lshr i64 %skip, 6
  %shift = and i64 %skip, 63
  %word_1 = add i64 %word, 1
  %word_2 = add i64 %word, 2
  %word_3 = add i64 %word, 3
  %v0 = call i64 @word_of_2_over_pi_f64(i64 %word)
  %v1 = call i64 @word_of_2_over_pi_f64(i64 %word_1)
  %v2 = call i64 @word_of_2_over_pi_f64(i64 %word_2)
  %v3 = call i64 @word_of_2_over_pi_f64(i64 %word_3)
  %d0 = call i64 @llvm.fshl.i64(i64 %v0, i64 %v1, i64 %shift)
  %d1 = call i64 @llvm.fshl.i64(i64 %v1, i64 %v2, i64 %shift)
  %d2 = call i64 @llvm.fshl.i64(i64 %v2, i64 %v3, i64 %shift)
  %fraction = and i64 %bits, 4503599627370495
  %m = or i64 %fraction, 4503599627370496
  %m_wide = zext i64 %m to i128
  %d2_wide = zext i64 %d2 to i128
  %low = mul i128 %d2_wide, %m_wide
  %carry = lshr i128 %low, 64
  %d1_wide = zext i64 %d1 to i128
  %middle = mul i128 %d1_wide, %m_wide
  %middle_sum = add i128 %middle, %carry
  %up = lshr i128 %middle_sum, 64
  %up_64 = trunc i128 %up to i64
  %under = trunc i128 %middle_sum to i64
  %top = mul i64 %d0, %m
  %turns = add i64 %top, %up_64 ; in quarters, the point behind two digits
  %quarter = lshr i64 %turns, 62
  %part = call i64 @llvm.fshl.i64(i64 %turns, i64 %under, i64 2)
  %part_under = shl i64 %under, 2
  %round = lshr i64 %part, 63
  %nearest = add i64 %quarter, %round
  %n = trunc i64 %nearest to i32
  %under_round = lshr i64 %part_under, 63
  %part_nearest = add i64 %part, %under_round
  %high_real = sitofp i64 %part_nearest to double
  %low_real = sitofp i64 %part_under to double
  %part_real = call double @llvm.fma.f64(double %low_real, double 0x3BF0000000000000, double %high_real) ; 2^-64
  %r = fmul double %part_real, 0x3BF921FB54442D18 ; pi / 2 * 2^-64
  %minus_r = fneg double %r
  %minus_n = sub i32 0, %n
  %negative = icmp slt i64 %all_bits, 0
  %signed_r = select i1 %negative, double %minus_r, double %r
  %signed_n = select i1 %negative, i32 %minus_n, i32 %n
  %all_q = add i32 %signed_n, %q
  %y = call double @sin_of_part_f64(double %signed_r, i32 %all_q)
  %y_or_nan = select i1 %finite, double %y, double 0x7FF8000000000000
  ret double %y_or_nan
}

;: sin_of_any_f64 needs sin_of_part_f64 sin_of_large_f64
; sin(x + q pi / 2), 2.5 ulp. Up to 2^19 multiples of pi / 2, in three parts, are subtracted (Cody and Waite).
define internal double @sin_of_any_f64(double %x, i32 %q) alwaysinline {
  %size = call double @llvm.fabs.f64(double %x)
  %small = fcmp olt double %size, 524288.0
  br i1 %small, label %near, label %far
near:
  %shifted = call double @llvm.fma.f64(double %x, double 0x3FE45F306DC9C883, double 6755399441055744.0) ; 2 / pi
  %n = fsub double %shifted, 6755399441055744.0
  %bits = bitcast double %shifted to i64
  %bits_32 = trunc i64 %bits to i32
  %r0 = call double @llvm.fma.f64(double %n, double 0xBFF921FB54442D18, double %x)
  %r1 = call double @llvm.fma.f64(double %n, double 0xBC91A62633145C07, double %r0)
  %r = call double @llvm.fma.f64(double %n, double 0x391F1976B7ED8FBC, double %r1)
  %all_q = add i32 %bits_32, %q
  %here = call double @sin_of_part_f64(double %r, i32 %all_q)
  ret double %here
far:
  %there = call double @sin_of_large_f64(double %x, i32 %q)
  ret double %there
}

;: precise_sin_f64 needs sin_of_any_f64
define internal double @precise_sin_f64(double %x) alwaysinline {
  %y = call double @sin_of_any_f64(double %x, i32 0)
  %zero = fcmp oeq double %x, 0.0
  %signed = select i1 %zero, double %x, double %y
  ret double %signed
}

;: precise_cos_f64 needs sin_of_any_f64
define internal double @precise_cos_f64(double %x) alwaysinline {
  %y = call double @sin_of_any_f64(double %x, i32 1)
  ret double %y
}

;: power_log_f64
; b log x of a positive x, right to 2^-64 of it: part 0 is the nearest number, and part 1 what that lacks. x = 2^n m;
; log m = 2 s + s (2/3 s^2 + s^4 T(s^2)) with s = (m - 1) / (m + 1), s and s^2 in two parts.
define internal double @power_log_f64(double %x, double %b, i32 %part) alwaysinline {
  %tiny = fcmp olt double %x, 0x0010000000000000 ; 2^-1022
  %scaled = fmul double %x, 18014398509481984.0 ; 2^54
  %normal = select i1 %tiny, double %scaled, double %x
  %less = select i1 %tiny, double 54.0, double 0.0
  %bits = bitcast double %normal to i64
  %from = sub i64 %bits, 4604544271217802189 ; the bits of the square root of 1/2
  %i = ashr i64 %from, 52
  %field = shl i64 %i, 52
  %m_bits = sub i64 %bits, %field
  %m = bitcast i64 %m_bits to double
  %i_32 = trunc i64 %i to i32
  %exponent = sitofp i32 %i_32 to double
  %n = fsub double %exponent, %less
  %f = fsub double %m, 1.0
  %g = fadd double %m, 1.0
  %g_one = fsub double %g, %m
  %g_m = fsub double %g, %g_one
  %g_off0 = fsub double %m, %g_m
  %g_off1 = fsub double 1.0, %g_one
  %g_low = fadd double %g_off0, %g_off1
  %s = fdiv double %f, %g
  %minus_s = fneg double %s
  %f_rest0 = call double @llvm.fma.f64(double %minus_s, double %g, double %f)
  %f_rest = call double @llvm.fma.f64(double %minus_s, double %g_low, double %f_rest0)
  %s_low = fdiv double %f_rest, %g
  %z = fmul double %s, %s
  %minus_z = fneg double %z
  %z_off = call double @llvm.fma.f64(double %s, double %s, double %minus_z)
  %twice_s = fadd double %s, %s
  %z_low = call double @llvm.fma.f64(double %twice_s, double %s_low, double %z_off)
  %c = fmul double %z, 0x3FE5555555555555 ; 2/3
  %minus_c = fneg double %c
  %c_off = call double @llvm.fma.f64(double %z, double 0x3FE5555555555555, double %minus_c)
  %c_off1 = call double @llvm.fma.f64(double %z, double 0x3C85555555555555, double %c_off)
  %c_low = call double @llvm.fma.f64(double %z_low, double 0x3FE5555555555555, double %c_off1)
  %t6 = call double @llvm.fma.f64(double %z, double 0x3FBE02D197C00C78, double 0x3FBDF7CE9A6BCCCB)
  %t5 = call double @llvm.fma.f64(double %z, double %t6, double 0x3FC1118C74823A2E)
  %t4 = call double @llvm.fma.f64(double %z, double %t5, double 0x3FC3B1395D4F9E5F)
  %t3 = call double @llvm.fma.f64(double %z, double %t4, double 0x3FC745D177A8F200)
  %t2 = call double @llvm.fma.f64(double %z, double %t3, double 0x3FCC71C71C6EAA8D)
  %t1 = call double @llvm.fma.f64(double %z, double %t2, double 0x3FD2492492492521)
  %t = call double @llvm.fma.f64(double %z, double %t1, double 0x3FD999999999999A)
  %zz = fmul double %z, %z
  %zzt = fmul double %zz, %t
  %u = fadd double %c, %zzt
  %u_off = fsub double %c, %u
  %u_off1 = fadd double %u_off, %zzt
  %u_low = fadd double %u_off1, %c_low
  %v = fmul double %s, %u
  %minus_v = fneg double %v
  %v_off = call double @llvm.fma.f64(double %s, double %u, double %minus_v)
  %v_off1 = call double @llvm.fma.f64(double %s, double %u_low, double %v_off)
  %v_low = call double @llvm.fma.f64(double %s_low, double %u, double %v_off1)
  %l = fadd double %twice_s, %v
  %l_off = fsub double %twice_s, %l
  %l_off1 = fadd double %l_off, %v
  %l_off2 = fadd double %l_off1, %v_low
  %l_low = call double @llvm.fma.f64(double %s_low, double 2.0, double %l_off2)
  %whole = fmul double %n, 0x3FE62E42FEF00000
  %w = fadd double %whole, %l
  %w_off = fsub double %whole, %w
  %w_off1 = fadd double %w_off, %l
  %w_off2 = call double @llvm.fma.f64(double %n, double 0x3DD473DE6AF278ED, double %l_low)
  %w_low = fadd double %w_off1, %w_off2
  %high = fadd double %w, %w_low
  %high_off = fsub double %w, %high
  %low = fadd double %high_off, %w_low
  %p = fmul double %b, %high
  %minus_p = fneg double %p
  %p_off = call double @llvm.fma.f64(double %b, double %high, double %minus_p)
  %p_low = call double @llvm.fma.f64(double %b, double %low, double %p_off)
  %whole_part = icmp eq i32 %part, 0
  %y = select i1 %whole_part, double %p, double %p_low
  ret double %y
}

;: precise_pow_f64 needs power_log_f64 exp_of_sum_f64
; 1.3 ulp. |a|^b = e^(b log |a|). The rest is as C has it: 1 for b = 0 and for a = 1 whatever the other; of a negative a the sign
; where b is odd, and no number where b is not whole.
define internal double @precise_pow_f64(double %a, double %b) alwaysinline {
  %size = call double @llvm.fabs.f64(double %a)
  %some = call double @power_log_f64(double %size, double %b, i32 0)
  %some_low = call double @power_log_f64(double %size, double %b, i32 1)
  %none = fcmp oeq double %size, 0.0
  %endless = fcmp oeq double %size, 0x7FF0000000000000
  %of_none = fmul double %b, 0xFFF0000000000000
  %of_endless = fmul double %b, 0x7FF0000000000000
  %p0 = select i1 %none, double %of_none, double %some
  %p1 = select i1 %endless, double %of_endless, double %p0
  %unit = fcmp oeq double %size, 1.0
  %flat = fcmp oeq double %b, 0.0
  %p2 = select i1 %unit, double 0.0, double %p1
  %p = select i1 %flat, double 0.0, double %p2
  %p_size = call double @llvm.fabs.f64(double %p1)
  %within = fcmp olt double %p_size, 800.0
  %low = select i1 %within, double %some_low, double 0.0
  %power = call double @exp_of_sum_f64(double %p, double %low)
  %down = call double @llvm.floor.f64(double %b)
  %half = fmul double %b, 0.5
  %half_down = call double @llvm.floor.f64(double %half)
  %is_whole = fcmp oeq double %down, %b
  %uneven = fcmp une double %half_down, %half
  %odd = and i1 %is_whole, %uneven
  %a_bits = bitcast double %a to i64
  %signed = icmp slt i64 %a_bits, 0
  %turns = and i1 %signed, %odd
  %minus = fneg double %power
  %value = select i1 %turns, double %minus, double %power
  %nan = select i1 %is_whole, double %value, double 0x7FF8000000000000
  %negative = fcmp olt double %a, 0.0
  %of_negative = select i1 %negative, double %nan, double %value
  %of_finite = select i1 %endless, double %value, double %of_negative
  %nothing = fcmp une double %a, %a
  %of_nothing = select i1 %flat, double 1.0, double %a
  %y = select i1 %nothing, double %of_nothing, double %of_finite
  ret double %y
}

;: precise_atan2_f64
; 2.3 ulp. q, the smaller of |x| and |y| over the larger, or beyond tan(pi / 8) the angle pi / 4 and (q - 1) / (q + 1) of the rest;
; s + s^3 P(s^2) of that. The angle is taken from pi / 2 where y is the larger one, and from pi where x is negative, each in two
; parts.
define internal double @precise_atan2_f64(double %y, double %x) alwaysinline {
  %high = call double @llvm.fabs.f64(double %y)
  %wide = call double @llvm.fabs.f64(double %x)
  %steep = fcmp ogt double %high, %wide
  %below = select i1 %steep, double %wide, double %high
  %above = select i1 %steep, double %high, double %wide
  %quotient = fdiv double %below, %above
  %sum = fadd double %high, %wide
  %nowhere = fcmp oeq double %sum, 0.0
  %near = select i1 %nowhere, double 0.0, double %quotient
  %endless = fcmp oeq double %below, 0x7FF0000000000000
  %equal = fcmp oeq double %below, %above
  %diagonal = and i1 %endless, %equal
  %q = select i1 %diagonal, double 1.0, double %near
  %upper = fcmp ogt double %q, 0x3FDA827999FCEF32 ; tan(pi / 8)
  %q_less = fsub double %q, 1.0
  %q_more = fadd double %q, 1.0
  %turned = fdiv double %q_less, %q_more
  %s = select i1 %upper, double %turned, double %q
  %base = select i1 %upper, double 0x3FE921FB54442D18, double 0.0 ; pi / 4
  %base_low = select i1 %upper, double 0x3C81A62633145C07, double 0.0
  %z = fmul double %s, %s
  %p10 = call double @llvm.fma.f64(double %z, double 0x3F90AD34DF8613E1, double 0xBFA1B33AC5EF371D)
  %p9 = call double @llvm.fma.f64(double %z, double %p10, double 0x3FA74DDCF11BFBF7)
  %p8 = call double @llvm.fma.f64(double %z, double %p9, double 0xBFAAC7A9274C8714)
  %p7 = call double @llvm.fma.f64(double %z, double %p8, double 0x3FAE19A139427A48)
  %p6 = call double @llvm.fma.f64(double %z, double %p7, double 0xBFB110E8808D52B6)
  %p5 = call double @llvm.fma.f64(double %z, double %p6, double 0x3FB3B1392D9D0130)
  %p4 = call double @llvm.fma.f64(double %z, double %p5, double 0xBFB745D165DF329B)
  %p3 = call double @llvm.fma.f64(double %z, double %p4, double 0x3FBC71C71C304B25)
  %p2 = call double @llvm.fma.f64(double %z, double %p3, double 0xBFC249249248D7ED)
  %p1 = call double @llvm.fma.f64(double %z, double %p2, double 0x3FC9999999999953)
  %p = call double @llvm.fma.f64(double %z, double %p1, double 0xBFD5555555555555)
  %cube = fmul double %z, %s
  %tail = call double @llvm.fma.f64(double %cube, double %p, double %base_low)
  %angle_of_s = fadd double %s, %tail
  %flat_angle = fadd double %base, %angle_of_s
  %less_quarter = fsub double %flat_angle, 0x3C91A62633145C07 ; pi / 2 in two parts
  %steep_angle = fsub double 0x3FF921FB54442D18, %less_quarter
  %right = select i1 %steep, double %steep_angle, double %flat_angle
  %less_half = fsub double %right, 0x3CA1A62633145C07 ; pi in two parts
  %left_angle = fsub double 0x400921FB54442D18, %less_half
  %x_bits = bitcast double %x to i64
  %left = icmp slt i64 %x_bits, 0
  %angle = select i1 %left, double %left_angle, double %right
  %signed = call double @llvm.copysign.f64(double %angle, double %y)
  ret double %signed
}
