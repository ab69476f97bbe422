
define internal <32 x float> @sign_32(<32 x float> %x) alwaysinline {
  %positive = fcmp ogt <32 x float> %x, splat (float 0.0)
  %negative = fcmp olt <32 x float> %x, splat (float 0.0)
  %below = select <32 x i1> %negative, <32 x float> splat (float -1.0), <32 x float> splat (float 0.0)
  %y = select <32 x i1> %positive, <32 x float> splat (float 1.0), <32 x float> %below
  ret <32 x float> %y
}

; 1.1 ulp. x = n log 2 + r, log 2 in two parts; adding 1.5 * 2^23 rounds to n. e^r as in Cephes (Moshier, expf.c). 2^n is
; multiplied in two halves, so that it may leave the range of normal numbers.
define internal <32 x float> @precise_exp_32(<32 x float> %x) alwaysinline {
  %deep = fcmp olt <32 x float> %x, splat (float -104.0)
  %y0 = select <32 x i1> %deep, <32 x float> splat (float -104.0), <32 x float> %x
  %high = fcmp ogt <32 x float> %y0, splat (float 89.0)
  %y = select <32 x i1> %high, <32 x float> splat (float 89.0), <32 x float> %y0
  %shifted = call <32 x float> @llvm.fma.v32f32(<32 x float> %y, <32 x float> splat (float 0x3FF7154760000000), <32 x float> splat (float 12582912.0))
  %n = fsub <32 x float> %shifted, splat (float 12582912.0)
  %r0 = call <32 x float> @llvm.fma.v32f32(<32 x float> %n, <32 x float> splat (float 0xBFE6300000000000), <32 x float> %y)
  %r = call <32 x float> @llvm.fma.v32f32(<32 x float> %n, <32 x float> splat (float 0x3F2BD01060000000), <32 x float> %r0)
  %p1 = call <32 x float> @llvm.fma.v32f32(<32 x float> %r, <32 x float> splat (float 0x3F2A0D2CE0000000), <32 x float> splat (float 0x3F56E879C0000000))
  %p2 = call <32 x float> @llvm.fma.v32f32(<32 x float> %r, <32 x float> %p1, <32 x float> splat (float 0x3F81112100000000))
  %p3 = call <32 x float> @llvm.fma.v32f32(<32 x float> %r, <32 x float> %p2, <32 x float> splat (float 0x3FA5553820000000))
  %p4 = call <32 x float> @llvm.fma.v32f32(<32 x float> %r, <32 x float> %p3, <32 x float> splat (float 0x3FC5555540000000))
  %p = call <32 x float> @llvm.fma.v32f32(<32 x float> %r, <32 x float> %p4, <32 x float> splat (float 0x3FE0000000000000))
  %pr = fmul <32 x float> %p, %r
  %pm1 = call <32 x float> @llvm.fma.v32f32(<32 x float> %pr, <32 x float> %r, <32 x float> %r)
  %e = fadd <32 x float> %pm1, splat (float 1.0)
  %bits = bitcast <32 x float> %shifted to <32 x i32>
  %i = sub <32 x i32> %bits, splat (i32 1262485504) 
  %first = ashr <32 x i32> %i, splat (i32 1)
  %second = sub <32 x i32> %i, %first
  %biased_1 = add <32 x i32> %first, splat (i32 127)
  %biased_2 = add <32 x i32> %second, splat (i32 127)
  %field_1 = shl <32 x i32> %biased_1, splat (i32 23)
  %field_2 = shl <32 x i32> %biased_2, splat (i32 23)
  %scale_1 = bitcast <32 x i32> %field_1 to <32 x float>
  %scale_2 = bitcast <32 x i32> %field_2 to <32 x float>
  %half_way = fmul <32 x float> %e, %scale_1
  %result = fmul <32 x float> %half_way, %scale_2
  %number = fcmp ord <32 x float> %x, splat (float 0.0)
  %y_or_nan = select <32 x i1> %number, <32 x float> %result, <32 x float> %x
  ret <32 x float> %y_or_nan
}

; 2 ulp. With n and r as above e^x - 1 = 2^n (e^r - 1) + (2^n - 1), both at half their size, as 2^128 is no number.
define internal <32 x float> @precise_expm1_32(<32 x float> %x) alwaysinline {
  %deep = fcmp olt <32 x float> %x, splat (float -17.5)
  %y0 = select <32 x i1> %deep, <32 x float> splat (float -17.5), <32 x float> %x
  %high = fcmp ogt <32 x float> %y0, splat (float 89.0)
  %y = select <32 x i1> %high, <32 x float> splat (float 89.0), <32 x float> %y0
  %shifted = call <32 x float> @llvm.fma.v32f32(<32 x float> %y, <32 x float> splat (float 0x3FF7154760000000), <32 x float> splat (float 12582912.0))
  %n = fsub <32 x float> %shifted, splat (float 12582912.0)
  %r0 = call <32 x float> @llvm.fma.v32f32(<32 x float> %n, <32 x float> splat (float 0xBFE6300000000000), <32 x float> %y)
  %r = call <32 x float> @llvm.fma.v32f32(<32 x float> %n, <32 x float> splat (float 0x3F2BD01060000000), <32 x float> %r0)
  %p1 = call <32 x float> @llvm.fma.v32f32(<32 x float> %r, <32 x float> splat (float 0x3F2A0D2CE0000000), <32 x float> splat (float 0x3F56E879C0000000))
  %p2 = call <32 x float> @llvm.fma.v32f32(<32 x float> %r, <32 x float> %p1, <32 x float> splat (float 0x3F81112100000000))
  %p3 = call <32 x float> @llvm.fma.v32f32(<32 x float> %r, <32 x float> %p2, <32 x float> splat (float 0x3FA5553820000000))
  %p4 = call <32 x float> @llvm.fma.v32f32(<32 x float> %r, <32 x float> %p3, <32 x float> splat (float 0x3FC5555540000000))
  %p = call <32 x float> @llvm.fma.v32f32(<32 x float> %r, <32 x float> %p4, <32 x float> splat (float 0x3FE0000000000000))
  %pr = fmul <32 x float> %p, %r
  %pm1 = call <32 x float> @llvm.fma.v32f32(<32 x float> %pr, <32 x float> %r, <32 x float> %r)
  %bits = bitcast <32 x float> %shifted to <32 x i32>
  %i = sub <32 x i32> %bits, splat (i32 1262485504) 
  %biased = add <32 x i32> %i, splat (i32 126)
  %field = shl <32 x i32> %biased, splat (i32 23)
  %scale = bitcast <32 x i32> %field to <32 x float>
  %whole = fsub <32 x float> %scale, splat (float 0.5)
  %half = call <32 x float> @llvm.fma.v32f32(<32 x float> %pm1, <32 x float> %scale, <32 x float> %whole)
  %far = fmul <32 x float> %half, splat (float 2.0)
  %near = icmp eq <32 x i32> %i, splat (i32 0)
  %result = select <32 x i1> %near, <32 x float> %pm1, <32 x float> %far
  %number = fcmp ord <32 x float> %x, splat (float 0.0)
  %some = select <32 x i1> %number, <32 x float> %result, <32 x float> %x
  %none = fcmp oeq <32 x float> %x, splat (float 0.0)
  %y_or_nan = select <32 x i1> %none, <32 x float> %x, <32 x float> %some
  ret <32 x float> %y_or_nan
}

; log(1 + f) + n log 2 for 1 + f between the square roots of 1/2 and 2: f - f^2 / 2 + f^3 P(f).
define internal <32 x float> @log_of_sum_32(<32 x float> %f, <32 x float> %n) alwaysinline {
  %square = fmul <32 x float> %f, %f
  %p1 = call <32 x float> @llvm.fma.v32f32(<32 x float> %f, <32 x float> splat (float 0x3FB1D8EA60000000), <32 x float> splat (float 0xBFBD635BC0000000))
  %p2 = call <32 x float> @llvm.fma.v32f32(<32 x float> %f, <32 x float> %p1, <32 x float> splat (float 0x3FBDEA2820000000))
  %p3 = call <32 x float> @llvm.fma.v32f32(<32 x float> %f, <32 x float> %p2, <32 x float> splat (float 0xBFBFCF4C60000000))
  %p4 = call <32 x float> @llvm.fma.v32f32(<32 x float> %f, <32 x float> %p3, <32 x float> splat (float 0x3FC23D21A0000000))
  %p5 = call <32 x float> @llvm.fma.v32f32(<32 x float> %f, <32 x float> %p4, <32 x float> splat (float 0xBFC555B4A0000000))
  %p6 = call <32 x float> @llvm.fma.v32f32(<32 x float> %f, <32 x float> %p5, <32 x float> splat (float 0x3FC999D5A0000000))
  %p7 = call <32 x float> @llvm.fma.v32f32(<32 x float> %f, <32 x float> %p6, <32 x float> splat (float 0xBFCFFFFFC0000000))
  %p = call <32 x float> @llvm.fma.v32f32(<32 x float> %f, <32 x float> %p7, <32 x float> splat (float 0x3FD5555540000000))
  %cube = fmul <32 x float> %square, %f
  %a = fmul <32 x float> %p, %cube
  %b = call <32 x float> @llvm.fma.v32f32(<32 x float> %n, <32 x float> splat (float 0xBF2BD01060000000), <32 x float> %a) 
  %c = call <32 x float> @llvm.fma.v32f32(<32 x float> %square, <32 x float> splat (float -0.5), <32 x float> %b)
  %d = fadd <32 x float> %f, %c
  %y = call <32 x float> @llvm.fma.v32f32(<32 x float> %n, <32 x float> splat (float 0x3FE6300000000000), <32 x float> %d) 
  ret <32 x float> %y
}

; 1 ulp. x = 2^n m with m between the square roots of 1/2 and 2.
define internal <32 x float> @precise_log_32(<32 x float> %x) alwaysinline {
  %tiny = fcmp olt <32 x float> %x, splat (float 0x3810000000000000) 
  %scaled = fmul <32 x float> %x, splat (float 8388608.0)
  %normal = select <32 x i1> %tiny, <32 x float> %scaled, <32 x float> %x
  %less = select <32 x i1> %tiny, <32 x float> splat (float 23.0), <32 x float> splat (float 0.0)
  %bits = bitcast <32 x float> %normal to <32 x i32>
  %from = sub <32 x i32> %bits, splat (i32 1060439283) 
  %i = ashr <32 x i32> %from, splat (i32 23)
  %field = shl <32 x i32> %i, splat (i32 23)
  %m_bits = sub <32 x i32> %bits, %field
  %m = bitcast <32 x i32> %m_bits to <32 x float>
  %f = fsub <32 x float> %m, splat (float 1.0)
  %exponent = sitofp <32 x i32> %i to <32 x float>
  %n = fsub <32 x float> %exponent, %less
  %y = call <32 x float> @log_of_sum_32(<32 x float> %f, <32 x float> %n)
  %positive = fcmp ogt <32 x float> %x, splat (float 0.0)
  %finite = fcmp olt <32 x float> %x, splat (float 0x7FF0000000000000)
  %upper = select <32 x i1> %finite, <32 x float> %y, <32 x float> %x
  %zero = fcmp oeq <32 x float> %x, splat (float 0.0)
  %lower = select <32 x i1> %zero, <32 x float> splat (float 0xFFF0000000000000), <32 x float> splat (float 0x7FF8000000000000)
  %result = select <32 x i1> %positive, <32 x float> %upper, <32 x float> %lower
  ret <32 x float> %result
}

; 1.5 ulp. 1 + x = 2^n (1 + f); n is that of the rounded sum, f comes of x itself. Where x is beyond 2^64 the one is lost.
define internal <32 x float> @precise_log1p_32(<32 x float> %x) alwaysinline {
  %huge = fcmp ogt <32 x float> %x, splat (float 0x43F0000000000000) 
  %lowered = fmul <32 x float> %x, splat (float 0x3BF0000000000000) 
  %z = select <32 x i1> %huge, <32 x float> %lowered, <32 x float> %x
  %one = select <32 x i1> %huge, <32 x float> splat (float 0.0), <32 x float> splat (float 1.0)
  %more = select <32 x i1> %huge, <32 x float> splat (float 64.0), <32 x float> splat (float 0.0)
  %sum = fadd <32 x float> %z, %one
  %bits = bitcast <32 x float> %sum to <32 x i32>
  %from = sub <32 x i32> %bits, splat (i32 1060439283) 
  %i = ashr <32 x i32> %from, splat (i32 23)
  %field = shl <32 x i32> %i, splat (i32 23)
  %scale_bits = sub <32 x i32> splat (i32 1065353216), %field
  %scale = bitcast <32 x i32> %scale_bits to <32 x float>
  %scaled_one = fmul <32 x float> %scale, %one
  %off = fsub <32 x float> %scaled_one, splat (float 1.0)
  %f = call <32 x float> @llvm.fma.v32f32(<32 x float> %z, <32 x float> %scale, <32 x float> %off)
  %exponent = sitofp <32 x i32> %i to <32 x float>
  %n = fadd <32 x float> %exponent, %more
  %y = call <32 x float> @log_of_sum_32(<32 x float> %f, <32 x float> %n)
  %positive = fcmp ogt <32 x float> %x, splat (float -1.0)
  %finite = fcmp olt <32 x float> %x, splat (float 0x7FF0000000000000)
  %number = select <32 x i1> %finite, <32 x float> %y, <32 x float> %x
  %lost = fcmp oeq <32 x float> %x, splat (float -1.0)
  %lower = select <32 x i1> %lost, <32 x float> splat (float 0xFFF0000000000000), <32 x float> splat (float 0x7FF8000000000000)
  %result = select <32 x i1> %positive, <32 x float> %number, <32 x float> %lower
  %zero = fcmp oeq <32 x float> %x, splat (float 0.0)
  %signed = select <32 x i1> %zero, <32 x float> %x, <32 x float> %result
  ret <32 x float> %signed
}

define internal <32 x float> @host_rsqrt_32(<32 x float> %x) alwaysinline {
  %root = call <32 x float> @llvm.sqrt.v32f32(<32 x float> %x)
  %y = fdiv <32 x float> splat (float 1.0), %root
  ret <32 x float> %y
}

; 1/x, 1 ulp, for x between 2^-125 and 2^125: the machine's estimate, if it has one, and a Newton step (AVX-512: 14 bits) or
; two (AVX2: 12 bits).
define internal <32 x float> @host_rcp_near_32(<32 x float> %x) alwaysinline {
  %y = fdiv arcp ninf contract <32 x float> splat (float 1.0), %x
  ret <32 x float> %y
}

; 2^40 / (1 + e^-x), 3 ulp, for x between -110 and 58: a normal number where the sigmoid is none. x = s - n log 2, log 2 in two
; parts; e^-s by a polynomial of least error. Adding 1.5 * 2^23 + 127 - 40 rounds to n and leaves the exponent field of 2^(n - 40)
; in the lowest bits.
define internal <32 x float> @scaled_sigmoid_32(<32 x float> %x) alwaysinline {
  %shifted = call <32 x float> @llvm.fma.v32f32(<32 x float> %x, <32 x float> splat (float 0xBFF7154760000000), <32 x float> splat (float 12582999.0)) 
  %n = fsub <32 x float> %shifted, splat (float 12582999.0)
  %s0 = call <32 x float> @llvm.fma.v32f32(<32 x float> %n, <32 x float> splat (float 0.693359375), <32 x float> %x)
  %s = call <32 x float> @llvm.fma.v32f32(<32 x float> %n, <32 x float> splat (float 0xBF2BD01060000000), <32 x float> %s0) 
  %p5 = call <32 x float> @llvm.fma.v32f32(<32 x float> %s, <32 x float> splat (float 0x3F56A23CE0000000), <32 x float> splat (float 0xBF8123A200000000)) 
  %p4 = call <32 x float> @llvm.fma.v32f32(<32 x float> %s, <32 x float> %p5, <32 x float> splat (float 0x3FA5558F20000000)) 
  %p3 = call <32 x float> @llvm.fma.v32f32(<32 x float> %s, <32 x float> %p4, <32 x float> splat (float 0xBFC5554920000000)) 
  %p2 = call <32 x float> @llvm.fma.v32f32(<32 x float> %s, <32 x float> %p3, <32 x float> splat (float 0x3FDFFFFFC0000000)) 
  %p1 = call <32 x float> @llvm.fma.v32f32(<32 x float> %s, <32 x float> %p2, <32 x float> splat (float -1.0))
  %p = call <32 x float> @llvm.fma.v32f32(<32 x float> %s, <32 x float> %p1, <32 x float> splat (float 1.0))
  %bits = bitcast <32 x float> %shifted to <32 x i32>
  %field = shl <32 x i32> %bits, splat (i32 23)
  %scale = bitcast <32 x i32> %field to <32 x float>
  %d = call <32 x float> @llvm.fma.v32f32(<32 x float> %p, <32 x float> %scale, <32 x float> splat (float 0x3D70000000000000)) 
  %r = call <32 x float> @host_rcp_near_32(<32 x float> %d)
  ret <32 x float> %r
}

; 3 ulp, also where the result is no normal number; 0 below -104. Beyond 58 it is 1.
define internal <32 x float> @accurate_sigmoid_32(<32 x float> %x) alwaysinline {
  %low = fcmp olt <32 x float> %x, splat (float -110.0)
  %x0 = select <32 x i1> %low, <32 x float> splat (float -110.0), <32 x float> %x
  %high = fcmp ogt <32 x float> %x0, splat (float 58.0)
  %held = select <32 x i1> %high, <32 x float> splat (float 58.0), <32 x float> %x0
  %s = call <32 x float> @scaled_sigmoid_32(<32 x float> %held)
  %y = fmul <32 x float> %s, splat (float 0x3D70000000000000) 
  ret <32 x float> %y
}

; 4 ulp. E / (E + 2) with E = e^2x - 1, x held between -10 and 10, beyond which the result is 1. x = h + n log 2 / 2;
; e^2h - 1 = h times a polynomial, so that it is right near 0.
define internal <32 x float> @accurate_tanh_32(<32 x float> %x) alwaysinline {
  %low = fcmp olt <32 x float> %x, splat (float -10.0)
  %x0 = select <32 x i1> %low, <32 x float> splat (float -10.0), <32 x float> %x
  %high = fcmp ogt <32 x float> %x0, splat (float 10.0)
  %x1 = select <32 x i1> %high, <32 x float> splat (float 10.0), <32 x float> %x0
  %shifted = call <32 x float> @llvm.fma.v32f32(<32 x float> %x1, <32 x float> splat (float 0x4007154760000000), <32 x float> splat (float 12583039.0)) 
  %n = fsub <32 x float> %shifted, splat (float 12583039.0)
  %h0 = call <32 x float> @llvm.fma.v32f32(<32 x float> %n, <32 x float> splat (float -0.3466796875), <32 x float> %x1)
  %h = call <32 x float> @llvm.fma.v32f32(<32 x float> %n, <32 x float> splat (float 0x3F1BD01060000000), <32 x float> %h0) 
  %p4 = call <32 x float> @llvm.fma.v32f32(<32 x float> %h, <32 x float> splat (float 0x3FB6BEBFE0000000), <32 x float> splat (float 0x3FD1227B00000000)) 
  %p3 = call <32 x float> @llvm.fma.v32f32(<32 x float> %h, <32 x float> %p4, <32 x float> splat (float 0x3FE5556740000000)) 
  %p2 = call <32 x float> @llvm.fma.v32f32(<32 x float> %h, <32 x float> %p3, <32 x float> splat (float 0x3FF5554B00000000)) 
  %p1 = call <32 x float> @llvm.fma.v32f32(<32 x float> %h, <32 x float> %p2, <32 x float> splat (float 0x3FFFFFFFE0000000)) 
  %p0 = call <32 x float> @llvm.fma.v32f32(<32 x float> %h, <32 x float> %p1, <32 x float> splat (float 2.0))
  %p = fmul <32 x float> %h, %p0
  %bits = bitcast <32 x float> %shifted to <32 x i32>
  %field = shl <32 x i32> %bits, splat (i32 23)
  %scale = bitcast <32 x i32> %field to <32 x float>
  %less = fsub <32 x float> %scale, splat (float 1.0)
  %e = call <32 x float> @llvm.fma.v32f32(<32 x float> %p, <32 x float> %scale, <32 x float> %less)
  %d = fadd <32 x float> %e, splat (float 2.0)
  %r = call <32 x float> @host_rcp_near_32(<32 x float> %d)
  %y = fmul <32 x float> %e, %r
  ret <32 x float> %y
}

; 4 ulp, also where the sigmoid or the result is no normal number.
define internal <32 x float> @accurate_silu_32(<32 x float> %x) alwaysinline {
  %low = fcmp olt <32 x float> %x, splat (float -110.0)
  %held = select <32 x i1> %low, <32 x float> splat (float -110.0), <32 x float> %x
  %s = call <32 x float> @scaled_sigmoid_32(<32 x float> %held)
  %product = fmul <32 x float> %held, %s
  %near = fmul <32 x float> %product, splat (float 0x3D70000000000000) 
  %far = fcmp ogt <32 x float> %x, splat (float 58.0)
  %y = select <32 x i1> %far, <32 x float> %x, <32 x float> %near
  ret <32 x float> %y
}

define internal <32 x float> @host_rcp_32(<32 x float> %x) alwaysinline {
  %y = fdiv <32 x float> splat (float 1.0), %x
  ret <32 x float> %y
}

; e^x for x <= 0, also where it is no normal number, which the GPU's form takes for 0.
define internal <32 x float> @exp_of_negative_32(<32 x float> %x) alwaysinline {
  %y = call <32 x float> @precise_exp_32(<32 x float> %x)
  ret <32 x float> %y
}

; 7 ulp. max(x, 0) - |x|/2 erfc(|x| / sqrt 2), which does not cancel. erfc(a) = e^(-a^2) R / (1 + 2 a) with R a polynomial in
; (a - 3) / (a + 3), whose quotient gets a Newton step; a^2 is that of x, halved, with its rounding error. Beyond 15 the function
; is x or 0.
define internal <32 x float> @accurate_gelu_32(<32 x float> %x) alwaysinline {
  %size = call <32 x float> @llvm.fabs.v32f32(<32 x float> %x)
  %beyond = fcmp ogt <32 x float> %size, splat (float 15.0)
  %t = select <32 x i1> %beyond, <32 x float> splat (float 15.0), <32 x float> %size
  %a = fmul <32 x float> %t, splat (float 0x3FE6A09E60000000) 
  %above = fadd <32 x float> %a, splat (float 3.0)
  %below = fsub <32 x float> %a, splat (float 3.0)
  %i = call <32 x float> @host_rcp_32(<32 x float> %above)
  %near = fmul <32 x float> %below, %i
  %minus_near = fneg <32 x float> %near
  %off = call <32 x float> @llvm.fma.v32f32(<32 x float> %minus_near, <32 x float> %above, <32 x float> %below)
  %q = call <32 x float> @llvm.fma.v32f32(<32 x float> %off, <32 x float> %i, <32 x float> %near)
  %r1 = call <32 x float> @llvm.fma.v32f32(<32 x float> %q, <32 x float> splat (float 0xBF31EE2DE0000000), <32 x float> splat (float 0xBF49D33C60000000))
  %r2 = call <32 x float> @llvm.fma.v32f32(<32 x float> %q, <32 x float> %r1, <32 x float> splat (float 0x3F606604C0000000))
  %r3 = call <32 x float> @llvm.fma.v32f32(<32 x float> %q, <32 x float> %r2, <32 x float> splat (float 0x3F651C0F40000000))
  %r4 = call <32 x float> @llvm.fma.v32f32(<32 x float> %q, <32 x float> %r3, <32 x float> splat (float 0xBF985DA0E0000000))
  %r5 = call <32 x float> @llvm.fma.v32f32(<32 x float> %q, <32 x float> %r4, <32 x float> splat (float 0x3FB17BA6E0000000))
  %r6 = call <32 x float> @llvm.fma.v32f32(<32 x float> %q, <32 x float> %r5, <32 x float> splat (float 0xBFBE889AC0000000))
  %r7 = call <32 x float> @llvm.fma.v32f32(<32 x float> %q, <32 x float> %r6, <32 x float> splat (float 0x3FC0984380000000))
  %r8 = call <32 x float> @llvm.fma.v32f32(<32 x float> %q, <32 x float> %r7, <32 x float> splat (float 0xBFA85A16A0000000))
  %r9 = call <32 x float> @llvm.fma.v32f32(<32 x float> %q, <32 x float> %r8, <32 x float> splat (float 0xBFC15C08A0000000))
  %r = call <32 x float> @llvm.fma.v32f32(<32 x float> %q, <32 x float> %r9, <32 x float> splat (float 0x3FF40C5220000000))
  %d = call <32 x float> @llvm.fma.v32f32(<32 x float> %a, <32 x float> splat (float 2.0), <32 x float> splat (float 1.0))
  %j = call <32 x float> @host_rcp_32(<32 x float> %d)
  %scaled = fmul <32 x float> %r, %j
  %square = fmul <32 x float> %t, %t
  %minus_square = fneg <32 x float> %square
  %rest = call <32 x float> @llvm.fma.v32f32(<32 x float> %t, <32 x float> %t, <32 x float> %minus_square)
  %half_rest = fmul <32 x float> %rest, splat (float -0.5)
  %corrected = call <32 x float> @llvm.fma.v32f32(<32 x float> %scaled, <32 x float> %half_rest, <32 x float> %scaled)
  %minus_half = fmul <32 x float> %t, splat (float -0.5)
  %part = fmul <32 x float> %minus_half, %corrected
  %exponent = fmul <32 x float> %square, splat (float -0.5)
  %e = call <32 x float> @exp_of_negative_32(<32 x float> %exponent)
  %positive = call <32 x float> @llvm.maxnum.v32f32(<32 x float> %x, <32 x float> splat (float 0.0))
  %y = call <32 x float> @llvm.fma.v32f32(<32 x float> %part, <32 x float> %e, <32 x float> %positive)
  ret <32 x float> %y
}

; 3 ulp. log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)
define internal <32 x float> @accurate_softplus_32(<32 x float> %x) alwaysinline {
  %size = call <32 x float> @llvm.fabs.v32f32(<32 x float> %x)
  %minus = fneg <32 x float> %size
  %e = call <32 x float> @exp_of_negative_32(<32 x float> %minus)
  %l = call <32 x float> @precise_log1p_32(<32 x float> %e)
  %positive = call <32 x float> @llvm.maxnum.v32f32(<32 x float> %x, <32 x float> splat (float 0.0))
  %y = fadd contract <32 x float> %positive, %l
  ret <32 x float> %y
}

; 1.5 ulp. Below 1 an odd polynomial; above, 1 - e^-q, where the polynomial q is -log(erfc). Beyond 4 it is 1.
define internal <32 x float> @precise_erf_32(<32 x float> %x) alwaysinline {
  %size = call <32 x float> @llvm.fabs.v32f32(<32 x float> %x)
  %square = fmul <32 x float> %size, %size
  %s1 = call <32 x float> @llvm.fma.v32f32(<32 x float> %square, <32 x float> splat (float 0xBEE445F480000000), <32 x float> splat (float 0x3F1D887500000000))
  %s2 = call <32 x float> @llvm.fma.v32f32(<32 x float> %square, <32 x float> %s1, <32 x float> splat (float 0xBF4BCCF660000000))
  %s3 = call <32 x float> @llvm.fma.v32f32(<32 x float> %square, <32 x float> %s2, <32 x float> splat (float 0x3F7562A600000000))
  %s4 = call <32 x float> @llvm.fma.v32f32(<32 x float> %square, <32 x float> %s3, <32 x float> splat (float 0xBF9B829C80000000))
  %s5 = call <32 x float> @llvm.fma.v32f32(<32 x float> %square, <32 x float> %s4, <32 x float> splat (float 0x3FBCE2F080000000))
  %s6 = call <32 x float> @llvm.fma.v32f32(<32 x float> %square, <32 x float> %s5, <32 x float> splat (float 0xBFD8127460000000))
  %s = call <32 x float> @llvm.fma.v32f32(<32 x float> %square, <32 x float> %s6, <32 x float> splat (float 0x3FC06EBA80000000))
  %near = call <32 x float> @llvm.fma.v32f32(<32 x float> %size, <32 x float> %s, <32 x float> %size)
  %beyond = fcmp ogt <32 x float> %size, splat (float 4.0)
  %t = select <32 x i1> %beyond, <32 x float> splat (float 4.0), <32 x float> %size
  %q1 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t, <32 x float> splat (float 0x3E745AC780000000), <32 x float> splat (float 0xBECBDD4360000000))
  %q2 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t, <32 x float> %q1, <32 x float> splat (float 0x3F1054C580000000))
  %q3 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t, <32 x float> %q2, <32 x float> splat (float 0xBF46793700000000))
  %q4 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t, <32 x float> %q3, <32 x float> splat (float 0x3F74BEFB60000000))
  %q5 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t, <32 x float> %q4, <32 x float> splat (float 0xBF9BBFFA40000000))
  %q6 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t, <32 x float> %q5, <32 x float> splat (float 0x3FBC6E1A00000000))
  %q7 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t, <32 x float> %q6, <32 x float> splat (float 0x3FE430C460000000))
  %q8 = call <32 x float> @llvm.fma.v32f32(<32 x float> %t, <32 x float> %q7, <32 x float> splat (float 0x3FF2173EE0000000))
  %q = call <32 x float> @llvm.fma.v32f32(<32 x float> %t, <32 x float> %q8, <32 x float> splat (float 0xBF3B48D860000000))
  %minus = fneg <32 x float> %q
  %e = call <32 x float> @precise_exp_32(<32 x float> %minus)
  %far = fsub <32 x float> splat (float 1.0), %e
  %is_near = fcmp olt <32 x float> %size, splat (float 1.0)
  %y = select <32 x i1> %is_near, <32 x float> %near, <32 x float> %far
  %signed = call <32 x float> @llvm.copysign.v32f32(<32 x float> %y, <32 x float> %x)
  ret <32 x float> %signed
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

define internal <32 x float> @precise_sin_32(<32 x float> %x) alwaysinline {
  %x0 = extractelement <32 x float> %x, i32 0
  %y0 = call float @precise_sin(float %x0)
  %r0 = insertelement <32 x float> poison, float %y0, i32 0
  %x1 = extractelement <32 x float> %x, i32 1
  %y1 = call float @precise_sin(float %x1)
  %r1 = insertelement <32 x float> %r0, float %y1, i32 1
  %x2 = extractelement <32 x float> %x, i32 2
  %y2 = call float @precise_sin(float %x2)
  %r2 = insertelement <32 x float> %r1, float %y2, i32 2
  %x3 = extractelement <32 x float> %x, i32 3
  %y3 = call float @precise_sin(float %x3)
  %r3 = insertelement <32 x float> %r2, float %y3, i32 3
  %x4 = extractelement <32 x float> %x, i32 4
  %y4 = call float @precise_sin(float %x4)
  %r4 = insertelement <32 x float> %r3, float %y4, i32 4
  %x5 = extractelement <32 x float> %x, i32 5
  %y5 = call float @precise_sin(float %x5)
  %r5 = insertelement <32 x float> %r4, float %y5, i32 5
  %x6 = extractelement <32 x float> %x, i32 6
  %y6 = call float @precise_sin(float %x6)
  %r6 = insertelement <32 x float> %r5, float %y6, i32 6
  %x7 = extractelement <32 x float> %x, i32 7
  %y7 = call float @precise_sin(float %x7)
  %r7 = insertelement <32 x float> %r6, float %y7, i32 7
  %x8 = extractelement <32 x float> %x, i32 8
  %y8 = call float @precise_sin(float %x8)
  %r8 = insertelement <32 x float> %r7, float %y8, i32 8
  %x9 = extractelement <32 x float> %x, i32 9
  %y9 = call float @precise_sin(float %x9)
  %r9 = insertelement <32 x float> %r8, float %y9, i32 9
  %x10 = extractelement <32 x float> %x, i32 10
  %y10 = call float @precise_sin(float %x10)
  %r10 = insertelement <32 x float> %r9, float %y10, i32 10
  %x11 = extractelement <32 x float> %x, i32 11
  %y11 = call float @precise_sin(float %x11)
  %r11 = insertelement <32 x float> %r10, float %y11, i32 11
  %x12 = extractelement <32 x float> %x, i32 12
  %y12 = call float @precise_sin(float %x12)
  %r12 = insertelement <32 x float> %r11, float %y12, i32 12
  %x13 = extractelement <32 x float> %x, i32 13
  %y13 = call float @precise_sin(float %x13)
  %r13 = insertelement <32 x float> %r12, float %y13, i32 13
  %x14 = extractelement <32 x float> %x, i32 14
  %y14 = call float @precise_sin(float %x14)
  %r14 = insertelement <32 x float> %r13, float %y14, i32 14
  %x15 = extractelement <32 x float> %x, i32 15
  %y15 = call float @precise_sin(float %x15)
  %r15 = insertelement <32 x float> %r14, float %y15, i32 15
  %x16 = extractelement <32 x float> %x, i32 16
  %y16 = call float @precise_sin(float %x16)
  %r16 = insertelement <32 x float> %r15, float %y16, i32 16
  %x17 = extractelement <32 x float> %x, i32 17
  %y17 = call float @precise_sin(float %x17)
  %r17 = insertelement <32 x float> %r16, float %y17, i32 17
  %x18 = extractelement <32 x float> %x, i32 18
  %y18 = call float @precise_sin(float %x18)
  %r18 = insertelement <32 x float> %r17, float %y18, i32 18
  %x19 = extractelement <32 x float> %x, i32 19
  %y19 = call float @precise_sin(float %x19)
  %r19 = insertelement <32 x float> %r18, float %y19, i32 19
  %x20 = extractelement <32 x float> %x, i32 20
  %y20 = call float @precise_sin(float %x20)
  %r20 = insertelement <32 x float> %r19, float %y20, i32 20
  %x21 = extractelement <32 x float> %x, i32 21
  %y21 = call float @precise_sin(float %x21)
  %r21 = insertelement <32 x float> %r20, float %y21, i32 21
  %x22 = extractelement <32 x float> %x, i32 22
  %y22 = call float @precise_sin(float %x22)
  %r22 = insertelement <32 x float> %r21, float %y22, i32 22
  %x23 = extractelement <32 x float> %x, i32 23
  %y23 = call float @precise_sin(float %x23)
  %r23 = insertelement <32 x float> %r22, float %y23, i32 23
  %x24 = extractelement <32 x float> %x, i32 24
  %y24 = call float @precise_sin(float %x24)
  %r24 = insertelement <32 x float> %r23, float %y24, i32 24
  %x25 = extractelement <32 x float> %x, i32 25
  %y25 = call float @precise_sin(float %x25)
  %r25 = insertelement <32 x float> %r24, float %y25, i32 25
  %x26 = extractelement <32 x float> %x, i32 26
  %y26 = call float @precise_sin(float %x26)
  %r26 = insertelement <32 x float> %r25, float %y26, i32 26
  %x27 = extractelement <32 x float> %x, i32 27
  %y27 = call float @precise_sin(float %x27)
  %r27 = insertelement <32 x float> %r26, float %y27, i32 27
  %x28 = extractelement <32 x float> %x, i32 28
  %y28 = call float @precise_sin(float %x28)
  %r28 = insertelement <32 x float> %r27, float %y28, i32 28
  %x29 = extractelement <32 x float> %x, i32 29
  %y29 = call float @precise_sin(float %x29)
  %r29 = insertelement <32 x float> %r28, float %y29, i32 29
  %x30 = extractelement <32 x float> %x, i32 30
  %y30 = call float @precise_sin(float %x30)
  %r30 = insertelement <32 x float> %r29, float %y30, i32 30
  %x31 = extractelement <32 x float> %x, i32 31
  %y31 = call float @precise_sin(float %x31)
  %r31 = insertelement <32 x float> %r30, float %y31, i32 31
  ret <32 x float> %r31
}

define internal float @precise_cos(float %x) alwaysinline {
  %y = call float @sin_of_any(float %x, i32 1)
  ret float %y
}

define internal <32 x float> @precise_cos_32(<32 x float> %x) alwaysinline {
  %x0 = extractelement <32 x float> %x, i32 0
  %y0 = call float @precise_cos(float %x0)
  %r0 = insertelement <32 x float> poison, float %y0, i32 0
  %x1 = extractelement <32 x float> %x, i32 1
  %y1 = call float @precise_cos(float %x1)
  %r1 = insertelement <32 x float> %r0, float %y1, i32 1
  %x2 = extractelement <32 x float> %x, i32 2
  %y2 = call float @precise_cos(float %x2)
  %r2 = insertelement <32 x float> %r1, float %y2, i32 2
  %x3 = extractelement <32 x float> %x, i32 3
  %y3 = call float @precise_cos(float %x3)
  %r3 = insertelement <32 x float> %r2, float %y3, i32 3
  %x4 = extractelement <32 x float> %x, i32 4
  %y4 = call float @precise_cos(float %x4)
  %r4 = insertelement <32 x float> %r3, float %y4, i32 4
  %x5 = extractelement <32 x float> %x, i32 5
  %y5 = call float @precise_cos(float %x5)
  %r5 = insertelement <32 x float> %r4, float %y5, i32 5
  %x6 = extractelement <32 x float> %x, i32 6
  %y6 = call float @precise_cos(float %x6)
  %r6 = insertelement <32 x float> %r5, float %y6, i32 6
  %x7 = extractelement <32 x float> %x, i32 7
  %y7 = call float @precise_cos(float %x7)
  %r7 = insertelement <32 x float> %r6, float %y7, i32 7
  %x8 = extractelement <32 x float> %x, i32 8
  %y8 = call float @precise_cos(float %x8)
  %r8 = insertelement <32 x float> %r7, float %y8, i32 8
  %x9 = extractelement <32 x float> %x, i32 9
  %y9 = call float @precise_cos(float %x9)
  %r9 = insertelement <32 x float> %r8, float %y9, i32 9
  %x10 = extractelement <32 x float> %x, i32 10
  %y10 = call float @precise_cos(float %x10)
  %r10 = insertelement <32 x float> %r9, float %y10, i32 10
  %x11 = extractelement <32 x float> %x, i32 11
  %y11 = call float @precise_cos(float %x11)
  %r11 = insertelement <32 x float> %r10, float %y11, i32 11
  %x12 = extractelement <32 x float> %x, i32 12
  %y12 = call float @precise_cos(float %x12)
  %r12 = insertelement <32 x float> %r11, float %y12, i32 12
  %x13 = extractelement <32 x float> %x, i32 13
  %y13 = call float @precise_cos(float %x13)
  %r13 = insertelement <32 x float> %r12, float %y13, i32 13
  %x14 = extractelement <32 x float> %x, i32 14
  %y14 = call float @precise_cos(float %x14)
  %r14 = insertelement <32 x float> %r13, float %y14, i32 14
  %x15 = extractelement <32 x float> %x, i32 15
  %y15 = call float @precise_cos(float %x15)
  %r15 = insertelement <32 x float> %r14, float %y15, i32 15
  %x16 = extractelement <32 x float> %x, i32 16
  %y16 = call float @precise_cos(float %x16)
  %r16 = insertelement <32 x float> %r15, float %y16, i32 16
  %x17 = extractelement <32 x float> %x, i32 17
  %y17 = call float @precise_cos(float %x17)
  %r17 = insertelement <32 x float> %r16, float %y17, i32 17
  %x18 = extractelement <32 x float> %x, i32 18
  %y18 = call float @precise_cos(float %x18)
  %r18 = insertelement <32 x float> %r17, float %y18, i32 18
  %x19 = extractelement <32 x float> %x, i32 19
  %y19 = call float @precise_cos(float %x19)
  %r19 = insertelement <32 x float> %r18, float %y19, i32 19
  %x20 = extractelement <32 x float> %x, i32 20
  %y20 = call float @precise_cos(float %x20)
  %r20 = insertelement <32 x float> %r19, float %y20, i32 20
  %x21 = extractelement <32 x float> %x, i32 21
  %y21 = call float @precise_cos(float %x21)
  %r21 = insertelement <32 x float> %r20, float %y21, i32 21
  %x22 = extractelement <32 x float> %x, i32 22
  %y22 = call float @precise_cos(float %x22)
  %r22 = insertelement <32 x float> %r21, float %y22, i32 22
  %x23 = extractelement <32 x float> %x, i32 23
  %y23 = call float @precise_cos(float %x23)
  %r23 = insertelement <32 x float> %r22, float %y23, i32 23
  %x24 = extractelement <32 x float> %x, i32 24
  %y24 = call float @precise_cos(float %x24)
  %r24 = insertelement <32 x float> %r23, float %y24, i32 24
  %x25 = extractelement <32 x float> %x, i32 25
  %y25 = call float @precise_cos(float %x25)
  %r25 = insertelement <32 x float> %r24, float %y25, i32 25
  %x26 = extractelement <32 x float> %x, i32 26
  %y26 = call float @precise_cos(float %x26)
  %r26 = insertelement <32 x float> %r25, float %y26, i32 26
  %x27 = extractelement <32 x float> %x, i32 27
  %y27 = call float @precise_cos(float %x27)
  %r27 = insertelement <32 x float> %r26, float %y27, i32 27
  %x28 = extractelement <32 x float> %x, i32 28
  %y28 = call float @precise_cos(float %x28)
  %r28 = insertelement <32 x float> %r27, float %y28, i32 28
  %x29 = extractelement <32 x float> %x, i32 29
  %y29 = call float @precise_cos(float %x29)
  %r29 = insertelement <32 x float> %r28, float %y29, i32 29
  %x30 = extractelement <32 x float> %x, i32 30
  %y30 = call float @precise_cos(float %x30)
  %r30 = insertelement <32 x float> %r29, float %y30, i32 30
  %x31 = extractelement <32 x float> %x, i32 31
  %y31 = call float @precise_cos(float %x31)
  %r31 = insertelement <32 x float> %r30, float %y31, i32 31
  ret <32 x float> %r31
}

; 2^r for r between -1/2 and 1/2: 1 + r P(r), P a polynomial of least error.
define internal <32 x float> @exp2_of_part_32(<32 x float> %r) alwaysinline {
  %p1 = call <32 x float> @llvm.fma.v32f32(<32 x float> %r, <32 x float> splat (float 0x3F241FBBA0000000), <32 x float> splat (float 0x3F55F3E540000000)) 
  %p2 = call <32 x float> @llvm.fma.v32f32(<32 x float> %r, <32 x float> %p1, <32 x float> splat (float 0x3F83B2D4C0000000)) 
  %p3 = call <32 x float> @llvm.fma.v32f32(<32 x float> %r, <32 x float> %p2, <32 x float> splat (float 0x3FAC6AEE80000000)) 
  %p4 = call <32 x float> @llvm.fma.v32f32(<32 x float> %r, <32 x float> %p3, <32 x float> splat (float 0x3FCEBFBDC0000000)) 
  %p = call <32 x float> @llvm.fma.v32f32(<32 x float> %r, <32 x float> %p4, <32 x float> splat (float 0x3FE62E4300000000)) 
  %y = call <32 x float> @llvm.fma.v32f32(<32 x float> %r, <32 x float> %p, <32 x float> splat (float 1.0))
  ret <32 x float> %y
}

; e 2^i, i between -252 and 254, in two halves, so that the result may leave the range of normal numbers.
define internal <32 x float> @times_power_of_2_32(<32 x float> %e, <32 x i32> %i) alwaysinline {
  %first = ashr <32 x i32> %i, splat (i32 1)
  %second = sub <32 x i32> %i, %first
  %biased_1 = add <32 x i32> %first, splat (i32 127)
  %biased_2 = add <32 x i32> %second, splat (i32 127)
  %field_1 = shl <32 x i32> %biased_1, splat (i32 23)
  %field_2 = shl <32 x i32> %biased_2, splat (i32 23)
  %scale_1 = bitcast <32 x i32> %field_1 to <32 x float>
  %scale_2 = bitcast <32 x i32> %field_2 to <32 x float>
  %half_way = fmul <32 x float> %e, %scale_1
  %y = fmul <32 x float> %half_way, %scale_2
  ret <32 x float> %y
}

; 1 ulp. x = n + r; adding 1.5 * 2^23 rounds to n.
define internal <32 x float> @precise_exp2_32(<32 x float> %x) alwaysinline {
  %deep = fcmp olt <32 x float> %x, splat (float -152.0)
  %y0 = select <32 x i1> %deep, <32 x float> splat (float -152.0), <32 x float> %x
  %high = fcmp ogt <32 x float> %y0, splat (float 129.0)
  %y = select <32 x i1> %high, <32 x float> splat (float 129.0), <32 x float> %y0
  %shifted = fadd <32 x float> %y, splat (float 12582912.0)
  %n = fsub <32 x float> %shifted, splat (float 12582912.0)
  %r = fsub <32 x float> %y, %n
  %e = call <32 x float> @exp2_of_part_32(<32 x float> %r)
  %bits = bitcast <32 x float> %shifted to <32 x i32>
  %i = sub <32 x i32> %bits, splat (i32 1262485504) 
  %result = call <32 x float> @times_power_of_2_32(<32 x float> %e, <32 x i32> %i)
  %number = fcmp ord <32 x float> %x, splat (float 0.0)
  %y_or_nan = select <32 x i1> %number, <32 x float> %result, <32 x float> %x
  ret <32 x float> %y_or_nan
}

; The logarithm of a positive number to base 2, in fp64 to 2^-43 of its size. x = 2^i m with m between the square roots of 1/2
; and 2; log m = 2 artanh s with s = (m - 1) / (m + 1), by a polynomial of least error in s^2.
define internal <32 x double> @log2_in_double_32(<32 x float> %x) alwaysinline {
  %wide = fpext <32 x float> %x to <32 x double>
  %bits = bitcast <32 x double> %wide to <32 x i64>
  %from = sub <32 x i64> %bits, splat (i64 4604544271217802189) 
  %i = ashr <32 x i64> %from, splat (i64 52)
  %field = shl <32 x i64> %i, splat (i64 52)
  %m_bits = sub <32 x i64> %bits, %field
  %m = bitcast <32 x i64> %m_bits to <32 x double>
  %above = fadd <32 x double> %m, splat (double 1.0)
  %below = fsub <32 x double> %m, splat (double 1.0)
  %s = fdiv <32 x double> %below, %above
  %z = fmul <32 x double> %s, %s
  %a5 = fmul contract <32 x double> %z, splat (double 0x3FD21BEAAF4CAE4D)
  %p4 = fadd contract <32 x double> %a5, splat (double 0x3FD4794686FCE3DE)
  %a4 = fmul contract <32 x double> %z, %p4
  %p3 = fadd contract <32 x double> %a4, splat (double 0x3FDA61A345C2B7FE)
  %a3 = fmul contract <32 x double> %z, %p3
  %p2 = fadd contract <32 x double> %a3, splat (double 0x3FE2776C28C7FFA1)
  %a2 = fmul contract <32 x double> %z, %p2
  %p1 = fadd contract <32 x double> %a2, splat (double 0x3FEEC709DC542069)
  %a1 = fmul contract <32 x double> %z, %p1
  %p = fadd contract <32 x double> %a1, splat (double 0x40071547652B8254)
  %fraction = fmul contract <32 x double> %s, %p
  %whole_32 = trunc <32 x i64> %i to <32 x i32>
  %whole = sitofp <32 x i32> %whole_32 to <32 x double>
  %y = fadd contract <32 x double> %fraction, %whole
  ret <32 x double> %y
}

; 1.1 ulp. |a|^b = 2^(b log2 |a|), the exponent in fp64, where adding 1.5 * 2^52 rounds to a whole number. The rest is as C has
; it: 1 for b = 0 and for a = 1 whatever the other; of a negative a the sign where b is odd, and no number where b is not whole.
define internal <32 x float> @precise_pow_32(<32 x float> %a, <32 x float> %b) alwaysinline {
  %size = call <32 x float> @llvm.fabs.v32f32(<32 x float> %a)
  %some_log = call <32 x double> @log2_in_double_32(<32 x float> %size)
  %none = fcmp oeq <32 x float> %size, splat (float 0.0)
  %endless = fcmp oeq <32 x float> %size, splat (float 0x7FF0000000000000)
  %low_log = select <32 x i1> %none, <32 x double> splat (double 0xFFF0000000000000), <32 x double> %some_log
  %log = select <32 x i1> %endless, <32 x double> splat (double 0x7FF0000000000000), <32 x double> %low_log
  %wide = fpext <32 x float> %b to <32 x double>
  %product = fmul <32 x double> %wide, %log
  %unit = fcmp oeq <32 x double> %log, splat (double 0.0)
  %flat = fcmp oeq <32 x float> %b, splat (float 0.0)
  %of_unit = select <32 x i1> %unit, <32 x double> splat (double 0.0), <32 x double> %product
  %any = select <32 x i1> %flat, <32 x double> splat (double 0.0), <32 x double> %of_unit
  %deep = fcmp olt <32 x double> %any, splat (double -152.0)
  %t0 = select <32 x i1> %deep, <32 x double> splat (double -152.0), <32 x double> %any
  %high = fcmp ogt <32 x double> %t0, splat (double 129.0)
  %t = select <32 x i1> %high, <32 x double> splat (double 129.0), <32 x double> %t0
  %shifted = fadd <32 x double> %t, splat (double 6755399441055744.0)
  %n = fsub <32 x double> %shifted, splat (double 6755399441055744.0)
  %r_double = fsub <32 x double> %t, %n
  %r = fptrunc <32 x double> %r_double to <32 x float>
  %e = call <32 x float> @exp2_of_part_32(<32 x float> %r)
  %bits = bitcast <32 x double> %shifted to <32 x i64>
  %i = trunc <32 x i64> %bits to <32 x i32>
  %power = call <32 x float> @times_power_of_2_32(<32 x float> %e, <32 x i32> %i)
  %down = call <32 x float> @llvm.floor.v32f32(<32 x float> %b)
  %half = fmul <32 x float> %b, splat (float 0.5)
  %half_down = call <32 x float> @llvm.floor.v32f32(<32 x float> %half)
  %whole = fcmp oeq <32 x float> %down, %b
  %uneven = fcmp une <32 x float> %half_down, %half
  %odd = and <32 x i1> %whole, %uneven
  %a_bits = bitcast <32 x float> %a to <32 x i32>
  %signed = icmp slt <32 x i32> %a_bits, splat (i32 0)
  %turns = and <32 x i1> %signed, %odd
  %minus = fneg <32 x float> %power
  %value = select <32 x i1> %turns, <32 x float> %minus, <32 x float> %power
  %nan = select <32 x i1> %whole, <32 x float> %value, <32 x float> splat (float 0x7FF8000000000000)
  %negative = fcmp olt <32 x float> %a, splat (float 0.0)
  %of_negative = select <32 x i1> %negative, <32 x float> %nan, <32 x float> %value
  %of_finite = select <32 x i1> %endless, <32 x float> %value, <32 x float> %of_negative
  %nothing = fcmp une <32 x float> %a, %a
  %of_nothing = select <32 x i1> %flat, <32 x float> splat (float 1.0), <32 x float> %a
  %y = select <32 x i1> %nothing, <32 x float> %of_nothing, <32 x float> %of_finite
  ret <32 x float> %y
}

; 1.6 ulp. The angle of the smaller of |x| and |y| over the larger, q + q^3 P(q^2) with P a polynomial of least error, is taken from
; pi / 2 where y is the larger one, and from pi where x is negative; both of these in two parts.
define internal <32 x float> @precise_atan2_32(<32 x float> %y, <32 x float> %x) alwaysinline {
  %high = call <32 x float> @llvm.fabs.v32f32(<32 x float> %y)
  %wide = call <32 x float> @llvm.fabs.v32f32(<32 x float> %x)
  %steep = fcmp ogt <32 x float> %high, %wide
  %below = select <32 x i1> %steep, <32 x float> %wide, <32 x float> %high
  %above = select <32 x i1> %steep, <32 x float> %high, <32 x float> %wide
  %quotient = fdiv <32 x float> %below, %above
  %sum = fadd <32 x float> %high, %wide
  %nowhere = fcmp oeq <32 x float> %sum, splat (float 0.0)
  %near = select <32 x i1> %nowhere, <32 x float> splat (float 0.0), <32 x float> %quotient
  %endless = fcmp oeq <32 x float> %below, splat (float 0x7FF0000000000000)
  %equal = fcmp oeq <32 x float> %below, %above
  %diagonal = and <32 x i1> %endless, %equal
  %q = select <32 x i1> %diagonal, <32 x float> splat (float 1.0), <32 x float> %near
  %s = fmul <32 x float> %q, %q
  %p1 = call <32 x float> @llvm.fma.v32f32(<32 x float> %s, <32 x float> splat (float 0xBF5D62E0C0000000), <32 x float> splat (float 0x3F865A54E0000000))
  %p2 = call <32 x float> @llvm.fma.v32f32(<32 x float> %s, <32 x float> %p1, <32 x float> splat (float 0xBF9FED0640000000))
  %p3 = call <32 x float> @llvm.fma.v32f32(<32 x float> %s, <32 x float> %p2, <32 x float> splat (float 0x3FADAC9640000000))
  %p4 = call <32 x float> @llvm.fma.v32f32(<32 x float> %s, <32 x float> %p3, <32 x float> splat (float 0xBFB58346C0000000))
  %p5 = call <32 x float> @llvm.fma.v32f32(<32 x float> %s, <32 x float> %p4, <32 x float> splat (float 0x3FBC099F20000000))
  %p6 = call <32 x float> @llvm.fma.v32f32(<32 x float> %s, <32 x float> %p5, <32 x float> splat (float 0xBFC2421B40000000))
  %p7 = call <32 x float> @llvm.fma.v32f32(<32 x float> %s, <32 x float> %p6, <32 x float> splat (float 0x3FC9991FE0000000))
  %p = call <32 x float> @llvm.fma.v32f32(<32 x float> %s, <32 x float> %p7, <32 x float> splat (float 0xBFD55553E0000000))
  %cube = fmul <32 x float> %s, %q
  %flat_angle = call <32 x float> @llvm.fma.v32f32(<32 x float> %cube, <32 x float> %p, <32 x float> %q)
  %less_quarter = fsub <32 x float> %flat_angle, splat (float 0xBE6777A5C0000000) 
  %steep_angle = fsub <32 x float> splat (float 0x3FF921FB60000000), %less_quarter
  %right = select <32 x i1> %steep, <32 x float> %steep_angle, <32 x float> %flat_angle
  %less_half = fsub <32 x float> %right, splat (float 0xBE7777A5C0000000) 
  %left_angle = fsub <32 x float> splat (float 0x400921FB60000000), %less_half
  %x_bits = bitcast <32 x float> %x to <32 x i32>
  %left = icmp slt <32 x i32> %x_bits, splat (i32 0)
  %angle = select <32 x i1> %left, <32 x float> %left_angle, <32 x float> %right
  %signed = call <32 x float> @llvm.copysign.v32f32(<32 x float> %angle, <32 x float> %y)
  ret <32 x float> %signed
}

define internal void @every_op_accurate.block(i32 %block, i32 %grid, ptr noalias align 64 %shared, ptr noalias readonly align 4 %in, ptr noalias align 4 %out) alwaysinline nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" "reciprocal-estimates"="vec-divf" {
entry:
  %.0 = getelementptr inbounds i32, ptr %in, i64 0
  %x = load float, ptr %.0, align 4
  %.2 = getelementptr inbounds i32, ptr %in, i64 1
  %y = load float, ptr %.2, align 4
  %.4 = getelementptr inbounds i32, ptr %in, i64 2
  %z = load float, ptr %.4, align 4
  %.6 = insertelement <32 x float> poison, float %x, i64 0
  %.7 = shufflevector <32 x float> %.6, <32 x float> poison, <32 x i32> zeroinitializer
  %.8 = insertelement <32 x float> poison, float %y, i64 0
  %.9 = shufflevector <32 x float> %.8, <32 x float> poison, <32 x i32> zeroinitializer
  %add = fadd contract <32 x float> %.7, %.9
  %.11 = getelementptr inbounds i32, ptr %out, i64 0
  %.12 = getelementptr i8, ptr %.11, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %add, <32 x ptr> %.12, i32 4, <32 x i1> splat (i1 true))
  %.13 = insertelement <32 x float> poison, float %x, i64 0
  %.14 = shufflevector <32 x float> %.13, <32 x float> poison, <32 x i32> zeroinitializer
  %.15 = insertelement <32 x float> poison, float %y, i64 0
  %.16 = shufflevector <32 x float> %.15, <32 x float> poison, <32 x i32> zeroinitializer
  %sub = fsub contract <32 x float> %.14, %.16
  %.18 = getelementptr inbounds i32, ptr %out, i64 1
  %.19 = getelementptr i8, ptr %.18, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %sub, <32 x ptr> %.19, i32 4, <32 x i1> splat (i1 true))
  %.20 = insertelement <32 x float> poison, float %x, i64 0
  %.21 = shufflevector <32 x float> %.20, <32 x float> poison, <32 x i32> zeroinitializer
  %.22 = insertelement <32 x float> poison, float %y, i64 0
  %.23 = shufflevector <32 x float> %.22, <32 x float> poison, <32 x i32> zeroinitializer
  %mul = fmul contract <32 x float> %.21, %.23
  %.25 = getelementptr inbounds i32, ptr %out, i64 2
  %.26 = getelementptr i8, ptr %.25, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %mul, <32 x ptr> %.26, i32 4, <32 x i1> splat (i1 true))
  %.27 = insertelement <32 x float> poison, float %x, i64 0
  %.28 = shufflevector <32 x float> %.27, <32 x float> poison, <32 x i32> zeroinitializer
  %.29 = insertelement <32 x float> poison, float %y, i64 0
  %.30 = shufflevector <32 x float> %.29, <32 x float> poison, <32 x i32> zeroinitializer
  %div = fdiv <32 x float> %.28, %.30
  %.32 = getelementptr inbounds i32, ptr %out, i64 3
  %.33 = getelementptr i8, ptr %.32, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %div, <32 x ptr> %.33, i32 4, <32 x i1> splat (i1 true))
  %.34 = insertelement <32 x float> poison, float %x, i64 0
  %.35 = shufflevector <32 x float> %.34, <32 x float> poison, <32 x i32> zeroinitializer
  %neg = fneg <32 x float> %.35
  %.37 = getelementptr inbounds i32, ptr %out, i64 4
  %.38 = getelementptr i8, ptr %.37, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %neg, <32 x ptr> %.38, i32 4, <32 x i1> splat (i1 true))
  %.39 = insertelement <32 x float> poison, float %x, i64 0
  %.40 = shufflevector <32 x float> %.39, <32 x float> poison, <32 x i32> zeroinitializer
  %.41 = insertelement <32 x float> poison, float %y, i64 0
  %.42 = shufflevector <32 x float> %.41, <32 x float> poison, <32 x i32> zeroinitializer
  %.43 = insertelement <32 x float> poison, float %z, i64 0
  %.44 = shufflevector <32 x float> %.43, <32 x float> poison, <32 x i32> zeroinitializer
  %fma = call <32 x float> @llvm.fma.v32f32(<32 x float> %.40, <32 x float> %.42, <32 x float> %.44)
  %.46 = getelementptr inbounds i32, ptr %out, i64 5
  %.47 = getelementptr i8, ptr %.46, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %fma, <32 x ptr> %.47, i32 4, <32 x i1> splat (i1 true))
  %.48 = insertelement <32 x float> poison, float %x, i64 0
  %.49 = shufflevector <32 x float> %.48, <32 x float> poison, <32 x i32> zeroinitializer
  %.50 = insertelement <32 x float> poison, float %y, i64 0
  %.51 = shufflevector <32 x float> %.50, <32 x float> poison, <32 x i32> zeroinitializer
  %min = call <32 x float> @llvm.minnum.v32f32(<32 x float> %.49, <32 x float> %.51)
  %.53 = getelementptr inbounds i32, ptr %out, i64 6
  %.54 = getelementptr i8, ptr %.53, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %min, <32 x ptr> %.54, i32 4, <32 x i1> splat (i1 true))
  %.55 = insertelement <32 x float> poison, float %x, i64 0
  %.56 = shufflevector <32 x float> %.55, <32 x float> poison, <32 x i32> zeroinitializer
  %.57 = insertelement <32 x float> poison, float %y, i64 0
  %.58 = shufflevector <32 x float> %.57, <32 x float> poison, <32 x i32> zeroinitializer
  %max = call <32 x float> @llvm.maxnum.v32f32(<32 x float> %.56, <32 x float> %.58)
  %.60 = getelementptr inbounds i32, ptr %out, i64 7
  %.61 = getelementptr i8, ptr %.60, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %max, <32 x ptr> %.61, i32 4, <32 x i1> splat (i1 true))
  %.62 = insertelement <32 x float> poison, float %x, i64 0
  %.63 = shufflevector <32 x float> %.62, <32 x float> poison, <32 x i32> zeroinitializer
  %abs = call <32 x float> @llvm.fabs.v32f32(<32 x float> %.63)
  %.65 = getelementptr inbounds i32, ptr %out, i64 8
  %.66 = getelementptr i8, ptr %.65, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %abs, <32 x ptr> %.66, i32 4, <32 x i1> splat (i1 true))
  %.67 = insertelement <32 x float> poison, float %x, i64 0
  %.68 = shufflevector <32 x float> %.67, <32 x float> poison, <32 x i32> zeroinitializer
  %sign = call <32 x float> @sign_32(<32 x float> %.68)
  %.70 = getelementptr inbounds i32, ptr %out, i64 9
  %.71 = getelementptr i8, ptr %.70, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %sign, <32 x ptr> %.71, i32 4, <32 x i1> splat (i1 true))
  %.72 = insertelement <32 x float> poison, float %x, i64 0
  %.73 = shufflevector <32 x float> %.72, <32 x float> poison, <32 x i32> zeroinitializer
  %exp = call <32 x float> @precise_exp_32(<32 x float> %.73)
  %.75 = getelementptr inbounds i32, ptr %out, i64 10
  %.76 = getelementptr i8, ptr %.75, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %exp, <32 x ptr> %.76, i32 4, <32 x i1> splat (i1 true))
  %.77 = insertelement <32 x float> poison, float %x, i64 0
  %.78 = shufflevector <32 x float> %.77, <32 x float> poison, <32 x i32> zeroinitializer
  %expm1 = call <32 x float> @precise_expm1_32(<32 x float> %.78)
  %.80 = getelementptr inbounds i32, ptr %out, i64 11
  %.81 = getelementptr i8, ptr %.80, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %expm1, <32 x ptr> %.81, i32 4, <32 x i1> splat (i1 true))
  %.82 = insertelement <32 x float> poison, float %x, i64 0
  %.83 = shufflevector <32 x float> %.82, <32 x float> poison, <32 x i32> zeroinitializer
  %log = call <32 x float> @precise_log_32(<32 x float> %.83)
  %.85 = getelementptr inbounds i32, ptr %out, i64 12
  %.86 = getelementptr i8, ptr %.85, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %log, <32 x ptr> %.86, i32 4, <32 x i1> splat (i1 true))
  %.87 = insertelement <32 x float> poison, float %x, i64 0
  %.88 = shufflevector <32 x float> %.87, <32 x float> poison, <32 x i32> zeroinitializer
  %log1p = call <32 x float> @precise_log1p_32(<32 x float> %.88)
  %.90 = getelementptr inbounds i32, ptr %out, i64 13
  %.91 = getelementptr i8, ptr %.90, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %log1p, <32 x ptr> %.91, i32 4, <32 x i1> splat (i1 true))
  %.92 = insertelement <32 x float> poison, float %x, i64 0
  %.93 = shufflevector <32 x float> %.92, <32 x float> poison, <32 x i32> zeroinitializer
  %sqrt = call <32 x float> @llvm.sqrt.v32f32(<32 x float> %.93)
  %.95 = getelementptr inbounds i32, ptr %out, i64 14
  %.96 = getelementptr i8, ptr %.95, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %sqrt, <32 x ptr> %.96, i32 4, <32 x i1> splat (i1 true))
  %.97 = insertelement <32 x float> poison, float %x, i64 0
  %.98 = shufflevector <32 x float> %.97, <32 x float> poison, <32 x i32> zeroinitializer
  %rsqrt = call <32 x float> @host_rsqrt_32(<32 x float> %.98)
  %.100 = getelementptr inbounds i32, ptr %out, i64 15
  %.101 = getelementptr i8, ptr %.100, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %rsqrt, <32 x ptr> %.101, i32 4, <32 x i1> splat (i1 true))
  %.102 = insertelement <32 x float> poison, float %x, i64 0
  %.103 = shufflevector <32 x float> %.102, <32 x float> poison, <32 x i32> zeroinitializer
  %square = fmul contract <32 x float> %.103, %.103
  %.105 = getelementptr inbounds i32, ptr %out, i64 16
  %.106 = getelementptr i8, ptr %.105, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %square, <32 x ptr> %.106, i32 4, <32 x i1> splat (i1 true))
  %.107 = insertelement <32 x float> poison, float %x, i64 0
  %.108 = shufflevector <32 x float> %.107, <32 x float> poison, <32 x i32> zeroinitializer
  %recip = fdiv <32 x float> splat (float 1.0), %.108
  %.110 = getelementptr inbounds i32, ptr %out, i64 17
  %.111 = getelementptr i8, ptr %.110, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %recip, <32 x ptr> %.111, i32 4, <32 x i1> splat (i1 true))
  %.112 = insertelement <32 x float> poison, float %x, i64 0
  %.113 = shufflevector <32 x float> %.112, <32 x float> poison, <32 x i32> zeroinitializer
  %sigmoid = call <32 x float> @accurate_sigmoid_32(<32 x float> %.113)
  %.115 = getelementptr inbounds i32, ptr %out, i64 18
  %.116 = getelementptr i8, ptr %.115, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %sigmoid, <32 x ptr> %.116, i32 4, <32 x i1> splat (i1 true))
  %.117 = insertelement <32 x float> poison, float %x, i64 0
  %.118 = shufflevector <32 x float> %.117, <32 x float> poison, <32 x i32> zeroinitializer
  %tanh = call <32 x float> @accurate_tanh_32(<32 x float> %.118)
  %.120 = getelementptr inbounds i32, ptr %out, i64 19
  %.121 = getelementptr i8, ptr %.120, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %tanh, <32 x ptr> %.121, i32 4, <32 x i1> splat (i1 true))
  %.122 = insertelement <32 x float> poison, float %x, i64 0
  %.123 = shufflevector <32 x float> %.122, <32 x float> poison, <32 x i32> zeroinitializer
  %relu = call <32 x float> @llvm.maxnum.v32f32(<32 x float> %.123, <32 x float> zeroinitializer)
  %.125 = getelementptr inbounds i32, ptr %out, i64 20
  %.126 = getelementptr i8, ptr %.125, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %relu, <32 x ptr> %.126, i32 4, <32 x i1> splat (i1 true))
  %.127 = insertelement <32 x float> poison, float %x, i64 0
  %.128 = shufflevector <32 x float> %.127, <32 x float> poison, <32 x i32> zeroinitializer
  %silu = call <32 x float> @accurate_silu_32(<32 x float> %.128)
  %.130 = getelementptr inbounds i32, ptr %out, i64 21
  %.131 = getelementptr i8, ptr %.130, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %silu, <32 x ptr> %.131, i32 4, <32 x i1> splat (i1 true))
  %.132 = insertelement <32 x float> poison, float %x, i64 0
  %.133 = shufflevector <32 x float> %.132, <32 x float> poison, <32 x i32> zeroinitializer
  %gelu = call <32 x float> @accurate_gelu_32(<32 x float> %.133)
  %.135 = getelementptr inbounds i32, ptr %out, i64 22
  %.136 = getelementptr i8, ptr %.135, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %gelu, <32 x ptr> %.136, i32 4, <32 x i1> splat (i1 true))
  %.137 = insertelement <32 x float> poison, float %x, i64 0
  %.138 = shufflevector <32 x float> %.137, <32 x float> poison, <32 x i32> zeroinitializer
  %softplus = call <32 x float> @accurate_softplus_32(<32 x float> %.138)
  %.140 = getelementptr inbounds i32, ptr %out, i64 23
  %.141 = getelementptr i8, ptr %.140, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %softplus, <32 x ptr> %.141, i32 4, <32 x i1> splat (i1 true))
  %.142 = insertelement <32 x float> poison, float %x, i64 0
  %.143 = shufflevector <32 x float> %.142, <32 x float> poison, <32 x i32> zeroinitializer
  %erf = call <32 x float> @precise_erf_32(<32 x float> %.143)
  %.145 = getelementptr inbounds i32, ptr %out, i64 24
  %.146 = getelementptr i8, ptr %.145, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %erf, <32 x ptr> %.146, i32 4, <32 x i1> splat (i1 true))
  %.147 = insertelement <32 x float> poison, float %x, i64 0
  %.148 = shufflevector <32 x float> %.147, <32 x float> poison, <32 x i32> zeroinitializer
  %sin = call <32 x float> @precise_sin_32(<32 x float> %.148)
  %.150 = getelementptr inbounds i32, ptr %out, i64 25
  %.151 = getelementptr i8, ptr %.150, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %sin, <32 x ptr> %.151, i32 4, <32 x i1> splat (i1 true))
  %.152 = insertelement <32 x float> poison, float %x, i64 0
  %.153 = shufflevector <32 x float> %.152, <32 x float> poison, <32 x i32> zeroinitializer
  %cos = call <32 x float> @precise_cos_32(<32 x float> %.153)
  %.155 = getelementptr inbounds i32, ptr %out, i64 26
  %.156 = getelementptr i8, ptr %.155, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %cos, <32 x ptr> %.156, i32 4, <32 x i1> splat (i1 true))
  %.157 = insertelement <32 x float> poison, float %x, i64 0
  %.158 = shufflevector <32 x float> %.157, <32 x float> poison, <32 x i32> zeroinitializer
  %.159 = insertelement <32 x float> poison, float %y, i64 0
  %.160 = shufflevector <32 x float> %.159, <32 x float> poison, <32 x i32> zeroinitializer
  %.161 = fcmp olt <32 x float> %.158, %.160
  %less = uitofp <32 x i1> %.161 to <32 x float>
  %.163 = getelementptr inbounds i32, ptr %out, i64 27
  %.164 = getelementptr i8, ptr %.163, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %less, <32 x ptr> %.164, i32 4, <32 x i1> splat (i1 true))
  %.165 = insertelement <32 x float> poison, float %x, i64 0
  %.166 = shufflevector <32 x float> %.165, <32 x float> poison, <32 x i32> zeroinitializer
  %.167 = insertelement <32 x float> poison, float %y, i64 0
  %.168 = shufflevector <32 x float> %.167, <32 x float> poison, <32 x i32> zeroinitializer
  %.169 = fcmp ole <32 x float> %.166, %.168
  %less_equal = uitofp <32 x i1> %.169 to <32 x float>
  %.171 = getelementptr inbounds i32, ptr %out, i64 28
  %.172 = getelementptr i8, ptr %.171, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %less_equal, <32 x ptr> %.172, i32 4, <32 x i1> splat (i1 true))
  %.173 = insertelement <32 x float> poison, float %x, i64 0
  %.174 = shufflevector <32 x float> %.173, <32 x float> poison, <32 x i32> zeroinitializer
  %.175 = insertelement <32 x float> poison, float %y, i64 0
  %.176 = shufflevector <32 x float> %.175, <32 x float> poison, <32 x i32> zeroinitializer
  %.177 = fcmp ogt <32 x float> %.174, %.176
  %greater = uitofp <32 x i1> %.177 to <32 x float>
  %.179 = getelementptr inbounds i32, ptr %out, i64 29
  %.180 = getelementptr i8, ptr %.179, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %greater, <32 x ptr> %.180, i32 4, <32 x i1> splat (i1 true))
  %.181 = insertelement <32 x float> poison, float %x, i64 0
  %.182 = shufflevector <32 x float> %.181, <32 x float> poison, <32 x i32> zeroinitializer
  %.183 = insertelement <32 x float> poison, float %y, i64 0
  %.184 = shufflevector <32 x float> %.183, <32 x float> poison, <32 x i32> zeroinitializer
  %.185 = fcmp oge <32 x float> %.182, %.184
  %greater_equal = uitofp <32 x i1> %.185 to <32 x float>
  %.187 = getelementptr inbounds i32, ptr %out, i64 30
  %.188 = getelementptr i8, ptr %.187, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %greater_equal, <32 x ptr> %.188, i32 4, <32 x i1> splat (i1 true))
  %.189 = insertelement <32 x float> poison, float %x, i64 0
  %.190 = shufflevector <32 x float> %.189, <32 x float> poison, <32 x i32> zeroinitializer
  %.191 = insertelement <32 x float> poison, float %y, i64 0
  %.192 = shufflevector <32 x float> %.191, <32 x float> poison, <32 x i32> zeroinitializer
  %.193 = fcmp oeq <32 x float> %.190, %.192
  %equal = uitofp <32 x i1> %.193 to <32 x float>
  %.195 = getelementptr inbounds i32, ptr %out, i64 31
  %.196 = getelementptr i8, ptr %.195, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %equal, <32 x ptr> %.196, i32 4, <32 x i1> splat (i1 true))
  %.197 = insertelement <32 x float> poison, float %x, i64 0
  %.198 = shufflevector <32 x float> %.197, <32 x float> poison, <32 x i32> zeroinitializer
  %.199 = insertelement <32 x float> poison, float %y, i64 0
  %.200 = shufflevector <32 x float> %.199, <32 x float> poison, <32 x i32> zeroinitializer
  %.201 = fcmp une <32 x float> %.198, %.200
  %not_equal = uitofp <32 x i1> %.201 to <32 x float>
  %.203 = getelementptr inbounds i32, ptr %out, i64 32
  %.204 = getelementptr i8, ptr %.203, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %not_equal, <32 x ptr> %.204, i32 4, <32 x i1> splat (i1 true))
  %.205 = insertelement <32 x float> poison, float %x, i64 0
  %.206 = shufflevector <32 x float> %.205, <32 x float> poison, <32 x i32> zeroinitializer
  %.207 = fcmp une <32 x float> %.206, zeroinitializer
  %.208 = insertelement <32 x float> poison, float %y, i64 0
  %.209 = shufflevector <32 x float> %.208, <32 x float> poison, <32 x i32> zeroinitializer
  %.210 = fcmp une <32 x float> %.209, zeroinitializer
  %.211 = and <32 x i1> %.207, %.210
  %and = uitofp <32 x i1> %.211 to <32 x float>
  %.213 = getelementptr inbounds i32, ptr %out, i64 33
  %.214 = getelementptr i8, ptr %.213, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %and, <32 x ptr> %.214, i32 4, <32 x i1> splat (i1 true))
  %.215 = insertelement <32 x float> poison, float %x, i64 0
  %.216 = shufflevector <32 x float> %.215, <32 x float> poison, <32 x i32> zeroinitializer
  %.217 = fcmp une <32 x float> %.216, zeroinitializer
  %.218 = insertelement <32 x float> poison, float %y, i64 0
  %.219 = shufflevector <32 x float> %.218, <32 x float> poison, <32 x i32> zeroinitializer
  %.220 = fcmp une <32 x float> %.219, zeroinitializer
  %.221 = or <32 x i1> %.217, %.220
  %or = uitofp <32 x i1> %.221 to <32 x float>
  %.223 = getelementptr inbounds i32, ptr %out, i64 34
  %.224 = getelementptr i8, ptr %.223, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %or, <32 x ptr> %.224, i32 4, <32 x i1> splat (i1 true))
  %.225 = insertelement <32 x float> poison, float %x, i64 0
  %.226 = shufflevector <32 x float> %.225, <32 x float> poison, <32 x i32> zeroinitializer
  %.227 = fcmp une <32 x float> %.226, zeroinitializer
  %.228 = xor <32 x i1> %.227, splat (i1 true)
  %not = uitofp <32 x i1> %.228 to <32 x float>
  %.230 = getelementptr inbounds i32, ptr %out, i64 35
  %.231 = getelementptr i8, ptr %.230, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %not, <32 x ptr> %.231, i32 4, <32 x i1> splat (i1 true))
  %.232 = insertelement <32 x float> poison, float %x, i64 0
  %.233 = shufflevector <32 x float> %.232, <32 x float> poison, <32 x i32> zeroinitializer
  %.234 = fcmp une <32 x float> %.233, zeroinitializer
  %.235 = insertelement <32 x float> poison, float %y, i64 0
  %.236 = shufflevector <32 x float> %.235, <32 x float> poison, <32 x i32> zeroinitializer
  %.237 = insertelement <32 x float> poison, float %z, i64 0
  %.238 = shufflevector <32 x float> %.237, <32 x float> poison, <32 x i32> zeroinitializer
  %select = select <32 x i1> %.234, <32 x float> %.236, <32 x float> %.238
  %.240 = getelementptr inbounds i32, ptr %out, i64 36
  %.241 = getelementptr i8, ptr %.240, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %select, <32 x ptr> %.241, i32 4, <32 x i1> splat (i1 true))
  %.242 = insertelement <32 x float> poison, float %x, i64 0
  %.243 = shufflevector <32 x float> %.242, <32 x float> poison, <32 x i32> zeroinitializer
  %round = call <32 x float> @llvm.rint.v32f32(<32 x float> %.243)
  %.245 = getelementptr inbounds i32, ptr %out, i64 37
  %.246 = getelementptr i8, ptr %.245, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %round, <32 x ptr> %.246, i32 4, <32 x i1> splat (i1 true))
  %.247 = insertelement <32 x float> poison, float %x, i64 0
  %.248 = shufflevector <32 x float> %.247, <32 x float> poison, <32 x i32> zeroinitializer
  %floor = call <32 x float> @llvm.floor.v32f32(<32 x float> %.248)
  %.250 = getelementptr inbounds i32, ptr %out, i64 38
  %.251 = getelementptr i8, ptr %.250, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %floor, <32 x ptr> %.251, i32 4, <32 x i1> splat (i1 true))
  %.252 = insertelement <32 x float> poison, float %x, i64 0
  %.253 = shufflevector <32 x float> %.252, <32 x float> poison, <32 x i32> zeroinitializer
  %exp2 = call <32 x float> @precise_exp2_32(<32 x float> %.253)
  %.255 = getelementptr inbounds i32, ptr %out, i64 39
  %.256 = getelementptr i8, ptr %.255, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %exp2, <32 x ptr> %.256, i32 4, <32 x i1> splat (i1 true))
  %.257 = insertelement <32 x float> poison, float %x, i64 0
  %.258 = shufflevector <32 x float> %.257, <32 x float> poison, <32 x i32> zeroinitializer
  %.259 = insertelement <32 x float> poison, float %y, i64 0
  %.260 = shufflevector <32 x float> %.259, <32 x float> poison, <32 x i32> zeroinitializer
  %pow = call <32 x float> @precise_pow_32(<32 x float> %.258, <32 x float> %.260)
  %.262 = getelementptr inbounds i32, ptr %out, i64 40
  %.263 = getelementptr i8, ptr %.262, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %pow, <32 x ptr> %.263, i32 4, <32 x i1> splat (i1 true))
  %.264 = insertelement <32 x float> poison, float %x, i64 0
  %.265 = shufflevector <32 x float> %.264, <32 x float> poison, <32 x i32> zeroinitializer
  %.266 = insertelement <32 x float> poison, float %y, i64 0
  %.267 = shufflevector <32 x float> %.266, <32 x float> poison, <32 x i32> zeroinitializer
  %atan2 = call <32 x float> @precise_atan2_32(<32 x float> %.265, <32 x float> %.267)
  %.269 = getelementptr inbounds i32, ptr %out, i64 41
  %.270 = getelementptr i8, ptr %.269, <32 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v32f32.v32p0(<32 x float> %atan2, <32 x ptr> %.270, i32 4, <32 x i1> splat (i1 true))
  ret void
}

define void @every_op_accurate(ptr %arguments, i32 %block, i32 %grid, ptr %shared) nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" "reciprocal-estimates"="vec-divf" {
  %place.0 = getelementptr inbounds ptr, ptr %arguments, i64 0
  %pointer.0 = load ptr, ptr %place.0
  %argument.0 = load ptr, ptr %pointer.0
  %place.1 = getelementptr inbounds ptr, ptr %arguments, i64 1
  %pointer.1 = load ptr, ptr %place.1
  %argument.1 = load ptr, ptr %pointer.1
  call void @every_op_accurate.block(i32 %block, i32 %grid, ptr %shared, ptr %argument.0, ptr %argument.1)
  ret void
}
