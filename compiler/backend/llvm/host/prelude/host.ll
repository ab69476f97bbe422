; What the functions of compiler/backend/llvm/nvptx/prelude take as instructions of a GPU, for CPUs. VectorHelpers makes forms
; for several lanes of it, so there are no branches here.

;: host_exp2
; 2^x, 1 ulp: x = n + f with f between -1/2 and 1/2; 2^f by the series of e^(f log 2) as in Cephes (Moshier, expf.c). n is added
; to its exponent: of 2^f below 1 that is right for n = 128 too, which no number's exponent is. Results below 2^-126 are 0,
; those from 2^128 on infinite.
define internal float @host_exp2(float %x) alwaysinline {
  %low = fcmp olt float %x, -126.0
  %y0 = select i1 %low, float -126.0, float %x
  %high = fcmp ogt float %y0, 128.0
  %y = select i1 %high, float 128.0, float %y0
  %shifted = fadd float %y, 12582912.0 ; 1.5 * 2^23: rounds to n, and leaves it in the lowest bits
  %n = fsub float %shifted, 12582912.0
  %f = fsub float %y, %n
  %r = fmul float %f, 0x3FE62E4300000000 ; 0.693147181
  %tail = fmul float %f, 0xBE205C6100000000 ; log 2 less that
  %p1 = call float @llvm.fma.f32(float %r, float 0x3F2A0D2CE0000000, float 0x3F56E879C0000000) ; 1.98756915e-4, 1.39819995e-3
  %p2 = call float @llvm.fma.f32(float %r, float %p1, float 0x3F81112100000000) ; 8.33345191e-3
  %p3 = call float @llvm.fma.f32(float %r, float %p2, float 0x3FA5553820000000) ; 4.16657959e-2
  %p4 = call float @llvm.fma.f32(float %r, float %p3, float 0x3FC5555540000000) ; 1.66666655e-1
  %p5 = call float @llvm.fma.f32(float %r, float %p4, float 0.5)
  %square = fmul float %r, %r
  %p6 = call float @llvm.fma.f32(float %p5, float %square, float %tail)
  %p7 = fadd float %p6, %r
  %p = fadd float %p7, 1.0
  %bits = bitcast float %shifted to i32
  %more = shl i32 %bits, 23
  %p_bits = bitcast float %p to i32
  %e_bits = add i32 %p_bits, %more
  %e = bitcast i32 %e_bits to float
  %held = select i1 %low, float 0.0, float %e
  %number = fcmp ord float %x, 0.0
  %result = select i1 %number, float %held, float %x
  ret float %result
}

;: host_rcp
define internal float @host_rcp(float %x) alwaysinline {
  %y = fdiv float 1.0, %x
  ret float %y
}

;: host_rsqrt
define internal float @host_rsqrt(float %x) alwaysinline {
  %root = call float @llvm.sqrt.f32(float %x)
  %y = fdiv float 1.0, %root
  ret float %y
}

;: host_fma
; a b + c for machines that have no instruction for it: in fp64 the product is exact, and what rounding the sum twice changes is
; 2^-29 ulp.
define internal float @host_fma(float %a, float %b, float %c) alwaysinline {
  %a64 = fpext float %a to double
  %b64 = fpext float %b to double
  %c64 = fpext float %c to double
  %product = fmul double %a64, %b64
  %sum = fadd double %product, %c64
  %y = fptrunc double %sum to float
  ret float %y
}

;: host_rcp_near
; 1/x, 1 ulp, for x between 2^-125 and 2^125: the machine's estimate, if it has one, and a Newton step (AVX-512: 14 bits) or
; two (AVX2: 12 bits).
define internal float @host_rcp_near(float %x) alwaysinline {
  %y = fdiv arcp ninf contract float 1.0, %x
  ret float %y
}

;: scaled_sigmoid needs host_rcp_near
; 2^40 / (1 + e^-x), 3 ulp, for x between -110 and 58: a normal number where the sigmoid is none. x = s - n log 2, log 2 in two
; parts; e^-s by a polynomial of least error. Adding 1.5 * 2^23 + 127 - 40 rounds to n and leaves the exponent field of 2^(n - 40)
; in the lowest bits.
define internal float @scaled_sigmoid(float %x) alwaysinline {
  %shifted = call float @llvm.fma.f32(float %x, float 0xBFF7154760000000, float 12582999.0) ; -1.44269502
  %n = fsub float %shifted, 12582999.0
  %s0 = call float @llvm.fma.f32(float %n, float 0.693359375, float %x)
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
  %d = call float @llvm.fma.f32(float %p, float %scale, float 0x3D70000000000000) ; 2^-40
  %r = call float @host_rcp_near(float %d)
  ret float %r
}

;: accurate_sigmoid needs scaled_sigmoid
; 3 ulp, also where the result is no normal number; 0 below -104. Beyond 58 it is 1.
define internal float @accurate_sigmoid(float %x) alwaysinline {
  %low = fcmp olt float %x, -110.0
  %x0 = select i1 %low, float -110.0, float %x
  %high = fcmp ogt float %x0, 58.0
  %held = select i1 %high, float 58.0, float %x0
  %s = call float @scaled_sigmoid(float %held)
  %y = fmul float %s, 0x3D70000000000000 ; 2^-40
  ret float %y
}

;: accurate_silu needs scaled_sigmoid
; 4 ulp, also where the sigmoid or the result is no normal number.
define internal float @accurate_silu(float %x) alwaysinline {
  %low = fcmp olt float %x, -110.0
  %held = select i1 %low, float -110.0, float %x
  %s = call float @scaled_sigmoid(float %held)
  %product = fmul float %held, %s
  %near = fmul float %product, 0x3D70000000000000 ; 2^-40
  %far = fcmp ogt float %x, 58.0
  %y = select i1 %far, float %x, float %near
  ret float %y
}

;: exp_of_negative needs precise_exp
; e^x for x <= 0, also where it is no normal number, which the GPU's form takes for 0.
define internal float @exp_of_negative(float %x) alwaysinline {
  %y = call float @precise_exp(float %x)
  ret float %y
}

;: accurate_tanh needs host_rcp_near
; 4 ulp. E / (E + 2) with E = e^2x - 1, x held between -10 and 10, beyond which the result is 1. x = h + n log 2 / 2;
; e^2h - 1 = h times a polynomial, so that it is right near 0.
define internal float @accurate_tanh(float %x) alwaysinline {
  %low = fcmp olt float %x, -10.0
  %x0 = select i1 %low, float -10.0, float %x
  %high = fcmp ogt float %x0, 10.0
  %x1 = select i1 %high, float 10.0, float %x0
  %shifted = call float @llvm.fma.f32(float %x1, float 0x4007154760000000, float 12583039.0) ; 2.88539004
  %n = fsub float %shifted, 12583039.0
  %h0 = call float @llvm.fma.f32(float %n, float -0.3466796875, float %x1)
  %h = call float @llvm.fma.f32(float %n, float 0x3F1BD01060000000, float %h0) ; 1.06097220e-4
  %p4 = call float @llvm.fma.f32(float %h, float 0x3FB6BEBFE0000000, float 0x3FD1227B00000000) ; 0.0888481140, 0.267729521
  %p3 = call float @llvm.fma.f32(float %h, float %p4, float 0x3FE5556740000000) ; 0.666675210
  %p2 = call float @llvm.fma.f32(float %h, float %p3, float 0x3FF5554B00000000) ; 1.33332348
  %p1 = call float @llvm.fma.f32(float %h, float %p2, float 0x3FFFFFFFE0000000) ; 1.99999988
  %p0 = call float @llvm.fma.f32(float %h, float %p1, float 2.0)
  %p = fmul float %h, %p0
  %bits = bitcast float %shifted to i32
  %field = shl i32 %bits, 23
  %scale = bitcast i32 %field to float
  %less = fsub float %scale, 1.0
  %e = call float @llvm.fma.f32(float %p, float %scale, float %less)
  %d = fadd float %e, 2.0
  %r = call float @host_rcp_near(float %d)
  %y = fmul float %e, %r
  ret float %y
}

;: fast_sigmoid needs host_rcp_near
; Absolute error 1e-6; 0 below -87.3. 1 / (1 + 2^y) with y = -x / log 2, x held between -87.3 and 87.3: 2^y is no number that
; the machine cannot hold. 2^f between -1/2 and 1/2 by a polynomial of least error, 2.9e-6, among those that are 1 at 0.
define internal float @fast_sigmoid(float %x) alwaysinline {
  %low = fcmp olt float %x, 0xC055D33340000000 ; -87.3000031
  %x0 = select i1 %low, float 0xC055D33340000000, float %x
  %high = fcmp ogt float %x0, 0x4055D33340000000
  %x1 = select i1 %high, float 0x4055D33340000000, float %x0
  %shifted = call float @llvm.fma.f32(float %x1, float 0xBFF7154760000000, float 12583039.0) ; -1.44269502
  %n = fsub float 12583039.0, %shifted
  %f = call float @llvm.fma.f32(float %x1, float 0xBFF7154760000000, float %n)
  %p3 = call float @llvm.fma.f32(float %f, float 0x3F83A02CE0000000, float 0x3FAC9FC480000000) ; 0.00958285388, 0.0559064299
  %p2 = call float @llvm.fma.f32(float %f, float %p3, float 0x3FCEC03780000000) ; 0.240240991
  %p1 = call float @llvm.fma.f32(float %f, float %p2, float 0x3FE62E12C0000000) ; 0.693124175
  %p = call float @llvm.fma.f32(float %f, float %p1, float 1.0)
  %bits = bitcast float %shifted to i32
  %field = shl i32 %bits, 23
  %scale = bitcast i32 %field to float
  %d = call float @llvm.fma.f32(float %p, float %scale, float 1.0)
  %r = call float @host_rcp_near(float %d)
  %y = select i1 %low, float 0.0, float %r
  ret float %y
}

;: tanh_approx needs fast_sigmoid
; Absolute error 2e-6; 0 at 0.
define internal float @tanh_approx(float %x) alwaysinline {
  %twice = fadd float %x, %x
  %s = call float @fast_sigmoid(float %twice)
  %y = call float @llvm.fma.f32(float %s, float 2.0, float -1.0)
  ret float %y
}

;: fast_silu needs fast_sigmoid
; Absolute error 1e-6 x.
define internal float @fast_silu(float %x) alwaysinline {
  %s = call float @fast_sigmoid(float %x)
  %y = fmul contract float %x, %s
  ret float %y
}
