; Forms of helpers for GPUs before compute capability 8.0, in the place of the sections of the same names: the same as
; those of compiler/backend/cuda/prelude/turing/turing.cuh.

;: pack_bf16
; To nearest even, by the numbers that the bits are; of NaN the one that cvt gives.
define internal i32 @pack_bf16(float %low, float %high) alwaysinline {
  %bits_0 = bitcast float %low to i32
  %top_0 = lshr i32 %bits_0, 16
  %odd_0 = and i32 %top_0, 1
  %half_0 = add i32 %bits_0, 32767
  %up_0 = add i32 %half_0, %odd_0
  %number_0 = lshr i32 %up_0, 16
  %is_number_0 = fcmp ord float %low, 0.0
  %word_0 = select i1 %is_number_0, i32 %number_0, i32 32767
  %bits_1 = bitcast float %high to i32
  %top_1 = lshr i32 %bits_1, 16
  %odd_1 = and i32 %top_1, 1
  %half_1 = add i32 %bits_1, 32767
  %up_1 = add i32 %half_1, %odd_1
  %number_1 = and i32 %up_1, -65536
  %is_number_1 = fcmp ord float %high, 0.0
  %word_1 = select i1 %is_number_1, i32 %number_1, i32 2147418112
  %pair = or i32 %word_0, %word_1
  ret i32 %pair
}

;: pack_fp16
define internal i32 @pack_fp16(float %low, float %high) alwaysinline {
  %half_0 = fptrunc float %low to half
  %half_1 = fptrunc float %high to half
  %first = insertelement <2 x half> poison, half %half_0, i32 0
  %pair = insertelement <2 x half> %first, half %half_1, i32 1
  %bits = bitcast <2 x half> %pair to i32
  ret i32 %bits
}
