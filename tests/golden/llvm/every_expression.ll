target triple = "nvptx64-nvidia-cuda"

define internal float @fast_div(float %x, float %y) alwaysinline {
  %r = call float @llvm.nvvm.rcp.approx.ftz.f(float %y)
  %q = fmul contract float %x, %r
  ret float %q
}

define ptx_kernel void @every_expression(ptr addrspace(1) noalias align 4 %int, ptr addrspace(1) noalias align 4 %min, i32 %n, i64 %wide, float %x) convergent nounwind "nvvm.maxntid"="64" "nvvm.minctasm"="1" {
entry:
  %thread_x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %grid_x = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %m = add nsw i32 %thread_x, 3
  %.1 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 0
  %.2 = add nsw i32 %n, %m
  store i32 %.2, ptr addrspace(1) %.1, align 4
  %.3 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 1
  %.4 = sext i32 %m to i64
  %.5 = add nsw i64 %wide, %.4
  %.6 = trunc i64 %.5 to i32
  store i32 %.6, ptr addrspace(1) %.3, align 4
  %.7 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 2
  %.8 = sext i32 %m to i64
  %.9 = add nsw i64 %.8, %wide
  %.10 = trunc i64 %.9 to i32
  store i32 %.10, ptr addrspace(1) %.7, align 4
  %.11 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 3
  %.12 = add nsw i64 %wide, 5
  %.13 = trunc i64 %.12 to i32
  store i32 %.13, ptr addrspace(1) %.11, align 4
  %.14 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 4
  %.15 = sub nsw i32 %n, %m
  store i32 %.15, ptr addrspace(1) %.14, align 4
  %.16 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 5
  %.17 = sext i32 %m to i64
  %.18 = sub nsw i64 %wide, %.17
  %.19 = trunc i64 %.18 to i32
  store i32 %.19, ptr addrspace(1) %.16, align 4
  %.20 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 6
  %.21 = sext i32 %m to i64
  %.22 = sub nsw i64 %.21, %wide
  %.23 = trunc i64 %.22 to i32
  store i32 %.23, ptr addrspace(1) %.20, align 4
  %.24 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 7
  %.25 = sub nsw i64 %wide, 5
  %.26 = trunc i64 %.25 to i32
  store i32 %.26, ptr addrspace(1) %.24, align 4
  %.27 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 8
  %.28 = mul nsw i32 %n, %m
  store i32 %.28, ptr addrspace(1) %.27, align 4
  %.29 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 9
  %.30 = sext i32 %m to i64
  %.31 = mul nsw i64 %wide, %.30
  %.32 = trunc i64 %.31 to i32
  store i32 %.32, ptr addrspace(1) %.29, align 4
  %.33 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 10
  %.34 = sext i32 %m to i64
  %.35 = mul nsw i64 %.34, %wide
  %.36 = trunc i64 %.35 to i32
  store i32 %.36, ptr addrspace(1) %.33, align 4
  %.37 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 11
  %.38 = mul nsw i64 %wide, 5
  %.39 = trunc i64 %.38 to i32
  store i32 %.39, ptr addrspace(1) %.37, align 4
  %.40 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 12
  %.41 = call i32 @llvm.umax.i32(i32 %m, i32 1)
  %.42 = udiv i32 %n, %.41
  store i32 %.42, ptr addrspace(1) %.40, align 4
  %.43 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 13
  %.44 = sext i32 %m to i64
  %.45 = call i64 @llvm.umax.i64(i64 %.44, i64 1)
  %.46 = udiv i64 %wide, %.45
  %.47 = trunc i64 %.46 to i32
  store i32 %.47, ptr addrspace(1) %.43, align 4
  %.48 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 14
  %.49 = sext i32 %m to i64
  %.50 = call i64 @llvm.umax.i64(i64 %wide, i64 1)
  %.51 = udiv i64 %.49, %.50
  %.52 = trunc i64 %.51 to i32
  store i32 %.52, ptr addrspace(1) %.48, align 4
  %.53 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 15
  %.54 = udiv i64 %wide, 5
  %.55 = trunc i64 %.54 to i32
  store i32 %.55, ptr addrspace(1) %.53, align 4
  %.56 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 16
  %.57 = call i32 @llvm.umax.i32(i32 %m, i32 1)
  %.58 = urem i32 %n, %.57
  store i32 %.58, ptr addrspace(1) %.56, align 4
  %.59 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 17
  %.60 = sext i32 %m to i64
  %.61 = call i64 @llvm.umax.i64(i64 %.60, i64 1)
  %.62 = urem i64 %wide, %.61
  %.63 = trunc i64 %.62 to i32
  store i32 %.63, ptr addrspace(1) %.59, align 4
  %.64 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 18
  %.65 = sext i32 %m to i64
  %.66 = call i64 @llvm.umax.i64(i64 %wide, i64 1)
  %.67 = urem i64 %.65, %.66
  %.68 = trunc i64 %.67 to i32
  store i32 %.68, ptr addrspace(1) %.64, align 4
  %.69 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 19
  %.70 = urem i64 %wide, 5
  %.71 = trunc i64 %.70 to i32
  store i32 %.71, ptr addrspace(1) %.69, align 4
  %.72 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 20
  %.73 = call i32 @llvm.smin.i32(i32 %n, i32 %m)
  store i32 %.73, ptr addrspace(1) %.72, align 4
  %.74 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 21
  %.75 = sext i32 %m to i64
  %.76 = call i64 @llvm.smin.i64(i64 %wide, i64 %.75)
  %.77 = trunc i64 %.76 to i32
  store i32 %.77, ptr addrspace(1) %.74, align 4
  %.78 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 22
  %.79 = sext i32 %m to i64
  %.80 = call i64 @llvm.smin.i64(i64 %.79, i64 %wide)
  %.81 = trunc i64 %.80 to i32
  store i32 %.81, ptr addrspace(1) %.78, align 4
  %.82 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 23
  %.83 = call i64 @llvm.smin.i64(i64 %wide, i64 5)
  %.84 = trunc i64 %.83 to i32
  store i32 %.84, ptr addrspace(1) %.82, align 4
  %.85 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 24
  %.86 = call i32 @llvm.smax.i32(i32 %n, i32 %m)
  store i32 %.86, ptr addrspace(1) %.85, align 4
  %.87 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 25
  %.88 = sext i32 %m to i64
  %.89 = call i64 @llvm.smax.i64(i64 %wide, i64 %.88)
  %.90 = trunc i64 %.89 to i32
  store i32 %.90, ptr addrspace(1) %.87, align 4
  %.91 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 26
  %.92 = sext i32 %m to i64
  %.93 = call i64 @llvm.smax.i64(i64 %.92, i64 %wide)
  %.94 = trunc i64 %.93 to i32
  store i32 %.94, ptr addrspace(1) %.91, align 4
  %.95 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 27
  %.96 = call i64 @llvm.smax.i64(i64 %wide, i64 5)
  %.97 = trunc i64 %.96 to i32
  store i32 %.97, ptr addrspace(1) %.95, align 4
  %.98 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 28
  %.99 = shl i32 %n, %m
  store i32 %.99, ptr addrspace(1) %.98, align 4
  %.100 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 29
  %.101 = sext i32 %m to i64
  %.102 = shl i64 %wide, %.101
  %.103 = trunc i64 %.102 to i32
  store i32 %.103, ptr addrspace(1) %.100, align 4
  %.104 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 30
  %.105 = sext i32 %m to i64
  %.106 = shl i64 %.105, %wide
  %.107 = trunc i64 %.106 to i32
  store i32 %.107, ptr addrspace(1) %.104, align 4
  %.108 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 31
  %.109 = shl i64 %wide, 5
  %.110 = trunc i64 %.109 to i32
  store i32 %.110, ptr addrspace(1) %.108, align 4
  %.111 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 32
  %.112 = ashr i32 %n, %m
  store i32 %.112, ptr addrspace(1) %.111, align 4
  %.113 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 33
  %.114 = sext i32 %m to i64
  %.115 = ashr i64 %wide, %.114
  %.116 = trunc i64 %.115 to i32
  store i32 %.116, ptr addrspace(1) %.113, align 4
  %.117 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 34
  %.118 = sext i32 %m to i64
  %.119 = ashr i64 %.118, %wide
  %.120 = trunc i64 %.119 to i32
  store i32 %.120, ptr addrspace(1) %.117, align 4
  %.121 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 35
  %.122 = ashr i64 %wide, 5
  %.123 = trunc i64 %.122 to i32
  store i32 %.123, ptr addrspace(1) %.121, align 4
  %.124 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 36
  %.125 = and i32 %n, %m
  store i32 %.125, ptr addrspace(1) %.124, align 4
  %.126 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 37
  %.127 = sext i32 %m to i64
  %.128 = and i64 %wide, %.127
  %.129 = trunc i64 %.128 to i32
  store i32 %.129, ptr addrspace(1) %.126, align 4
  %.130 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 38
  %.131 = sext i32 %m to i64
  %.132 = and i64 %.131, %wide
  %.133 = trunc i64 %.132 to i32
  store i32 %.133, ptr addrspace(1) %.130, align 4
  %.134 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 39
  %.135 = and i64 %wide, 5
  %.136 = trunc i64 %.135 to i32
  store i32 %.136, ptr addrspace(1) %.134, align 4
  %.137 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 40
  %.138 = or i32 %n, %m
  store i32 %.138, ptr addrspace(1) %.137, align 4
  %.139 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 41
  %.140 = sext i32 %m to i64
  %.141 = or i64 %wide, %.140
  %.142 = trunc i64 %.141 to i32
  store i32 %.142, ptr addrspace(1) %.139, align 4
  %.143 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 42
  %.144 = sext i32 %m to i64
  %.145 = or i64 %.144, %wide
  %.146 = trunc i64 %.145 to i32
  store i32 %.146, ptr addrspace(1) %.143, align 4
  %.147 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 43
  %.148 = or i64 %wide, 5
  %.149 = trunc i64 %.148 to i32
  store i32 %.149, ptr addrspace(1) %.147, align 4
  %.150 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 44
  %.151 = xor i32 %n, %m
  store i32 %.151, ptr addrspace(1) %.150, align 4
  %.152 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 45
  %.153 = sext i32 %m to i64
  %.154 = xor i64 %wide, %.153
  %.155 = trunc i64 %.154 to i32
  store i32 %.155, ptr addrspace(1) %.152, align 4
  %.156 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 46
  %.157 = sext i32 %m to i64
  %.158 = xor i64 %.157, %wide
  %.159 = trunc i64 %.158 to i32
  store i32 %.159, ptr addrspace(1) %.156, align 4
  %.160 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 47
  %.161 = xor i64 %wide, 5
  %.162 = trunc i64 %.161 to i32
  store i32 %.162, ptr addrspace(1) %.160, align 4
  %.163 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 48
  %.164 = sub nsw i32 %m, %n
  %.165 = add nsw i32 %n, %m
  %.166 = mul nsw i32 %.164, %.165
  %.167 = call i32 @llvm.umax.i32(i32 %m, i32 1)
  %.168 = urem i32 %.166, %.167
  %.169 = sub nsw i32 %n, %.168
  store i32 %.169, ptr addrspace(1) %.163, align 4
  %.170 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 49
  %.171 = sub nsw i32 %n, %m
  %.172 = sub nsw i32 %n, 2
  %.173 = sub nsw i32 %.171, %.172
  %.174 = add nsw i32 %.173, -7
  store i32 %.174, ptr addrspace(1) %.170, align 4
  %.175 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 50
  %.176 = mul nsw i32 %n, 40
  %.177 = mul nsw i32 %m, %n
  %.178 = mul nsw i32 %.177, %m
  %.179 = add nsw i32 %.176, %.178
  store i32 %.179, ptr addrspace(1) %.175, align 4
  %.180 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 51
  %.181 = mul nsw i32 %m, %n
  %.182 = mul nsw i32 %n, %.181
  %.183 = call i32 @llvm.umax.i32(i32 %n, i32 1)
  %.184 = udiv i32 %m, %.183
  %.185 = call i32 @llvm.umax.i32(i32 %.184, i32 1)
  %.186 = udiv i32 %.182, %.185
  store i32 %.186, ptr addrspace(1) %.180, align 4
  %.187 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 52
  %.188 = sext i32 %n to i64
  %.189 = sext i32 %m to i64
  %.190 = mul nsw i64 %.188, %.189
  %.191 = add nsw i32 %n, %m
  %.192 = sext i32 %.191 to i64
  %.193 = mul nsw i64 %.192, 40
  %.194 = add nsw i64 %.190, %.193
  %.195 = trunc i64 %.194 to i32
  store i32 %.195, ptr addrspace(1) %.187, align 4
  %.196 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 53
  %.197 = add nsw i64 %wide, 1099511627776
  %.198 = trunc i64 %.197 to i32
  store i32 %.198, ptr addrspace(1) %.196, align 4
  %.199 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 54
  %.200 = add nsw i64 280, %wide
  %.201 = trunc i64 %.200 to i32
  store i32 %.201, ptr addrspace(1) %.199, align 4
  %.202 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 55
  %.203 = mul nsw i32 %n, -2147483648
  %.204 = sub nsw i32 %.203, -2147483648
  store i32 %.204, ptr addrspace(1) %.202, align 4
  %.205 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 56
  %.206 = mul nsw i32 %grid_x, 2
  store i32 %.206, ptr addrspace(1) %.205, align 4
  %limit = add nsw i32 %thread_x, 3
  %.208 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 57
  %.209 = icmp slt i32 %n, %limit
  %.210 = select i1 %.209, float 1.0, float 0.0
  store float %.210, ptr addrspace(1) %.208, align 4
  %.211 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 58
  %.212 = sext i32 %n to i64
  %.213 = icmp slt i64 %.212, %wide
  %.214 = select i1 %.213, float 1.0, float 0.0
  store float %.214, ptr addrspace(1) %.211, align 4
  %.215 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 59
  %.216 = fcmp olt float %x, 0.5
  %.217 = select i1 %.216, float 1.0, float 0.0
  store float %.217, ptr addrspace(1) %.215, align 4
  %.218 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 60
  %.219 = icmp sle i32 %n, %limit
  %.220 = select i1 %.219, float 1.0, float 0.0
  store float %.220, ptr addrspace(1) %.218, align 4
  %.221 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 61
  %.222 = sext i32 %n to i64
  %.223 = icmp sle i64 %.222, %wide
  %.224 = select i1 %.223, float 1.0, float 0.0
  store float %.224, ptr addrspace(1) %.221, align 4
  %.225 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 62
  %.226 = fcmp ole float %x, 0.5
  %.227 = select i1 %.226, float 1.0, float 0.0
  store float %.227, ptr addrspace(1) %.225, align 4
  %.228 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 63
  %.229 = icmp sgt i32 %n, %limit
  %.230 = select i1 %.229, float 1.0, float 0.0
  store float %.230, ptr addrspace(1) %.228, align 4
  %.231 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 64
  %.232 = sext i32 %n to i64
  %.233 = icmp sgt i64 %.232, %wide
  %.234 = select i1 %.233, float 1.0, float 0.0
  store float %.234, ptr addrspace(1) %.231, align 4
  %.235 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 65
  %.236 = fcmp ogt float %x, 0.5
  %.237 = select i1 %.236, float 1.0, float 0.0
  store float %.237, ptr addrspace(1) %.235, align 4
  %.238 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 66
  %.239 = icmp sge i32 %n, %limit
  %.240 = select i1 %.239, float 1.0, float 0.0
  store float %.240, ptr addrspace(1) %.238, align 4
  %.241 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 67
  %.242 = sext i32 %n to i64
  %.243 = icmp sge i64 %.242, %wide
  %.244 = select i1 %.243, float 1.0, float 0.0
  store float %.244, ptr addrspace(1) %.241, align 4
  %.245 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 68
  %.246 = fcmp oge float %x, 0.5
  %.247 = select i1 %.246, float 1.0, float 0.0
  store float %.247, ptr addrspace(1) %.245, align 4
  %.248 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 69
  %.249 = icmp eq i32 %n, %limit
  %.250 = select i1 %.249, float 1.0, float 0.0
  store float %.250, ptr addrspace(1) %.248, align 4
  %.251 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 70
  %.252 = sext i32 %n to i64
  %.253 = icmp eq i64 %.252, %wide
  %.254 = select i1 %.253, float 1.0, float 0.0
  store float %.254, ptr addrspace(1) %.251, align 4
  %.255 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 71
  %.256 = fcmp oeq float %x, 0.5
  %.257 = select i1 %.256, float 1.0, float 0.0
  store float %.257, ptr addrspace(1) %.255, align 4
  %.258 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 72
  %.259 = icmp ne i32 %n, %limit
  %.260 = select i1 %.259, float 1.0, float 0.0
  store float %.260, ptr addrspace(1) %.258, align 4
  %.261 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 73
  %.262 = sext i32 %n to i64
  %.263 = icmp ne i64 %.262, %wide
  %.264 = select i1 %.263, float 1.0, float 0.0
  store float %.264, ptr addrspace(1) %.261, align 4
  %.265 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 74
  %.266 = fcmp une float %x, 0.5
  %.267 = select i1 %.266, float 1.0, float 0.0
  store float %.267, ptr addrspace(1) %.265, align 4
  %.268 = icmp slt i32 %n, %limit
  %.269 = sext i32 %n to i64
  %.270 = icmp slt i64 %wide, %.269
  %.271 = icmp eq i32 %n, 0
  %.272 = select i1 %.270, i1 true, i1 %.271
  %inside = select i1 %.268, i1 %.272, i1 false
  %.274 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 75
  %.275 = xor i1 %inside, true
  %.276 = select i1 %.275, float 1.0, float 0.0
  store float %.276, ptr addrspace(1) %.274, align 4
  %.277 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 76
  %.278 = icmp slt i32 %n, %limit
  %.279 = select i1 %.278, i1 true, i1 %inside
  %.280 = xor i1 %.279, true
  %.281 = select i1 %.280, i1 %inside, i1 false
  %.282 = select i1 %.281, float 1.0, float 0.0
  store float %.282, ptr addrspace(1) %.277, align 4
  %.283 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 77
  %.284 = icmp slt i32 %n, 2
  %.285 = select i1 %.284, i32 %n, i32 %limit
  %.286 = icmp slt i32 %limit, 3
  %.287 = select i1 %.286, i32 %limit, i32 %n
  %.288 = select i1 %inside, i32 %.285, i32 %.287
  %.289 = add nsw i32 %.288, 1
  store i32 %.289, ptr addrspace(1) %.283, align 4
  %.290 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 78
  %.291 = sext i32 %n to i64
  %.292 = select i1 %inside, i64 9, i64 %.291
  %.293 = trunc i64 %.292 to i32
  store i32 %.293, ptr addrspace(1) %.290, align 4
  %.294 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 79
  %.295 = sitofp i32 %n to float
  %.296 = fmul contract float %.295, %x
  %.297 = select i1 %inside, float %x, float 0.0
  %.298 = fadd contract float %.296, %.297
  store float %.298, ptr addrspace(1) %.294, align 4
  %.299 = trunc i64 %wide to i32
  %.300 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %.299, i32 1, i32 31)
  %.301 = lshr i64 %wide, 32
  %.302 = trunc i64 %.301 to i32
  %.303 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %.302, i32 1, i32 31)
  %.304 = zext i32 %.303 to i64
  %.305 = shl i64 %.304, 32
  %.306 = zext i32 %.300 to i64
  %sent = or i64 %.305, %.306
  %.308 = getelementptr inbounds i32, ptr addrspace(1) %int, i64 80
  %.309 = trunc i64 %sent to i32
  store i32 %.309, ptr addrspace(1) %.308, align 4
  %.310 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 81
  store float 0x3FB99999A0000000, ptr addrspace(1) %.310, align 4
  %.311 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 82
  store float -0.0, ptr addrspace(1) %.311, align 4
  %.312 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 83
  store float 1.0, ptr addrspace(1) %.312, align 4
  %.313 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 84
  store float -2.5, ptr addrspace(1) %.313, align 4
  %.314 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 85
  store float 0x36A0000000000000, ptr addrspace(1) %.314, align 4
  %.315 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 86
  store float 0x47EFFFFFE0000000, ptr addrspace(1) %.315, align 4
  %.316 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 87
  store float 0x4202A05F20000000, ptr addrspace(1) %.316, align 4
  %.317 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 88
  store float 0x7FF0000000000000, ptr addrspace(1) %.317, align 4
  %.318 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 89
  store float 0xFFF0000000000000, ptr addrspace(1) %.318, align 4
  %.319 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 90
  store float 0x7FF8000000000000, ptr addrspace(1) %.319, align 4
  %.320 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 91
  %.321 = fsub contract float %x, %x
  %.322 = fmul contract float %.321, %x
  %.323 = fmul contract float %x, %x
  %.324 = call float @fast_div(float %.322, float %.323)
  %.325 = fsub contract float %x, %.324
  store float %.325, ptr addrspace(1) %.320, align 4
  %.326 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 92
  %.327 = fneg float %x
  %.328 = fneg float %.327
  %.329 = fsub contract float %.328, 3.0
  store float %.329, ptr addrspace(1) %.326, align 4
  %.330 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 93
  %.331 = fcmp olt float %x, 1.0
  %.332 = select i1 %.331, float 1.0, float 0.0
  %.333 = fcmp une float %.332, 0.0
  %.334 = fcmp oeq float %x, 0.0
  %.335 = select i1 %.334, float 1.0, float 0.0
  %.336 = fcmp une float %.335, 0.0
  %.337 = select i1 %.333, i1 %.336, i1 false
  %.338 = select i1 %.337, float 1.0, float 0.0
  %.339 = fcmp une float %.338, 0.0
  %.340 = fcmp une float %x, 0.0
  %.341 = select i1 %.340, float %.332, float -1.0
  %.342 = select i1 %.339, float %x, float %.341
  %.343 = fmul contract float %.342, %x
  store float %.343, ptr addrspace(1) %.330, align 4
  %.344 = getelementptr inbounds i32, ptr addrspace(1) %min, i64 94
  %.345 = fcmp olt float %x, 1.0
  %.346 = select i1 %.345, float 1.0, float 0.0
  %.347 = fcmp une float %.346, 0.0
  %.348 = fcmp oeq float %x, 0.0
  %.349 = select i1 %.348, float 1.0, float 0.0
  %.350 = fcmp une float %.349, 0.0
  %.351 = select i1 %.347, i1 %.350, i1 false
  %.352 = select i1 %.351, float 1.0, float 0.0
  %.353 = fcmp une float %.352, 0.0
  %.354 = fcmp olt float %x, %.346
  %.355 = select i1 %.354, float 1.0, float 0.0
  %.356 = fcmp oeq float %.355, %x
  %.357 = select i1 %.356, float 1.0, float 0.0
  %.358 = fcmp une float %.357, 0.0
  %.359 = select i1 %.353, i1 true, i1 %.358
  %.360 = select i1 %.359, float 1.0, float 0.0
  %.361 = fadd contract float %.360, %x
  store float %.361, ptr addrspace(1) %.344, align 4
  ret void
}
