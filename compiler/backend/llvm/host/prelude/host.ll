; What the functions of compiler/backend/llvm/nvptx/prelude take as instructions of a GPU, for CPUs. VectorHelpers makes forms
; for several lanes of it, so there are no branches here.

;: host_exp2
; 2^x, 1 ulp: x = n + f with f between -1/2 and 1/2; 2^f by the series of e^(f log 2) as in Cephes (Moshier, expf.c). Results
; below 2^-126 are 0, those from 2^128 on infinite.
define internal float @host_exp2(float %x) alwaysinline {
  %low = fcmp olt float %x, -127.0
  %y0 = select i1 %low, float -127.0, float %x
  %high = fcmp ogt float %y0, 128.0
  %y = select i1 %high, float 128.0, float %y0
  %shifted = fadd float %y, 12583039.0 ; 1.5 * 2^23 + 127: rounds to n, and leaves the exponent field of 2^n in the lowest bits
  %n = fsub float %shifted, 12583039.0
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
  %field = shl i32 %bits, 23
  %scale = bitcast i32 %field to float
  %e = fmul float %p, %scale
  %number = fcmp ord float %x, 0.0
  %result = select i1 %number, float %e, float %x
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
