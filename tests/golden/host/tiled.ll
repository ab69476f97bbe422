
define internal void @tiled.block(i32 %block, i32 %grid, ptr noalias align 64 %shared, ptr noalias readonly align 2 %x, ptr noalias readonly align 2 %matrix, ptr noalias align 4 %y, i32 %steps) alwaysinline nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" "reciprocal-estimates"="vec-divf" {
entry:
  %tile_config = alloca <16 x i32>
  %tile_step = alloca i64
  %tile_step.1 = alloca i64
  %i = mul nsw i32 0, 2
  %.1 = sext i32 %i to i64
  %.2 = getelementptr inbounds i16, ptr %x, i64 %.1
  %v = load <16 x i32>, ptr %.2, align 2
  %.4 = sext i32 %i to i64
  %.5 = getelementptr inbounds i16, ptr %shared, i64 %.4
  store <16 x i32> %v, ptr %.5, align 2
  %.6 = mul nsw i32 %i, 3
  %.7 = sext i32 %.6 to i64
  %.8 = getelementptr inbounds i16, ptr %x, i64 %.7
  %.9 = getelementptr i8, ptr %.8, <16 x i64> <i64 0, i64 12, i64 24, i64 36, i64 48, i64 60, i64 72, i64 84, i64 96, i64 108, i64 120, i64 132, i64 144, i64 156, i64 168, i64 180>
  %far = call <16 x i32> @llvm.masked.gather.v16i32.v16p0(<16 x ptr> %.9, i32 2, <16 x i1> splat (i1 true), <16 x i32> zeroinitializer)
  %.11 = mul nsw i32 %i, 3
  %.12 = sext i32 %.11 to i64
  %.13 = getelementptr inbounds i16, ptr %shared, i64 %.12
  %.14 = getelementptr i8, ptr %.13, <16 x i64> <i64 0, i64 12, i64 24, i64 36, i64 48, i64 60, i64 72, i64 84, i64 96, i64 108, i64 120, i64 132, i64 144, i64 156, i64 168, i64 180>
  call void @llvm.masked.scatter.v16i32.v16p0(<16 x i32> %far, <16 x ptr> %.14, i32 2, <16 x i1> splat (i1 true))
  %.15 = getelementptr inbounds i16, ptr %x, i64 0
  %.16 = getelementptr inbounds i8, ptr %shared, i64 10240
  %.17 = getelementptr inbounds i16, ptr %.16, i64 0
  %.18 = load <16 x i16>, ptr %.15, align 2
  %.19 = getelementptr i8, ptr %.15, i64 48
  %.20 = load <16 x i16>, ptr %.19, align 2
  %.21 = shufflevector <16 x i16> %.18, <16 x i16> %.20, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.22 = bitcast <32 x i16> %.21 to <16 x i32>
  %.23 = getelementptr i8, ptr %.15, i64 96
  %.24 = load <16 x i16>, ptr %.23, align 2
  %.25 = getelementptr i8, ptr %.15, i64 144
  %.26 = load <16 x i16>, ptr %.25, align 2
  %.27 = shufflevector <16 x i16> %.24, <16 x i16> %.26, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.28 = bitcast <32 x i16> %.27 to <16 x i32>
  %.29 = getelementptr i8, ptr %.15, i64 192
  %.30 = load <16 x i16>, ptr %.29, align 2
  %.31 = getelementptr i8, ptr %.15, i64 240
  %.32 = load <16 x i16>, ptr %.31, align 2
  %.33 = shufflevector <16 x i16> %.30, <16 x i16> %.32, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.34 = bitcast <32 x i16> %.33 to <16 x i32>
  %.35 = getelementptr i8, ptr %.15, i64 288
  %.36 = load <16 x i16>, ptr %.35, align 2
  %.37 = getelementptr i8, ptr %.15, i64 336
  %.38 = load <16 x i16>, ptr %.37, align 2
  %.39 = shufflevector <16 x i16> %.36, <16 x i16> %.38, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.40 = bitcast <32 x i16> %.39 to <16 x i32>
  %.41 = getelementptr i8, ptr %.15, i64 384
  %.42 = load <16 x i16>, ptr %.41, align 2
  %.43 = getelementptr i8, ptr %.15, i64 432
  %.44 = load <16 x i16>, ptr %.43, align 2
  %.45 = shufflevector <16 x i16> %.42, <16 x i16> %.44, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.46 = bitcast <32 x i16> %.45 to <16 x i32>
  %.47 = getelementptr i8, ptr %.15, i64 480
  %.48 = load <16 x i16>, ptr %.47, align 2
  %.49 = getelementptr i8, ptr %.15, i64 528
  %.50 = load <16 x i16>, ptr %.49, align 2
  %.51 = shufflevector <16 x i16> %.48, <16 x i16> %.50, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.52 = bitcast <32 x i16> %.51 to <16 x i32>
  %.53 = getelementptr i8, ptr %.15, i64 576
  %.54 = load <16 x i16>, ptr %.53, align 2
  %.55 = getelementptr i8, ptr %.15, i64 624
  %.56 = load <16 x i16>, ptr %.55, align 2
  %.57 = shufflevector <16 x i16> %.54, <16 x i16> %.56, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.58 = bitcast <32 x i16> %.57 to <16 x i32>
  %.59 = getelementptr i8, ptr %.15, i64 672
  %.60 = load <16 x i16>, ptr %.59, align 2
  %.61 = getelementptr i8, ptr %.15, i64 720
  %.62 = load <16 x i16>, ptr %.61, align 2
  %.63 = shufflevector <16 x i16> %.60, <16 x i16> %.62, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.64 = bitcast <32 x i16> %.63 to <16 x i32>
  %.65 = getelementptr i8, ptr %.15, i64 768
  %.66 = load <16 x i16>, ptr %.65, align 2
  %.67 = getelementptr i8, ptr %.15, i64 816
  %.68 = load <16 x i16>, ptr %.67, align 2
  %.69 = shufflevector <16 x i16> %.66, <16 x i16> %.68, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.70 = bitcast <32 x i16> %.69 to <16 x i32>
  %.71 = getelementptr i8, ptr %.15, i64 864
  %.72 = load <16 x i16>, ptr %.71, align 2
  %.73 = getelementptr i8, ptr %.15, i64 912
  %.74 = load <16 x i16>, ptr %.73, align 2
  %.75 = shufflevector <16 x i16> %.72, <16 x i16> %.74, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.76 = bitcast <32 x i16> %.75 to <16 x i32>
  %.77 = getelementptr i8, ptr %.15, i64 960
  %.78 = load <16 x i16>, ptr %.77, align 2
  %.79 = getelementptr i8, ptr %.15, i64 1008
  %.80 = load <16 x i16>, ptr %.79, align 2
  %.81 = shufflevector <16 x i16> %.78, <16 x i16> %.80, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.82 = bitcast <32 x i16> %.81 to <16 x i32>
  %.83 = getelementptr i8, ptr %.15, i64 1056
  %.84 = load <16 x i16>, ptr %.83, align 2
  %.85 = getelementptr i8, ptr %.15, i64 1104
  %.86 = load <16 x i16>, ptr %.85, align 2
  %.87 = shufflevector <16 x i16> %.84, <16 x i16> %.86, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.88 = bitcast <32 x i16> %.87 to <16 x i32>
  %.89 = getelementptr i8, ptr %.15, i64 1152
  %.90 = load <16 x i16>, ptr %.89, align 2
  %.91 = getelementptr i8, ptr %.15, i64 1200
  %.92 = load <16 x i16>, ptr %.91, align 2
  %.93 = shufflevector <16 x i16> %.90, <16 x i16> %.92, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.94 = bitcast <32 x i16> %.93 to <16 x i32>
  %.95 = getelementptr i8, ptr %.15, i64 1248
  %.96 = load <16 x i16>, ptr %.95, align 2
  %.97 = getelementptr i8, ptr %.15, i64 1296
  %.98 = load <16 x i16>, ptr %.97, align 2
  %.99 = shufflevector <16 x i16> %.96, <16 x i16> %.98, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.100 = bitcast <32 x i16> %.99 to <16 x i32>
  %.101 = getelementptr i8, ptr %.15, i64 1344
  %.102 = load <16 x i16>, ptr %.101, align 2
  %.103 = getelementptr i8, ptr %.15, i64 1392
  %.104 = load <16 x i16>, ptr %.103, align 2
  %.105 = shufflevector <16 x i16> %.102, <16 x i16> %.104, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.106 = bitcast <32 x i16> %.105 to <16 x i32>
  %.107 = getelementptr i8, ptr %.15, i64 1440
  %.108 = load <16 x i16>, ptr %.107, align 2
  %.109 = getelementptr i8, ptr %.15, i64 1488
  %.110 = load <16 x i16>, ptr %.109, align 2
  %.111 = shufflevector <16 x i16> %.108, <16 x i16> %.110, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.112 = bitcast <32 x i16> %.111 to <16 x i32>
  store <16 x i32> %.22, ptr %.17, align 2
  %.113 = getelementptr i8, ptr %.17, i64 64
  store <16 x i32> %.28, ptr %.113, align 2
  %.114 = getelementptr i8, ptr %.17, i64 128
  store <16 x i32> %.34, ptr %.114, align 2
  %.115 = getelementptr i8, ptr %.17, i64 192
  store <16 x i32> %.40, ptr %.115, align 2
  %.116 = getelementptr i8, ptr %.17, i64 256
  store <16 x i32> %.46, ptr %.116, align 2
  %.117 = getelementptr i8, ptr %.17, i64 320
  store <16 x i32> %.52, ptr %.117, align 2
  %.118 = getelementptr i8, ptr %.17, i64 384
  store <16 x i32> %.58, ptr %.118, align 2
  %.119 = getelementptr i8, ptr %.17, i64 448
  store <16 x i32> %.64, ptr %.119, align 2
  %.120 = getelementptr i8, ptr %.17, i64 512
  store <16 x i32> %.70, ptr %.120, align 2
  %.121 = getelementptr i8, ptr %.17, i64 576
  store <16 x i32> %.76, ptr %.121, align 2
  %.122 = getelementptr i8, ptr %.17, i64 640
  store <16 x i32> %.82, ptr %.122, align 2
  %.123 = getelementptr i8, ptr %.17, i64 704
  store <16 x i32> %.88, ptr %.123, align 2
  %.124 = getelementptr i8, ptr %.17, i64 768
  store <16 x i32> %.94, ptr %.124, align 2
  %.125 = getelementptr i8, ptr %.17, i64 832
  store <16 x i32> %.100, ptr %.125, align 2
  %.126 = getelementptr i8, ptr %.17, i64 896
  store <16 x i32> %.106, ptr %.126, align 2
  %.127 = getelementptr i8, ptr %.17, i64 960
  store <16 x i32> %.112, ptr %.127, align 2
  %.128 = getelementptr inbounds i16, ptr %x, i64 0
  %.129 = getelementptr inbounds i8, ptr %shared, i64 10240
  %.130 = getelementptr inbounds i16, ptr %.129, i64 0
  %.131 = load <16 x i16>, ptr %.128, align 2
  %.132 = getelementptr i8, ptr %.128, i64 48
  %.133 = load <16 x i16>, ptr %.132, align 2
  %.134 = shufflevector <16 x i16> %.131, <16 x i16> %.133, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.135 = bitcast <32 x i16> %.134 to <16 x i32>
  %.136 = getelementptr i8, ptr %.128, i64 96
  %.137 = load <16 x i16>, ptr %.136, align 2
  %.138 = getelementptr i8, ptr %.128, i64 144
  %.139 = load <16 x i16>, ptr %.138, align 2
  %.140 = shufflevector <16 x i16> %.137, <16 x i16> %.139, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.141 = bitcast <32 x i16> %.140 to <16 x i32>
  %.142 = getelementptr i8, ptr %.128, i64 192
  %.143 = load <16 x i16>, ptr %.142, align 2
  %.144 = getelementptr i8, ptr %.128, i64 240
  %.145 = load <16 x i16>, ptr %.144, align 2
  %.146 = shufflevector <16 x i16> %.143, <16 x i16> %.145, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.147 = bitcast <32 x i16> %.146 to <16 x i32>
  %.148 = getelementptr i8, ptr %.128, i64 288
  %.149 = load <16 x i16>, ptr %.148, align 2
  %.150 = getelementptr i8, ptr %.128, i64 336
  %.151 = load <16 x i16>, ptr %.150, align 2
  %.152 = shufflevector <16 x i16> %.149, <16 x i16> %.151, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.153 = bitcast <32 x i16> %.152 to <16 x i32>
  %.154 = getelementptr i8, ptr %.128, i64 384
  %.155 = load <16 x i16>, ptr %.154, align 2
  %.156 = getelementptr i8, ptr %.128, i64 432
  %.157 = load <16 x i16>, ptr %.156, align 2
  %.158 = shufflevector <16 x i16> %.155, <16 x i16> %.157, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.159 = bitcast <32 x i16> %.158 to <16 x i32>
  %.160 = getelementptr i8, ptr %.128, i64 480
  %.161 = load <16 x i16>, ptr %.160, align 2
  %.162 = getelementptr i8, ptr %.128, i64 528
  %.163 = load <16 x i16>, ptr %.162, align 2
  %.164 = shufflevector <16 x i16> %.161, <16 x i16> %.163, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.165 = bitcast <32 x i16> %.164 to <16 x i32>
  %.166 = getelementptr i8, ptr %.128, i64 576
  %.167 = load <16 x i16>, ptr %.166, align 2
  %.168 = getelementptr i8, ptr %.128, i64 624
  %.169 = load <16 x i16>, ptr %.168, align 2
  %.170 = shufflevector <16 x i16> %.167, <16 x i16> %.169, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.171 = bitcast <32 x i16> %.170 to <16 x i32>
  %.172 = getelementptr i8, ptr %.128, i64 672
  %.173 = load <16 x i16>, ptr %.172, align 2
  %.174 = getelementptr i8, ptr %.128, i64 720
  %.175 = load <16 x i16>, ptr %.174, align 2
  %.176 = shufflevector <16 x i16> %.173, <16 x i16> %.175, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.177 = bitcast <32 x i16> %.176 to <16 x i32>
  %.178 = getelementptr i8, ptr %.128, i64 768
  %.179 = load <16 x i16>, ptr %.178, align 2
  %.180 = getelementptr i8, ptr %.128, i64 816
  %.181 = load <16 x i16>, ptr %.180, align 2
  %.182 = shufflevector <16 x i16> %.179, <16 x i16> %.181, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.183 = bitcast <32 x i16> %.182 to <16 x i32>
  %.184 = getelementptr i8, ptr %.128, i64 864
  %.185 = load <16 x i16>, ptr %.184, align 2
  %.186 = getelementptr i8, ptr %.128, i64 912
  %.187 = load <16 x i16>, ptr %.186, align 2
  %.188 = shufflevector <16 x i16> %.185, <16 x i16> %.187, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.189 = bitcast <32 x i16> %.188 to <16 x i32>
  %.190 = getelementptr i8, ptr %.128, i64 960
  %.191 = load <16 x i16>, ptr %.190, align 2
  %.192 = getelementptr i8, ptr %.128, i64 1008
  %.193 = load <16 x i16>, ptr %.192, align 2
  %.194 = shufflevector <16 x i16> %.191, <16 x i16> %.193, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.195 = bitcast <32 x i16> %.194 to <16 x i32>
  %.196 = getelementptr i8, ptr %.128, i64 1056
  %.197 = load <16 x i16>, ptr %.196, align 2
  %.198 = getelementptr i8, ptr %.128, i64 1104
  %.199 = load <16 x i16>, ptr %.198, align 2
  %.200 = shufflevector <16 x i16> %.197, <16 x i16> %.199, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.201 = bitcast <32 x i16> %.200 to <16 x i32>
  %.202 = getelementptr i8, ptr %.128, i64 1152
  %.203 = load <16 x i16>, ptr %.202, align 2
  %.204 = getelementptr i8, ptr %.128, i64 1200
  %.205 = load <16 x i16>, ptr %.204, align 2
  %.206 = shufflevector <16 x i16> %.203, <16 x i16> %.205, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.207 = bitcast <32 x i16> %.206 to <16 x i32>
  %.208 = getelementptr i8, ptr %.128, i64 1248
  %.209 = load <16 x i16>, ptr %.208, align 2
  %.210 = getelementptr i8, ptr %.128, i64 1296
  %.211 = load <16 x i16>, ptr %.210, align 2
  %.212 = shufflevector <16 x i16> %.209, <16 x i16> %.211, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.213 = bitcast <32 x i16> %.212 to <16 x i32>
  %.214 = getelementptr i8, ptr %.128, i64 1344
  %.215 = load <16 x i16>, ptr %.214, align 2
  %.216 = getelementptr i8, ptr %.128, i64 1392
  %.217 = load <16 x i16>, ptr %.216, align 2
  %.218 = shufflevector <16 x i16> %.215, <16 x i16> %.217, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.219 = bitcast <32 x i16> %.218 to <16 x i32>
  %.220 = getelementptr i8, ptr %.128, i64 1440
  %.221 = load <16 x i16>, ptr %.220, align 2
  %.222 = getelementptr i8, ptr %.128, i64 1488
  %.223 = load <16 x i16>, ptr %.222, align 2
  %.224 = shufflevector <16 x i16> %.221, <16 x i16> %.223, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %.225 = bitcast <32 x i16> %.224 to <16 x i32>
  %.226 = shufflevector <16 x i32> %.135, <16 x i32> %.183, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %.227 = shufflevector <16 x i32> %.135, <16 x i32> %.183, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %.228 = shufflevector <16 x i32> %.141, <16 x i32> %.189, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %.229 = shufflevector <16 x i32> %.141, <16 x i32> %.189, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %.230 = shufflevector <16 x i32> %.147, <16 x i32> %.195, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %.231 = shufflevector <16 x i32> %.147, <16 x i32> %.195, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %.232 = shufflevector <16 x i32> %.153, <16 x i32> %.201, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %.233 = shufflevector <16 x i32> %.153, <16 x i32> %.201, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %.234 = shufflevector <16 x i32> %.159, <16 x i32> %.207, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %.235 = shufflevector <16 x i32> %.159, <16 x i32> %.207, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %.236 = shufflevector <16 x i32> %.165, <16 x i32> %.213, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %.237 = shufflevector <16 x i32> %.165, <16 x i32> %.213, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %.238 = shufflevector <16 x i32> %.171, <16 x i32> %.219, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %.239 = shufflevector <16 x i32> %.171, <16 x i32> %.219, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %.240 = shufflevector <16 x i32> %.177, <16 x i32> %.225, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %.241 = shufflevector <16 x i32> %.177, <16 x i32> %.225, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %.242 = shufflevector <16 x i32> %.226, <16 x i32> %.234, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %.243 = shufflevector <16 x i32> %.226, <16 x i32> %.234, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %.244 = shufflevector <16 x i32> %.228, <16 x i32> %.236, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %.245 = shufflevector <16 x i32> %.228, <16 x i32> %.236, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %.246 = shufflevector <16 x i32> %.230, <16 x i32> %.238, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %.247 = shufflevector <16 x i32> %.230, <16 x i32> %.238, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %.248 = shufflevector <16 x i32> %.232, <16 x i32> %.240, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %.249 = shufflevector <16 x i32> %.232, <16 x i32> %.240, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %.250 = shufflevector <16 x i32> %.227, <16 x i32> %.235, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %.251 = shufflevector <16 x i32> %.227, <16 x i32> %.235, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %.252 = shufflevector <16 x i32> %.229, <16 x i32> %.237, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %.253 = shufflevector <16 x i32> %.229, <16 x i32> %.237, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %.254 = shufflevector <16 x i32> %.231, <16 x i32> %.239, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %.255 = shufflevector <16 x i32> %.231, <16 x i32> %.239, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %.256 = shufflevector <16 x i32> %.233, <16 x i32> %.241, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %.257 = shufflevector <16 x i32> %.233, <16 x i32> %.241, <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %.258 = shufflevector <16 x i32> %.242, <16 x i32> %.246, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %.259 = shufflevector <16 x i32> %.242, <16 x i32> %.246, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %.260 = shufflevector <16 x i32> %.244, <16 x i32> %.248, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %.261 = shufflevector <16 x i32> %.244, <16 x i32> %.248, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %.262 = shufflevector <16 x i32> %.243, <16 x i32> %.247, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %.263 = shufflevector <16 x i32> %.243, <16 x i32> %.247, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %.264 = shufflevector <16 x i32> %.245, <16 x i32> %.249, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %.265 = shufflevector <16 x i32> %.245, <16 x i32> %.249, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %.266 = shufflevector <16 x i32> %.250, <16 x i32> %.254, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %.267 = shufflevector <16 x i32> %.250, <16 x i32> %.254, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %.268 = shufflevector <16 x i32> %.252, <16 x i32> %.256, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %.269 = shufflevector <16 x i32> %.252, <16 x i32> %.256, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %.270 = shufflevector <16 x i32> %.251, <16 x i32> %.255, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %.271 = shufflevector <16 x i32> %.251, <16 x i32> %.255, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %.272 = shufflevector <16 x i32> %.253, <16 x i32> %.257, <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %.273 = shufflevector <16 x i32> %.253, <16 x i32> %.257, <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %.274 = shufflevector <16 x i32> %.258, <16 x i32> %.260, <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %.275 = shufflevector <16 x i32> %.258, <16 x i32> %.260, <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %.276 = shufflevector <16 x i32> %.259, <16 x i32> %.261, <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %.277 = shufflevector <16 x i32> %.259, <16 x i32> %.261, <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %.278 = shufflevector <16 x i32> %.262, <16 x i32> %.264, <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %.279 = shufflevector <16 x i32> %.262, <16 x i32> %.264, <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %.280 = shufflevector <16 x i32> %.263, <16 x i32> %.265, <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %.281 = shufflevector <16 x i32> %.263, <16 x i32> %.265, <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %.282 = shufflevector <16 x i32> %.266, <16 x i32> %.268, <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %.283 = shufflevector <16 x i32> %.266, <16 x i32> %.268, <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %.284 = shufflevector <16 x i32> %.267, <16 x i32> %.269, <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %.285 = shufflevector <16 x i32> %.267, <16 x i32> %.269, <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %.286 = shufflevector <16 x i32> %.270, <16 x i32> %.272, <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %.287 = shufflevector <16 x i32> %.270, <16 x i32> %.272, <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %.288 = shufflevector <16 x i32> %.271, <16 x i32> %.273, <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %.289 = shufflevector <16 x i32> %.271, <16 x i32> %.273, <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  store <16 x i32> %.274, ptr %.130, align 2
  %.290 = getelementptr i8, ptr %.130, i64 64
  store <16 x i32> %.275, ptr %.290, align 2
  %.291 = getelementptr i8, ptr %.130, i64 128
  store <16 x i32> %.276, ptr %.291, align 2
  %.292 = getelementptr i8, ptr %.130, i64 192
  store <16 x i32> %.277, ptr %.292, align 2
  %.293 = getelementptr i8, ptr %.130, i64 256
  store <16 x i32> %.278, ptr %.293, align 2
  %.294 = getelementptr i8, ptr %.130, i64 320
  store <16 x i32> %.279, ptr %.294, align 2
  %.295 = getelementptr i8, ptr %.130, i64 384
  store <16 x i32> %.280, ptr %.295, align 2
  %.296 = getelementptr i8, ptr %.130, i64 448
  store <16 x i32> %.281, ptr %.296, align 2
  %.297 = getelementptr i8, ptr %.130, i64 512
  store <16 x i32> %.282, ptr %.297, align 2
  %.298 = getelementptr i8, ptr %.130, i64 576
  store <16 x i32> %.283, ptr %.298, align 2
  %.299 = getelementptr i8, ptr %.130, i64 640
  store <16 x i32> %.284, ptr %.299, align 2
  %.300 = getelementptr i8, ptr %.130, i64 704
  store <16 x i32> %.285, ptr %.300, align 2
  %.301 = getelementptr i8, ptr %.130, i64 768
  store <16 x i32> %.286, ptr %.301, align 2
  %.302 = getelementptr i8, ptr %.130, i64 832
  store <16 x i32> %.287, ptr %.302, align 2
  %.303 = getelementptr i8, ptr %.130, i64 896
  store <16 x i32> %.288, ptr %.303, align 2
  %.304 = getelementptr i8, ptr %.130, i64 960
  store <16 x i32> %.289, ptr %.304, align 2
  %.305 = getelementptr inbounds i8, ptr %shared, i64 4096
  %.306 = getelementptr inbounds i32, ptr %.305, i64 0
  %.307 = getelementptr inbounds i16, ptr %shared, i64 0
  %.308 = getelementptr inbounds i16, ptr %matrix, i64 0
  store <16 x i32> <i32 1, i32 0, i32 0, i32 0, i32 4194368, i32 4194368, i32 4194368, i32 4194368, i32 0, i32 0, i32 0, i32 0, i32 269488144, i32 269488144, i32 0, i32 0>, ptr %tile_config
  call void @llvm.x86.ldtilecfg(ptr %tile_config)
  call void @llvm.x86.tileloadd64(i8 0, ptr %.306, i64 192)
  %.309 = getelementptr i8, ptr %.306, i64 64
  call void @llvm.x86.tileloadd64(i8 1, ptr %.309, i64 192)
  %.310 = getelementptr i8, ptr %.306, i64 3072
  call void @llvm.x86.tileloadd64(i8 2, ptr %.310, i64 192)
  %.311 = getelementptr i8, ptr %.306, i64 3136
  call void @llvm.x86.tileloadd64(i8 3, ptr %.311, i64 192)
  %.312 = sext i32 %steps to i64
  store i64 0, ptr %tile_step
  br label %tiles
tiles:
  %.313 = load i64, ptr %tile_step
  %.314 = icmp slt i64 %.313, %.312
  br i1 %.314, label %tile, label %tiles_done
tile:
  %.315 = mul i64 %.313, 64
  %.316 = getelementptr i8, ptr %.307, i64 %.315
  %.317 = mul i64 %.313, 3072
  %.318 = getelementptr i8, ptr %.308, i64 %.317
  call void @llvm.x86.tileloadd64(i8 4, ptr %.316, i64 128)
  %.319 = getelementptr i8, ptr %.316, i64 2048
  call void @llvm.x86.tileloadd64(i8 5, ptr %.319, i64 128)
  call void @llvm.x86.tileloadd64(i8 6, ptr %.318, i64 64)
  call void @llvm.x86.tdpbf16ps(i8 0, i8 4, i8 6)
  call void @llvm.x86.tdpbf16ps(i8 2, i8 5, i8 6)
  %.320 = getelementptr i8, ptr %.318, i64 1024
  call void @llvm.x86.tileloadd64(i8 7, ptr %.320, i64 64)
  call void @llvm.x86.tdpbf16ps(i8 1, i8 4, i8 7)
  call void @llvm.x86.tdpbf16ps(i8 3, i8 5, i8 7)
  %.321 = add nsw i64 %.313, 1
  store i64 %.321, ptr %tile_step
  br label %tiles
tiles_done:
  call void @llvm.x86.tilestored64(i8 0, ptr %.306, i64 192)
  %.322 = getelementptr i8, ptr %.306, i64 64
  call void @llvm.x86.tilestored64(i8 1, ptr %.322, i64 192)
  %.323 = getelementptr i8, ptr %.306, i64 3072
  call void @llvm.x86.tilestored64(i8 2, ptr %.323, i64 192)
  %.324 = getelementptr i8, ptr %.306, i64 3136
  call void @llvm.x86.tilestored64(i8 3, ptr %.324, i64 192)
  %.325 = getelementptr i8, ptr %.306, i64 128
  call void @llvm.x86.tileloadd64(i8 0, ptr %.325, i64 192)
  %.326 = getelementptr i8, ptr %.306, i64 3200
  call void @llvm.x86.tileloadd64(i8 1, ptr %.326, i64 192)
  %.327 = sext i32 %steps to i64
  store i64 0, ptr %tile_step.1
  br label %tiles.1
tiles.1:
  %.328 = load i64, ptr %tile_step.1
  %.329 = icmp slt i64 %.328, %.327
  br i1 %.329, label %tile.1, label %tiles_done.1
tile.1:
  %.330 = mul i64 %.328, 64
  %.331 = getelementptr i8, ptr %.307, i64 %.330
  %.332 = mul i64 %.328, 3072
  %.333 = getelementptr i8, ptr %.308, i64 %.332
  %.334 = getelementptr i8, ptr %.333, i64 2048
  call void @llvm.x86.tileloadd64(i8 2, ptr %.331, i64 128)
  %.335 = getelementptr i8, ptr %.331, i64 2048
  call void @llvm.x86.tileloadd64(i8 3, ptr %.335, i64 128)
  call void @llvm.x86.tileloadd64(i8 6, ptr %.334, i64 64)
  call void @llvm.x86.tdpbf16ps(i8 0, i8 2, i8 6)
  call void @llvm.x86.tdpbf16ps(i8 1, i8 3, i8 6)
  %.336 = add nsw i64 %.328, 1
  store i64 %.336, ptr %tile_step.1
  br label %tiles.1
tiles_done.1:
  %.337 = getelementptr i8, ptr %.306, i64 128
  call void @llvm.x86.tilestored64(i8 0, ptr %.337, i64 192)
  %.338 = getelementptr i8, ptr %.306, i64 3200
  call void @llvm.x86.tilestored64(i8 1, ptr %.338, i64 192)
  %.339 = getelementptr inbounds i8, ptr %shared, i64 4096
  %.340 = getelementptr inbounds i32, ptr %.339, i64 0
  %sum = load <16 x float>, ptr %.340, align 4
  %.342 = getelementptr inbounds i32, ptr %y, i64 0
  store <16 x float> %sum, ptr %.342, align 4
  call void @llvm.x86.tilerelease()
  ret void
}

define void @tiled(ptr %arguments, i32 %block, i32 %grid, ptr %shared) nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" "reciprocal-estimates"="vec-divf" {
  %place.0 = getelementptr inbounds ptr, ptr %arguments, i64 0
  %pointer.0 = load ptr, ptr %place.0
  %argument.0 = load ptr, ptr %pointer.0
  %place.1 = getelementptr inbounds ptr, ptr %arguments, i64 1
  %pointer.1 = load ptr, ptr %place.1
  %argument.1 = load ptr, ptr %pointer.1
  %place.2 = getelementptr inbounds ptr, ptr %arguments, i64 2
  %pointer.2 = load ptr, ptr %place.2
  %argument.2 = load ptr, ptr %pointer.2
  %place.3 = getelementptr inbounds ptr, ptr %arguments, i64 3
  %pointer.3 = load ptr, ptr %place.3
  %argument.3 = load i32, ptr %pointer.3
  call void @tiled.block(i32 %block, i32 %grid, ptr %shared, ptr %argument.0, ptr %argument.1, ptr %argument.2, i32 %argument.3)
  ret void
}
