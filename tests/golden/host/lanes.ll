
define internal void @lanes.block(i32 %block, i32 %grid, ptr noalias align 64 %shared, ptr noalias readonly align 4 %x, ptr noalias readonly align 2 %half, ptr noalias align 4 %y, ptr noalias align 2 %small, i32 %n) alwaysinline nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" "reciprocal-estimates"="vec-divf" {
entry:
  %kept = alloca <16 x float>
  %zero = call i32 asm "", "=r,0"(i32 0)
  %k_counter = alloca i32
  %turn_counter = alloca i32
  %parts_0 = alloca <16 x float>
  %parts_1 = alloca <16 x float>
  %.0 = mul nsw i32 %block, 16
  %i = add nsw i32 %.0, 0
  store <16 x float> splat (float 3.0), ptr %kept
  %.2 = add i32 %i, %zero
  %.3 = insertelement <16 x i32> poison, i32 %.2, i64 0
  %.4 = shufflevector <16 x i32> %.3, <16 x i32> poison, <16 x i32> zeroinitializer
  %.5 = add <16 x i32> %.4, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %.6 = insertelement <16 x i32> poison, i32 %n, i64 0
  %.7 = shufflevector <16 x i32> %.6, <16 x i32> poison, <16 x i32> zeroinitializer
  %.8 = icmp slt <16 x i32> %.5, %.7
  %.9 = xor <16 x i1> %.8, splat (i1 true)
  %.10 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %.8)
  br i1 %.10, label %some, label %end
some:
  %.11 = sext i32 %i to i64
  %.12 = getelementptr inbounds i32, ptr %x, i64 %.11
  %v = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %.12, i32 4, <16 x i1> %.8, <16 x float> zeroinitializer)
  %.14 = getelementptr inbounds i32, ptr %shared, i64 0
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v, ptr %.14, i32 4, <16 x i1> %.8)
  %.15 = urem <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, splat (i32 3)
  %.16 = icmp slt <16 x i32> splat (i32 0), %.15
  %.17 = xor <16 x i1> %.16, splat (i1 true)
  %.18 = and <16 x i1> %.8, %.16
  %.19 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %.18)
  br i1 %.19, label %some.1, label %end.1
some.1:
  %.20 = mul nsw i32 %i, 2
  %.21 = sext i32 %.20 to i64
  %.22 = getelementptr inbounds i16, ptr %half, i64 %.21
  %.23 = getelementptr i8, ptr %.22, <16 x i64> <i64 0, i64 4, i64 8, i64 12, i64 16, i64 20, i64 24, i64 28, i64 32, i64 36, i64 40, i64 44, i64 48, i64 52, i64 56, i64 60>
  %.24 = call <16 x i16> @llvm.masked.gather.v16i16.v16p0(<16 x ptr> %.23, i32 2, <16 x i1> %.18, <16 x i16> zeroinitializer)
  %.25 = zext <16 x i16> %.24 to <16 x i32>
  %.26 = shl <16 x i32> %.25, splat (i32 16)
  %strided = bitcast <16 x i32> %.26 to <16 x float>
  %.28 = load <16 x float>, ptr %kept
  %.29 = bitcast <16 x i1> %.18 to i16
  %.30 = call i16 asm "", "=r,0"(i16 %.29)
  %.31 = bitcast i16 %.30 to <16 x i1>
  %.32 = select <16 x i1> %.31, <16 x float> %strided, <16 x float> %.28
  store <16 x float> %.32, ptr %kept
  br label %end.1
end.1:
  %.33 = and <16 x i1> %.8, %.17
  %.34 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %.33)
  br i1 %.34, label %some.2, label %end.2
some.2:
  %.35 = load <16 x float>, ptr %kept
  %.36 = bitcast <16 x i1> %.33 to i16
  %.37 = call i16 asm "", "=r,0"(i16 %.36)
  %.38 = bitcast i16 %.37 to <16 x i1>
  %.39 = select <16 x i1> %.38, <16 x float> splat (float -1.0), <16 x float> %.35
  store <16 x float> %.39, ptr %kept
  br label %end.2
end.2:
  store i32 0, ptr %k_counter
  br label %for
for:
  %k = load i32, ptr %k_counter
  %.41 = icmp slt i32 %k, %n
  br i1 %.41, label %body, label %done
body:
  %.42 = insertelement <16 x i32> poison, i32 %k, i64 0
  %.43 = shufflevector <16 x i32> %.42, <16 x i32> poison, <16 x i32> zeroinitializer
  %.44 = add <16 x i32> %.43, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %.45 = insertelement <16 x i32> poison, i32 %n, i64 0
  %.46 = shufflevector <16 x i32> %.45, <16 x i32> poison, <16 x i32> zeroinitializer
  %.47 = icmp slt <16 x i32> %.44, %.46
  %.48 = and <16 x i1> %.8, %.47
  %.49 = insertelement <16 x i32> poison, i32 %k, i64 0
  %.50 = shufflevector <16 x i32> %.49, <16 x i32> poison, <16 x i32> zeroinitializer
  %.51 = add <16 x i32> %.50, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %.52 = insertelement <16 x i32> poison, i32 %k, i64 0
  %.53 = shufflevector <16 x i32> %.52, <16 x i32> poison, <16 x i32> zeroinitializer
  %.54 = add <16 x i32> %.53, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %.55 = mul nsw <16 x i32> %.51, %.54
  %.56 = sext <16 x i32> %.55 to <16 x i64>
  %.57 = getelementptr inbounds i32, ptr %x, <16 x i64> %.56
  %gathered = call <16 x float> @llvm.masked.gather.v16f32.v16p0(<16 x ptr> %.57, i32 4, <16 x i1> %.48, <16 x float> zeroinitializer)
  %.59 = load <16 x float>, ptr %kept
  %.60 = fadd contract <16 x float> %.59, %gathered
  %.61 = load <16 x float>, ptr %kept
  %.62 = bitcast <16 x i1> %.48 to i16
  %.63 = call i16 asm "", "=r,0"(i16 %.62)
  %.64 = bitcast i16 %.63 to <16 x i1>
  %.65 = select <16 x i1> %.64, <16 x float> %.60, <16 x float> %.61
  store <16 x float> %.65, ptr %kept
  %.66 = add nsw i32 %k, 5
  store i32 %.66, ptr %k_counter
  br label %for, !llvm.loop !0
done:
  br label %end
end:
  store i32 0, ptr %turn_counter
  br label %for.1
for.1:
  %turn = load i32, ptr %turn_counter
  %.68 = icmp slt i32 %turn, %n
  br i1 %.68, label %body.1, label %done.1
body.1:
  %.69 = icmp slt i32 %turn, 3
  br i1 %.69, label %then, label %end.3
then:
  %.70 = sext i32 %turn to i64
  %.71 = getelementptr inbounds i32, ptr %x, i64 %.70
  %same = load float, ptr %.71, align 4
  %.73 = load <16 x float>, ptr %kept
  %.74 = insertelement <16 x float> poison, float %same, i64 0
  %.75 = shufflevector <16 x float> %.74, <16 x float> poison, <16 x i32> zeroinitializer
  %.76 = fmul contract <16 x float> %.73, %.75
  store <16 x float> %.76, ptr %kept
  br label %end.3
end.3:
  %.77 = add nsw i32 %turn, 1
  store i32 %.77, ptr %turn_counter
  br label %for.1, !llvm.loop !2
done.1:
  ; an array of registers, and conditions of every kind
  %.78 = load <16 x float>, ptr %kept
  store <16 x float> %.78, ptr %parts_0
  %.79 = insertelement <16 x i32> poison, i32 %i, i64 0
  %.80 = shufflevector <16 x i32> %.79, <16 x i32> poison, <16 x i32> zeroinitializer
  %.81 = add <16 x i32> %.80, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %.82 = urem <16 x i32> %.81, splat (i32 5)
  %.83 = sitofp <16 x i32> %.82 to <16 x float>
  store <16 x float> %.83, ptr %parts_1
  %.84 = load <16 x float>, ptr %parts_0
  %.85 = load <16 x float>, ptr %parts_1
  %.86 = insertelement <16 x i32> poison, i32 %i, i64 0
  %.87 = shufflevector <16 x i32> %.86, <16 x i32> poison, <16 x i32> zeroinitializer
  %.88 = add <16 x i32> %.87, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %.89 = urem <16 x i32> %.88, splat (i32 2)
  %.90 = icmp eq <16 x i32> %.89, splat (i32 0)
  %.91 = uitofp <16 x i1> %.90 to <16 x float>
  %.92 = fadd contract <16 x float> %.85, %.91
  %.93 = add i32 %i, %zero
  %.94 = insertelement <16 x i32> poison, i32 %.93, i64 0
  %.95 = shufflevector <16 x i32> %.94, <16 x i32> poison, <16 x i32> zeroinitializer
  %.96 = add <16 x i32> %.95, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %.97 = insertelement <16 x i32> poison, i32 %n, i64 0
  %.98 = shufflevector <16 x i32> %.97, <16 x i32> poison, <16 x i32> zeroinitializer
  %.99 = icmp slt <16 x i32> %.96, %.98
  %.100 = select <16 x i1> %.90, <16 x i1> %.99, <16 x i1> splat (i1 false)
  %.101 = add i32 %i, %zero
  %.102 = insertelement <16 x i32> poison, i32 %.101, i64 0
  %.103 = shufflevector <16 x i32> %.102, <16 x i32> poison, <16 x i32> zeroinitializer
  %.104 = add <16 x i32> %.103, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %.105 = icmp sge <16 x i32> %.104, splat (i32 400)
  %.106 = select <16 x i1> %.100, <16 x i1> splat (i1 true), <16 x i1> %.105
  %chosen = select <16 x i1> %.106, <16 x float> %.84, <16 x float> %.92
  %.108 = sext i32 %i to i64
  %far = mul nsw i64 %.108, 3
  %.110 = add i32 %i, %zero
  %.111 = insertelement <16 x i32> poison, i32 %.110, i64 0
  %.112 = shufflevector <16 x i32> %.111, <16 x i32> poison, <16 x i32> zeroinitializer
  %.113 = add <16 x i32> %.112, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %.114 = insertelement <16 x i32> poison, i32 %n, i64 0
  %.115 = shufflevector <16 x i32> %.114, <16 x i32> poison, <16 x i32> zeroinitializer
  %.116 = icmp slt <16 x i32> %.113, %.115
  %.117 = xor <16 x i1> %.116, splat (i1 true)
  %.118 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %.116)
  br i1 %.118, label %some.3, label %end.4
some.3:
  %.119 = udiv <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, splat (i32 2)
  %.120 = sext <16 x i32> %.119 to <16 x i64>
  %.121 = getelementptr inbounds i32, ptr %shared, <16 x i64> %.120
  %other = call <16 x float> @llvm.masked.gather.v16f32.v16p0(<16 x ptr> %.121, i32 4, <16 x i1> %.116, <16 x float> zeroinitializer)
  %.123 = fadd contract <16 x float> %chosen, %other
  %.124 = sext i32 %i to i64
  %.125 = getelementptr inbounds i32, ptr %y, i64 %.124
  call void @llvm.masked.store.v16f32.p0(<16 x float> %.123, ptr %.125, i32 4, <16 x i1> %.116)
  %.126 = load <16 x float>, ptr %kept
  %.127 = fptrunc <16 x float> %.126 to <16 x half>
  %.128 = getelementptr inbounds i16, ptr %small, i64 %far
  %.129 = getelementptr i8, ptr %.128, <16 x i64> <i64 0, i64 6, i64 12, i64 18, i64 24, i64 30, i64 36, i64 42, i64 48, i64 54, i64 60, i64 66, i64 72, i64 78, i64 84, i64 90>
  call void @llvm.masked.scatter.v16f16.v16p0(<16 x half> %.127, <16 x ptr> %.129, i32 2, <16 x i1> %.116)
  br label %end.4
end.4:
  ret void
}

define void @lanes(ptr %arguments, i32 %block, i32 %grid, ptr %shared) nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" "reciprocal-estimates"="vec-divf" {
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
  %argument.3 = load ptr, ptr %pointer.3
  %place.4 = getelementptr inbounds ptr, ptr %arguments, i64 4
  %pointer.4 = load ptr, ptr %place.4
  %argument.4 = load i32, ptr %pointer.4
  call void @lanes.block(i32 %block, i32 %grid, ptr %shared, ptr %argument.0, ptr %argument.1, ptr %argument.2, ptr %argument.3, i32 %argument.4)
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.unroll.disable"}
