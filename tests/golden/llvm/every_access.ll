target triple = "nvptx64-nvidia-cuda"

@shared_memory = external addrspace(3) global [0 x i8], align 16

define internal i32 @pack_bf16(float %low, float %high) alwaysinline {
  %pair = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %high, float %low)
  %bits = bitcast <2 x bfloat> %pair to i32
  ret i32 %bits
}

define internal i32 @pack_fp16(float %low, float %high) alwaysinline {
  %pair = call <2 x half> @llvm.nvvm.ff2f16x2.rn(float %high, float %low)
  %bits = bitcast <2 x half> %pair to i32
  ret i32 %bits
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

define ptx_kernel void @every_access(ptr addrspace(1) noalias readonly align 4 %fp32_in, ptr addrspace(1) noalias align 4 %fp32_out, ptr addrspace(1) noalias readonly align 2 %bf16_in, ptr addrspace(1) noalias align 2 %bf16_out, ptr addrspace(1) noalias readonly align 2 %fp16_in, ptr addrspace(1) noalias align 2 %fp16_out, ptr addrspace(1) noalias readonly align 4 %int32_in, ptr addrspace(1) noalias align 4 %int32_out) convergent nounwind "nvvm.maxntid"="32" "nvvm.minctasm"="1" {
entry:
  %thread_x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = mul nsw i32 %thread_x, 8
  %.1 = sext i32 %place to i64
  %.2 = getelementptr inbounds i32, ptr addrspace(1) %fp32_in, i64 %.1
  %v = load float, ptr addrspace(1) %.2, align 4
  %.4 = sext i32 %place to i64
  %.5 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.4
  store float %v, ptr addrspace(1) %.5, align 4
  %.6 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %place
  store float %v, ptr addrspace(3) %.6, align 4
  %.7 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %place
  %s = load float, ptr addrspace(3) %.7, align 4
  %.9 = sext i32 %place to i64
  %.10 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.9
  store float %s, ptr addrspace(1) %.10, align 4
  %.11 = sext i32 %place to i64
  %.12 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.11
  %own = load float, ptr addrspace(1) %.12, align 4
  %.14 = sext i32 %place to i64
  %.15 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.14
  store float %own, ptr addrspace(1) %.15, align 4
  %.16 = sext i32 %place to i64
  %.17 = getelementptr inbounds i32, ptr addrspace(1) %fp32_in, i64 %.16
  %v_2 = call float asm "ld.global.cs.f32 $0, [$1];", "=f,l"(ptr addrspace(1) %.17)
  %.19 = sext i32 %place to i64
  %.20 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.19
  call void asm sideeffect "st.global.cs.f32 [$0], $1;", "l,f,~{memory}"(ptr addrspace(1) %.20, float %v_2)
  %.21 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %place
  store float %v_2, ptr addrspace(3) %.21, align 4
  %.22 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %place
  %s_2 = load float, ptr addrspace(3) %.22, align 4
  %.24 = sext i32 %place to i64
  %.25 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.24
  call void asm sideeffect "st.global.cs.f32 [$0], $1;", "l,f,~{memory}"(ptr addrspace(1) %.25, float %s_2)
  %.26 = sext i32 %place to i64
  %.27 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.26
  %own_2 = load float, ptr addrspace(1) %.27, align 4
  %.29 = sext i32 %place to i64
  %.30 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.29
  store float %own_2, ptr addrspace(1) %.30, align 4
  %.31 = sext i32 %place to i64
  %.32 = getelementptr inbounds i32, ptr addrspace(1) %fp32_in, i64 %.31
  %.33 = load <2 x float>, ptr addrspace(1) %.32, align 8
  %.34 = extractelement <2 x float> %.33, i32 0
  %v_1 = extractelement <2 x float> %.33, i32 1
  %.36 = sext i32 %place to i64
  %.37 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.36
  %.38 = insertelement <2 x float> poison, float %.34, i32 0
  %.39 = insertelement <2 x float> %.38, float %v_1, i32 1
  store <2 x float> %.39, ptr addrspace(1) %.37, align 8
  %.40 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %place
  %.41 = insertelement <2 x float> poison, float %.34, i32 0
  %.42 = insertelement <2 x float> %.41, float %v_1, i32 1
  store <2 x float> %.42, ptr addrspace(3) %.40, align 8
  %.43 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %place
  %.44 = load <2 x float>, ptr addrspace(3) %.43, align 8
  %.45 = extractelement <2 x float> %.44, i32 0
  %s_1 = extractelement <2 x float> %.44, i32 1
  %.47 = sext i32 %place to i64
  %.48 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.47
  %.49 = insertelement <2 x float> poison, float %.45, i32 0
  %.50 = insertelement <2 x float> %.49, float %s_1, i32 1
  store <2 x float> %.50, ptr addrspace(1) %.48, align 8
  %.51 = sext i32 %place to i64
  %.52 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.51
  %.53 = load <2 x float>, ptr addrspace(1) %.52, align 8
  %.54 = extractelement <2 x float> %.53, i32 0
  %own_1 = extractelement <2 x float> %.53, i32 1
  %.56 = sext i32 %place to i64
  %.57 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.56
  %.58 = insertelement <2 x float> poison, float %.54, i32 0
  %.59 = insertelement <2 x float> %.58, float %own_1, i32 1
  store <2 x float> %.59, ptr addrspace(1) %.57, align 8
  %.60 = sext i32 %place to i64
  %.61 = getelementptr inbounds i32, ptr addrspace(1) %fp32_in, i64 %.60
  %.62 = call { float, float } asm "ld.global.cs.v2.f32 {$0, $1}, [$2];", "=f,=f,l"(ptr addrspace(1) %.61)
  %.63 = extractvalue { float, float } %.62, 0
  %v_1_2 = extractvalue { float, float } %.62, 1
  %.65 = sext i32 %place to i64
  %.66 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.65
  call void asm sideeffect "st.global.cs.v2.f32 [$0], {$1, $2};", "l,f,f,~{memory}"(ptr addrspace(1) %.66, float %.63, float %v_1_2)
  %.67 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %place
  %.68 = insertelement <2 x float> poison, float %.63, i32 0
  %.69 = insertelement <2 x float> %.68, float %v_1_2, i32 1
  store <2 x float> %.69, ptr addrspace(3) %.67, align 8
  %.70 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %place
  %.71 = load <2 x float>, ptr addrspace(3) %.70, align 8
  %.72 = extractelement <2 x float> %.71, i32 0
  %s_1_2 = extractelement <2 x float> %.71, i32 1
  %.74 = sext i32 %place to i64
  %.75 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.74
  call void asm sideeffect "st.global.cs.v2.f32 [$0], {$1, $2};", "l,f,f,~{memory}"(ptr addrspace(1) %.75, float %.72, float %s_1_2)
  %.76 = sext i32 %place to i64
  %.77 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.76
  %.78 = load <2 x float>, ptr addrspace(1) %.77, align 8
  %.79 = extractelement <2 x float> %.78, i32 0
  %own_1_2 = extractelement <2 x float> %.78, i32 1
  %.81 = sext i32 %place to i64
  %.82 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.81
  %.83 = insertelement <2 x float> poison, float %.79, i32 0
  %.84 = insertelement <2 x float> %.83, float %own_1_2, i32 1
  store <2 x float> %.84, ptr addrspace(1) %.82, align 8
  %.85 = sext i32 %place to i64
  %.86 = getelementptr inbounds i32, ptr addrspace(1) %fp32_in, i64 %.85
  %.87 = load <4 x float>, ptr addrspace(1) %.86, align 16
  %.88 = extractelement <4 x float> %.87, i32 0
  %.89 = extractelement <4 x float> %.87, i32 1
  %.90 = extractelement <4 x float> %.87, i32 2
  %v_3 = extractelement <4 x float> %.87, i32 3
  %.92 = sext i32 %place to i64
  %.93 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.92
  %.94 = insertelement <4 x float> poison, float %.88, i32 0
  %.95 = insertelement <4 x float> %.94, float %.89, i32 1
  %.96 = insertelement <4 x float> %.95, float %.90, i32 2
  %.97 = insertelement <4 x float> %.96, float %v_3, i32 3
  store <4 x float> %.97, ptr addrspace(1) %.93, align 16
  %.98 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %place
  %.99 = insertelement <4 x float> poison, float %.88, i32 0
  %.100 = insertelement <4 x float> %.99, float %.89, i32 1
  %.101 = insertelement <4 x float> %.100, float %.90, i32 2
  %.102 = insertelement <4 x float> %.101, float %v_3, i32 3
  store <4 x float> %.102, ptr addrspace(3) %.98, align 16
  %.103 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %place
  %.104 = load <4 x float>, ptr addrspace(3) %.103, align 16
  %.105 = extractelement <4 x float> %.104, i32 0
  %.106 = extractelement <4 x float> %.104, i32 1
  %.107 = extractelement <4 x float> %.104, i32 2
  %s_3 = extractelement <4 x float> %.104, i32 3
  %.109 = sext i32 %place to i64
  %.110 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.109
  %.111 = insertelement <4 x float> poison, float %.105, i32 0
  %.112 = insertelement <4 x float> %.111, float %.106, i32 1
  %.113 = insertelement <4 x float> %.112, float %.107, i32 2
  %.114 = insertelement <4 x float> %.113, float %s_3, i32 3
  store <4 x float> %.114, ptr addrspace(1) %.110, align 16
  %.115 = sext i32 %place to i64
  %.116 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.115
  %.117 = load <4 x float>, ptr addrspace(1) %.116, align 16
  %.118 = extractelement <4 x float> %.117, i32 0
  %.119 = extractelement <4 x float> %.117, i32 1
  %.120 = extractelement <4 x float> %.117, i32 2
  %own_3 = extractelement <4 x float> %.117, i32 3
  %.122 = sext i32 %place to i64
  %.123 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.122
  %.124 = insertelement <4 x float> poison, float %.118, i32 0
  %.125 = insertelement <4 x float> %.124, float %.119, i32 1
  %.126 = insertelement <4 x float> %.125, float %.120, i32 2
  %.127 = insertelement <4 x float> %.126, float %own_3, i32 3
  store <4 x float> %.127, ptr addrspace(1) %.123, align 16
  %.128 = sext i32 %place to i64
  %.129 = getelementptr inbounds i32, ptr addrspace(1) %fp32_in, i64 %.128
  %.130 = call { float, float, float, float } asm "ld.global.cs.v4.f32 {$0, $1, $2, $3}, [$4];", "=f,=f,=f,=f,l"(ptr addrspace(1) %.129)
  %.131 = extractvalue { float, float, float, float } %.130, 0
  %.132 = extractvalue { float, float, float, float } %.130, 1
  %.133 = extractvalue { float, float, float, float } %.130, 2
  %v_3_2 = extractvalue { float, float, float, float } %.130, 3
  %.135 = sext i32 %place to i64
  %.136 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.135
  call void asm sideeffect "st.global.cs.v4.f32 [$0], {$1, $2, $3, $4};", "l,f,f,f,f,~{memory}"(ptr addrspace(1) %.136, float %.131, float %.132, float %.133, float %v_3_2)
  %.137 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %place
  %.138 = insertelement <4 x float> poison, float %.131, i32 0
  %.139 = insertelement <4 x float> %.138, float %.132, i32 1
  %.140 = insertelement <4 x float> %.139, float %.133, i32 2
  %.141 = insertelement <4 x float> %.140, float %v_3_2, i32 3
  store <4 x float> %.141, ptr addrspace(3) %.137, align 16
  %.142 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %place
  %.143 = load <4 x float>, ptr addrspace(3) %.142, align 16
  %.144 = extractelement <4 x float> %.143, i32 0
  %.145 = extractelement <4 x float> %.143, i32 1
  %.146 = extractelement <4 x float> %.143, i32 2
  %s_3_2 = extractelement <4 x float> %.143, i32 3
  %.148 = sext i32 %place to i64
  %.149 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.148
  call void asm sideeffect "st.global.cs.v4.f32 [$0], {$1, $2, $3, $4};", "l,f,f,f,f,~{memory}"(ptr addrspace(1) %.149, float %.144, float %.145, float %.146, float %s_3_2)
  %.150 = sext i32 %place to i64
  %.151 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.150
  %.152 = load <4 x float>, ptr addrspace(1) %.151, align 16
  %.153 = extractelement <4 x float> %.152, i32 0
  %.154 = extractelement <4 x float> %.152, i32 1
  %.155 = extractelement <4 x float> %.152, i32 2
  %own_3_2 = extractelement <4 x float> %.152, i32 3
  %.157 = sext i32 %place to i64
  %.158 = getelementptr inbounds i32, ptr addrspace(1) %fp32_out, i64 %.157
  %.159 = insertelement <4 x float> poison, float %.153, i32 0
  %.160 = insertelement <4 x float> %.159, float %.154, i32 1
  %.161 = insertelement <4 x float> %.160, float %.155, i32 2
  %.162 = insertelement <4 x float> %.161, float %own_3_2, i32 3
  store <4 x float> %.162, ptr addrspace(1) %.158, align 16
  %.163 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %place
  %.164 = sext i32 %place to i64
  %.165 = getelementptr inbounds i32, ptr addrspace(1) %fp32_in, i64 %.164
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %.163, ptr addrspace(1) %.165)
  %.166 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %place
  %.167 = sext i32 %place to i64
  %.168 = getelementptr inbounds i32, ptr addrspace(1) %fp32_in, i64 %.167
  call void @llvm.nvvm.cp.async.ca.shared.global.8(ptr addrspace(3) %.166, ptr addrspace(1) %.168)
  %.169 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %place
  %.170 = sext i32 %place to i64
  %.171 = getelementptr inbounds i32, ptr addrspace(1) %fp32_in, i64 %.170
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %.169, ptr addrspace(1) %.171)
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 0)
  %.172 = sext i32 %place to i64
  %.173 = getelementptr inbounds i16, ptr addrspace(1) %bf16_in, i64 %.172
  %.174 = load i16, ptr addrspace(1) %.173, align 2
  %.175 = zext i16 %.174 to i32
  %.176 = shl i32 %.175, 16
  %v_4 = bitcast i32 %.176 to float
  %.178 = sext i32 %place to i64
  %.179 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.178
  %.180 = fptrunc float %v_4 to bfloat
  %.181 = bitcast bfloat %.180 to i16
  store i16 %.181, ptr addrspace(1) %.179, align 2
  %.182 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1024), i32 %place
  %.183 = fptrunc float %v_4 to bfloat
  %.184 = bitcast bfloat %.183 to i16
  store i16 %.184, ptr addrspace(3) %.182, align 2
  %.185 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1024), i32 %place
  %.186 = load i16, ptr addrspace(3) %.185, align 2
  %.187 = zext i16 %.186 to i32
  %.188 = shl i32 %.187, 16
  %s_4 = bitcast i32 %.188 to float
  %.190 = sext i32 %place to i64
  %.191 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.190
  %.192 = fptrunc float %s_4 to bfloat
  %.193 = bitcast bfloat %.192 to i16
  store i16 %.193, ptr addrspace(1) %.191, align 2
  %.194 = sext i32 %place to i64
  %.195 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.194
  %.196 = load i16, ptr addrspace(1) %.195, align 2
  %.197 = zext i16 %.196 to i32
  %.198 = shl i32 %.197, 16
  %own_4 = bitcast i32 %.198 to float
  %.200 = sext i32 %place to i64
  %.201 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.200
  %.202 = fptrunc float %own_4 to bfloat
  %.203 = bitcast bfloat %.202 to i16
  store i16 %.203, ptr addrspace(1) %.201, align 2
  %.204 = sext i32 %place to i64
  %.205 = getelementptr inbounds i16, ptr addrspace(1) %bf16_in, i64 %.204
  %.206 = call i16 asm "ld.global.cs.b16 $0, [$1];", "=h,l"(ptr addrspace(1) %.205)
  %.207 = zext i16 %.206 to i32
  %.208 = shl i32 %.207, 16
  %v_5 = bitcast i32 %.208 to float
  %.210 = sext i32 %place to i64
  %.211 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.210
  %.212 = fptrunc float %v_5 to bfloat
  %.213 = bitcast bfloat %.212 to i16
  call void asm sideeffect "st.global.cs.b16 [$0], $1;", "l,h,~{memory}"(ptr addrspace(1) %.211, i16 %.213)
  %.214 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1024), i32 %place
  %.215 = fptrunc float %v_5 to bfloat
  %.216 = bitcast bfloat %.215 to i16
  store i16 %.216, ptr addrspace(3) %.214, align 2
  %.217 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1024), i32 %place
  %.218 = load i16, ptr addrspace(3) %.217, align 2
  %.219 = zext i16 %.218 to i32
  %.220 = shl i32 %.219, 16
  %s_5 = bitcast i32 %.220 to float
  %.222 = sext i32 %place to i64
  %.223 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.222
  %.224 = fptrunc float %s_5 to bfloat
  %.225 = bitcast bfloat %.224 to i16
  call void asm sideeffect "st.global.cs.b16 [$0], $1;", "l,h,~{memory}"(ptr addrspace(1) %.223, i16 %.225)
  %.226 = sext i32 %place to i64
  %.227 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.226
  %.228 = load i16, ptr addrspace(1) %.227, align 2
  %.229 = zext i16 %.228 to i32
  %.230 = shl i32 %.229, 16
  %own_5 = bitcast i32 %.230 to float
  %.232 = sext i32 %place to i64
  %.233 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.232
  %.234 = fptrunc float %own_5 to bfloat
  %.235 = bitcast bfloat %.234 to i16
  store i16 %.235, ptr addrspace(1) %.233, align 2
  %.236 = sext i32 %place to i64
  %.237 = getelementptr inbounds i16, ptr addrspace(1) %bf16_in, i64 %.236
  %.238 = load i32, ptr addrspace(1) %.237, align 4
  %.239 = call float @low_bf16(i32 %.238)
  %v_1_5 = call float @high_bf16(i32 %.238)
  %.241 = sext i32 %place to i64
  %.242 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.241
  %.243 = call i32 @pack_bf16(float %.239, float %v_1_5)
  store i32 %.243, ptr addrspace(1) %.242, align 4
  %.244 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1024), i32 %place
  %.245 = call i32 @pack_bf16(float %.239, float %v_1_5)
  store i32 %.245, ptr addrspace(3) %.244, align 4
  %.246 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1024), i32 %place
  %.247 = load i32, ptr addrspace(3) %.246, align 4
  %.248 = call float @low_bf16(i32 %.247)
  %s_1_5 = call float @high_bf16(i32 %.247)
  %.250 = sext i32 %place to i64
  %.251 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.250
  %.252 = call i32 @pack_bf16(float %.248, float %s_1_5)
  store i32 %.252, ptr addrspace(1) %.251, align 4
  %.253 = sext i32 %place to i64
  %.254 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.253
  %.255 = load i32, ptr addrspace(1) %.254, align 4
  %.256 = call float @low_bf16(i32 %.255)
  %own_1_5 = call float @high_bf16(i32 %.255)
  %.258 = sext i32 %place to i64
  %.259 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.258
  %.260 = call i32 @pack_bf16(float %.256, float %own_1_5)
  store i32 %.260, ptr addrspace(1) %.259, align 4
  %.261 = sext i32 %place to i64
  %.262 = getelementptr inbounds i16, ptr addrspace(1) %bf16_in, i64 %.261
  %.263 = call i32 asm "ld.global.cs.b32 $0, [$1];", "=r,l"(ptr addrspace(1) %.262)
  %.264 = call float @low_bf16(i32 %.263)
  %v_1_6 = call float @high_bf16(i32 %.263)
  %.266 = sext i32 %place to i64
  %.267 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.266
  %.268 = call i32 @pack_bf16(float %.264, float %v_1_6)
  call void asm sideeffect "st.global.cs.b32 [$0], $1;", "l,r,~{memory}"(ptr addrspace(1) %.267, i32 %.268)
  %.269 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1024), i32 %place
  %.270 = call i32 @pack_bf16(float %.264, float %v_1_6)
  store i32 %.270, ptr addrspace(3) %.269, align 4
  %.271 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1024), i32 %place
  %.272 = load i32, ptr addrspace(3) %.271, align 4
  %.273 = call float @low_bf16(i32 %.272)
  %s_1_6 = call float @high_bf16(i32 %.272)
  %.275 = sext i32 %place to i64
  %.276 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.275
  %.277 = call i32 @pack_bf16(float %.273, float %s_1_6)
  call void asm sideeffect "st.global.cs.b32 [$0], $1;", "l,r,~{memory}"(ptr addrspace(1) %.276, i32 %.277)
  %.278 = sext i32 %place to i64
  %.279 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.278
  %.280 = load i32, ptr addrspace(1) %.279, align 4
  %.281 = call float @low_bf16(i32 %.280)
  %own_1_6 = call float @high_bf16(i32 %.280)
  %.283 = sext i32 %place to i64
  %.284 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.283
  %.285 = call i32 @pack_bf16(float %.281, float %own_1_6)
  store i32 %.285, ptr addrspace(1) %.284, align 4
  %.286 = sext i32 %place to i64
  %.287 = getelementptr inbounds i16, ptr addrspace(1) %bf16_in, i64 %.286
  %.288 = load <2 x i32>, ptr addrspace(1) %.287, align 8
  %.289 = extractelement <2 x i32> %.288, i32 0
  %.290 = extractelement <2 x i32> %.288, i32 1
  %.291 = call float @low_bf16(i32 %.289)
  %.292 = call float @high_bf16(i32 %.289)
  %.293 = call float @low_bf16(i32 %.290)
  %v_3_3 = call float @high_bf16(i32 %.290)
  %.295 = sext i32 %place to i64
  %.296 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.295
  %.297 = call i32 @pack_bf16(float %.291, float %.292)
  %.298 = call i32 @pack_bf16(float %.293, float %v_3_3)
  %.299 = insertelement <2 x i32> poison, i32 %.297, i32 0
  %.300 = insertelement <2 x i32> %.299, i32 %.298, i32 1
  store <2 x i32> %.300, ptr addrspace(1) %.296, align 8
  %.301 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1024), i32 %place
  %.302 = call i32 @pack_bf16(float %.291, float %.292)
  %.303 = call i32 @pack_bf16(float %.293, float %v_3_3)
  %.304 = insertelement <2 x i32> poison, i32 %.302, i32 0
  %.305 = insertelement <2 x i32> %.304, i32 %.303, i32 1
  store <2 x i32> %.305, ptr addrspace(3) %.301, align 8
  %.306 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1024), i32 %place
  %.307 = load <2 x i32>, ptr addrspace(3) %.306, align 8
  %.308 = extractelement <2 x i32> %.307, i32 0
  %.309 = extractelement <2 x i32> %.307, i32 1
  %.310 = call float @low_bf16(i32 %.308)
  %.311 = call float @high_bf16(i32 %.308)
  %.312 = call float @low_bf16(i32 %.309)
  %s_3_3 = call float @high_bf16(i32 %.309)
  %.314 = sext i32 %place to i64
  %.315 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.314
  %.316 = call i32 @pack_bf16(float %.310, float %.311)
  %.317 = call i32 @pack_bf16(float %.312, float %s_3_3)
  %.318 = insertelement <2 x i32> poison, i32 %.316, i32 0
  %.319 = insertelement <2 x i32> %.318, i32 %.317, i32 1
  store <2 x i32> %.319, ptr addrspace(1) %.315, align 8
  %.320 = sext i32 %place to i64
  %.321 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.320
  %.322 = load <2 x i32>, ptr addrspace(1) %.321, align 8
  %.323 = extractelement <2 x i32> %.322, i32 0
  %.324 = extractelement <2 x i32> %.322, i32 1
  %.325 = call float @low_bf16(i32 %.323)
  %.326 = call float @high_bf16(i32 %.323)
  %.327 = call float @low_bf16(i32 %.324)
  %own_3_3 = call float @high_bf16(i32 %.324)
  %.329 = sext i32 %place to i64
  %.330 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.329
  %.331 = call i32 @pack_bf16(float %.325, float %.326)
  %.332 = call i32 @pack_bf16(float %.327, float %own_3_3)
  %.333 = insertelement <2 x i32> poison, i32 %.331, i32 0
  %.334 = insertelement <2 x i32> %.333, i32 %.332, i32 1
  store <2 x i32> %.334, ptr addrspace(1) %.330, align 8
  %.335 = sext i32 %place to i64
  %.336 = getelementptr inbounds i16, ptr addrspace(1) %bf16_in, i64 %.335
  %.337 = call { i32, i32 } asm "ld.global.cs.v2.b32 {$0, $1}, [$2];", "=r,=r,l"(ptr addrspace(1) %.336)
  %.338 = extractvalue { i32, i32 } %.337, 0
  %.339 = extractvalue { i32, i32 } %.337, 1
  %.340 = call float @low_bf16(i32 %.338)
  %.341 = call float @high_bf16(i32 %.338)
  %.342 = call float @low_bf16(i32 %.339)
  %v_3_4 = call float @high_bf16(i32 %.339)
  %.344 = sext i32 %place to i64
  %.345 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.344
  %.346 = call i32 @pack_bf16(float %.340, float %.341)
  %.347 = call i32 @pack_bf16(float %.342, float %v_3_4)
  call void asm sideeffect "st.global.cs.v2.b32 [$0], {$1, $2};", "l,r,r,~{memory}"(ptr addrspace(1) %.345, i32 %.346, i32 %.347)
  %.348 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1024), i32 %place
  %.349 = call i32 @pack_bf16(float %.340, float %.341)
  %.350 = call i32 @pack_bf16(float %.342, float %v_3_4)
  %.351 = insertelement <2 x i32> poison, i32 %.349, i32 0
  %.352 = insertelement <2 x i32> %.351, i32 %.350, i32 1
  store <2 x i32> %.352, ptr addrspace(3) %.348, align 8
  %.353 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1024), i32 %place
  %.354 = load <2 x i32>, ptr addrspace(3) %.353, align 8
  %.355 = extractelement <2 x i32> %.354, i32 0
  %.356 = extractelement <2 x i32> %.354, i32 1
  %.357 = call float @low_bf16(i32 %.355)
  %.358 = call float @high_bf16(i32 %.355)
  %.359 = call float @low_bf16(i32 %.356)
  %s_3_4 = call float @high_bf16(i32 %.356)
  %.361 = sext i32 %place to i64
  %.362 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.361
  %.363 = call i32 @pack_bf16(float %.357, float %.358)
  %.364 = call i32 @pack_bf16(float %.359, float %s_3_4)
  call void asm sideeffect "st.global.cs.v2.b32 [$0], {$1, $2};", "l,r,r,~{memory}"(ptr addrspace(1) %.362, i32 %.363, i32 %.364)
  %.365 = sext i32 %place to i64
  %.366 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.365
  %.367 = load <2 x i32>, ptr addrspace(1) %.366, align 8
  %.368 = extractelement <2 x i32> %.367, i32 0
  %.369 = extractelement <2 x i32> %.367, i32 1
  %.370 = call float @low_bf16(i32 %.368)
  %.371 = call float @high_bf16(i32 %.368)
  %.372 = call float @low_bf16(i32 %.369)
  %own_3_4 = call float @high_bf16(i32 %.369)
  %.374 = sext i32 %place to i64
  %.375 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.374
  %.376 = call i32 @pack_bf16(float %.370, float %.371)
  %.377 = call i32 @pack_bf16(float %.372, float %own_3_4)
  %.378 = insertelement <2 x i32> poison, i32 %.376, i32 0
  %.379 = insertelement <2 x i32> %.378, i32 %.377, i32 1
  store <2 x i32> %.379, ptr addrspace(1) %.375, align 8
  %.380 = sext i32 %place to i64
  %.381 = getelementptr inbounds i16, ptr addrspace(1) %bf16_in, i64 %.380
  %.382 = load <4 x i32>, ptr addrspace(1) %.381, align 16
  %.383 = extractelement <4 x i32> %.382, i32 0
  %.384 = extractelement <4 x i32> %.382, i32 1
  %.385 = extractelement <4 x i32> %.382, i32 2
  %.386 = extractelement <4 x i32> %.382, i32 3
  %.387 = call float @low_bf16(i32 %.383)
  %.388 = call float @high_bf16(i32 %.383)
  %.389 = call float @low_bf16(i32 %.384)
  %.390 = call float @high_bf16(i32 %.384)
  %.391 = call float @low_bf16(i32 %.385)
  %.392 = call float @high_bf16(i32 %.385)
  %.393 = call float @low_bf16(i32 %.386)
  %v_7 = call float @high_bf16(i32 %.386)
  %.395 = sext i32 %place to i64
  %.396 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.395
  %.397 = call i32 @pack_bf16(float %.387, float %.388)
  %.398 = call i32 @pack_bf16(float %.389, float %.390)
  %.399 = call i32 @pack_bf16(float %.391, float %.392)
  %.400 = call i32 @pack_bf16(float %.393, float %v_7)
  %.401 = insertelement <4 x i32> poison, i32 %.397, i32 0
  %.402 = insertelement <4 x i32> %.401, i32 %.398, i32 1
  %.403 = insertelement <4 x i32> %.402, i32 %.399, i32 2
  %.404 = insertelement <4 x i32> %.403, i32 %.400, i32 3
  store <4 x i32> %.404, ptr addrspace(1) %.396, align 16
  %.405 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1024), i32 %place
  %.406 = call i32 @pack_bf16(float %.387, float %.388)
  %.407 = call i32 @pack_bf16(float %.389, float %.390)
  %.408 = call i32 @pack_bf16(float %.391, float %.392)
  %.409 = call i32 @pack_bf16(float %.393, float %v_7)
  %.410 = insertelement <4 x i32> poison, i32 %.406, i32 0
  %.411 = insertelement <4 x i32> %.410, i32 %.407, i32 1
  %.412 = insertelement <4 x i32> %.411, i32 %.408, i32 2
  %.413 = insertelement <4 x i32> %.412, i32 %.409, i32 3
  store <4 x i32> %.413, ptr addrspace(3) %.405, align 16
  %.414 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1024), i32 %place
  %.415 = load <4 x i32>, ptr addrspace(3) %.414, align 16
  %.416 = extractelement <4 x i32> %.415, i32 0
  %.417 = extractelement <4 x i32> %.415, i32 1
  %.418 = extractelement <4 x i32> %.415, i32 2
  %.419 = extractelement <4 x i32> %.415, i32 3
  %.420 = call float @low_bf16(i32 %.416)
  %.421 = call float @high_bf16(i32 %.416)
  %.422 = call float @low_bf16(i32 %.417)
  %.423 = call float @high_bf16(i32 %.417)
  %.424 = call float @low_bf16(i32 %.418)
  %.425 = call float @high_bf16(i32 %.418)
  %.426 = call float @low_bf16(i32 %.419)
  %s_7 = call float @high_bf16(i32 %.419)
  %.428 = sext i32 %place to i64
  %.429 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.428
  %.430 = call i32 @pack_bf16(float %.420, float %.421)
  %.431 = call i32 @pack_bf16(float %.422, float %.423)
  %.432 = call i32 @pack_bf16(float %.424, float %.425)
  %.433 = call i32 @pack_bf16(float %.426, float %s_7)
  %.434 = insertelement <4 x i32> poison, i32 %.430, i32 0
  %.435 = insertelement <4 x i32> %.434, i32 %.431, i32 1
  %.436 = insertelement <4 x i32> %.435, i32 %.432, i32 2
  %.437 = insertelement <4 x i32> %.436, i32 %.433, i32 3
  store <4 x i32> %.437, ptr addrspace(1) %.429, align 16
  %.438 = sext i32 %place to i64
  %.439 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.438
  %.440 = load <4 x i32>, ptr addrspace(1) %.439, align 16
  %.441 = extractelement <4 x i32> %.440, i32 0
  %.442 = extractelement <4 x i32> %.440, i32 1
  %.443 = extractelement <4 x i32> %.440, i32 2
  %.444 = extractelement <4 x i32> %.440, i32 3
  %.445 = call float @low_bf16(i32 %.441)
  %.446 = call float @high_bf16(i32 %.441)
  %.447 = call float @low_bf16(i32 %.442)
  %.448 = call float @high_bf16(i32 %.442)
  %.449 = call float @low_bf16(i32 %.443)
  %.450 = call float @high_bf16(i32 %.443)
  %.451 = call float @low_bf16(i32 %.444)
  %own_7 = call float @high_bf16(i32 %.444)
  %.453 = sext i32 %place to i64
  %.454 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.453
  %.455 = call i32 @pack_bf16(float %.445, float %.446)
  %.456 = call i32 @pack_bf16(float %.447, float %.448)
  %.457 = call i32 @pack_bf16(float %.449, float %.450)
  %.458 = call i32 @pack_bf16(float %.451, float %own_7)
  %.459 = insertelement <4 x i32> poison, i32 %.455, i32 0
  %.460 = insertelement <4 x i32> %.459, i32 %.456, i32 1
  %.461 = insertelement <4 x i32> %.460, i32 %.457, i32 2
  %.462 = insertelement <4 x i32> %.461, i32 %.458, i32 3
  store <4 x i32> %.462, ptr addrspace(1) %.454, align 16
  %.463 = sext i32 %place to i64
  %.464 = getelementptr inbounds i16, ptr addrspace(1) %bf16_in, i64 %.463
  %.465 = call { i32, i32, i32, i32 } asm "ld.global.cs.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l"(ptr addrspace(1) %.464)
  %.466 = extractvalue { i32, i32, i32, i32 } %.465, 0
  %.467 = extractvalue { i32, i32, i32, i32 } %.465, 1
  %.468 = extractvalue { i32, i32, i32, i32 } %.465, 2
  %.469 = extractvalue { i32, i32, i32, i32 } %.465, 3
  %.470 = call float @low_bf16(i32 %.466)
  %.471 = call float @high_bf16(i32 %.466)
  %.472 = call float @low_bf16(i32 %.467)
  %.473 = call float @high_bf16(i32 %.467)
  %.474 = call float @low_bf16(i32 %.468)
  %.475 = call float @high_bf16(i32 %.468)
  %.476 = call float @low_bf16(i32 %.469)
  %v_7_2 = call float @high_bf16(i32 %.469)
  %.478 = sext i32 %place to i64
  %.479 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.478
  %.480 = call i32 @pack_bf16(float %.470, float %.471)
  %.481 = call i32 @pack_bf16(float %.472, float %.473)
  %.482 = call i32 @pack_bf16(float %.474, float %.475)
  %.483 = call i32 @pack_bf16(float %.476, float %v_7_2)
  call void asm sideeffect "st.global.cs.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,~{memory}"(ptr addrspace(1) %.479, i32 %.480, i32 %.481, i32 %.482, i32 %.483)
  %.484 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1024), i32 %place
  %.485 = call i32 @pack_bf16(float %.470, float %.471)
  %.486 = call i32 @pack_bf16(float %.472, float %.473)
  %.487 = call i32 @pack_bf16(float %.474, float %.475)
  %.488 = call i32 @pack_bf16(float %.476, float %v_7_2)
  %.489 = insertelement <4 x i32> poison, i32 %.485, i32 0
  %.490 = insertelement <4 x i32> %.489, i32 %.486, i32 1
  %.491 = insertelement <4 x i32> %.490, i32 %.487, i32 2
  %.492 = insertelement <4 x i32> %.491, i32 %.488, i32 3
  store <4 x i32> %.492, ptr addrspace(3) %.484, align 16
  %.493 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1024), i32 %place
  %.494 = load <4 x i32>, ptr addrspace(3) %.493, align 16
  %.495 = extractelement <4 x i32> %.494, i32 0
  %.496 = extractelement <4 x i32> %.494, i32 1
  %.497 = extractelement <4 x i32> %.494, i32 2
  %.498 = extractelement <4 x i32> %.494, i32 3
  %.499 = call float @low_bf16(i32 %.495)
  %.500 = call float @high_bf16(i32 %.495)
  %.501 = call float @low_bf16(i32 %.496)
  %.502 = call float @high_bf16(i32 %.496)
  %.503 = call float @low_bf16(i32 %.497)
  %.504 = call float @high_bf16(i32 %.497)
  %.505 = call float @low_bf16(i32 %.498)
  %s_7_2 = call float @high_bf16(i32 %.498)
  %.507 = sext i32 %place to i64
  %.508 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.507
  %.509 = call i32 @pack_bf16(float %.499, float %.500)
  %.510 = call i32 @pack_bf16(float %.501, float %.502)
  %.511 = call i32 @pack_bf16(float %.503, float %.504)
  %.512 = call i32 @pack_bf16(float %.505, float %s_7_2)
  call void asm sideeffect "st.global.cs.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,~{memory}"(ptr addrspace(1) %.508, i32 %.509, i32 %.510, i32 %.511, i32 %.512)
  %.513 = sext i32 %place to i64
  %.514 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.513
  %.515 = load <4 x i32>, ptr addrspace(1) %.514, align 16
  %.516 = extractelement <4 x i32> %.515, i32 0
  %.517 = extractelement <4 x i32> %.515, i32 1
  %.518 = extractelement <4 x i32> %.515, i32 2
  %.519 = extractelement <4 x i32> %.515, i32 3
  %.520 = call float @low_bf16(i32 %.516)
  %.521 = call float @high_bf16(i32 %.516)
  %.522 = call float @low_bf16(i32 %.517)
  %.523 = call float @high_bf16(i32 %.517)
  %.524 = call float @low_bf16(i32 %.518)
  %.525 = call float @high_bf16(i32 %.518)
  %.526 = call float @low_bf16(i32 %.519)
  %own_7_2 = call float @high_bf16(i32 %.519)
  %.528 = sext i32 %place to i64
  %.529 = getelementptr inbounds i16, ptr addrspace(1) %bf16_out, i64 %.528
  %.530 = call i32 @pack_bf16(float %.520, float %.521)
  %.531 = call i32 @pack_bf16(float %.522, float %.523)
  %.532 = call i32 @pack_bf16(float %.524, float %.525)
  %.533 = call i32 @pack_bf16(float %.526, float %own_7_2)
  %.534 = insertelement <4 x i32> poison, i32 %.530, i32 0
  %.535 = insertelement <4 x i32> %.534, i32 %.531, i32 1
  %.536 = insertelement <4 x i32> %.535, i32 %.532, i32 2
  %.537 = insertelement <4 x i32> %.536, i32 %.533, i32 3
  store <4 x i32> %.537, ptr addrspace(1) %.529, align 16
  %.538 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1024), i32 %place
  %.539 = sext i32 %place to i64
  %.540 = getelementptr inbounds i16, ptr addrspace(1) %bf16_in, i64 %.539
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %.538, ptr addrspace(1) %.540)
  %.541 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1024), i32 %place
  %.542 = sext i32 %place to i64
  %.543 = getelementptr inbounds i16, ptr addrspace(1) %bf16_in, i64 %.542
  call void @llvm.nvvm.cp.async.ca.shared.global.8(ptr addrspace(3) %.541, ptr addrspace(1) %.543)
  %.544 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1024), i32 %place
  %.545 = sext i32 %place to i64
  %.546 = getelementptr inbounds i16, ptr addrspace(1) %bf16_in, i64 %.545
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %.544, ptr addrspace(1) %.546)
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 0)
  %.547 = sext i32 %place to i64
  %.548 = getelementptr inbounds i16, ptr addrspace(1) %fp16_in, i64 %.547
  %.549 = load i16, ptr addrspace(1) %.548, align 2
  %.550 = bitcast i16 %.549 to half
  %v_8 = fpext half %.550 to float
  %.552 = sext i32 %place to i64
  %.553 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.552
  %.554 = fptrunc float %v_8 to half
  %.555 = bitcast half %.554 to i16
  store i16 %.555, ptr addrspace(1) %.553, align 2
  %.556 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %place
  %.557 = fptrunc float %v_8 to half
  %.558 = bitcast half %.557 to i16
  store i16 %.558, ptr addrspace(3) %.556, align 2
  %.559 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %place
  %.560 = load i16, ptr addrspace(3) %.559, align 2
  %.561 = bitcast i16 %.560 to half
  %s_8 = fpext half %.561 to float
  %.563 = sext i32 %place to i64
  %.564 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.563
  %.565 = fptrunc float %s_8 to half
  %.566 = bitcast half %.565 to i16
  store i16 %.566, ptr addrspace(1) %.564, align 2
  %.567 = sext i32 %place to i64
  %.568 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.567
  %.569 = load i16, ptr addrspace(1) %.568, align 2
  %.570 = bitcast i16 %.569 to half
  %own_8 = fpext half %.570 to float
  %.572 = sext i32 %place to i64
  %.573 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.572
  %.574 = fptrunc float %own_8 to half
  %.575 = bitcast half %.574 to i16
  store i16 %.575, ptr addrspace(1) %.573, align 2
  %.576 = sext i32 %place to i64
  %.577 = getelementptr inbounds i16, ptr addrspace(1) %fp16_in, i64 %.576
  %.578 = call i16 asm "ld.global.cs.b16 $0, [$1];", "=h,l"(ptr addrspace(1) %.577)
  %.579 = bitcast i16 %.578 to half
  %v_9 = fpext half %.579 to float
  %.581 = sext i32 %place to i64
  %.582 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.581
  %.583 = fptrunc float %v_9 to half
  %.584 = bitcast half %.583 to i16
  call void asm sideeffect "st.global.cs.b16 [$0], $1;", "l,h,~{memory}"(ptr addrspace(1) %.582, i16 %.584)
  %.585 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %place
  %.586 = fptrunc float %v_9 to half
  %.587 = bitcast half %.586 to i16
  store i16 %.587, ptr addrspace(3) %.585, align 2
  %.588 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %place
  %.589 = load i16, ptr addrspace(3) %.588, align 2
  %.590 = bitcast i16 %.589 to half
  %s_9 = fpext half %.590 to float
  %.592 = sext i32 %place to i64
  %.593 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.592
  %.594 = fptrunc float %s_9 to half
  %.595 = bitcast half %.594 to i16
  call void asm sideeffect "st.global.cs.b16 [$0], $1;", "l,h,~{memory}"(ptr addrspace(1) %.593, i16 %.595)
  %.596 = sext i32 %place to i64
  %.597 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.596
  %.598 = load i16, ptr addrspace(1) %.597, align 2
  %.599 = bitcast i16 %.598 to half
  %own_9 = fpext half %.599 to float
  %.601 = sext i32 %place to i64
  %.602 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.601
  %.603 = fptrunc float %own_9 to half
  %.604 = bitcast half %.603 to i16
  store i16 %.604, ptr addrspace(1) %.602, align 2
  %.605 = sext i32 %place to i64
  %.606 = getelementptr inbounds i16, ptr addrspace(1) %fp16_in, i64 %.605
  %.607 = load i32, ptr addrspace(1) %.606, align 4
  %.608 = call float @low_fp16(i32 %.607)
  %v_1_11 = call float @high_fp16(i32 %.607)
  %.610 = sext i32 %place to i64
  %.611 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.610
  %.612 = call i32 @pack_fp16(float %.608, float %v_1_11)
  store i32 %.612, ptr addrspace(1) %.611, align 4
  %.613 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %place
  %.614 = call i32 @pack_fp16(float %.608, float %v_1_11)
  store i32 %.614, ptr addrspace(3) %.613, align 4
  %.615 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %place
  %.616 = load i32, ptr addrspace(3) %.615, align 4
  %.617 = call float @low_fp16(i32 %.616)
  %s_1_11 = call float @high_fp16(i32 %.616)
  %.619 = sext i32 %place to i64
  %.620 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.619
  %.621 = call i32 @pack_fp16(float %.617, float %s_1_11)
  store i32 %.621, ptr addrspace(1) %.620, align 4
  %.622 = sext i32 %place to i64
  %.623 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.622
  %.624 = load i32, ptr addrspace(1) %.623, align 4
  %.625 = call float @low_fp16(i32 %.624)
  %own_1_11 = call float @high_fp16(i32 %.624)
  %.627 = sext i32 %place to i64
  %.628 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.627
  %.629 = call i32 @pack_fp16(float %.625, float %own_1_11)
  store i32 %.629, ptr addrspace(1) %.628, align 4
  %.630 = sext i32 %place to i64
  %.631 = getelementptr inbounds i16, ptr addrspace(1) %fp16_in, i64 %.630
  %.632 = call i32 asm "ld.global.cs.b32 $0, [$1];", "=r,l"(ptr addrspace(1) %.631)
  %.633 = call float @low_fp16(i32 %.632)
  %v_1_12 = call float @high_fp16(i32 %.632)
  %.635 = sext i32 %place to i64
  %.636 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.635
  %.637 = call i32 @pack_fp16(float %.633, float %v_1_12)
  call void asm sideeffect "st.global.cs.b32 [$0], $1;", "l,r,~{memory}"(ptr addrspace(1) %.636, i32 %.637)
  %.638 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %place
  %.639 = call i32 @pack_fp16(float %.633, float %v_1_12)
  store i32 %.639, ptr addrspace(3) %.638, align 4
  %.640 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %place
  %.641 = load i32, ptr addrspace(3) %.640, align 4
  %.642 = call float @low_fp16(i32 %.641)
  %s_1_12 = call float @high_fp16(i32 %.641)
  %.644 = sext i32 %place to i64
  %.645 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.644
  %.646 = call i32 @pack_fp16(float %.642, float %s_1_12)
  call void asm sideeffect "st.global.cs.b32 [$0], $1;", "l,r,~{memory}"(ptr addrspace(1) %.645, i32 %.646)
  %.647 = sext i32 %place to i64
  %.648 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.647
  %.649 = load i32, ptr addrspace(1) %.648, align 4
  %.650 = call float @low_fp16(i32 %.649)
  %own_1_12 = call float @high_fp16(i32 %.649)
  %.652 = sext i32 %place to i64
  %.653 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.652
  %.654 = call i32 @pack_fp16(float %.650, float %own_1_12)
  store i32 %.654, ptr addrspace(1) %.653, align 4
  %.655 = sext i32 %place to i64
  %.656 = getelementptr inbounds i16, ptr addrspace(1) %fp16_in, i64 %.655
  %.657 = load <2 x i32>, ptr addrspace(1) %.656, align 8
  %.658 = extractelement <2 x i32> %.657, i32 0
  %.659 = extractelement <2 x i32> %.657, i32 1
  %.660 = call float @low_fp16(i32 %.658)
  %.661 = call float @high_fp16(i32 %.658)
  %.662 = call float @low_fp16(i32 %.659)
  %v_3_7 = call float @high_fp16(i32 %.659)
  %.664 = sext i32 %place to i64
  %.665 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.664
  %.666 = call i32 @pack_fp16(float %.660, float %.661)
  %.667 = call i32 @pack_fp16(float %.662, float %v_3_7)
  %.668 = insertelement <2 x i32> poison, i32 %.666, i32 0
  %.669 = insertelement <2 x i32> %.668, i32 %.667, i32 1
  store <2 x i32> %.669, ptr addrspace(1) %.665, align 8
  %.670 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %place
  %.671 = call i32 @pack_fp16(float %.660, float %.661)
  %.672 = call i32 @pack_fp16(float %.662, float %v_3_7)
  %.673 = insertelement <2 x i32> poison, i32 %.671, i32 0
  %.674 = insertelement <2 x i32> %.673, i32 %.672, i32 1
  store <2 x i32> %.674, ptr addrspace(3) %.670, align 8
  %.675 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %place
  %.676 = load <2 x i32>, ptr addrspace(3) %.675, align 8
  %.677 = extractelement <2 x i32> %.676, i32 0
  %.678 = extractelement <2 x i32> %.676, i32 1
  %.679 = call float @low_fp16(i32 %.677)
  %.680 = call float @high_fp16(i32 %.677)
  %.681 = call float @low_fp16(i32 %.678)
  %s_3_7 = call float @high_fp16(i32 %.678)
  %.683 = sext i32 %place to i64
  %.684 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.683
  %.685 = call i32 @pack_fp16(float %.679, float %.680)
  %.686 = call i32 @pack_fp16(float %.681, float %s_3_7)
  %.687 = insertelement <2 x i32> poison, i32 %.685, i32 0
  %.688 = insertelement <2 x i32> %.687, i32 %.686, i32 1
  store <2 x i32> %.688, ptr addrspace(1) %.684, align 8
  %.689 = sext i32 %place to i64
  %.690 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.689
  %.691 = load <2 x i32>, ptr addrspace(1) %.690, align 8
  %.692 = extractelement <2 x i32> %.691, i32 0
  %.693 = extractelement <2 x i32> %.691, i32 1
  %.694 = call float @low_fp16(i32 %.692)
  %.695 = call float @high_fp16(i32 %.692)
  %.696 = call float @low_fp16(i32 %.693)
  %own_3_7 = call float @high_fp16(i32 %.693)
  %.698 = sext i32 %place to i64
  %.699 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.698
  %.700 = call i32 @pack_fp16(float %.694, float %.695)
  %.701 = call i32 @pack_fp16(float %.696, float %own_3_7)
  %.702 = insertelement <2 x i32> poison, i32 %.700, i32 0
  %.703 = insertelement <2 x i32> %.702, i32 %.701, i32 1
  store <2 x i32> %.703, ptr addrspace(1) %.699, align 8
  %.704 = sext i32 %place to i64
  %.705 = getelementptr inbounds i16, ptr addrspace(1) %fp16_in, i64 %.704
  %.706 = call { i32, i32 } asm "ld.global.cs.v2.b32 {$0, $1}, [$2];", "=r,=r,l"(ptr addrspace(1) %.705)
  %.707 = extractvalue { i32, i32 } %.706, 0
  %.708 = extractvalue { i32, i32 } %.706, 1
  %.709 = call float @low_fp16(i32 %.707)
  %.710 = call float @high_fp16(i32 %.707)
  %.711 = call float @low_fp16(i32 %.708)
  %v_3_8 = call float @high_fp16(i32 %.708)
  %.713 = sext i32 %place to i64
  %.714 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.713
  %.715 = call i32 @pack_fp16(float %.709, float %.710)
  %.716 = call i32 @pack_fp16(float %.711, float %v_3_8)
  call void asm sideeffect "st.global.cs.v2.b32 [$0], {$1, $2};", "l,r,r,~{memory}"(ptr addrspace(1) %.714, i32 %.715, i32 %.716)
  %.717 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %place
  %.718 = call i32 @pack_fp16(float %.709, float %.710)
  %.719 = call i32 @pack_fp16(float %.711, float %v_3_8)
  %.720 = insertelement <2 x i32> poison, i32 %.718, i32 0
  %.721 = insertelement <2 x i32> %.720, i32 %.719, i32 1
  store <2 x i32> %.721, ptr addrspace(3) %.717, align 8
  %.722 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %place
  %.723 = load <2 x i32>, ptr addrspace(3) %.722, align 8
  %.724 = extractelement <2 x i32> %.723, i32 0
  %.725 = extractelement <2 x i32> %.723, i32 1
  %.726 = call float @low_fp16(i32 %.724)
  %.727 = call float @high_fp16(i32 %.724)
  %.728 = call float @low_fp16(i32 %.725)
  %s_3_8 = call float @high_fp16(i32 %.725)
  %.730 = sext i32 %place to i64
  %.731 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.730
  %.732 = call i32 @pack_fp16(float %.726, float %.727)
  %.733 = call i32 @pack_fp16(float %.728, float %s_3_8)
  call void asm sideeffect "st.global.cs.v2.b32 [$0], {$1, $2};", "l,r,r,~{memory}"(ptr addrspace(1) %.731, i32 %.732, i32 %.733)
  %.734 = sext i32 %place to i64
  %.735 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.734
  %.736 = load <2 x i32>, ptr addrspace(1) %.735, align 8
  %.737 = extractelement <2 x i32> %.736, i32 0
  %.738 = extractelement <2 x i32> %.736, i32 1
  %.739 = call float @low_fp16(i32 %.737)
  %.740 = call float @high_fp16(i32 %.737)
  %.741 = call float @low_fp16(i32 %.738)
  %own_3_8 = call float @high_fp16(i32 %.738)
  %.743 = sext i32 %place to i64
  %.744 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.743
  %.745 = call i32 @pack_fp16(float %.739, float %.740)
  %.746 = call i32 @pack_fp16(float %.741, float %own_3_8)
  %.747 = insertelement <2 x i32> poison, i32 %.745, i32 0
  %.748 = insertelement <2 x i32> %.747, i32 %.746, i32 1
  store <2 x i32> %.748, ptr addrspace(1) %.744, align 8
  %.749 = sext i32 %place to i64
  %.750 = getelementptr inbounds i16, ptr addrspace(1) %fp16_in, i64 %.749
  %.751 = load <4 x i32>, ptr addrspace(1) %.750, align 16
  %.752 = extractelement <4 x i32> %.751, i32 0
  %.753 = extractelement <4 x i32> %.751, i32 1
  %.754 = extractelement <4 x i32> %.751, i32 2
  %.755 = extractelement <4 x i32> %.751, i32 3
  %.756 = call float @low_fp16(i32 %.752)
  %.757 = call float @high_fp16(i32 %.752)
  %.758 = call float @low_fp16(i32 %.753)
  %.759 = call float @high_fp16(i32 %.753)
  %.760 = call float @low_fp16(i32 %.754)
  %.761 = call float @high_fp16(i32 %.754)
  %.762 = call float @low_fp16(i32 %.755)
  %v_7_3 = call float @high_fp16(i32 %.755)
  %.764 = sext i32 %place to i64
  %.765 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.764
  %.766 = call i32 @pack_fp16(float %.756, float %.757)
  %.767 = call i32 @pack_fp16(float %.758, float %.759)
  %.768 = call i32 @pack_fp16(float %.760, float %.761)
  %.769 = call i32 @pack_fp16(float %.762, float %v_7_3)
  %.770 = insertelement <4 x i32> poison, i32 %.766, i32 0
  %.771 = insertelement <4 x i32> %.770, i32 %.767, i32 1
  %.772 = insertelement <4 x i32> %.771, i32 %.768, i32 2
  %.773 = insertelement <4 x i32> %.772, i32 %.769, i32 3
  store <4 x i32> %.773, ptr addrspace(1) %.765, align 16
  %.774 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %place
  %.775 = call i32 @pack_fp16(float %.756, float %.757)
  %.776 = call i32 @pack_fp16(float %.758, float %.759)
  %.777 = call i32 @pack_fp16(float %.760, float %.761)
  %.778 = call i32 @pack_fp16(float %.762, float %v_7_3)
  %.779 = insertelement <4 x i32> poison, i32 %.775, i32 0
  %.780 = insertelement <4 x i32> %.779, i32 %.776, i32 1
  %.781 = insertelement <4 x i32> %.780, i32 %.777, i32 2
  %.782 = insertelement <4 x i32> %.781, i32 %.778, i32 3
  store <4 x i32> %.782, ptr addrspace(3) %.774, align 16
  %.783 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %place
  %.784 = load <4 x i32>, ptr addrspace(3) %.783, align 16
  %.785 = extractelement <4 x i32> %.784, i32 0
  %.786 = extractelement <4 x i32> %.784, i32 1
  %.787 = extractelement <4 x i32> %.784, i32 2
  %.788 = extractelement <4 x i32> %.784, i32 3
  %.789 = call float @low_fp16(i32 %.785)
  %.790 = call float @high_fp16(i32 %.785)
  %.791 = call float @low_fp16(i32 %.786)
  %.792 = call float @high_fp16(i32 %.786)
  %.793 = call float @low_fp16(i32 %.787)
  %.794 = call float @high_fp16(i32 %.787)
  %.795 = call float @low_fp16(i32 %.788)
  %s_7_3 = call float @high_fp16(i32 %.788)
  %.797 = sext i32 %place to i64
  %.798 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.797
  %.799 = call i32 @pack_fp16(float %.789, float %.790)
  %.800 = call i32 @pack_fp16(float %.791, float %.792)
  %.801 = call i32 @pack_fp16(float %.793, float %.794)
  %.802 = call i32 @pack_fp16(float %.795, float %s_7_3)
  %.803 = insertelement <4 x i32> poison, i32 %.799, i32 0
  %.804 = insertelement <4 x i32> %.803, i32 %.800, i32 1
  %.805 = insertelement <4 x i32> %.804, i32 %.801, i32 2
  %.806 = insertelement <4 x i32> %.805, i32 %.802, i32 3
  store <4 x i32> %.806, ptr addrspace(1) %.798, align 16
  %.807 = sext i32 %place to i64
  %.808 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.807
  %.809 = load <4 x i32>, ptr addrspace(1) %.808, align 16
  %.810 = extractelement <4 x i32> %.809, i32 0
  %.811 = extractelement <4 x i32> %.809, i32 1
  %.812 = extractelement <4 x i32> %.809, i32 2
  %.813 = extractelement <4 x i32> %.809, i32 3
  %.814 = call float @low_fp16(i32 %.810)
  %.815 = call float @high_fp16(i32 %.810)
  %.816 = call float @low_fp16(i32 %.811)
  %.817 = call float @high_fp16(i32 %.811)
  %.818 = call float @low_fp16(i32 %.812)
  %.819 = call float @high_fp16(i32 %.812)
  %.820 = call float @low_fp16(i32 %.813)
  %own_7_3 = call float @high_fp16(i32 %.813)
  %.822 = sext i32 %place to i64
  %.823 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.822
  %.824 = call i32 @pack_fp16(float %.814, float %.815)
  %.825 = call i32 @pack_fp16(float %.816, float %.817)
  %.826 = call i32 @pack_fp16(float %.818, float %.819)
  %.827 = call i32 @pack_fp16(float %.820, float %own_7_3)
  %.828 = insertelement <4 x i32> poison, i32 %.824, i32 0
  %.829 = insertelement <4 x i32> %.828, i32 %.825, i32 1
  %.830 = insertelement <4 x i32> %.829, i32 %.826, i32 2
  %.831 = insertelement <4 x i32> %.830, i32 %.827, i32 3
  store <4 x i32> %.831, ptr addrspace(1) %.823, align 16
  %.832 = sext i32 %place to i64
  %.833 = getelementptr inbounds i16, ptr addrspace(1) %fp16_in, i64 %.832
  %.834 = call { i32, i32, i32, i32 } asm "ld.global.cs.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l"(ptr addrspace(1) %.833)
  %.835 = extractvalue { i32, i32, i32, i32 } %.834, 0
  %.836 = extractvalue { i32, i32, i32, i32 } %.834, 1
  %.837 = extractvalue { i32, i32, i32, i32 } %.834, 2
  %.838 = extractvalue { i32, i32, i32, i32 } %.834, 3
  %.839 = call float @low_fp16(i32 %.835)
  %.840 = call float @high_fp16(i32 %.835)
  %.841 = call float @low_fp16(i32 %.836)
  %.842 = call float @high_fp16(i32 %.836)
  %.843 = call float @low_fp16(i32 %.837)
  %.844 = call float @high_fp16(i32 %.837)
  %.845 = call float @low_fp16(i32 %.838)
  %v_7_4 = call float @high_fp16(i32 %.838)
  %.847 = sext i32 %place to i64
  %.848 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.847
  %.849 = call i32 @pack_fp16(float %.839, float %.840)
  %.850 = call i32 @pack_fp16(float %.841, float %.842)
  %.851 = call i32 @pack_fp16(float %.843, float %.844)
  %.852 = call i32 @pack_fp16(float %.845, float %v_7_4)
  call void asm sideeffect "st.global.cs.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,~{memory}"(ptr addrspace(1) %.848, i32 %.849, i32 %.850, i32 %.851, i32 %.852)
  %.853 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %place
  %.854 = call i32 @pack_fp16(float %.839, float %.840)
  %.855 = call i32 @pack_fp16(float %.841, float %.842)
  %.856 = call i32 @pack_fp16(float %.843, float %.844)
  %.857 = call i32 @pack_fp16(float %.845, float %v_7_4)
  %.858 = insertelement <4 x i32> poison, i32 %.854, i32 0
  %.859 = insertelement <4 x i32> %.858, i32 %.855, i32 1
  %.860 = insertelement <4 x i32> %.859, i32 %.856, i32 2
  %.861 = insertelement <4 x i32> %.860, i32 %.857, i32 3
  store <4 x i32> %.861, ptr addrspace(3) %.853, align 16
  %.862 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %place
  %.863 = load <4 x i32>, ptr addrspace(3) %.862, align 16
  %.864 = extractelement <4 x i32> %.863, i32 0
  %.865 = extractelement <4 x i32> %.863, i32 1
  %.866 = extractelement <4 x i32> %.863, i32 2
  %.867 = extractelement <4 x i32> %.863, i32 3
  %.868 = call float @low_fp16(i32 %.864)
  %.869 = call float @high_fp16(i32 %.864)
  %.870 = call float @low_fp16(i32 %.865)
  %.871 = call float @high_fp16(i32 %.865)
  %.872 = call float @low_fp16(i32 %.866)
  %.873 = call float @high_fp16(i32 %.866)
  %.874 = call float @low_fp16(i32 %.867)
  %s_7_4 = call float @high_fp16(i32 %.867)
  %.876 = sext i32 %place to i64
  %.877 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.876
  %.878 = call i32 @pack_fp16(float %.868, float %.869)
  %.879 = call i32 @pack_fp16(float %.870, float %.871)
  %.880 = call i32 @pack_fp16(float %.872, float %.873)
  %.881 = call i32 @pack_fp16(float %.874, float %s_7_4)
  call void asm sideeffect "st.global.cs.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,~{memory}"(ptr addrspace(1) %.877, i32 %.878, i32 %.879, i32 %.880, i32 %.881)
  %.882 = sext i32 %place to i64
  %.883 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.882
  %.884 = load <4 x i32>, ptr addrspace(1) %.883, align 16
  %.885 = extractelement <4 x i32> %.884, i32 0
  %.886 = extractelement <4 x i32> %.884, i32 1
  %.887 = extractelement <4 x i32> %.884, i32 2
  %.888 = extractelement <4 x i32> %.884, i32 3
  %.889 = call float @low_fp16(i32 %.885)
  %.890 = call float @high_fp16(i32 %.885)
  %.891 = call float @low_fp16(i32 %.886)
  %.892 = call float @high_fp16(i32 %.886)
  %.893 = call float @low_fp16(i32 %.887)
  %.894 = call float @high_fp16(i32 %.887)
  %.895 = call float @low_fp16(i32 %.888)
  %own_7_4 = call float @high_fp16(i32 %.888)
  %.897 = sext i32 %place to i64
  %.898 = getelementptr inbounds i16, ptr addrspace(1) %fp16_out, i64 %.897
  %.899 = call i32 @pack_fp16(float %.889, float %.890)
  %.900 = call i32 @pack_fp16(float %.891, float %.892)
  %.901 = call i32 @pack_fp16(float %.893, float %.894)
  %.902 = call i32 @pack_fp16(float %.895, float %own_7_4)
  %.903 = insertelement <4 x i32> poison, i32 %.899, i32 0
  %.904 = insertelement <4 x i32> %.903, i32 %.900, i32 1
  %.905 = insertelement <4 x i32> %.904, i32 %.901, i32 2
  %.906 = insertelement <4 x i32> %.905, i32 %.902, i32 3
  store <4 x i32> %.906, ptr addrspace(1) %.898, align 16
  %.907 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %place
  %.908 = sext i32 %place to i64
  %.909 = getelementptr inbounds i16, ptr addrspace(1) %fp16_in, i64 %.908
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %.907, ptr addrspace(1) %.909)
  %.910 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %place
  %.911 = sext i32 %place to i64
  %.912 = getelementptr inbounds i16, ptr addrspace(1) %fp16_in, i64 %.911
  call void @llvm.nvvm.cp.async.ca.shared.global.8(ptr addrspace(3) %.910, ptr addrspace(1) %.912)
  %.913 = getelementptr inbounds i16, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %place
  %.914 = sext i32 %place to i64
  %.915 = getelementptr inbounds i16, ptr addrspace(1) %fp16_in, i64 %.914
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %.913, ptr addrspace(1) %.915)
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 0)
  %.916 = sext i32 %place to i64
  %.917 = getelementptr inbounds i32, ptr addrspace(1) %int32_in, i64 %.916
  %v_10 = load i32, ptr addrspace(1) %.917, align 4
  %.919 = sext i32 %place to i64
  %.920 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.919
  store i32 %v_10, ptr addrspace(1) %.920, align 4
  %.921 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 2048), i32 %place
  store i32 %v_10, ptr addrspace(3) %.921, align 4
  %.922 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 2048), i32 %place
  %s_10 = load i32, ptr addrspace(3) %.922, align 4
  %.924 = sext i32 %place to i64
  %.925 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.924
  store i32 %s_10, ptr addrspace(1) %.925, align 4
  %.926 = sext i32 %place to i64
  %.927 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.926
  %own_10 = load i32, ptr addrspace(1) %.927, align 4
  %.929 = sext i32 %place to i64
  %.930 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.929
  store i32 %own_10, ptr addrspace(1) %.930, align 4
  %.931 = sext i32 %place to i64
  %.932 = getelementptr inbounds i32, ptr addrspace(1) %int32_in, i64 %.931
  %v_11 = call i32 asm "ld.global.cs.b32 $0, [$1];", "=r,l"(ptr addrspace(1) %.932)
  %.934 = sext i32 %place to i64
  %.935 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.934
  call void asm sideeffect "st.global.cs.b32 [$0], $1;", "l,r,~{memory}"(ptr addrspace(1) %.935, i32 %v_11)
  %.936 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 2048), i32 %place
  store i32 %v_11, ptr addrspace(3) %.936, align 4
  %.937 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 2048), i32 %place
  %s_11 = load i32, ptr addrspace(3) %.937, align 4
  %.939 = sext i32 %place to i64
  %.940 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.939
  call void asm sideeffect "st.global.cs.b32 [$0], $1;", "l,r,~{memory}"(ptr addrspace(1) %.940, i32 %s_11)
  %.941 = sext i32 %place to i64
  %.942 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.941
  %own_11 = load i32, ptr addrspace(1) %.942, align 4
  %.944 = sext i32 %place to i64
  %.945 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.944
  store i32 %own_11, ptr addrspace(1) %.945, align 4
  %.946 = sext i32 %place to i64
  %.947 = getelementptr inbounds i32, ptr addrspace(1) %int32_in, i64 %.946
  %.948 = load <2 x i32>, ptr addrspace(1) %.947, align 8
  %.949 = extractelement <2 x i32> %.948, i32 0
  %v_1_17 = extractelement <2 x i32> %.948, i32 1
  %.951 = sext i32 %place to i64
  %.952 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.951
  %.953 = insertelement <2 x i32> poison, i32 %.949, i32 0
  %.954 = insertelement <2 x i32> %.953, i32 %v_1_17, i32 1
  store <2 x i32> %.954, ptr addrspace(1) %.952, align 8
  %.955 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 2048), i32 %place
  %.956 = insertelement <2 x i32> poison, i32 %.949, i32 0
  %.957 = insertelement <2 x i32> %.956, i32 %v_1_17, i32 1
  store <2 x i32> %.957, ptr addrspace(3) %.955, align 8
  %.958 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 2048), i32 %place
  %.959 = load <2 x i32>, ptr addrspace(3) %.958, align 8
  %.960 = extractelement <2 x i32> %.959, i32 0
  %s_1_17 = extractelement <2 x i32> %.959, i32 1
  %.962 = sext i32 %place to i64
  %.963 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.962
  %.964 = insertelement <2 x i32> poison, i32 %.960, i32 0
  %.965 = insertelement <2 x i32> %.964, i32 %s_1_17, i32 1
  store <2 x i32> %.965, ptr addrspace(1) %.963, align 8
  %.966 = sext i32 %place to i64
  %.967 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.966
  %.968 = load <2 x i32>, ptr addrspace(1) %.967, align 8
  %.969 = extractelement <2 x i32> %.968, i32 0
  %own_1_17 = extractelement <2 x i32> %.968, i32 1
  %.971 = sext i32 %place to i64
  %.972 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.971
  %.973 = insertelement <2 x i32> poison, i32 %.969, i32 0
  %.974 = insertelement <2 x i32> %.973, i32 %own_1_17, i32 1
  store <2 x i32> %.974, ptr addrspace(1) %.972, align 8
  %.975 = sext i32 %place to i64
  %.976 = getelementptr inbounds i32, ptr addrspace(1) %int32_in, i64 %.975
  %.977 = call { i32, i32 } asm "ld.global.cs.v2.b32 {$0, $1}, [$2];", "=r,=r,l"(ptr addrspace(1) %.976)
  %.978 = extractvalue { i32, i32 } %.977, 0
  %v_1_18 = extractvalue { i32, i32 } %.977, 1
  %.980 = sext i32 %place to i64
  %.981 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.980
  call void asm sideeffect "st.global.cs.v2.b32 [$0], {$1, $2};", "l,r,r,~{memory}"(ptr addrspace(1) %.981, i32 %.978, i32 %v_1_18)
  %.982 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 2048), i32 %place
  %.983 = insertelement <2 x i32> poison, i32 %.978, i32 0
  %.984 = insertelement <2 x i32> %.983, i32 %v_1_18, i32 1
  store <2 x i32> %.984, ptr addrspace(3) %.982, align 8
  %.985 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 2048), i32 %place
  %.986 = load <2 x i32>, ptr addrspace(3) %.985, align 8
  %.987 = extractelement <2 x i32> %.986, i32 0
  %s_1_18 = extractelement <2 x i32> %.986, i32 1
  %.989 = sext i32 %place to i64
  %.990 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.989
  call void asm sideeffect "st.global.cs.v2.b32 [$0], {$1, $2};", "l,r,r,~{memory}"(ptr addrspace(1) %.990, i32 %.987, i32 %s_1_18)
  %.991 = sext i32 %place to i64
  %.992 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.991
  %.993 = load <2 x i32>, ptr addrspace(1) %.992, align 8
  %.994 = extractelement <2 x i32> %.993, i32 0
  %own_1_18 = extractelement <2 x i32> %.993, i32 1
  %.996 = sext i32 %place to i64
  %.997 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.996
  %.998 = insertelement <2 x i32> poison, i32 %.994, i32 0
  %.999 = insertelement <2 x i32> %.998, i32 %own_1_18, i32 1
  store <2 x i32> %.999, ptr addrspace(1) %.997, align 8
  %.1000 = sext i32 %place to i64
  %.1001 = getelementptr inbounds i32, ptr addrspace(1) %int32_in, i64 %.1000
  %.1002 = load <4 x i32>, ptr addrspace(1) %.1001, align 16
  %.1003 = extractelement <4 x i32> %.1002, i32 0
  %.1004 = extractelement <4 x i32> %.1002, i32 1
  %.1005 = extractelement <4 x i32> %.1002, i32 2
  %v_3_11 = extractelement <4 x i32> %.1002, i32 3
  %.1007 = sext i32 %place to i64
  %.1008 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.1007
  %.1009 = insertelement <4 x i32> poison, i32 %.1003, i32 0
  %.1010 = insertelement <4 x i32> %.1009, i32 %.1004, i32 1
  %.1011 = insertelement <4 x i32> %.1010, i32 %.1005, i32 2
  %.1012 = insertelement <4 x i32> %.1011, i32 %v_3_11, i32 3
  store <4 x i32> %.1012, ptr addrspace(1) %.1008, align 16
  %.1013 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 2048), i32 %place
  %.1014 = insertelement <4 x i32> poison, i32 %.1003, i32 0
  %.1015 = insertelement <4 x i32> %.1014, i32 %.1004, i32 1
  %.1016 = insertelement <4 x i32> %.1015, i32 %.1005, i32 2
  %.1017 = insertelement <4 x i32> %.1016, i32 %v_3_11, i32 3
  store <4 x i32> %.1017, ptr addrspace(3) %.1013, align 16
  %.1018 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 2048), i32 %place
  %.1019 = load <4 x i32>, ptr addrspace(3) %.1018, align 16
  %.1020 = extractelement <4 x i32> %.1019, i32 0
  %.1021 = extractelement <4 x i32> %.1019, i32 1
  %.1022 = extractelement <4 x i32> %.1019, i32 2
  %s_3_11 = extractelement <4 x i32> %.1019, i32 3
  %.1024 = sext i32 %place to i64
  %.1025 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.1024
  %.1026 = insertelement <4 x i32> poison, i32 %.1020, i32 0
  %.1027 = insertelement <4 x i32> %.1026, i32 %.1021, i32 1
  %.1028 = insertelement <4 x i32> %.1027, i32 %.1022, i32 2
  %.1029 = insertelement <4 x i32> %.1028, i32 %s_3_11, i32 3
  store <4 x i32> %.1029, ptr addrspace(1) %.1025, align 16
  %.1030 = sext i32 %place to i64
  %.1031 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.1030
  %.1032 = load <4 x i32>, ptr addrspace(1) %.1031, align 16
  %.1033 = extractelement <4 x i32> %.1032, i32 0
  %.1034 = extractelement <4 x i32> %.1032, i32 1
  %.1035 = extractelement <4 x i32> %.1032, i32 2
  %own_3_11 = extractelement <4 x i32> %.1032, i32 3
  %.1037 = sext i32 %place to i64
  %.1038 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.1037
  %.1039 = insertelement <4 x i32> poison, i32 %.1033, i32 0
  %.1040 = insertelement <4 x i32> %.1039, i32 %.1034, i32 1
  %.1041 = insertelement <4 x i32> %.1040, i32 %.1035, i32 2
  %.1042 = insertelement <4 x i32> %.1041, i32 %own_3_11, i32 3
  store <4 x i32> %.1042, ptr addrspace(1) %.1038, align 16
  %.1043 = sext i32 %place to i64
  %.1044 = getelementptr inbounds i32, ptr addrspace(1) %int32_in, i64 %.1043
  %.1045 = call { i32, i32, i32, i32 } asm "ld.global.cs.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l"(ptr addrspace(1) %.1044)
  %.1046 = extractvalue { i32, i32, i32, i32 } %.1045, 0
  %.1047 = extractvalue { i32, i32, i32, i32 } %.1045, 1
  %.1048 = extractvalue { i32, i32, i32, i32 } %.1045, 2
  %v_3_12 = extractvalue { i32, i32, i32, i32 } %.1045, 3
  %.1050 = sext i32 %place to i64
  %.1051 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.1050
  call void asm sideeffect "st.global.cs.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,~{memory}"(ptr addrspace(1) %.1051, i32 %.1046, i32 %.1047, i32 %.1048, i32 %v_3_12)
  %.1052 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 2048), i32 %place
  %.1053 = insertelement <4 x i32> poison, i32 %.1046, i32 0
  %.1054 = insertelement <4 x i32> %.1053, i32 %.1047, i32 1
  %.1055 = insertelement <4 x i32> %.1054, i32 %.1048, i32 2
  %.1056 = insertelement <4 x i32> %.1055, i32 %v_3_12, i32 3
  store <4 x i32> %.1056, ptr addrspace(3) %.1052, align 16
  %.1057 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 2048), i32 %place
  %.1058 = load <4 x i32>, ptr addrspace(3) %.1057, align 16
  %.1059 = extractelement <4 x i32> %.1058, i32 0
  %.1060 = extractelement <4 x i32> %.1058, i32 1
  %.1061 = extractelement <4 x i32> %.1058, i32 2
  %s_3_12 = extractelement <4 x i32> %.1058, i32 3
  %.1063 = sext i32 %place to i64
  %.1064 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.1063
  call void asm sideeffect "st.global.cs.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,~{memory}"(ptr addrspace(1) %.1064, i32 %.1059, i32 %.1060, i32 %.1061, i32 %s_3_12)
  %.1065 = sext i32 %place to i64
  %.1066 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.1065
  %.1067 = load <4 x i32>, ptr addrspace(1) %.1066, align 16
  %.1068 = extractelement <4 x i32> %.1067, i32 0
  %.1069 = extractelement <4 x i32> %.1067, i32 1
  %.1070 = extractelement <4 x i32> %.1067, i32 2
  %own_3_12 = extractelement <4 x i32> %.1067, i32 3
  %.1072 = sext i32 %place to i64
  %.1073 = getelementptr inbounds i32, ptr addrspace(1) %int32_out, i64 %.1072
  %.1074 = insertelement <4 x i32> poison, i32 %.1068, i32 0
  %.1075 = insertelement <4 x i32> %.1074, i32 %.1069, i32 1
  %.1076 = insertelement <4 x i32> %.1075, i32 %.1070, i32 2
  %.1077 = insertelement <4 x i32> %.1076, i32 %own_3_12, i32 3
  store <4 x i32> %.1077, ptr addrspace(1) %.1073, align 16
  %.1078 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 2048), i32 %place
  %.1079 = sext i32 %place to i64
  %.1080 = getelementptr inbounds i32, ptr addrspace(1) %int32_in, i64 %.1079
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %.1078, ptr addrspace(1) %.1080)
  %.1081 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 2048), i32 %place
  %.1082 = sext i32 %place to i64
  %.1083 = getelementptr inbounds i32, ptr addrspace(1) %int32_in, i64 %.1082
  call void @llvm.nvvm.cp.async.ca.shared.global.8(ptr addrspace(3) %.1081, ptr addrspace(1) %.1083)
  %.1084 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 2048), i32 %place
  %.1085 = sext i32 %place to i64
  %.1086 = getelementptr inbounds i32, ptr addrspace(1) %int32_in, i64 %.1085
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %.1084, ptr addrspace(1) %.1086)
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 0)
  ret void
}
