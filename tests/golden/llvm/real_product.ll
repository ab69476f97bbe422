target triple = "nvptx64-nvidia-cuda"

; 10 bits of fraction; ties away from zero.
define internal float @round_tf32(float %x) alwaysinline {
  %bits = call i32 @llvm.nvvm.f2tf32.rna(float %x)
  %y = bitcast i32 %bits to float
  ret float %y
}

; The first of two numbers of tf32 that x is the sum of: x rounded as by cvt.rna. A NaN may be lost.
define internal i32 @big_tf32(float %x) alwaysinline {
  %bits = bitcast float %x to i32
  %up = add i32 %bits, 4096
  %big = and i32 %up, -8192
  ret i32 %big
}

; The second one: what is left, without its last bit.
define internal i32 @small_tf32(float %x, i32 %big) alwaysinline {
  %taken = bitcast i32 %big to float
  %rest = fsub float %x, %taken
  %bits = bitcast float %rest to i32
  %small = and i32 %bits, -8192
  ret i32 %small
}

; x, of which the compiler does not know that it is always the same.
define internal float @hidden(float %x) alwaysinline {
  %y = call float asm sideeffect "", "=f,0"(float %x)
  ret float %y
}

; c = a * b, 16 x 8 x 16; and a, rounded.
define ptx_kernel void @real_product(ptr addrspace(1) noalias readonly align 4 %a, ptr addrspace(1) noalias readonly align 4 %b, ptr addrspace(1) noalias align 4 %c, ptr addrspace(1) noalias align 4 %rounded) convergent nounwind "nvvm.maxntid"="32" "nvvm.minctasm"="1" {
entry:
  %thread_x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %left_0 = alloca float
  %left_1 = alloca float
  %left_2 = alloca float
  %left_3 = alloca float
  %left_4 = alloca float
  %left_5 = alloca float
  %left_6 = alloca float
  %left_7 = alloca float
  %left_8 = alloca float
  %left_9 = alloca float
  %left_10 = alloca float
  %left_11 = alloca float
  %left_12 = alloca float
  %left_13 = alloca float
  %left_14 = alloca float
  %left_15 = alloca float
  %right_0 = alloca float
  %right_1 = alloca float
  %right_2 = alloca float
  %right_3 = alloca float
  %right_4 = alloca float
  %right_5 = alloca float
  %right_6 = alloca float
  %right_7 = alloca float
  %sum_0 = alloca float
  %sum_1 = alloca float
  %sum_2 = alloca float
  %sum_3 = alloca float
  %sum_4 = alloca float
  %sum_5 = alloca float
  %sum_6 = alloca float
  %sum_7 = alloca float
  %group = udiv i32 %thread_x, 4
  %quarter = urem i32 %thread_x, 4
  %.2 = mul nsw i32 %group, 16
  %place = add nsw i32 %.2, %quarter
  %.4 = sext i32 %place to i64
  %.5 = getelementptr inbounds i32, ptr addrspace(1) %a, i64 %.4
  %x = load float, ptr addrspace(1) %.5, align 4
  store float %x, ptr %left_0
  %.7 = call float @round_tf32(float %x)
  store float %.7, ptr %left_8
  %.8 = sext i32 %place to i64
  %.9 = getelementptr inbounds i32, ptr addrspace(1) %rounded, i64 %.8
  %.10 = load float, ptr %left_8
  store float %.10, ptr addrspace(1) %.9, align 4
  %.11 = add nsw i32 %group, 8
  %.12 = mul nsw i32 %.11, 16
  %place_2 = add nsw i32 %.12, %quarter
  %.14 = sext i32 %place_2 to i64
  %.15 = getelementptr inbounds i32, ptr addrspace(1) %a, i64 %.14
  %x_2 = load float, ptr addrspace(1) %.15, align 4
  store float %x_2, ptr %left_1
  %.17 = call float @round_tf32(float %x_2)
  store float %.17, ptr %left_9
  %.18 = sext i32 %place_2 to i64
  %.19 = getelementptr inbounds i32, ptr addrspace(1) %rounded, i64 %.18
  %.20 = load float, ptr %left_9
  store float %.20, ptr addrspace(1) %.19, align 4
  %.21 = mul nsw i32 %group, 16
  %.22 = add nsw i32 %quarter, 4
  %place_3 = add nsw i32 %.21, %.22
  %.24 = sext i32 %place_3 to i64
  %.25 = getelementptr inbounds i32, ptr addrspace(1) %a, i64 %.24
  %x_3 = load float, ptr addrspace(1) %.25, align 4
  store float %x_3, ptr %left_2
  %.27 = call float @round_tf32(float %x_3)
  store float %.27, ptr %left_10
  %.28 = sext i32 %place_3 to i64
  %.29 = getelementptr inbounds i32, ptr addrspace(1) %rounded, i64 %.28
  %.30 = load float, ptr %left_10
  store float %.30, ptr addrspace(1) %.29, align 4
  %.31 = add nsw i32 %group, 8
  %.32 = mul nsw i32 %.31, 16
  %.33 = add nsw i32 %quarter, 4
  %place_4 = add nsw i32 %.32, %.33
  %.35 = sext i32 %place_4 to i64
  %.36 = getelementptr inbounds i32, ptr addrspace(1) %a, i64 %.35
  %x_4 = load float, ptr addrspace(1) %.36, align 4
  store float %x_4, ptr %left_3
  %.38 = call float @round_tf32(float %x_4)
  store float %.38, ptr %left_11
  %.39 = sext i32 %place_4 to i64
  %.40 = getelementptr inbounds i32, ptr addrspace(1) %rounded, i64 %.39
  %.41 = load float, ptr %left_11
  store float %.41, ptr addrspace(1) %.40, align 4
  %.42 = mul nsw i32 %group, 16
  %.43 = add nsw i32 %quarter, 8
  %place_5 = add nsw i32 %.42, %.43
  %.45 = sext i32 %place_5 to i64
  %.46 = getelementptr inbounds i32, ptr addrspace(1) %a, i64 %.45
  %x_5 = load float, ptr addrspace(1) %.46, align 4
  store float %x_5, ptr %left_4
  %.48 = call float @round_tf32(float %x_5)
  store float %.48, ptr %left_12
  %.49 = sext i32 %place_5 to i64
  %.50 = getelementptr inbounds i32, ptr addrspace(1) %rounded, i64 %.49
  %.51 = load float, ptr %left_12
  store float %.51, ptr addrspace(1) %.50, align 4
  %.52 = add nsw i32 %group, 8
  %.53 = mul nsw i32 %.52, 16
  %.54 = add nsw i32 %quarter, 8
  %place_6 = add nsw i32 %.53, %.54
  %.56 = sext i32 %place_6 to i64
  %.57 = getelementptr inbounds i32, ptr addrspace(1) %a, i64 %.56
  %x_6 = load float, ptr addrspace(1) %.57, align 4
  store float %x_6, ptr %left_5
  %.59 = call float @round_tf32(float %x_6)
  store float %.59, ptr %left_13
  %.60 = sext i32 %place_6 to i64
  %.61 = getelementptr inbounds i32, ptr addrspace(1) %rounded, i64 %.60
  %.62 = load float, ptr %left_13
  store float %.62, ptr addrspace(1) %.61, align 4
  %.63 = mul nsw i32 %group, 16
  %.64 = add nsw i32 %quarter, 12
  %place_7 = add nsw i32 %.63, %.64
  %.66 = sext i32 %place_7 to i64
  %.67 = getelementptr inbounds i32, ptr addrspace(1) %a, i64 %.66
  %x_7 = load float, ptr addrspace(1) %.67, align 4
  store float %x_7, ptr %left_6
  %.69 = call float @round_tf32(float %x_7)
  store float %.69, ptr %left_14
  %.70 = sext i32 %place_7 to i64
  %.71 = getelementptr inbounds i32, ptr addrspace(1) %rounded, i64 %.70
  %.72 = load float, ptr %left_14
  store float %.72, ptr addrspace(1) %.71, align 4
  %.73 = add nsw i32 %group, 8
  %.74 = mul nsw i32 %.73, 16
  %.75 = add nsw i32 %quarter, 12
  %place_8 = add nsw i32 %.74, %.75
  %.77 = sext i32 %place_8 to i64
  %.78 = getelementptr inbounds i32, ptr addrspace(1) %a, i64 %.77
  %x_8 = load float, ptr addrspace(1) %.78, align 4
  store float %x_8, ptr %left_7
  %.80 = call float @round_tf32(float %x_8)
  store float %.80, ptr %left_15
  %.81 = sext i32 %place_8 to i64
  %.82 = getelementptr inbounds i32, ptr addrspace(1) %rounded, i64 %.81
  %.83 = load float, ptr %left_15
  store float %.83, ptr addrspace(1) %.82, align 4
  %.84 = mul nsw i32 %quarter, 8
  %.85 = add nsw i32 %.84, %group
  %.86 = sext i32 %.85 to i64
  %.87 = getelementptr inbounds i32, ptr addrspace(1) %b, i64 %.86
  %x_9 = load float, ptr addrspace(1) %.87, align 4
  store float %x_9, ptr %right_0
  %.89 = call float @round_tf32(float %x_9)
  store float %.89, ptr %right_4
  %.90 = add nsw i32 %quarter, 4
  %.91 = mul nsw i32 %.90, 8
  %.92 = add nsw i32 %.91, %group
  %.93 = sext i32 %.92 to i64
  %.94 = getelementptr inbounds i32, ptr addrspace(1) %b, i64 %.93
  %x_10 = load float, ptr addrspace(1) %.94, align 4
  store float %x_10, ptr %right_1
  %.96 = call float @round_tf32(float %x_10)
  store float %.96, ptr %right_5
  %.97 = add nsw i32 %quarter, 8
  %.98 = mul nsw i32 %.97, 8
  %.99 = add nsw i32 %.98, %group
  %.100 = sext i32 %.99 to i64
  %.101 = getelementptr inbounds i32, ptr addrspace(1) %b, i64 %.100
  %x_11 = load float, ptr addrspace(1) %.101, align 4
  store float %x_11, ptr %right_2
  %.103 = call float @round_tf32(float %x_11)
  store float %.103, ptr %right_6
  %.104 = add nsw i32 %quarter, 12
  %.105 = mul nsw i32 %.104, 8
  %.106 = add nsw i32 %.105, %group
  %.107 = sext i32 %.106 to i64
  %.108 = getelementptr inbounds i32, ptr addrspace(1) %b, i64 %.107
  %x_12 = load float, ptr addrspace(1) %.108, align 4
  store float %x_12, ptr %right_3
  %.110 = call float @round_tf32(float %x_12)
  store float %.110, ptr %right_7
  store float 0.0, ptr %sum_0
  store float 0.0, ptr %sum_1
  store float 0.0, ptr %sum_2
  store float 0.0, ptr %sum_3
  store float 0.0, ptr %sum_4
  store float 0.0, ptr %sum_5
  store float 0.0, ptr %sum_6
  store float 0.0, ptr %sum_7
  %.111 = load float, ptr %sum_0
  %.112 = load float, ptr %sum_1
  %.113 = load float, ptr %sum_2
  %.114 = load float, ptr %sum_3
  %.115 = load float, ptr %left_0
  %.116 = load float, ptr %left_1
  %.117 = load float, ptr %left_2
  %.118 = load float, ptr %left_3
  %.119 = load float, ptr %left_4
  %.120 = load float, ptr %left_5
  %.121 = load float, ptr %left_6
  %.122 = load float, ptr %left_7
  %.123 = load float, ptr %right_0
  %.124 = load float, ptr %right_1
  %.125 = load float, ptr %right_2
  %.126 = load float, ptr %right_3
  %.127 = call float @hidden(float %.115)
  %.128 = call i32 @big_tf32(float %.127)
  %.129 = call i32 @small_tf32(float %.127, i32 %.128)
  %.130 = call float @hidden(float %.116)
  %.131 = call i32 @big_tf32(float %.130)
  %.132 = call i32 @small_tf32(float %.130, i32 %.131)
  %.133 = call float @hidden(float %.117)
  %.134 = call i32 @big_tf32(float %.133)
  %.135 = call i32 @small_tf32(float %.133, i32 %.134)
  %.136 = call float @hidden(float %.118)
  %.137 = call i32 @big_tf32(float %.136)
  %.138 = call i32 @small_tf32(float %.136, i32 %.137)
  %.139 = call float @hidden(float %.119)
  %.140 = call i32 @big_tf32(float %.139)
  %.141 = call i32 @small_tf32(float %.139, i32 %.140)
  %.142 = call float @hidden(float %.120)
  %.143 = call i32 @big_tf32(float %.142)
  %.144 = call i32 @small_tf32(float %.142, i32 %.143)
  %.145 = call float @hidden(float %.121)
  %.146 = call i32 @big_tf32(float %.145)
  %.147 = call i32 @small_tf32(float %.145, i32 %.146)
  %.148 = call float @hidden(float %.122)
  %.149 = call i32 @big_tf32(float %.148)
  %.150 = call i32 @small_tf32(float %.148, i32 %.149)
  %.151 = call i32 @big_tf32(float %.123)
  %.152 = call i32 @small_tf32(float %.123, i32 %.151)
  %.153 = call i32 @big_tf32(float %.124)
  %.154 = call i32 @small_tf32(float %.124, i32 %.153)
  %.155 = call i32 @big_tf32(float %.125)
  %.156 = call i32 @small_tf32(float %.125, i32 %.155)
  %.157 = call i32 @big_tf32(float %.126)
  %.158 = call i32 @small_tf32(float %.126, i32 %.157)
  %.159 = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"(i32 %.129, i32 %.132, i32 %.135, i32 %.138, i32 %.151, i32 %.153, float 0.0, float 0.0, float 0.0, float 0.0) convergent
  %.160 = extractvalue { float, float, float, float } %.159, 0
  %.161 = extractvalue { float, float, float, float } %.159, 1
  %.162 = extractvalue { float, float, float, float } %.159, 2
  %.163 = extractvalue { float, float, float, float } %.159, 3
  %.164 = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"(i32 %.128, i32 %.131, i32 %.134, i32 %.137, i32 %.152, i32 %.154, float %.160, float %.161, float %.162, float %.163) convergent
  %.165 = extractvalue { float, float, float, float } %.164, 0
  %.166 = extractvalue { float, float, float, float } %.164, 1
  %.167 = extractvalue { float, float, float, float } %.164, 2
  %.168 = extractvalue { float, float, float, float } %.164, 3
  %.169 = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"(i32 %.141, i32 %.144, i32 %.147, i32 %.150, i32 %.155, i32 %.157, float %.165, float %.166, float %.167, float %.168) convergent
  %.170 = extractvalue { float, float, float, float } %.169, 0
  %.171 = extractvalue { float, float, float, float } %.169, 1
  %.172 = extractvalue { float, float, float, float } %.169, 2
  %.173 = extractvalue { float, float, float, float } %.169, 3
  %.174 = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"(i32 %.140, i32 %.143, i32 %.146, i32 %.149, i32 %.156, i32 %.158, float %.170, float %.171, float %.172, float %.173) convergent
  %.175 = extractvalue { float, float, float, float } %.174, 0
  %.176 = extractvalue { float, float, float, float } %.174, 1
  %.177 = extractvalue { float, float, float, float } %.174, 2
  %.178 = extractvalue { float, float, float, float } %.174, 3
  %.179 = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"(i32 %.128, i32 %.131, i32 %.134, i32 %.137, i32 %.151, i32 %.153, float %.175, float %.176, float %.177, float %.178) convergent
  %.180 = extractvalue { float, float, float, float } %.179, 0
  %.181 = extractvalue { float, float, float, float } %.179, 1
  %.182 = extractvalue { float, float, float, float } %.179, 2
  %.183 = extractvalue { float, float, float, float } %.179, 3
  %.184 = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"(i32 %.140, i32 %.143, i32 %.146, i32 %.149, i32 %.155, i32 %.157, float %.180, float %.181, float %.182, float %.183) convergent
  %.185 = extractvalue { float, float, float, float } %.184, 0
  %.186 = extractvalue { float, float, float, float } %.184, 1
  %.187 = extractvalue { float, float, float, float } %.184, 2
  %.188 = extractvalue { float, float, float, float } %.184, 3
  %.189 = fadd contract float %.111, %.185
  %.190 = fadd contract float %.112, %.186
  %.191 = fadd contract float %.113, %.187
  %.192 = fadd contract float %.114, %.188
  store float %.189, ptr %sum_0
  store float %.190, ptr %sum_1
  store float %.191, ptr %sum_2
  store float %.192, ptr %sum_3
  %.193 = mul nsw i32 %group, 8
  %.194 = mul nsw i32 %quarter, 2
  %.195 = add nsw i32 %.193, %.194
  %.196 = sext i32 %.195 to i64
  %.197 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.196
  %.198 = load float, ptr %sum_0
  %.199 = load float, ptr %sum_1
  %.200 = insertelement <2 x float> poison, float %.198, i32 0
  %.201 = insertelement <2 x float> %.200, float %.199, i32 1
  store <2 x float> %.201, ptr addrspace(1) %.197, align 8
  %.202 = add nsw i32 %group, 8
  %.203 = mul nsw i32 %.202, 8
  %.204 = mul nsw i32 %quarter, 2
  %.205 = add nsw i32 %.203, %.204
  %.206 = sext i32 %.205 to i64
  %.207 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.206
  %.208 = load float, ptr %sum_2
  %.209 = load float, ptr %sum_3
  %.210 = insertelement <2 x float> poison, float %.208, i32 0
  %.211 = insertelement <2 x float> %.210, float %.209, i32 1
  store <2 x float> %.211, ptr addrspace(1) %.207, align 8
  %.212 = load float, ptr %sum_4
  %.213 = load float, ptr %sum_5
  %.214 = load float, ptr %sum_6
  %.215 = load float, ptr %sum_7
  %.216 = load float, ptr %left_8
  %.217 = load float, ptr %left_9
  %.218 = load float, ptr %left_10
  %.219 = load float, ptr %left_11
  %.220 = load float, ptr %left_12
  %.221 = load float, ptr %left_13
  %.222 = load float, ptr %left_14
  %.223 = load float, ptr %left_15
  %.224 = load float, ptr %right_4
  %.225 = load float, ptr %right_5
  %.226 = load float, ptr %right_6
  %.227 = load float, ptr %right_7
  %.228 = bitcast float %.216 to i32
  %.229 = bitcast float %.217 to i32
  %.230 = bitcast float %.218 to i32
  %.231 = bitcast float %.219 to i32
  %.232 = bitcast float %.220 to i32
  %.233 = bitcast float %.221 to i32
  %.234 = bitcast float %.222 to i32
  %.235 = bitcast float %.223 to i32
  %.236 = bitcast float %.224 to i32
  %.237 = bitcast float %.225 to i32
  %.238 = bitcast float %.226 to i32
  %.239 = bitcast float %.227 to i32
  %.240 = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"(i32 %.228, i32 %.229, i32 %.230, i32 %.231, i32 %.236, i32 %.237, float %.212, float %.213, float %.214, float %.215) convergent
  %.241 = extractvalue { float, float, float, float } %.240, 0
  %.242 = extractvalue { float, float, float, float } %.240, 1
  %.243 = extractvalue { float, float, float, float } %.240, 2
  %.244 = extractvalue { float, float, float, float } %.240, 3
  %.245 = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"(i32 %.232, i32 %.233, i32 %.234, i32 %.235, i32 %.238, i32 %.239, float %.241, float %.242, float %.243, float %.244) convergent
  %.246 = extractvalue { float, float, float, float } %.245, 0
  %.247 = extractvalue { float, float, float, float } %.245, 1
  %.248 = extractvalue { float, float, float, float } %.245, 2
  %.249 = extractvalue { float, float, float, float } %.245, 3
  store float %.246, ptr %sum_4
  store float %.247, ptr %sum_5
  store float %.248, ptr %sum_6
  store float %.249, ptr %sum_7
  %.250 = mul nsw i32 %group, 8
  %.251 = mul nsw i32 %quarter, 2
  %.252 = add nsw i32 %.250, %.251
  %.253 = add nsw i32 %.252, 128
  %.254 = sext i32 %.253 to i64
  %.255 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.254
  %.256 = load float, ptr %sum_4
  %.257 = load float, ptr %sum_5
  %.258 = insertelement <2 x float> poison, float %.256, i32 0
  %.259 = insertelement <2 x float> %.258, float %.257, i32 1
  store <2 x float> %.259, ptr addrspace(1) %.255, align 8
  %.260 = add nsw i32 %group, 8
  %.261 = mul nsw i32 %.260, 8
  %.262 = mul nsw i32 %quarter, 2
  %.263 = add nsw i32 %.261, %.262
  %.264 = add nsw i32 %.263, 128
  %.265 = sext i32 %.264 to i64
  %.266 = getelementptr inbounds i32, ptr addrspace(1) %c, i64 %.265
  %.267 = load float, ptr %sum_6
  %.268 = load float, ptr %sum_7
  %.269 = insertelement <2 x float> poison, float %.267, i32 0
  %.270 = insertelement <2 x float> %.269, float %.268, i32 1
  store <2 x float> %.270, ptr addrspace(1) %.266, align 8
  ret void
}
