; Packed pairs and what tensor cores read: the same as in compiler/backend/cuda/prelude/tensor.cuh. A pair's low half is the
; element at the lower address. ldmatrix reads what other lanes point at, so LLVM must not move stores across it: inline
; assembly that clobbers memory, and no intrinsic.

;: pack_bf16
define internal i32 @pack_bf16(float %low, float %high) alwaysinline {
  %pair = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %high, float %low)
  %bits = bitcast <2 x bfloat> %pair to i32
  ret i32 %bits
}

;: pack_fp16
define internal i32 @pack_fp16(float %low, float %high) alwaysinline {
  %pair = call <2 x half> @llvm.nvvm.ff2f16x2.rn(float %high, float %low)
  %bits = bitcast <2 x half> %pair to i32
  ret i32 %bits
}

;: low_bf16
define internal float @low_bf16(i32 %pair) alwaysinline {
  %bits = shl i32 %pair, 16
  %x = bitcast i32 %bits to float
  ret float %x
}

;: high_bf16
define internal float @high_bf16(i32 %pair) alwaysinline {
  %bits = and i32 %pair, -65536
  %x = bitcast i32 %bits to float
  ret float %x
}

;: low_fp16
define internal float @low_fp16(i32 %pair) alwaysinline {
  %halves = bitcast i32 %pair to <2 x half>
  %half = extractelement <2 x half> %halves, i32 0
  %x = fpext half %half to float
  ret float %x
}

;: high_fp16
define internal float @high_fp16(i32 %pair) alwaysinline {
  %halves = bitcast i32 %pair to <2 x half>
  %half = extractelement <2 x half> %halves, i32 1
  %x = fpext half %half to float
  ret float %x
}

;: round_tf32
; 10 bits of fraction; ties away from zero.
define internal float @round_tf32(float %x) alwaysinline {
  %bits = call i32 @llvm.nvvm.f2tf32.rna(float %x)
  %y = bitcast i32 %bits to float
  ret float %y
}

;: big_tf32
; The first of two numbers of tf32 that x is the sum of: x rounded as by cvt.rna. A NaN may be lost.
define internal i32 @big_tf32(float %x) alwaysinline {
  %bits = bitcast float %x to i32
  %up = add i32 %bits, 4096
  %big = and i32 %up, -8192
  ret i32 %big
}

;: small_tf32
; The second one: what is left, without its last bit.
define internal i32 @small_tf32(float %x, i32 %big) alwaysinline {
  %taken = bitcast i32 %big to float
  %rest = fsub float %x, %taken
  %bits = bitcast float %rest to i32
  %small = and i32 %bits, -8192
  ret i32 %small
}

;: hidden
; x, of which the compiler does not know that it is always the same.
define internal float @hidden(float %x) alwaysinline {
  %y = call float asm sideeffect "", "=f,0"(float %x)
  ret float %y
}

;: settled
; An accumulator that was waited for: the compiler does not know that it changed meanwhile.
define internal float @settled(float %x) alwaysinline {
  %y = call float asm sideeffect "", "=f,0,~{memory}"(float %x)
  ret float %y
}

;: load_matrix_x1
; Each lane gives the place of one row of eight elements.
define internal i32 @load_matrix_x1(ptr addrspace(3) %row) alwaysinline convergent {
  %into = call i32 asm sideeffect "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {$0}, [$1];", "=r,r,~{memory}"(ptr addrspace(3) %row) convergent
  ret i32 %into
}

;: load_matrix_x2
define internal { i32, i32 } @load_matrix_x2(ptr addrspace(3) %row) alwaysinline convergent {
  %into = call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r,~{memory}"(ptr addrspace(3) %row) convergent
  ret { i32, i32 } %into
}

;: load_matrix_x4
define internal { i32, i32, i32, i32 } @load_matrix_x4(ptr addrspace(3) %row) alwaysinline convergent {
  %into = call { i32, i32, i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,r,~{memory}"(ptr addrspace(3) %row) convergent
  ret { i32, i32, i32, i32 } %into
}

;: load_matrix_x1_transposed
define internal i32 @load_matrix_x1_transposed(ptr addrspace(3) %row) alwaysinline convergent {
  %into = call i32 asm sideeffect "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {$0}, [$1];", "=r,r,~{memory}"(ptr addrspace(3) %row) convergent
  ret i32 %into
}

;: load_matrix_x2_transposed
define internal { i32, i32 } @load_matrix_x2_transposed(ptr addrspace(3) %row) alwaysinline convergent {
  %into = call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {$0, $1}, [$2];", "=r,=r,r,~{memory}"(ptr addrspace(3) %row) convergent
  ret { i32, i32 } %into
}

;: load_matrix_x4_transposed
define internal { i32, i32, i32, i32 } @load_matrix_x4_transposed(ptr addrspace(3) %row) alwaysinline convergent {
  %into = call { i32, i32, i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,r,~{memory}"(ptr addrspace(3) %row) convergent
  ret { i32, i32, i32, i32 } %into
}

;: panel_operand
; PTX ISA, matrix descriptor: place, bytes between panels and between eights of rows, all by 16; swizzle of 128 bytes.
define internal i64 @panel_operand(ptr addrspace(3) %first, i64 %panel) alwaysinline {
  %place = ptrtoint ptr addrspace(3) %first to i32
  %in_range = and i32 %place, 262143
  %by_16 = lshr i32 %in_range, 4
  %low = zext i32 %by_16 to i64
  %distance = shl i64 %panel, 13 ; panel / 8 << 16
  %fixed = or i64 %distance, 4611686293305294848 ; 1 << 62 | 64 << 32
  %descriptor = or i64 %fixed, %low
  ret i64 %descriptor
}

;: swizzled
; Where the 16 bytes of a panel stand that would be at p.
define internal ptr addrspace(3) @swizzled(ptr addrspace(3) %p) alwaysinline {
  %at = ptrtoint ptr addrspace(3) %p to i32
  %row = lshr i32 %at, 7
  %in_8 = and i32 %row, 7
  %flip = shl i32 %in_8, 4
  %there = xor i32 %at, %flip
  %q = inttoptr i32 %there to ptr addrspace(3)
  ret ptr addrspace(3) %q
}
