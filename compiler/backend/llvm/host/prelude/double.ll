; The scalar functions of kernels in fp64, for CPUs: the name of each is that of the function in fp32 and "_f64". As in fp32
; they are branch-free where they can be, so that VectorHelpers makes forms for several lanes, and treat zeros, infinities,
; NaN and subnormal numbers as C does. The bounds stand beside them, in units in the last place (ulp);
; tests/backend/llvm/host/double_functions_test.cpp measures them. Polynomials are near-minimax fits by Chebyshev interpolation.

;: host_fma_f64
; a b + c for machines that have no instruction for it: the product in two parts (Dekker 1971), and the sum with what it
; rounds off (Knuth). Where the parts leave the range of numbers, a product and a sum.
define internal double @host_fma_f64(double %a, double %b, double %c) alwaysinline {
  %a_split = fmul double %a, 134217729.0 ; 2^27 + 1
  %a_less = fsub double %a_split, %a
  %a_high = fsub double %a_split, %a_less
  %a_low = fsub double %a, %a_high
  %b_split = fmul double %b, 134217729.0
  %b_less = fsub double %b_split, %b
  %b_high = fsub double %b_split, %b_less
  %b_low = fsub double %b, %b_high
  %p = fmul double %a, %b
  %high = fmul double %a_high, %b_high
  %off0 = fsub double %high, %p
  %cross1 = fmul double %a_high, %b_low
  %off1 = fadd double %off0, %cross1
  %cross2 = fmul double %a_low, %b_high
  %off2 = fadd double %off1, %cross2
  %low = fmul double %a_low, %b_low
  %p_low = fadd double %off2, %low
  %sum = fadd double %p, %c
  %c_part = fsub double %sum, %p
  %p_part = fsub double %sum, %c_part
  %c_off = fsub double %c, %c_part
  %p_off = fsub double %p, %p_part
  %sum_low = fadd double %c_off, %p_off
  %rest = fadd double %p_low, %sum_low
  %exact = fadd double %sum, %rest
  %number = fcmp ord double %exact, 0.0
  %y = select i1 %number, double %exact, double %sum
  ret double %y
}

;: host_rsqrt_f64
define internal double @host_rsqrt_f64(double %x) alwaysinline {
  %root = call double @llvm.sqrt.f64(double %x)
  %y = fdiv double 1.0, %root
  ret double %y
}

;: sign_f64
define internal double @sign_f64(double %x) alwaysinline {
  %positive = fcmp ogt double %x, 0.0
  %negative = fcmp olt double %x, 0.0
  %below = select i1 %negative, double -1.0, double 0.0
  %y = select i1 %positive, double 1.0, double %below
  ret double %y
}

;: philox_uniform_f64 needs philox_uniform
; The draw of fp32: the seed is a number of fp32.
define internal double @philox_uniform_f64(double %seed, i32 %stream, i32 %row, i32 %step, i32 %head, i32 %channel) alwaysinline {
  %narrow = fptrunc double %seed to float
  %draw = call float @philox_uniform(float %narrow, i32 %stream, i32 %row, i32 %step, i32 %head, i32 %channel)
  %y = fpext float %draw to double
  ret double %y
}

;: power_of_2_f64
; e 2^i, i between -2044 and 2046, in two halves, so that the result may leave the range of normal numbers.
define internal double @power_of_2_f64(double %e, i64 %i) alwaysinline {
  %first = ashr i64 %i, 1
  %second = sub i64 %i, %first
  %biased_1 = add i64 %first, 1023
  %biased_2 = add i64 %second, 1023
  %field_1 = shl i64 %biased_1, 52
  %field_2 = shl i64 %biased_2, 52
  %scale_1 = bitcast i64 %field_1 to double
  %scale_2 = bitcast i64 %field_2 to double
  %half_way = fmul double %e, %scale_1
  %y = fmul double %half_way, %scale_2
  ret double %y
}

;: expm1_of_part_f64
; e^r - 1 for |r| <= log(2) / 2: r + r^2 P(r).
define internal double @expm1_of_part_f64(double %r) alwaysinline {
  %p8 = call double @llvm.fma.f64(double %r, double 0x3E5AF38EB797EB13, double 0x3E92891BAD81B7D7)
  %p7 = call double @llvm.fma.f64(double %r, double %p8, double 0x3EC71DE0D92B676C)
  %p6 = call double @llvm.fma.f64(double %r, double %p7, double 0x3EFA019B8E02E162)
  %p5 = call double @llvm.fma.f64(double %r, double %p6, double 0x3F2A01A01A7CB3E6)
  %p4 = call double @llvm.fma.f64(double %r, double %p5, double 0x3F56C16C178976F9)
  %p3 = call double @llvm.fma.f64(double %r, double %p4, double 0x3F811111111109AA)
  %p2 = call double @llvm.fma.f64(double %r, double %p3, double 0x3FA5555555553D45)
  %p1 = call double @llvm.fma.f64(double %r, double %p2, double 0x3FC5555555555556)
  %p = call double @llvm.fma.f64(double %r, double %p1, double 0x3FE0000000000001)
  %pr = fmul double %p, %r
  %y = call double @llvm.fma.f64(double %pr, double %r, double %r)
  ret double %y
}

;: exp_of_sum_f64 needs expm1_of_part_f64 power_of_2_f64
; e^(x + low), 1 ulp, low below an ulp of x. x = n log 2 + r, log 2 in two parts, of which the first times n is exact; adding
; 1.5 * 2^52 rounds to n.
define internal double @exp_of_sum_f64(double %x, double %low) alwaysinline {
  %deep = fcmp olt double %x, -746.0
  %y0 = select i1 %deep, double -746.0, double %x
  %high = fcmp ogt double %y0, 710.0
  %y = select i1 %high, double 710.0, double %y0
  %shifted = call double @llvm.fma.f64(double %y, double 0x3FF71547652B82FE, double 6755399441055744.0)
  %n = fsub double %shifted, 6755399441055744.0
  %r0 = call double @llvm.fma.f64(double %n, double 0xBFE62E42FEF00000, double %y)
  %r1 = call double @llvm.fma.f64(double %n, double 0xBDD473DE6AF278ED, double %r0)
  %r = fadd double %r1, %low
  %pm1 = call double @expm1_of_part_f64(double %r)
  %e = fadd double %pm1, 1.0
  %bits = bitcast double %shifted to i64
  %i = sub i64 %bits, 4843621399236968448 ; the bits of 1.5 * 2^52
  %result = call double @power_of_2_f64(double %e, i64 %i)
  %number = fcmp ord double %x, 0.0
  %y_or_nan = select i1 %number, double %result, double %x
  ret double %y_or_nan
}

;: precise_exp_f64 needs exp_of_sum_f64
; 1 ulp.
define internal double @precise_exp_f64(double %x) alwaysinline {
  %y = call double @exp_of_sum_f64(double %x, double 0.0)
  ret double %y
}

;: precise_exp2_f64 needs power_of_2_f64
; 1 ulp. x = n + r; 2^r = 1 + r P(r).
define internal double @precise_exp2_f64(double %x) alwaysinline {
  %deep = fcmp olt double %x, -1076.0
  %y0 = select i1 %deep, double -1076.0, double %x
  %high = fcmp ogt double %y0, 1025.0
  %y = select i1 %high, double 1025.0, double %y0
  %shifted = fadd double %y, 6755399441055744.0
  %n = fsub double %shifted, 6755399441055744.0
  %r = fsub double %y, %n
  %p10 = call double @llvm.fma.f64(double %r, double 0x3DBC4A29324A1038, double 0x3DFE9EC1FCB69A7F)
  %p9 = call double @llvm.fma.f64(double %r, double %p10, double 0x3E3E4CF10DEC0F59)
  %p8 = call double @llvm.fma.f64(double %r, double %p9, double 0x3E7B524EBD13A55F)
  %p7 = call double @llvm.fma.f64(double %r, double %p8, double 0x3EB62C02242B879C)
  %p6 = call double @llvm.fma.f64(double %r, double %p7, double 0x3EEFFCBFC6DA6ED1)
  %p5 = call double @llvm.fma.f64(double %r, double %p6, double 0x3F2430912F86B7DB)
  %p4 = call double @llvm.fma.f64(double %r, double %p5, double 0x3F55D87FE78A3F9C)
  %p3 = call double @llvm.fma.f64(double %r, double %p4, double 0x3F83B2AB6FBA4E79)
  %p2 = call double @llvm.fma.f64(double %r, double %p3, double 0x3FAC6B08D704A0C6)
  %p1 = call double @llvm.fma.f64(double %r, double %p2, double 0x3FCEBFBDFF82C58F)
  %p = call double @llvm.fma.f64(double %r, double %p1, double 0x3FE62E42FEFA39EF)
  %e = call double @llvm.fma.f64(double %r, double %p, double 1.0)
  %bits = bitcast double %shifted to i64
  %i = sub i64 %bits, 4843621399236968448
  %result = call double @power_of_2_f64(double %e, i64 %i)
  %number = fcmp ord double %x, 0.0
  %y_or_nan = select i1 %number, double %result, double %x
  ret double %y_or_nan
}

;: precise_expm1_f64 needs expm1_of_part_f64
; 2.3 ulp. With n and r as above e^x - 1 = 2^n (e^r - 1) + (2^n - 1), both at half their size, as 2^1024 is no number.
define internal double @precise_expm1_f64(double %x) alwaysinline {
  %deep = fcmp olt double %x, -40.0
  %y0 = select i1 %deep, double -40.0, double %x
  %high = fcmp ogt double %y0, 710.0
  %y = select i1 %high, double 710.0, double %y0
  %shifted = call double @llvm.fma.f64(double %y, double 0x3FF71547652B82FE, double 6755399441055744.0)
  %n = fsub double %shifted, 6755399441055744.0
  %r0 = call double @llvm.fma.f64(double %n, double 0xBFE62E42FEF00000, double %y)
  %r = call double @llvm.fma.f64(double %n, double 0xBDD473DE6AF278ED, double %r0)
  %pm1 = call double @expm1_of_part_f64(double %r)
  %bits = bitcast double %shifted to i64
  %i = sub i64 %bits, 4843621399236968448
  %biased = add i64 %i, 1022
  %field = shl i64 %biased, 52
  %scale = bitcast i64 %field to double
  %whole = fsub double %scale, 0.5
  %half = call double @llvm.fma.f64(double %pm1, double %scale, double %whole)
  %far = fmul double %half, 2.0
  %near = icmp eq i64 %i, 0
  %result = select i1 %near, double %pm1, double %far
  %number = fcmp ord double %x, 0.0
  %some = select i1 %number, double %result, double %x
  %none = fcmp oeq double %x, 0.0
  %y_or_nan = select i1 %none, double %x, double %some
  ret double %y_or_nan
}

;: log_of_sum_f64
; log(1 + f) + n log 2 for 1 + f between the square roots of 1/2 and 2. log(1 + f) = 2 artanh s with s = f / (2 + f); with
; h = f^2 / 2 that is f - (h - s (h + s^2 P(s^2))), of which f is exact.
define internal double @log_of_sum_f64(double %f, double %n) alwaysinline {
  %above = fadd double %f, 2.0
  %s = fdiv double %f, %above
  %z = fmul double %s, %s
  %p5 = call double @llvm.fma.f64(double %z, double 0x3FC2B584AAE78A57, double 0x3FC39FE606542DDE)
  %p4 = call double @llvm.fma.f64(double %z, double %p5, double 0x3FC7462B4AB2EF6B)
  %p3 = call double @llvm.fma.f64(double %z, double %p4, double 0x3FCC71C62E5800A1)
  %p2 = call double @llvm.fma.f64(double %z, double %p3, double 0x3FD2492492DF148D)
  %p1 = call double @llvm.fma.f64(double %z, double %p2, double 0x3FD99999999952E2)
  %p = call double @llvm.fma.f64(double %z, double %p1, double 0x3FE5555555555558)
  %zp = fmul double %z, %p
  %half = fmul double %f, 0.5
  %h = fmul double %half, %f
  %sum = fadd double %h, %zp
  %low_n = fmul double %n, 0x3DD473DE6AF278ED
  %part = call double @llvm.fma.f64(double %s, double %sum, double %low_n)
  %off = fsub double %h, %part
  %rest = fsub double %off, %f
  %high_n = fmul double %n, 0x3FE62E42FEF00000
  %y = fsub double %high_n, %rest
  ret double %y
}

;: precise_log_f64 needs log_of_sum_f64
; 1 ulp. x = 2^n m with m between the square roots of 1/2 and 2.
define internal double @precise_log_f64(double %x) alwaysinline {
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
  %f = fsub double %m, 1.0
  %i_32 = trunc i64 %i to i32
  %exponent = sitofp i32 %i_32 to double
  %n = fsub double %exponent, %less
  %y = call double @log_of_sum_f64(double %f, double %n)
  %positive = fcmp ogt double %x, 0.0
  %finite = fcmp olt double %x, 0x7FF0000000000000
  %upper = select i1 %finite, double %y, double %x
  %zero = fcmp oeq double %x, 0.0
  %lower = select i1 %zero, double 0xFFF0000000000000, double 0x7FF8000000000000
  %result = select i1 %positive, double %upper, double %lower
  ret double %result
}

;: precise_log1p_f64 needs log_of_sum_f64
; 1.4 ulp. 1 + x = 2^n (1 + f); n is that of the rounded sum, f comes of x itself. Where x is beyond 2^64 the one is lost.
define internal double @precise_log1p_f64(double %x) alwaysinline {
  %huge = fcmp ogt double %x, 0x43F0000000000000 ; 2^64
  %lowered = fmul double %x, 0x3BF0000000000000 ; 2^-64
  %z = select i1 %huge, double %lowered, double %x
  %one = select i1 %huge, double 0.0, double 1.0
  %more = select i1 %huge, double 64.0, double 0.0
  %sum = fadd double %z, %one
  %bits = bitcast double %sum to i64
  %from = sub i64 %bits, 4604544271217802189 ; the bits of the square root of 1/2
  %i = ashr i64 %from, 52
  %field = shl i64 %i, 52
  %scale_bits = sub i64 4607182418800017408, %field
  %scale = bitcast i64 %scale_bits to double
  %scaled_one = fmul double %scale, %one
  %off = fsub double %scaled_one, 1.0
  %f = call double @llvm.fma.f64(double %z, double %scale, double %off)
  %i_32 = trunc i64 %i to i32
  %exponent = sitofp i32 %i_32 to double
  %n = fadd double %exponent, %more
  %y = call double @log_of_sum_f64(double %f, double %n)
  %positive = fcmp ogt double %x, -1.0
  %finite = fcmp olt double %x, 0x7FF0000000000000
  %number = select i1 %finite, double %y, double %x
  %lost = fcmp oeq double %x, -1.0
  %lower = select i1 %lost, double 0xFFF0000000000000, double 0x7FF8000000000000
  %result = select i1 %positive, double %number, double %lower
  %zero = fcmp oeq double %x, 0.0
  %signed = select i1 %zero, double %x, double %result
  ret double %signed
}

;: accurate_sigmoid_f64 needs precise_exp_f64
; 2.4 ulp. 1 / (1 + e) or e / (1 + e) with e = e^-|x|.
define internal double @accurate_sigmoid_f64(double %x) alwaysinline {
  %size = call double @llvm.fabs.f64(double %x)
  %minus = fneg double %size
  %e = call double @precise_exp_f64(double %minus)
  %negative = fcmp olt double %x, 0.0
  %above = select i1 %negative, double %e, double 1.0
  %sum = fadd double %e, 1.0
  %y = fdiv double %above, %sum
  ret double %y
}

;: accurate_silu_f64 needs accurate_sigmoid_f64
; 3.1 ulp; -0 below -750, where x times a sigmoid of 0 is -0, or no number.
define internal double @accurate_silu_f64(double %x) alwaysinline {
  %low = fcmp olt double %x, -750.0
  %held = select i1 %low, double -750.0, double %x
  %s = call double @accurate_sigmoid_f64(double %held)
  %y = fmul double %held, %s
  ret double %y
}

;: accurate_tanh_f64 needs precise_expm1_f64
; 2.5 ulp. E / (E + 2) with E = e^2|x| - 1, |x| held below 20, beyond which the result is 1.
define internal double @accurate_tanh_f64(double %x) alwaysinline {
  %size = call double @llvm.fabs.f64(double %x)
  %beyond = fcmp ogt double %size, 20.0
  %t = select i1 %beyond, double 20.0, double %size
  %twice = fadd double %t, %t
  %e = call double @precise_expm1_f64(double %twice)
  %d = fadd double %e, 2.0
  %q = fdiv double %e, %d
  %y = call double @llvm.copysign.f64(double %q, double %x)
  ret double %y
}

;: accurate_softplus_f64 needs precise_exp_f64 precise_log1p_f64
; 1.7 ulp. log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)
define internal double @accurate_softplus_f64(double %x) alwaysinline {
  %size = call double @llvm.fabs.f64(double %x)
  %minus = fneg double %size
  %e = call double @precise_exp_f64(double %minus)
  %l = call double @precise_log1p_f64(double %e)
  %negative = fcmp olt double %x, 0.0
  %above = select i1 %negative, double 0.0, double %x
  %y = fadd double %above, %l
  ret double %y
}
