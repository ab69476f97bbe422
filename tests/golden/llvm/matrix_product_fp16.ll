target triple = "nvptx64-nvidia-cuda"

@shared_memory = external addrspace(3) global [0 x i8], align 16

define internal i32 @pack_fp16(float %low, float %high) alwaysinline {
  %pair = call <2 x half> @llvm.nvvm.ff2f16x2.rn(float %high, float %low)
  %bits = bitcast <2 x half> %pair to i32
  ret i32 %bits
}

define internal float @low_fp16(i32 %pair) alwaysinline {
  %halves = bitcast i32 %pair to <2 x half>
  %half = extractelement <2 x half> %halves, i32 0
  %x = fpext half %half to float
  ret float %x
}

define internal float @high_fp16(i32 %pair) alwaysinline {
  %halves = bitcast i32 %pair to <2 x half>
  %half = extractelement <2 x half> %halves, i32 1
  %x = fpext half %half to float
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
define ptx_kernel void @matrix_product_fp16(ptr addrspace(1) noalias readonly align 2 %a, ptr addrspace(1) noalias readonly align 2 %b, ptr addrspace(1) noalias align 4 %c) convergent nounwind "nvvm.maxntid"="64" "nvvm.minctasm"="1" {
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
  %.24 = call float @low_fp16(i32 %.22)
  %.25 = call float @high_fp16(i32 %.22)
  %.26 = call float @low_fp16(i32 %.23)
  %v_3 = call float @high_fp16(i32 %.23)
  %.28 = mul nsw i32 %row, 24
  %.29 = add nsw i32 %.28, %column
  %.30 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 768), i32 %.29
  %.31 = call i32 @pack_fp16(float %.24, float %.25)
  %.32 = call i32 @pack_fp16(float %.26, float %v_3)
  %.33 = insertelement <2 x i32> poison, i32 %.31, i32 0
  %.34 = insertelement <2 x i32> %.33, i32 %.32, i32 1
  store <2 x i32> %.34, ptr addrspace(3) %.30, align 8
  %.35 = mul nsw i32 %column, 24
  %.36 = add nsw i32 %.35, %row
  %.37 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %.36
  %.38 = fptrunc float %.24 to half
  %.39 = bitcast half %.38 to i16
  store i16 %.39, ptr addrspace(3) %.37, align 2
  %.40 = add nsw i32 %column, 1
  %.41 = mul nsw i32 %.40, 24
  %.42 = add nsw i32 %.41, %row
  %.43 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %.42
  %.44 = fptrunc float %.25 to half
  %.45 = bitcast half %.44 to i16
  store i16 %.45, ptr addrspace(3) %.43, align 2
  %.46 = add nsw i32 %column, 2
  %.47 = mul nsw i32 %.46, 24
  %.48 = add nsw i32 %.47, %row
  %.49 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %.48
  %.50 = fptrunc float %.26 to half
  %.51 = bitcast half %.50 to i16
  store i16 %.51, ptr addrspace(3) %.49, align 2
  %.52 = add nsw i32 %column, 3
  %.53 = mul nsw i32 %.52, 24
  %.54 = add nsw i32 %.53, %row
  %.55 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %.54
  %.56 = fptrunc float %v_3 to half
  %.57 = bitcast half %.56 to i16
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
  %.108 = bitcast i32 %.102 to <2 x half>
  %.109 = bitcast i32 %.103 to <2 x half>
  %.110 = bitcast i32 %.104 to <2 x half>
  %.111 = bitcast i32 %.105 to <2 x half>
  %.112 = bitcast i32 %.106 to <2 x half>
  %.113 = bitcast i32 %.107 to <2 x half>
  %.114 = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(<2 x half> %.108, <2 x half> %.109, <2 x half> %.110, <2 x half> %.111, <2 x half> %.112, <2 x half> %.113, float %.98, float %.99, float %.100, float %.101) convergent
  %.115 = extractvalue { float, float, float, float } %.114, 0
  %.116 = extractvalue { float, float, float, float } %.114, 1
  %.117 = extractvalue { float, float, float, float } %.114, 2
  %.118 = extractvalue { float, float, float, float } %.114, 3
  store float %.115, ptr %sum_0
  store float %.116, ptr %sum_1
  store float %.117, ptr %sum_2
  store float %.118, ptr %sum_3
  %.119 = load float, ptr %sum_4
  %.120 = load float, ptr %sum_5
  %.121 = load float, ptr %sum_6
  %.122 = load float, ptr %sum_7
  %.123 = load i32, ptr %left_0
  %.124 = load i32, ptr %left_1
  %.125 = load i32, ptr %left_2
  %.126 = load i32, ptr %left_3
  %.127 = load i32, ptr %right_2
  %.128 = load i32, ptr %right_3
  %.129 = bitcast i32 %.123 to <2 x half>
  %.130 = bitcast i32 %.124 to <2 x half>
  %.131 = bitcast i32 %.125 to <2 x half>
  %.132 = bitcast i32 %.126 to <2 x half>
  %.133 = bitcast i32 %.127 to <2 x half>
  %.134 = bitcast i32 %.128 to <2 x half>
  %.135 = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(<2 x half> %.129, <2 x half> %.130, <2 x half> %.131, <2 x half> %.132, <2 x half> %.133, <2 x half> %.134, float %.119, float %.120, float %.121, float %.122) convergent
  %.136 = extractvalue { float, float, float, float } %.135, 0
  %.137 = extractvalue { float, float, float, float } %.135, 1
  %.138 = extractvalue { float, float, float, float } %.135, 2
  %.139 = extractvalue { float, float, float, float } %.135, 3
  store float %.136, ptr %sum_4
  store float %.137, ptr %sum_5
  store float %.138, ptr %sum_6
  store float %.139, ptr %sum_7
  %.140 = load float, ptr %sum_8
  %.141 = load float, ptr %sum_9
  %.142 = load float, ptr %sum_10
  %.143 = load float, ptr %sum_11
  %.144 = load i32, ptr %left_0
  %.145 = load i32, ptr %left_1
  %.146 = load i32, ptr %left_2
  %.147 = load i32, ptr %left_3
  %.148 = load i32, ptr %right_4
  %.149 = load i32, ptr %right_5
  %.150 = bitcast i32 %.144 to <2 x half>
  %.151 = bitcast i32 %.145 to <2 x half>
  %.152 = bitcast i32 %.146 to <2 x half>
  %.153 = bitcast i32 %.147 to <2 x half>
  %.154 = bitcast i32 %.148 to <2 x half>
  %.155 = bitcast i32 %.149 to <2 x half>
  %.156 = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(<2 x half> %.150, <2 x half> %.151, <2 x half> %.152, <2 x half> %.153, <2 x half> %.154, <2 x half> %.155, float %.140, float %.141, float %.142, float %.143) convergent
  %.157 = extractvalue { float, float, float, float } %.156, 0
  %.158 = extractvalue { float, float, float, float } %.156, 1
  %.159 = extractvalue { float, float, float, float } %.156, 2
  %.160 = extractvalue { float, float, float, float } %.156, 3
  store float %.157, ptr %sum_8
  store float %.158, ptr %sum_9
  store float %.159, ptr %sum_10
  store float %.160, ptr %sum_11
  %.161 = udiv i32 %lane, 4
  %.162 = mul nsw i32 %.161, 16
  %.163 = mul nsw i32 %warp, 8
  %.164 = add nsw i32 %.162, %.163
  %.165 = urem i32 %lane, 4
  %.166 = mul nsw i32 %.165, 2
  %to = add nsw i32 %.164, %.166
  %.168 = sext i32 %to to i64
  %.169 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.168
  %.170 = load float, ptr %sum_0
  %.171 = load float, ptr %sum_1
  %.172 = insertelement <2 x float> poison, float %.170, i32 0
  %.173 = insertelement <2 x float> %.172, float %.171, i32 1
  store <2 x float> %.173, ptr addrspace(1) %.169, align 8
  %.174 = add nsw i32 %to, 128
  %.175 = sext i32 %.174 to i64
  %.176 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.175
  %.177 = load float, ptr %sum_2
  %.178 = load float, ptr %sum_3
  %.179 = insertelement <2 x float> poison, float %.177, i32 0
  %.180 = insertelement <2 x float> %.179, float %.178, i32 1
  store <2 x float> %.180, ptr addrspace(1) %.176, align 8
  %.181 = add nsw i32 %to, 256
  %.182 = sext i32 %.181 to i64
  %.183 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.182
  %.184 = load float, ptr %sum_4
  %.185 = load float, ptr %sum_5
  %.186 = insertelement <2 x float> poison, float %.184, i32 0
  %.187 = insertelement <2 x float> %.186, float %.185, i32 1
  store <2 x float> %.187, ptr addrspace(1) %.183, align 8
  %.188 = add nsw i32 %to, 384
  %.189 = sext i32 %.188 to i64
  %.190 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.189
  %.191 = load float, ptr %sum_6
  %.192 = load float, ptr %sum_7
  %.193 = insertelement <2 x float> poison, float %.191, i32 0
  %.194 = insertelement <2 x float> %.193, float %.192, i32 1
  store <2 x float> %.194, ptr addrspace(1) %.190, align 8
  %.195 = add nsw i32 %to, 512
  %.196 = sext i32 %.195 to i64
  %.197 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.196
  %.198 = load float, ptr %sum_8
  %.199 = load float, ptr %sum_9
  %.200 = insertelement <2 x float> poison, float %.198, i32 0
  %.201 = insertelement <2 x float> %.200, float %.199, i32 1
  store <2 x float> %.201, ptr addrspace(1) %.197, align 8
  %.202 = add nsw i32 %to, 640
  %.203 = sext i32 %.202 to i64
  %.204 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.203
  %.205 = load float, ptr %sum_10
  %.206 = load float, ptr %sum_11
  %.207 = insertelement <2 x float> poison, float %.205, i32 0
  %.208 = insertelement <2 x float> %.207, float %.206, i32 1
  store <2 x float> %.208, ptr addrspace(1) %.204, align 8
  ret void
}
