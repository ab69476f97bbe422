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
  %.108 = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"(i32 %.102, i32 %.103, i32 %.104, i32 %.105, i32 %.106, i32 %.107, float %.98, float %.99, float %.100, float %.101) convergent
  %.109 = extractvalue { float, float, float, float } %.108, 0
  %.110 = extractvalue { float, float, float, float } %.108, 1
  %.111 = extractvalue { float, float, float, float } %.108, 2
  %.112 = extractvalue { float, float, float, float } %.108, 3
  store float %.109, ptr %sum_0
  store float %.110, ptr %sum_1
  store float %.111, ptr %sum_2
  store float %.112, ptr %sum_3
  %.113 = load float, ptr %sum_4
  %.114 = load float, ptr %sum_5
  %.115 = load float, ptr %sum_6
  %.116 = load float, ptr %sum_7
  %.117 = load i32, ptr %left_0
  %.118 = load i32, ptr %left_1
  %.119 = load i32, ptr %left_2
  %.120 = load i32, ptr %left_3
  %.121 = load i32, ptr %right_2
  %.122 = load i32, ptr %right_3
  %.123 = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"(i32 %.117, i32 %.118, i32 %.119, i32 %.120, i32 %.121, i32 %.122, float %.113, float %.114, float %.115, float %.116) convergent
  %.124 = extractvalue { float, float, float, float } %.123, 0
  %.125 = extractvalue { float, float, float, float } %.123, 1
  %.126 = extractvalue { float, float, float, float } %.123, 2
  %.127 = extractvalue { float, float, float, float } %.123, 3
  store float %.124, ptr %sum_4
  store float %.125, ptr %sum_5
  store float %.126, ptr %sum_6
  store float %.127, ptr %sum_7
  %.128 = load float, ptr %sum_8
  %.129 = load float, ptr %sum_9
  %.130 = load float, ptr %sum_10
  %.131 = load float, ptr %sum_11
  %.132 = load i32, ptr %left_0
  %.133 = load i32, ptr %left_1
  %.134 = load i32, ptr %left_2
  %.135 = load i32, ptr %left_3
  %.136 = load i32, ptr %right_4
  %.137 = load i32, ptr %right_5
  %.138 = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"(i32 %.132, i32 %.133, i32 %.134, i32 %.135, i32 %.136, i32 %.137, float %.128, float %.129, float %.130, float %.131) convergent
  %.139 = extractvalue { float, float, float, float } %.138, 0
  %.140 = extractvalue { float, float, float, float } %.138, 1
  %.141 = extractvalue { float, float, float, float } %.138, 2
  %.142 = extractvalue { float, float, float, float } %.138, 3
  store float %.139, ptr %sum_8
  store float %.140, ptr %sum_9
  store float %.141, ptr %sum_10
  store float %.142, ptr %sum_11
  %.143 = udiv i32 %lane, 4
  %.144 = mul nsw i32 %.143, 16
  %.145 = mul nsw i32 %warp, 8
  %.146 = add nsw i32 %.144, %.145
  %.147 = urem i32 %lane, 4
  %.148 = mul nsw i32 %.147, 2
  %to = add nsw i32 %.146, %.148
  %.150 = sext i32 %to to i64
  %.151 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.150
  %.152 = load float, ptr %sum_0
  %.153 = load float, ptr %sum_1
  %.154 = insertelement <2 x float> poison, float %.152, i32 0
  %.155 = insertelement <2 x float> %.154, float %.153, i32 1
  store <2 x float> %.155, ptr addrspace(1) %.151, align 8
  %.156 = add nsw i32 %to, 128
  %.157 = sext i32 %.156 to i64
  %.158 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.157
  %.159 = load float, ptr %sum_2
  %.160 = load float, ptr %sum_3
  %.161 = insertelement <2 x float> poison, float %.159, i32 0
  %.162 = insertelement <2 x float> %.161, float %.160, i32 1
  store <2 x float> %.162, ptr addrspace(1) %.158, align 8
  %.163 = add nsw i32 %to, 256
  %.164 = sext i32 %.163 to i64
  %.165 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.164
  %.166 = load float, ptr %sum_4
  %.167 = load float, ptr %sum_5
  %.168 = insertelement <2 x float> poison, float %.166, i32 0
  %.169 = insertelement <2 x float> %.168, float %.167, i32 1
  store <2 x float> %.169, ptr addrspace(1) %.165, align 8
  %.170 = add nsw i32 %to, 384
  %.171 = sext i32 %.170 to i64
  %.172 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.171
  %.173 = load float, ptr %sum_6
  %.174 = load float, ptr %sum_7
  %.175 = insertelement <2 x float> poison, float %.173, i32 0
  %.176 = insertelement <2 x float> %.175, float %.174, i32 1
  store <2 x float> %.176, ptr addrspace(1) %.172, align 8
  %.177 = add nsw i32 %to, 512
  %.178 = sext i32 %.177 to i64
  %.179 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.178
  %.180 = load float, ptr %sum_8
  %.181 = load float, ptr %sum_9
  %.182 = insertelement <2 x float> poison, float %.180, i32 0
  %.183 = insertelement <2 x float> %.182, float %.181, i32 1
  store <2 x float> %.183, ptr addrspace(1) %.179, align 8
  %.184 = add nsw i32 %to, 640
  %.185 = sext i32 %.184 to i64
  %.186 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.185
  %.187 = load float, ptr %sum_10
  %.188 = load float, ptr %sum_11
  %.189 = insertelement <2 x float> poison, float %.187, i32 0
  %.190 = insertelement <2 x float> %.189, float %.188, i32 1
  store <2 x float> %.190, ptr addrspace(1) %.186, align 8
  ret void
}
