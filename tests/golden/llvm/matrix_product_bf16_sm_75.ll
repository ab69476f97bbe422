target triple = "nvptx64-nvidia-cuda"

@shared_memory = external addrspace(3) global [0 x i8], align 16

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

define internal float @low_bf16(i32 %pair) alwaysinline {
  %bits = shl i32 %pair, 16
  %x = bitcast i32 %bits to float
  ret float %x
}

define internal float @high_bf16(i32 %pair) alwaysinline {
  %bits = and i32 %pair, -65536
  %x = bitcast i32 %bits to float
  ret float %x
}

; Each lane gives the place of one row of eight elements.
define internal i32 @load_matrix_x1(ptr addrspace(3) %row) alwaysinline convergent {
  %into = call i32 asm sideeffect "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {$0}, [$1];", "=r,r,~{memory}"(ptr addrspace(3) %row) convergent
  ret i32 %into
}

define internal { i32, i32 } @load_matrix_x2(ptr addrspace(3) %row) alwaysinline convergent {
  %into = call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r,~{memory}"(ptr addrspace(3) %row) convergent
  ret { i32, i32 } %into
}

define internal { i32, i32, i32, i32 } @load_matrix_x4(ptr addrspace(3) %row) alwaysinline convergent {
  %into = call { i32, i32, i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,r,~{memory}"(ptr addrspace(3) %row) convergent
  ret { i32, i32, i32, i32 } %into
}

define internal i32 @load_matrix_x1_transposed(ptr addrspace(3) %row) alwaysinline convergent {
  %into = call i32 asm sideeffect "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {$0}, [$1];", "=r,r,~{memory}"(ptr addrspace(3) %row) convergent
  ret i32 %into
}

define internal { i32, i32 } @load_matrix_x2_transposed(ptr addrspace(3) %row) alwaysinline convergent {
  %into = call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {$0, $1}, [$2];", "=r,=r,r,~{memory}"(ptr addrspace(3) %row) convergent
  ret { i32, i32 } %into
}

; c = a * b, 16 x 16 x 16; each of two warps has eight columns of c.
define ptx_kernel void @matrix_product_bf16(ptr addrspace(1) noalias readonly align 2 %a, ptr addrspace(1) noalias readonly align 2 %b, ptr addrspace(1) noalias align 4 %c) convergent nounwind "nvvm.maxntid"="64" "nvvm.minctasm"="1" {
entry:
  %thread_x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %left_0 = alloca i32
  %left_1 = alloca i32
  %left_2 = alloca i32
  %left_3 = alloca i32
  %right_0 = alloca i32
  %right_1 = alloca i32
  %right_2 = alloca i32
  %right_3 = alloca i32
  %right_4 = alloca i32
  %right_5 = alloca i32
  %sum_0 = alloca float
  %sum_1 = alloca float
  %sum_2 = alloca float
  %sum_3 = alloca float
  %sum_4 = alloca float
  %sum_5 = alloca float
  %sum_6 = alloca float
  %sum_7 = alloca float
  %sum_8 = alloca float
  %sum_9 = alloca float
  %sum_10 = alloca float
  %sum_11 = alloca float
  %warp = udiv i32 %thread_x, 32
  %lane = urem i32 %thread_x, 32
  %row = udiv i32 %thread_x, 4
  %.3 = urem i32 %thread_x, 4
  %column = mul nsw i32 %.3, 4
  %.5 = mul nsw i32 %row, 16
  %.6 = add nsw i32 %.5, %column
  %.7 = sext i32 %.6 to i64
  %.8 = getelementptr inbounds i16, ptr addrspace(1) %a, i64 %.7
  %.9 = load <2 x i32>, ptr addrspace(1) %.8, align 8
  %.10 = extractelement <2 x i32> %.9, i32 0
  %pair_1 = extractelement <2 x i32> %.9, i32 1
  %.12 = mul nsw i32 %row, 24
  %.13 = add nsw i32 %.12, %column
  %.14 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.13
  %.15 = insertelement <2 x i32> poison, i32 %.10, i32 0
  %.16 = insertelement <2 x i32> %.15, i32 %pair_1, i32 1
  store <2 x i32> %.16, ptr addrspace(3) %.14, align 8
  %.17 = mul nsw i32 %row, 16
  %.18 = add nsw i32 %.17, %column
  %.19 = sext i32 %.18 to i64
  %.20 = getelementptr inbounds i16, ptr addrspace(1) %b, i64 %.19
  %.21 = load <2 x i32>, ptr addrspace(1) %.20, align 8
  %.22 = extractelement <2 x i32> %.21, i32 0
  %.23 = extractelement <2 x i32> %.21, i32 1
  %.24 = call float @low_bf16(i32 %.22)
  %.25 = call float @high_bf16(i32 %.22)
  %.26 = call float @low_bf16(i32 %.23)
  %v_3 = call float @high_bf16(i32 %.23)
  %.28 = mul nsw i32 %row, 24
  %.29 = add nsw i32 %.28, %column
  %.30 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 768), i32 %.29
  %.31 = call i32 @pack_bf16(float %.24, float %.25)
  %.32 = call i32 @pack_bf16(float %.26, float %v_3)
  %.33 = insertelement <2 x i32> poison, i32 %.31, i32 0
  %.34 = insertelement <2 x i32> %.33, i32 %.32, i32 1
  store <2 x i32> %.34, ptr addrspace(3) %.30, align 8
  %.35 = mul nsw i32 %column, 24
  %.36 = add nsw i32 %.35, %row
  %.37 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %.36
  %.38 = call i32 @pack_bf16(float %.24, float 0.0)
  %.39 = trunc i32 %.38 to i16
  store i16 %.39, ptr addrspace(3) %.37, align 2
  %.40 = add nsw i32 %column, 1
  %.41 = mul nsw i32 %.40, 24
  %.42 = add nsw i32 %.41, %row
  %.43 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %.42
  %.44 = call i32 @pack_bf16(float %.25, float 0.0)
  %.45 = trunc i32 %.44 to i16
  store i16 %.45, ptr addrspace(3) %.43, align 2
  %.46 = add nsw i32 %column, 2
  %.47 = mul nsw i32 %.46, 24
  %.48 = add nsw i32 %.47, %row
  %.49 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %.48
  %.50 = call i32 @pack_bf16(float %.26, float 0.0)
  %.51 = trunc i32 %.50 to i16
  store i16 %.51, ptr addrspace(3) %.49, align 2
  %.52 = add nsw i32 %column, 3
  %.53 = mul nsw i32 %.52, 24
  %.54 = add nsw i32 %.53, %row
  %.55 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %.54
  %.56 = call i32 @pack_bf16(float %v_3, float 0.0)
  %.57 = trunc i32 %.56 to i16
  store i16 %.57, ptr addrspace(3) %.55, align 2
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float 0.0, ptr %sum_0
  store float 0.0, ptr %sum_1
  store float 0.0, ptr %sum_2
  store float 0.0, ptr %sum_3
  store float 0.0, ptr %sum_4
  store float 0.0, ptr %sum_5
  store float 0.0, ptr %sum_6
  store float 0.0, ptr %sum_7
  store float 0.0, ptr %sum_8
  store float 0.0, ptr %sum_9
  store float 0.0, ptr %sum_10
  store float 0.0, ptr %sum_11
  %.58 = urem i32 %lane, 16
  %.59 = mul nsw i32 %.58, 24
  %.60 = udiv i32 %lane, 16
  %.61 = mul nsw i32 %.60, 8
  %.62 = add nsw i32 %.59, %.61
  %.63 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.62
  %.64 = call { i32, i32, i32, i32 } @load_matrix_x4(ptr addrspace(3) %.63)
  %.65 = extractvalue { i32, i32, i32, i32 } %.64, 0
  %.66 = extractvalue { i32, i32, i32, i32 } %.64, 1
  %.67 = extractvalue { i32, i32, i32, i32 } %.64, 2
  %.68 = extractvalue { i32, i32, i32, i32 } %.64, 3
  store i32 %.65, ptr %left_0
  store i32 %.66, ptr %left_1
  store i32 %.67, ptr %left_2
  store i32 %.68, ptr %left_3
  %.69 = mul nsw i32 %warp, 8
  %.70 = urem i32 %lane, 8
  %.71 = add nsw i32 %.69, %.70
  %.72 = mul nsw i32 %.71, 24
  %.73 = udiv i32 %lane, 8
  %.74 = urem i32 %.73, 2
  %.75 = mul nsw i32 %.74, 8
  %mine = add nsw i32 %.72, %.75
  %.77 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %mine
  %.78 = call { i32, i32 } @load_matrix_x2(ptr addrspace(3) %.77)
  %.79 = extractvalue { i32, i32 } %.78, 0
  %.80 = extractvalue { i32, i32 } %.78, 1
  store i32 %.79, ptr %right_0
  store i32 %.80, ptr %right_1
  %.81 = urem i32 %lane, 16
  %.82 = mul nsw i32 %.81, 24
  %.83 = mul nsw i32 %warp, 8
  %.84 = add nsw i32 %.82, %.83
  %.85 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 768), i32 %.84
  %.86 = call { i32, i32 } @load_matrix_x2_transposed(ptr addrspace(3) %.85)
  %.87 = extractvalue { i32, i32 } %.86, 0
  %.88 = extractvalue { i32, i32 } %.86, 1
  store i32 %.87, ptr %right_2
  store i32 %.88, ptr %right_3
  %.89 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %mine
  %.90 = call i32 @load_matrix_x1(ptr addrspace(3) %.89)
  store i32 %.90, ptr %right_4
  %.91 = urem i32 %lane, 8
  %.92 = add nsw i32 %.91, 8
  %.93 = mul nsw i32 %.92, 24
  %.94 = mul nsw i32 %warp, 8
  %.95 = add nsw i32 %.93, %.94
  %.96 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 768), i32 %.95
  %.97 = call i32 @load_matrix_x1_transposed(ptr addrspace(3) %.96)
  store i32 %.97, ptr %right_5
  %.98 = load float, ptr %sum_0
  %.99 = load float, ptr %sum_1
  %.100 = load float, ptr %sum_2
  %.101 = load float, ptr %sum_3
  %.102 = load i32, ptr %left_0
  %.103 = load i32, ptr %left_1
  %.104 = load i32, ptr %left_2
  %.105 = load i32, ptr %left_3
  %.106 = load i32, ptr %right_0
  %.107 = load i32, ptr %right_1
  %.108 = and i32 %thread_x, 3
  %.109 = shl i32 %.108, 3
  %.110 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.102, i32 0, i32 7199)
  %.111 = call float @low_bf16(i32 %.110)
  %.112 = call float @high_bf16(i32 %.110)
  %.113 = add nsw i32 %.109, 0
  %.114 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.106, i32 %.113, i32 31)
  %.115 = call float @low_bf16(i32 %.114)
  %.116 = call float @high_bf16(i32 %.114)
  %.117 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.103, i32 0, i32 7199)
  %.118 = call float @low_bf16(i32 %.117)
  %.119 = call float @high_bf16(i32 %.117)
  %.120 = add nsw i32 %.109, 4
  %.121 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.106, i32 %.120, i32 31)
  %.122 = call float @low_bf16(i32 %.121)
  %.123 = call float @high_bf16(i32 %.121)
  %.124 = call float @llvm.fma.f32(float %.111, float %.115, float %.98)
  %.125 = call float @llvm.fma.f32(float %.112, float %.116, float %.124)
  %.126 = call float @llvm.fma.f32(float %.111, float %.122, float %.99)
  %.127 = call float @llvm.fma.f32(float %.112, float %.123, float %.126)
  %.128 = call float @llvm.fma.f32(float %.118, float %.115, float %.100)
  %.129 = call float @llvm.fma.f32(float %.119, float %.116, float %.128)
  %.130 = call float @llvm.fma.f32(float %.118, float %.122, float %.101)
  %.131 = call float @llvm.fma.f32(float %.119, float %.123, float %.130)
  %.132 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.102, i32 1, i32 7199)
  %.133 = call float @low_bf16(i32 %.132)
  %.134 = call float @high_bf16(i32 %.132)
  %.135 = add nsw i32 %.109, 1
  %.136 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.106, i32 %.135, i32 31)
  %.137 = call float @low_bf16(i32 %.136)
  %.138 = call float @high_bf16(i32 %.136)
  %.139 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.103, i32 1, i32 7199)
  %.140 = call float @low_bf16(i32 %.139)
  %.141 = call float @high_bf16(i32 %.139)
  %.142 = add nsw i32 %.109, 5
  %.143 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.106, i32 %.142, i32 31)
  %.144 = call float @low_bf16(i32 %.143)
  %.145 = call float @high_bf16(i32 %.143)
  %.146 = call float @llvm.fma.f32(float %.133, float %.137, float %.125)
  %.147 = call float @llvm.fma.f32(float %.134, float %.138, float %.146)
  %.148 = call float @llvm.fma.f32(float %.133, float %.144, float %.127)
  %.149 = call float @llvm.fma.f32(float %.134, float %.145, float %.148)
  %.150 = call float @llvm.fma.f32(float %.140, float %.137, float %.129)
  %.151 = call float @llvm.fma.f32(float %.141, float %.138, float %.150)
  %.152 = call float @llvm.fma.f32(float %.140, float %.144, float %.131)
  %.153 = call float @llvm.fma.f32(float %.141, float %.145, float %.152)
  %.154 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.102, i32 2, i32 7199)
  %.155 = call float @low_bf16(i32 %.154)
  %.156 = call float @high_bf16(i32 %.154)
  %.157 = add nsw i32 %.109, 2
  %.158 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.106, i32 %.157, i32 31)
  %.159 = call float @low_bf16(i32 %.158)
  %.160 = call float @high_bf16(i32 %.158)
  %.161 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.103, i32 2, i32 7199)
  %.162 = call float @low_bf16(i32 %.161)
  %.163 = call float @high_bf16(i32 %.161)
  %.164 = add nsw i32 %.109, 6
  %.165 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.106, i32 %.164, i32 31)
  %.166 = call float @low_bf16(i32 %.165)
  %.167 = call float @high_bf16(i32 %.165)
  %.168 = call float @llvm.fma.f32(float %.155, float %.159, float %.147)
  %.169 = call float @llvm.fma.f32(float %.156, float %.160, float %.168)
  %.170 = call float @llvm.fma.f32(float %.155, float %.166, float %.149)
  %.171 = call float @llvm.fma.f32(float %.156, float %.167, float %.170)
  %.172 = call float @llvm.fma.f32(float %.162, float %.159, float %.151)
  %.173 = call float @llvm.fma.f32(float %.163, float %.160, float %.172)
  %.174 = call float @llvm.fma.f32(float %.162, float %.166, float %.153)
  %.175 = call float @llvm.fma.f32(float %.163, float %.167, float %.174)
  %.176 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.102, i32 3, i32 7199)
  %.177 = call float @low_bf16(i32 %.176)
  %.178 = call float @high_bf16(i32 %.176)
  %.179 = add nsw i32 %.109, 3
  %.180 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.106, i32 %.179, i32 31)
  %.181 = call float @low_bf16(i32 %.180)
  %.182 = call float @high_bf16(i32 %.180)
  %.183 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.103, i32 3, i32 7199)
  %.184 = call float @low_bf16(i32 %.183)
  %.185 = call float @high_bf16(i32 %.183)
  %.186 = add nsw i32 %.109, 7
  %.187 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.106, i32 %.186, i32 31)
  %.188 = call float @low_bf16(i32 %.187)
  %.189 = call float @high_bf16(i32 %.187)
  %.190 = call float @llvm.fma.f32(float %.177, float %.181, float %.169)
  %.191 = call float @llvm.fma.f32(float %.178, float %.182, float %.190)
  %.192 = call float @llvm.fma.f32(float %.177, float %.188, float %.171)
  %.193 = call float @llvm.fma.f32(float %.178, float %.189, float %.192)
  %.194 = call float @llvm.fma.f32(float %.184, float %.181, float %.173)
  %.195 = call float @llvm.fma.f32(float %.185, float %.182, float %.194)
  %.196 = call float @llvm.fma.f32(float %.184, float %.188, float %.175)
  %.197 = call float @llvm.fma.f32(float %.185, float %.189, float %.196)
  %.198 = and i32 %thread_x, 3
  %.199 = shl i32 %.198, 3
  %.200 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.104, i32 0, i32 7199)
  %.201 = call float @low_bf16(i32 %.200)
  %.202 = call float @high_bf16(i32 %.200)
  %.203 = add nsw i32 %.199, 0
  %.204 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.107, i32 %.203, i32 31)
  %.205 = call float @low_bf16(i32 %.204)
  %.206 = call float @high_bf16(i32 %.204)
  %.207 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.105, i32 0, i32 7199)
  %.208 = call float @low_bf16(i32 %.207)
  %.209 = call float @high_bf16(i32 %.207)
  %.210 = add nsw i32 %.199, 4
  %.211 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.107, i32 %.210, i32 31)
  %.212 = call float @low_bf16(i32 %.211)
  %.213 = call float @high_bf16(i32 %.211)
  %.214 = call float @llvm.fma.f32(float %.201, float %.205, float %.191)
  %.215 = call float @llvm.fma.f32(float %.202, float %.206, float %.214)
  %.216 = call float @llvm.fma.f32(float %.201, float %.212, float %.193)
  %.217 = call float @llvm.fma.f32(float %.202, float %.213, float %.216)
  %.218 = call float @llvm.fma.f32(float %.208, float %.205, float %.195)
  %.219 = call float @llvm.fma.f32(float %.209, float %.206, float %.218)
  %.220 = call float @llvm.fma.f32(float %.208, float %.212, float %.197)
  %.221 = call float @llvm.fma.f32(float %.209, float %.213, float %.220)
  %.222 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.104, i32 1, i32 7199)
  %.223 = call float @low_bf16(i32 %.222)
  %.224 = call float @high_bf16(i32 %.222)
  %.225 = add nsw i32 %.199, 1
  %.226 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.107, i32 %.225, i32 31)
  %.227 = call float @low_bf16(i32 %.226)
  %.228 = call float @high_bf16(i32 %.226)
  %.229 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.105, i32 1, i32 7199)
  %.230 = call float @low_bf16(i32 %.229)
  %.231 = call float @high_bf16(i32 %.229)
  %.232 = add nsw i32 %.199, 5
  %.233 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.107, i32 %.232, i32 31)
  %.234 = call float @low_bf16(i32 %.233)
  %.235 = call float @high_bf16(i32 %.233)
  %.236 = call float @llvm.fma.f32(float %.223, float %.227, float %.215)
  %.237 = call float @llvm.fma.f32(float %.224, float %.228, float %.236)
  %.238 = call float @llvm.fma.f32(float %.223, float %.234, float %.217)
  %.239 = call float @llvm.fma.f32(float %.224, float %.235, float %.238)
  %.240 = call float @llvm.fma.f32(float %.230, float %.227, float %.219)
  %.241 = call float @llvm.fma.f32(float %.231, float %.228, float %.240)
  %.242 = call float @llvm.fma.f32(float %.230, float %.234, float %.221)
  %.243 = call float @llvm.fma.f32(float %.231, float %.235, float %.242)
  %.244 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.104, i32 2, i32 7199)
  %.245 = call float @low_bf16(i32 %.244)
  %.246 = call float @high_bf16(i32 %.244)
  %.247 = add nsw i32 %.199, 2
  %.248 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.107, i32 %.247, i32 31)
  %.249 = call float @low_bf16(i32 %.248)
  %.250 = call float @high_bf16(i32 %.248)
  %.251 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.105, i32 2, i32 7199)
  %.252 = call float @low_bf16(i32 %.251)
  %.253 = call float @high_bf16(i32 %.251)
  %.254 = add nsw i32 %.199, 6
  %.255 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.107, i32 %.254, i32 31)
  %.256 = call float @low_bf16(i32 %.255)
  %.257 = call float @high_bf16(i32 %.255)
  %.258 = call float @llvm.fma.f32(float %.245, float %.249, float %.237)
  %.259 = call float @llvm.fma.f32(float %.246, float %.250, float %.258)
  %.260 = call float @llvm.fma.f32(float %.245, float %.256, float %.239)
  %.261 = call float @llvm.fma.f32(float %.246, float %.257, float %.260)
  %.262 = call float @llvm.fma.f32(float %.252, float %.249, float %.241)
  %.263 = call float @llvm.fma.f32(float %.253, float %.250, float %.262)
  %.264 = call float @llvm.fma.f32(float %.252, float %.256, float %.243)
  %.265 = call float @llvm.fma.f32(float %.253, float %.257, float %.264)
  %.266 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.104, i32 3, i32 7199)
  %.267 = call float @low_bf16(i32 %.266)
  %.268 = call float @high_bf16(i32 %.266)
  %.269 = add nsw i32 %.199, 3
  %.270 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.107, i32 %.269, i32 31)
  %.271 = call float @low_bf16(i32 %.270)
  %.272 = call float @high_bf16(i32 %.270)
  %.273 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.105, i32 3, i32 7199)
  %.274 = call float @low_bf16(i32 %.273)
  %.275 = call float @high_bf16(i32 %.273)
  %.276 = add nsw i32 %.199, 7
  %.277 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.107, i32 %.276, i32 31)
  %.278 = call float @low_bf16(i32 %.277)
  %.279 = call float @high_bf16(i32 %.277)
  %.280 = call float @llvm.fma.f32(float %.267, float %.271, float %.259)
  %.281 = call float @llvm.fma.f32(float %.268, float %.272, float %.280)
  %.282 = call float @llvm.fma.f32(float %.267, float %.278, float %.261)
  %.283 = call float @llvm.fma.f32(float %.268, float %.279, float %.282)
  %.284 = call float @llvm.fma.f32(float %.274, float %.271, float %.263)
  %.285 = call float @llvm.fma.f32(float %.275, float %.272, float %.284)
  %.286 = call float @llvm.fma.f32(float %.274, float %.278, float %.265)
  %.287 = call float @llvm.fma.f32(float %.275, float %.279, float %.286)
  store float %.281, ptr %sum_0
  store float %.283, ptr %sum_1
  store float %.285, ptr %sum_2
  store float %.287, ptr %sum_3
  %.288 = load float, ptr %sum_4
  %.289 = load float, ptr %sum_5
  %.290 = load float, ptr %sum_6
  %.291 = load float, ptr %sum_7
  %.292 = load i32, ptr %left_0
  %.293 = load i32, ptr %left_1
  %.294 = load i32, ptr %left_2
  %.295 = load i32, ptr %left_3
  %.296 = load i32, ptr %right_2
  %.297 = load i32, ptr %right_3
  %.298 = and i32 %thread_x, 3
  %.299 = shl i32 %.298, 3
  %.300 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.292, i32 0, i32 7199)
  %.301 = call float @low_bf16(i32 %.300)
  %.302 = call float @high_bf16(i32 %.300)
  %.303 = add nsw i32 %.299, 0
  %.304 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.296, i32 %.303, i32 31)
  %.305 = call float @low_bf16(i32 %.304)
  %.306 = call float @high_bf16(i32 %.304)
  %.307 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.293, i32 0, i32 7199)
  %.308 = call float @low_bf16(i32 %.307)
  %.309 = call float @high_bf16(i32 %.307)
  %.310 = add nsw i32 %.299, 4
  %.311 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.296, i32 %.310, i32 31)
  %.312 = call float @low_bf16(i32 %.311)
  %.313 = call float @high_bf16(i32 %.311)
  %.314 = call float @llvm.fma.f32(float %.301, float %.305, float %.288)
  %.315 = call float @llvm.fma.f32(float %.302, float %.306, float %.314)
  %.316 = call float @llvm.fma.f32(float %.301, float %.312, float %.289)
  %.317 = call float @llvm.fma.f32(float %.302, float %.313, float %.316)
  %.318 = call float @llvm.fma.f32(float %.308, float %.305, float %.290)
  %.319 = call float @llvm.fma.f32(float %.309, float %.306, float %.318)
  %.320 = call float @llvm.fma.f32(float %.308, float %.312, float %.291)
  %.321 = call float @llvm.fma.f32(float %.309, float %.313, float %.320)
  %.322 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.292, i32 1, i32 7199)
  %.323 = call float @low_bf16(i32 %.322)
  %.324 = call float @high_bf16(i32 %.322)
  %.325 = add nsw i32 %.299, 1
  %.326 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.296, i32 %.325, i32 31)
  %.327 = call float @low_bf16(i32 %.326)
  %.328 = call float @high_bf16(i32 %.326)
  %.329 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.293, i32 1, i32 7199)
  %.330 = call float @low_bf16(i32 %.329)
  %.331 = call float @high_bf16(i32 %.329)
  %.332 = add nsw i32 %.299, 5
  %.333 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.296, i32 %.332, i32 31)
  %.334 = call float @low_bf16(i32 %.333)
  %.335 = call float @high_bf16(i32 %.333)
  %.336 = call float @llvm.fma.f32(float %.323, float %.327, float %.315)
  %.337 = call float @llvm.fma.f32(float %.324, float %.328, float %.336)
  %.338 = call float @llvm.fma.f32(float %.323, float %.334, float %.317)
  %.339 = call float @llvm.fma.f32(float %.324, float %.335, float %.338)
  %.340 = call float @llvm.fma.f32(float %.330, float %.327, float %.319)
  %.341 = call float @llvm.fma.f32(float %.331, float %.328, float %.340)
  %.342 = call float @llvm.fma.f32(float %.330, float %.334, float %.321)
  %.343 = call float @llvm.fma.f32(float %.331, float %.335, float %.342)
  %.344 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.292, i32 2, i32 7199)
  %.345 = call float @low_bf16(i32 %.344)
  %.346 = call float @high_bf16(i32 %.344)
  %.347 = add nsw i32 %.299, 2
  %.348 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.296, i32 %.347, i32 31)
  %.349 = call float @low_bf16(i32 %.348)
  %.350 = call float @high_bf16(i32 %.348)
  %.351 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.293, i32 2, i32 7199)
  %.352 = call float @low_bf16(i32 %.351)
  %.353 = call float @high_bf16(i32 %.351)
  %.354 = add nsw i32 %.299, 6
  %.355 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.296, i32 %.354, i32 31)
  %.356 = call float @low_bf16(i32 %.355)
  %.357 = call float @high_bf16(i32 %.355)
  %.358 = call float @llvm.fma.f32(float %.345, float %.349, float %.337)
  %.359 = call float @llvm.fma.f32(float %.346, float %.350, float %.358)
  %.360 = call float @llvm.fma.f32(float %.345, float %.356, float %.339)
  %.361 = call float @llvm.fma.f32(float %.346, float %.357, float %.360)
  %.362 = call float @llvm.fma.f32(float %.352, float %.349, float %.341)
  %.363 = call float @llvm.fma.f32(float %.353, float %.350, float %.362)
  %.364 = call float @llvm.fma.f32(float %.352, float %.356, float %.343)
  %.365 = call float @llvm.fma.f32(float %.353, float %.357, float %.364)
  %.366 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.292, i32 3, i32 7199)
  %.367 = call float @low_bf16(i32 %.366)
  %.368 = call float @high_bf16(i32 %.366)
  %.369 = add nsw i32 %.299, 3
  %.370 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.296, i32 %.369, i32 31)
  %.371 = call float @low_bf16(i32 %.370)
  %.372 = call float @high_bf16(i32 %.370)
  %.373 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.293, i32 3, i32 7199)
  %.374 = call float @low_bf16(i32 %.373)
  %.375 = call float @high_bf16(i32 %.373)
  %.376 = add nsw i32 %.299, 7
  %.377 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.296, i32 %.376, i32 31)
  %.378 = call float @low_bf16(i32 %.377)
  %.379 = call float @high_bf16(i32 %.377)
  %.380 = call float @llvm.fma.f32(float %.367, float %.371, float %.359)
  %.381 = call float @llvm.fma.f32(float %.368, float %.372, float %.380)
  %.382 = call float @llvm.fma.f32(float %.367, float %.378, float %.361)
  %.383 = call float @llvm.fma.f32(float %.368, float %.379, float %.382)
  %.384 = call float @llvm.fma.f32(float %.374, float %.371, float %.363)
  %.385 = call float @llvm.fma.f32(float %.375, float %.372, float %.384)
  %.386 = call float @llvm.fma.f32(float %.374, float %.378, float %.365)
  %.387 = call float @llvm.fma.f32(float %.375, float %.379, float %.386)
  %.388 = and i32 %thread_x, 3
  %.389 = shl i32 %.388, 3
  %.390 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.294, i32 0, i32 7199)
  %.391 = call float @low_bf16(i32 %.390)
  %.392 = call float @high_bf16(i32 %.390)
  %.393 = add nsw i32 %.389, 0
  %.394 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.297, i32 %.393, i32 31)
  %.395 = call float @low_bf16(i32 %.394)
  %.396 = call float @high_bf16(i32 %.394)
  %.397 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.295, i32 0, i32 7199)
  %.398 = call float @low_bf16(i32 %.397)
  %.399 = call float @high_bf16(i32 %.397)
  %.400 = add nsw i32 %.389, 4
  %.401 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.297, i32 %.400, i32 31)
  %.402 = call float @low_bf16(i32 %.401)
  %.403 = call float @high_bf16(i32 %.401)
  %.404 = call float @llvm.fma.f32(float %.391, float %.395, float %.381)
  %.405 = call float @llvm.fma.f32(float %.392, float %.396, float %.404)
  %.406 = call float @llvm.fma.f32(float %.391, float %.402, float %.383)
  %.407 = call float @llvm.fma.f32(float %.392, float %.403, float %.406)
  %.408 = call float @llvm.fma.f32(float %.398, float %.395, float %.385)
  %.409 = call float @llvm.fma.f32(float %.399, float %.396, float %.408)
  %.410 = call float @llvm.fma.f32(float %.398, float %.402, float %.387)
  %.411 = call float @llvm.fma.f32(float %.399, float %.403, float %.410)
  %.412 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.294, i32 1, i32 7199)
  %.413 = call float @low_bf16(i32 %.412)
  %.414 = call float @high_bf16(i32 %.412)
  %.415 = add nsw i32 %.389, 1
  %.416 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.297, i32 %.415, i32 31)
  %.417 = call float @low_bf16(i32 %.416)
  %.418 = call float @high_bf16(i32 %.416)
  %.419 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.295, i32 1, i32 7199)
  %.420 = call float @low_bf16(i32 %.419)
  %.421 = call float @high_bf16(i32 %.419)
  %.422 = add nsw i32 %.389, 5
  %.423 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.297, i32 %.422, i32 31)
  %.424 = call float @low_bf16(i32 %.423)
  %.425 = call float @high_bf16(i32 %.423)
  %.426 = call float @llvm.fma.f32(float %.413, float %.417, float %.405)
  %.427 = call float @llvm.fma.f32(float %.414, float %.418, float %.426)
  %.428 = call float @llvm.fma.f32(float %.413, float %.424, float %.407)
  %.429 = call float @llvm.fma.f32(float %.414, float %.425, float %.428)
  %.430 = call float @llvm.fma.f32(float %.420, float %.417, float %.409)
  %.431 = call float @llvm.fma.f32(float %.421, float %.418, float %.430)
  %.432 = call float @llvm.fma.f32(float %.420, float %.424, float %.411)
  %.433 = call float @llvm.fma.f32(float %.421, float %.425, float %.432)
  %.434 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.294, i32 2, i32 7199)
  %.435 = call float @low_bf16(i32 %.434)
  %.436 = call float @high_bf16(i32 %.434)
  %.437 = add nsw i32 %.389, 2
  %.438 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.297, i32 %.437, i32 31)
  %.439 = call float @low_bf16(i32 %.438)
  %.440 = call float @high_bf16(i32 %.438)
  %.441 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.295, i32 2, i32 7199)
  %.442 = call float @low_bf16(i32 %.441)
  %.443 = call float @high_bf16(i32 %.441)
  %.444 = add nsw i32 %.389, 6
  %.445 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.297, i32 %.444, i32 31)
  %.446 = call float @low_bf16(i32 %.445)
  %.447 = call float @high_bf16(i32 %.445)
  %.448 = call float @llvm.fma.f32(float %.435, float %.439, float %.427)
  %.449 = call float @llvm.fma.f32(float %.436, float %.440, float %.448)
  %.450 = call float @llvm.fma.f32(float %.435, float %.446, float %.429)
  %.451 = call float @llvm.fma.f32(float %.436, float %.447, float %.450)
  %.452 = call float @llvm.fma.f32(float %.442, float %.439, float %.431)
  %.453 = call float @llvm.fma.f32(float %.443, float %.440, float %.452)
  %.454 = call float @llvm.fma.f32(float %.442, float %.446, float %.433)
  %.455 = call float @llvm.fma.f32(float %.443, float %.447, float %.454)
  %.456 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.294, i32 3, i32 7199)
  %.457 = call float @low_bf16(i32 %.456)
  %.458 = call float @high_bf16(i32 %.456)
  %.459 = add nsw i32 %.389, 3
  %.460 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.297, i32 %.459, i32 31)
  %.461 = call float @low_bf16(i32 %.460)
  %.462 = call float @high_bf16(i32 %.460)
  %.463 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.295, i32 3, i32 7199)
  %.464 = call float @low_bf16(i32 %.463)
  %.465 = call float @high_bf16(i32 %.463)
  %.466 = add nsw i32 %.389, 7
  %.467 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.297, i32 %.466, i32 31)
  %.468 = call float @low_bf16(i32 %.467)
  %.469 = call float @high_bf16(i32 %.467)
  %.470 = call float @llvm.fma.f32(float %.457, float %.461, float %.449)
  %.471 = call float @llvm.fma.f32(float %.458, float %.462, float %.470)
  %.472 = call float @llvm.fma.f32(float %.457, float %.468, float %.451)
  %.473 = call float @llvm.fma.f32(float %.458, float %.469, float %.472)
  %.474 = call float @llvm.fma.f32(float %.464, float %.461, float %.453)
  %.475 = call float @llvm.fma.f32(float %.465, float %.462, float %.474)
  %.476 = call float @llvm.fma.f32(float %.464, float %.468, float %.455)
  %.477 = call float @llvm.fma.f32(float %.465, float %.469, float %.476)
  store float %.471, ptr %sum_4
  store float %.473, ptr %sum_5
  store float %.475, ptr %sum_6
  store float %.477, ptr %sum_7
  %.478 = load float, ptr %sum_8
  %.479 = load float, ptr %sum_9
  %.480 = load float, ptr %sum_10
  %.481 = load float, ptr %sum_11
  %.482 = load i32, ptr %left_0
  %.483 = load i32, ptr %left_1
  %.484 = load i32, ptr %left_2
  %.485 = load i32, ptr %left_3
  %.486 = load i32, ptr %right_4
  %.487 = load i32, ptr %right_5
  %.488 = and i32 %thread_x, 3
  %.489 = shl i32 %.488, 3
  %.490 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.482, i32 0, i32 7199)
  %.491 = call float @low_bf16(i32 %.490)
  %.492 = call float @high_bf16(i32 %.490)
  %.493 = add nsw i32 %.489, 0
  %.494 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.486, i32 %.493, i32 31)
  %.495 = call float @low_bf16(i32 %.494)
  %.496 = call float @high_bf16(i32 %.494)
  %.497 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.483, i32 0, i32 7199)
  %.498 = call float @low_bf16(i32 %.497)
  %.499 = call float @high_bf16(i32 %.497)
  %.500 = add nsw i32 %.489, 4
  %.501 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.486, i32 %.500, i32 31)
  %.502 = call float @low_bf16(i32 %.501)
  %.503 = call float @high_bf16(i32 %.501)
  %.504 = call float @llvm.fma.f32(float %.491, float %.495, float %.478)
  %.505 = call float @llvm.fma.f32(float %.492, float %.496, float %.504)
  %.506 = call float @llvm.fma.f32(float %.491, float %.502, float %.479)
  %.507 = call float @llvm.fma.f32(float %.492, float %.503, float %.506)
  %.508 = call float @llvm.fma.f32(float %.498, float %.495, float %.480)
  %.509 = call float @llvm.fma.f32(float %.499, float %.496, float %.508)
  %.510 = call float @llvm.fma.f32(float %.498, float %.502, float %.481)
  %.511 = call float @llvm.fma.f32(float %.499, float %.503, float %.510)
  %.512 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.482, i32 1, i32 7199)
  %.513 = call float @low_bf16(i32 %.512)
  %.514 = call float @high_bf16(i32 %.512)
  %.515 = add nsw i32 %.489, 1
  %.516 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.486, i32 %.515, i32 31)
  %.517 = call float @low_bf16(i32 %.516)
  %.518 = call float @high_bf16(i32 %.516)
  %.519 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.483, i32 1, i32 7199)
  %.520 = call float @low_bf16(i32 %.519)
  %.521 = call float @high_bf16(i32 %.519)
  %.522 = add nsw i32 %.489, 5
  %.523 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.486, i32 %.522, i32 31)
  %.524 = call float @low_bf16(i32 %.523)
  %.525 = call float @high_bf16(i32 %.523)
  %.526 = call float @llvm.fma.f32(float %.513, float %.517, float %.505)
  %.527 = call float @llvm.fma.f32(float %.514, float %.518, float %.526)
  %.528 = call float @llvm.fma.f32(float %.513, float %.524, float %.507)
  %.529 = call float @llvm.fma.f32(float %.514, float %.525, float %.528)
  %.530 = call float @llvm.fma.f32(float %.520, float %.517, float %.509)
  %.531 = call float @llvm.fma.f32(float %.521, float %.518, float %.530)
  %.532 = call float @llvm.fma.f32(float %.520, float %.524, float %.511)
  %.533 = call float @llvm.fma.f32(float %.521, float %.525, float %.532)
  %.534 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.482, i32 2, i32 7199)
  %.535 = call float @low_bf16(i32 %.534)
  %.536 = call float @high_bf16(i32 %.534)
  %.537 = add nsw i32 %.489, 2
  %.538 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.486, i32 %.537, i32 31)
  %.539 = call float @low_bf16(i32 %.538)
  %.540 = call float @high_bf16(i32 %.538)
  %.541 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.483, i32 2, i32 7199)
  %.542 = call float @low_bf16(i32 %.541)
  %.543 = call float @high_bf16(i32 %.541)
  %.544 = add nsw i32 %.489, 6
  %.545 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.486, i32 %.544, i32 31)
  %.546 = call float @low_bf16(i32 %.545)
  %.547 = call float @high_bf16(i32 %.545)
  %.548 = call float @llvm.fma.f32(float %.535, float %.539, float %.527)
  %.549 = call float @llvm.fma.f32(float %.536, float %.540, float %.548)
  %.550 = call float @llvm.fma.f32(float %.535, float %.546, float %.529)
  %.551 = call float @llvm.fma.f32(float %.536, float %.547, float %.550)
  %.552 = call float @llvm.fma.f32(float %.542, float %.539, float %.531)
  %.553 = call float @llvm.fma.f32(float %.543, float %.540, float %.552)
  %.554 = call float @llvm.fma.f32(float %.542, float %.546, float %.533)
  %.555 = call float @llvm.fma.f32(float %.543, float %.547, float %.554)
  %.556 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.482, i32 3, i32 7199)
  %.557 = call float @low_bf16(i32 %.556)
  %.558 = call float @high_bf16(i32 %.556)
  %.559 = add nsw i32 %.489, 3
  %.560 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.486, i32 %.559, i32 31)
  %.561 = call float @low_bf16(i32 %.560)
  %.562 = call float @high_bf16(i32 %.560)
  %.563 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.483, i32 3, i32 7199)
  %.564 = call float @low_bf16(i32 %.563)
  %.565 = call float @high_bf16(i32 %.563)
  %.566 = add nsw i32 %.489, 7
  %.567 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.486, i32 %.566, i32 31)
  %.568 = call float @low_bf16(i32 %.567)
  %.569 = call float @high_bf16(i32 %.567)
  %.570 = call float @llvm.fma.f32(float %.557, float %.561, float %.549)
  %.571 = call float @llvm.fma.f32(float %.558, float %.562, float %.570)
  %.572 = call float @llvm.fma.f32(float %.557, float %.568, float %.551)
  %.573 = call float @llvm.fma.f32(float %.558, float %.569, float %.572)
  %.574 = call float @llvm.fma.f32(float %.564, float %.561, float %.553)
  %.575 = call float @llvm.fma.f32(float %.565, float %.562, float %.574)
  %.576 = call float @llvm.fma.f32(float %.564, float %.568, float %.555)
  %.577 = call float @llvm.fma.f32(float %.565, float %.569, float %.576)
  %.578 = and i32 %thread_x, 3
  %.579 = shl i32 %.578, 3
  %.580 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.484, i32 0, i32 7199)
  %.581 = call float @low_bf16(i32 %.580)
  %.582 = call float @high_bf16(i32 %.580)
  %.583 = add nsw i32 %.579, 0
  %.584 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.487, i32 %.583, i32 31)
  %.585 = call float @low_bf16(i32 %.584)
  %.586 = call float @high_bf16(i32 %.584)
  %.587 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.485, i32 0, i32 7199)
  %.588 = call float @low_bf16(i32 %.587)
  %.589 = call float @high_bf16(i32 %.587)
  %.590 = add nsw i32 %.579, 4
  %.591 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.487, i32 %.590, i32 31)
  %.592 = call float @low_bf16(i32 %.591)
  %.593 = call float @high_bf16(i32 %.591)
  %.594 = call float @llvm.fma.f32(float %.581, float %.585, float %.571)
  %.595 = call float @llvm.fma.f32(float %.582, float %.586, float %.594)
  %.596 = call float @llvm.fma.f32(float %.581, float %.592, float %.573)
  %.597 = call float @llvm.fma.f32(float %.582, float %.593, float %.596)
  %.598 = call float @llvm.fma.f32(float %.588, float %.585, float %.575)
  %.599 = call float @llvm.fma.f32(float %.589, float %.586, float %.598)
  %.600 = call float @llvm.fma.f32(float %.588, float %.592, float %.577)
  %.601 = call float @llvm.fma.f32(float %.589, float %.593, float %.600)
  %.602 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.484, i32 1, i32 7199)
  %.603 = call float @low_bf16(i32 %.602)
  %.604 = call float @high_bf16(i32 %.602)
  %.605 = add nsw i32 %.579, 1
  %.606 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.487, i32 %.605, i32 31)
  %.607 = call float @low_bf16(i32 %.606)
  %.608 = call float @high_bf16(i32 %.606)
  %.609 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.485, i32 1, i32 7199)
  %.610 = call float @low_bf16(i32 %.609)
  %.611 = call float @high_bf16(i32 %.609)
  %.612 = add nsw i32 %.579, 5
  %.613 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.487, i32 %.612, i32 31)
  %.614 = call float @low_bf16(i32 %.613)
  %.615 = call float @high_bf16(i32 %.613)
  %.616 = call float @llvm.fma.f32(float %.603, float %.607, float %.595)
  %.617 = call float @llvm.fma.f32(float %.604, float %.608, float %.616)
  %.618 = call float @llvm.fma.f32(float %.603, float %.614, float %.597)
  %.619 = call float @llvm.fma.f32(float %.604, float %.615, float %.618)
  %.620 = call float @llvm.fma.f32(float %.610, float %.607, float %.599)
  %.621 = call float @llvm.fma.f32(float %.611, float %.608, float %.620)
  %.622 = call float @llvm.fma.f32(float %.610, float %.614, float %.601)
  %.623 = call float @llvm.fma.f32(float %.611, float %.615, float %.622)
  %.624 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.484, i32 2, i32 7199)
  %.625 = call float @low_bf16(i32 %.624)
  %.626 = call float @high_bf16(i32 %.624)
  %.627 = add nsw i32 %.579, 2
  %.628 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.487, i32 %.627, i32 31)
  %.629 = call float @low_bf16(i32 %.628)
  %.630 = call float @high_bf16(i32 %.628)
  %.631 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.485, i32 2, i32 7199)
  %.632 = call float @low_bf16(i32 %.631)
  %.633 = call float @high_bf16(i32 %.631)
  %.634 = add nsw i32 %.579, 6
  %.635 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.487, i32 %.634, i32 31)
  %.636 = call float @low_bf16(i32 %.635)
  %.637 = call float @high_bf16(i32 %.635)
  %.638 = call float @llvm.fma.f32(float %.625, float %.629, float %.617)
  %.639 = call float @llvm.fma.f32(float %.626, float %.630, float %.638)
  %.640 = call float @llvm.fma.f32(float %.625, float %.636, float %.619)
  %.641 = call float @llvm.fma.f32(float %.626, float %.637, float %.640)
  %.642 = call float @llvm.fma.f32(float %.632, float %.629, float %.621)
  %.643 = call float @llvm.fma.f32(float %.633, float %.630, float %.642)
  %.644 = call float @llvm.fma.f32(float %.632, float %.636, float %.623)
  %.645 = call float @llvm.fma.f32(float %.633, float %.637, float %.644)
  %.646 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.484, i32 3, i32 7199)
  %.647 = call float @low_bf16(i32 %.646)
  %.648 = call float @high_bf16(i32 %.646)
  %.649 = add nsw i32 %.579, 3
  %.650 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.487, i32 %.649, i32 31)
  %.651 = call float @low_bf16(i32 %.650)
  %.652 = call float @high_bf16(i32 %.650)
  %.653 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.485, i32 3, i32 7199)
  %.654 = call float @low_bf16(i32 %.653)
  %.655 = call float @high_bf16(i32 %.653)
  %.656 = add nsw i32 %.579, 7
  %.657 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %.487, i32 %.656, i32 31)
  %.658 = call float @low_bf16(i32 %.657)
  %.659 = call float @high_bf16(i32 %.657)
  %.660 = call float @llvm.fma.f32(float %.647, float %.651, float %.639)
  %.661 = call float @llvm.fma.f32(float %.648, float %.652, float %.660)
  %.662 = call float @llvm.fma.f32(float %.647, float %.658, float %.641)
  %.663 = call float @llvm.fma.f32(float %.648, float %.659, float %.662)
  %.664 = call float @llvm.fma.f32(float %.654, float %.651, float %.643)
  %.665 = call float @llvm.fma.f32(float %.655, float %.652, float %.664)
  %.666 = call float @llvm.fma.f32(float %.654, float %.658, float %.645)
  %.667 = call float @llvm.fma.f32(float %.655, float %.659, float %.666)
  store float %.661, ptr %sum_8
  store float %.663, ptr %sum_9
  store float %.665, ptr %sum_10
  store float %.667, ptr %sum_11
  %.668 = udiv i32 %lane, 4
  %.669 = mul nsw i32 %.668, 16
  %.670 = mul nsw i32 %warp, 8
  %.671 = add nsw i32 %.669, %.670
  %.672 = urem i32 %lane, 4
  %.673 = mul nsw i32 %.672, 2
  %to = add nsw i32 %.671, %.673
  %.675 = sext i32 %to to i64
  %.676 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.675
  %.677 = load float, ptr %sum_0
  %.678 = load float, ptr %sum_1
  %.679 = insertelement <2 x float> poison, float %.677, i32 0
  %.680 = insertelement <2 x float> %.679, float %.678, i32 1
  store <2 x float> %.680, ptr addrspace(1) %.676, align 8
  %.681 = add nsw i32 %to, 128
  %.682 = sext i32 %.681 to i64
  %.683 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.682
  %.684 = load float, ptr %sum_2
  %.685 = load float, ptr %sum_3
  %.686 = insertelement <2 x float> poison, float %.684, i32 0
  %.687 = insertelement <2 x float> %.686, float %.685, i32 1
  store <2 x float> %.687, ptr addrspace(1) %.683, align 8
  %.688 = add nsw i32 %to, 256
  %.689 = sext i32 %.688 to i64
  %.690 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.689
  %.691 = load float, ptr %sum_4
  %.692 = load float, ptr %sum_5
  %.693 = insertelement <2 x float> poison, float %.691, i32 0
  %.694 = insertelement <2 x float> %.693, float %.692, i32 1
  store <2 x float> %.694, ptr addrspace(1) %.690, align 8
  %.695 = add nsw i32 %to, 384
  %.696 = sext i32 %.695 to i64
  %.697 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.696
  %.698 = load float, ptr %sum_6
  %.699 = load float, ptr %sum_7
  %.700 = insertelement <2 x float> poison, float %.698, i32 0
  %.701 = insertelement <2 x float> %.700, float %.699, i32 1
  store <2 x float> %.701, ptr addrspace(1) %.697, align 8
  %.702 = add nsw i32 %to, 512
  %.703 = sext i32 %.702 to i64
  %.704 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.703
  %.705 = load float, ptr %sum_8
  %.706 = load float, ptr %sum_9
  %.707 = insertelement <2 x float> poison, float %.705, i32 0
  %.708 = insertelement <2 x float> %.707, float %.706, i32 1
  store <2 x float> %.708, ptr addrspace(1) %.704, align 8
  %.709 = add nsw i32 %to, 640
  %.710 = sext i32 %.709 to i64
  %.711 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.710
  %.712 = load float, ptr %sum_10
  %.713 = load float, ptr %sum_11
  %.714 = insertelement <2 x float> poison, float %.712, i32 0
  %.715 = insertelement <2 x float> %.714, float %.713, i32 1
  store <2 x float> %.715, ptr addrspace(1) %.711, align 8
  ret void
}
