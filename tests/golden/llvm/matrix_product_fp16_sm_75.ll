target triple = "nvptx64-nvidia-cuda"

@shared_memory = external addrspace(3) global [0 x i8], align 16

define internal i32 @pack_fp16(float %low, float %high) alwaysinline {
  %half_0 = fptrunc float %low to half
  %half_1 = fptrunc float %high to half
  %first = insertelement <2 x half> poison, half %half_0, i32 0
  %pair = insertelement <2 x half> %first, half %half_1, i32 1
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
  %.108 = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5}, {$6}, {$7, $8, $9, $10};", "=f,=f,=f,=f,r,r,r,f,f,f,f"(i32 %.102, i32 %.103, i32 %.106, float %.98, float %.99, float %.100, float %.101) convergent
  %.109 = extractvalue { float, float, float, float } %.108, 0
  %.110 = extractvalue { float, float, float, float } %.108, 1
  %.111 = extractvalue { float, float, float, float } %.108, 2
  %.112 = extractvalue { float, float, float, float } %.108, 3
  %.113 = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5}, {$6}, {$7, $8, $9, $10};", "=f,=f,=f,=f,r,r,r,f,f,f,f"(i32 %.104, i32 %.105, i32 %.107, float %.109, float %.110, float %.111, float %.112) convergent
  %.114 = extractvalue { float, float, float, float } %.113, 0
  %.115 = extractvalue { float, float, float, float } %.113, 1
  %.116 = extractvalue { float, float, float, float } %.113, 2
  %.117 = extractvalue { float, float, float, float } %.113, 3
  store float %.114, ptr %sum_0
  store float %.115, ptr %sum_1
  store float %.116, ptr %sum_2
  store float %.117, ptr %sum_3
  %.118 = load float, ptr %sum_4
  %.119 = load float, ptr %sum_5
  %.120 = load float, ptr %sum_6
  %.121 = load float, ptr %sum_7
  %.122 = load i32, ptr %left_0
  %.123 = load i32, ptr %left_1
  %.124 = load i32, ptr %left_2
  %.125 = load i32, ptr %left_3
  %.126 = load i32, ptr %right_2
  %.127 = load i32, ptr %right_3
  %.128 = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5}, {$6}, {$7, $8, $9, $10};", "=f,=f,=f,=f,r,r,r,f,f,f,f"(i32 %.122, i32 %.123, i32 %.126, float %.118, float %.119, float %.120, float %.121) convergent
  %.129 = extractvalue { float, float, float, float } %.128, 0
  %.130 = extractvalue { float, float, float, float } %.128, 1
  %.131 = extractvalue { float, float, float, float } %.128, 2
  %.132 = extractvalue { float, float, float, float } %.128, 3
  %.133 = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5}, {$6}, {$7, $8, $9, $10};", "=f,=f,=f,=f,r,r,r,f,f,f,f"(i32 %.124, i32 %.125, i32 %.127, float %.129, float %.130, float %.131, float %.132) convergent
  %.134 = extractvalue { float, float, float, float } %.133, 0
  %.135 = extractvalue { float, float, float, float } %.133, 1
  %.136 = extractvalue { float, float, float, float } %.133, 2
  %.137 = extractvalue { float, float, float, float } %.133, 3
  store float %.134, ptr %sum_4
  store float %.135, ptr %sum_5
  store float %.136, ptr %sum_6
  store float %.137, ptr %sum_7
  %.138 = load float, ptr %sum_8
  %.139 = load float, ptr %sum_9
  %.140 = load float, ptr %sum_10
  %.141 = load float, ptr %sum_11
  %.142 = load i32, ptr %left_0
  %.143 = load i32, ptr %left_1
  %.144 = load i32, ptr %left_2
  %.145 = load i32, ptr %left_3
  %.146 = load i32, ptr %right_4
  %.147 = load i32, ptr %right_5
  %.148 = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5}, {$6}, {$7, $8, $9, $10};", "=f,=f,=f,=f,r,r,r,f,f,f,f"(i32 %.142, i32 %.143, i32 %.146, float %.138, float %.139, float %.140, float %.141) convergent
  %.149 = extractvalue { float, float, float, float } %.148, 0
  %.150 = extractvalue { float, float, float, float } %.148, 1
  %.151 = extractvalue { float, float, float, float } %.148, 2
  %.152 = extractvalue { float, float, float, float } %.148, 3
  %.153 = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5}, {$6}, {$7, $8, $9, $10};", "=f,=f,=f,=f,r,r,r,f,f,f,f"(i32 %.144, i32 %.145, i32 %.147, float %.149, float %.150, float %.151, float %.152) convergent
  %.154 = extractvalue { float, float, float, float } %.153, 0
  %.155 = extractvalue { float, float, float, float } %.153, 1
  %.156 = extractvalue { float, float, float, float } %.153, 2
  %.157 = extractvalue { float, float, float, float } %.153, 3
  store float %.154, ptr %sum_8
  store float %.155, ptr %sum_9
  store float %.156, ptr %sum_10
  store float %.157, ptr %sum_11
  %.158 = udiv i32 %lane, 4
  %.159 = mul nsw i32 %.158, 16
  %.160 = mul nsw i32 %warp, 8
  %.161 = add nsw i32 %.159, %.160
  %.162 = urem i32 %lane, 4
  %.163 = mul nsw i32 %.162, 2
  %to = add nsw i32 %.161, %.163
  %.165 = sext i32 %to to i64
  %.166 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.165
  %.167 = load float, ptr %sum_0
  %.168 = load float, ptr %sum_1
  %.169 = insertelement <2 x float> poison, float %.167, i32 0
  %.170 = insertelement <2 x float> %.169, float %.168, i32 1
  store <2 x float> %.170, ptr addrspace(1) %.166, align 8
  %.171 = add nsw i32 %to, 128
  %.172 = sext i32 %.171 to i64
  %.173 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.172
  %.174 = load float, ptr %sum_2
  %.175 = load float, ptr %sum_3
  %.176 = insertelement <2 x float> poison, float %.174, i32 0
  %.177 = insertelement <2 x float> %.176, float %.175, i32 1
  store <2 x float> %.177, ptr addrspace(1) %.173, align 8
  %.178 = add nsw i32 %to, 256
  %.179 = sext i32 %.178 to i64
  %.180 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.179
  %.181 = load float, ptr %sum_4
  %.182 = load float, ptr %sum_5
  %.183 = insertelement <2 x float> poison, float %.181, i32 0
  %.184 = insertelement <2 x float> %.183, float %.182, i32 1
  store <2 x float> %.184, ptr addrspace(1) %.180, align 8
  %.185 = add nsw i32 %to, 384
  %.186 = sext i32 %.185 to i64
  %.187 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.186
  %.188 = load float, ptr %sum_6
  %.189 = load float, ptr %sum_7
  %.190 = insertelement <2 x float> poison, float %.188, i32 0
  %.191 = insertelement <2 x float> %.190, float %.189, i32 1
  store <2 x float> %.191, ptr addrspace(1) %.187, align 8
  %.192 = add nsw i32 %to, 512
  %.193 = sext i32 %.192 to i64
  %.194 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.193
  %.195 = load float, ptr %sum_8
  %.196 = load float, ptr %sum_9
  %.197 = insertelement <2 x float> poison, float %.195, i32 0
  %.198 = insertelement <2 x float> %.197, float %.196, i32 1
  store <2 x float> %.198, ptr addrspace(1) %.194, align 8
  %.199 = add nsw i32 %to, 640
  %.200 = sext i32 %.199 to i64
  %.201 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.200
  %.202 = load float, ptr %sum_10
  %.203 = load float, ptr %sum_11
  %.204 = insertelement <2 x float> poison, float %.202, i32 0
  %.205 = insertelement <2 x float> %.204, float %.203, i32 1
  store <2 x float> %.205, ptr addrspace(1) %.201, align 8
  ret void
}
