
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
  %.29 = select <16 x i1> %.18, <16 x float> %strided, <16 x float> %.28
  store <16 x float> %.29, ptr %kept
  br label %end.1
end.1:
  %.30 = and <16 x i1> %.8, %.17
  %.31 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %.30)
  br i1 %.31, label %some.2, label %end.2
some.2:
  %.32 = load <16 x float>, ptr %kept
  %.33 = select <16 x i1> %.30, <16 x float> splat (float -1.0), <16 x float> %.32
  store <16 x float> %.33, ptr %kept
  br label %end.2
end.2:
  store i32 0, ptr %k_counter
  br label %for
for:
  %k = load i32, ptr %k_counter
  %.35 = icmp slt i32 %k, %n
  br i1 %.35, label %body, label %done
body:
  %.36 = insertelement <16 x i32> poison, i32 %k, i64 0
  %.37 = shufflevector <16 x i32> %.36, <16 x i32> poison, <16 x i32> zeroinitializer
  %.38 = add <16 x i32> %.37, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %.39 = insertelement <16 x i32> poison, i32 %n, i64 0
  %.40 = shufflevector <16 x i32> %.39, <16 x i32> poison, <16 x i32> zeroinitializer
  %.41 = icmp slt <16 x i32> %.38, %.40
  %.42 = and <16 x i1> %.8, %.41
  %.43 = insertelement <16 x i32> poison, i32 %k, i64 0
  %.44 = shufflevector <16 x i32> %.43, <16 x i32> poison, <16 x i32> zeroinitializer
  %.45 = add <16 x i32> %.44, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %.46 = insertelement <16 x i32> poison, i32 %k, i64 0
  %.47 = shufflevector <16 x i32> %.46, <16 x i32> poison, <16 x i32> zeroinitializer
  %.48 = add <16 x i32> %.47, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %.49 = mul nsw <16 x i32> %.45, %.48
  %.50 = sext <16 x i32> %.49 to <16 x i64>
  %.51 = getelementptr inbounds i32, ptr %x, <16 x i64> %.50
  %gathered = call <16 x float> @llvm.masked.gather.v16f32.v16p0(<16 x ptr> %.51, i32 4, <16 x i1> %.42, <16 x float> zeroinitializer)
  %.53 = load <16 x float>, ptr %kept
  %.54 = fadd contract <16 x float> %.53, %gathered
  %.55 = load <16 x float>, ptr %kept
  %.56 = select <16 x i1> %.42, <16 x float> %.54, <16 x float> %.55
  store <16 x float> %.56, ptr %kept
  %.57 = add nsw i32 %k, 5
  store i32 %.57, ptr %k_counter
  br label %for, !llvm.loop !0
done:
  br label %end
end:
  store i32 0, ptr %turn_counter
  br label %for.1
for.1:
  %turn = load i32, ptr %turn_counter
  %.59 = icmp slt i32 %turn, %n
  br i1 %.59, label %body.1, label %done.1
body.1:
  %.60 = icmp slt i32 %turn, 3
  br i1 %.60, label %then, label %end.3
then:
  %.61 = sext i32 %turn to i64
  %.62 = getelementptr inbounds i32, ptr %x, i64 %.61
  %same = load float, ptr %.62, align 4
  %.64 = load <16 x float>, ptr %kept
  %.65 = insertelement <16 x float> poison, float %same, i64 0
  %.66 = shufflevector <16 x float> %.65, <16 x float> poison, <16 x i32> zeroinitializer
  %.67 = fmul contract <16 x float> %.64, %.66
  store <16 x float> %.67, ptr %kept
  br label %end.3
end.3:
  %.68 = add nsw i32 %turn, 1
  store i32 %.68, ptr %turn_counter
  br label %for.1, !llvm.loop !2
done.1:
  ; an array of registers, and conditions of every kind
  %.69 = load <16 x float>, ptr %kept
  store <16 x float> %.69, ptr %parts_0
  %.70 = insertelement <16 x i32> poison, i32 %i, i64 0
  %.71 = shufflevector <16 x i32> %.70, <16 x i32> poison, <16 x i32> zeroinitializer
  %.72 = add <16 x i32> %.71, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %.73 = urem <16 x i32> %.72, splat (i32 5)
  %.74 = sitofp <16 x i32> %.73 to <16 x float>
  store <16 x float> %.74, ptr %parts_1
  %.75 = load <16 x float>, ptr %parts_0
  %.76 = load <16 x float>, ptr %parts_1
  %.77 = insertelement <16 x i32> poison, i32 %i, i64 0
  %.78 = shufflevector <16 x i32> %.77, <16 x i32> poison, <16 x i32> zeroinitializer
  %.79 = add <16 x i32> %.78, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %.80 = urem <16 x i32> %.79, splat (i32 2)
  %.81 = icmp eq <16 x i32> %.80, splat (i32 0)
  %.82 = uitofp <16 x i1> %.81 to <16 x float>
  %.83 = fadd contract <16 x float> %.76, %.82
  %.84 = add i32 %i, %zero
  %.85 = insertelement <16 x i32> poison, i32 %.84, i64 0
  %.86 = shufflevector <16 x i32> %.85, <16 x i32> poison, <16 x i32> zeroinitializer
  %.87 = add <16 x i32> %.86, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %.88 = insertelement <16 x i32> poison, i32 %n, i64 0
  %.89 = shufflevector <16 x i32> %.88, <16 x i32> poison, <16 x i32> zeroinitializer
  %.90 = icmp slt <16 x i32> %.87, %.89
  %.91 = select <16 x i1> %.81, <16 x i1> %.90, <16 x i1> splat (i1 false)
  %.92 = add i32 %i, %zero
  %.93 = insertelement <16 x i32> poison, i32 %.92, i64 0
  %.94 = shufflevector <16 x i32> %.93, <16 x i32> poison, <16 x i32> zeroinitializer
  %.95 = add <16 x i32> %.94, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %.96 = icmp sge <16 x i32> %.95, splat (i32 400)
  %.97 = select <16 x i1> %.91, <16 x i1> splat (i1 true), <16 x i1> %.96
  %chosen = select <16 x i1> %.97, <16 x float> %.75, <16 x float> %.83
  %.99 = sext i32 %i to i64
  %far = mul nsw i64 %.99, 3
  %.101 = add i32 %i, %zero
  %.102 = insertelement <16 x i32> poison, i32 %.101, i64 0
  %.103 = shufflevector <16 x i32> %.102, <16 x i32> poison, <16 x i32> zeroinitializer
  %.104 = add <16 x i32> %.103, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %.105 = insertelement <16 x i32> poison, i32 %n, i64 0
  %.106 = shufflevector <16 x i32> %.105, <16 x i32> poison, <16 x i32> zeroinitializer
  %.107 = icmp slt <16 x i32> %.104, %.106
  %.108 = xor <16 x i1> %.107, splat (i1 true)
  %.109 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %.107)
  br i1 %.109, label %some.3, label %end.4
some.3:
  %.110 = udiv <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, splat (i32 2)
  %.111 = sext <16 x i32> %.110 to <16 x i64>
  %.112 = getelementptr inbounds i32, ptr %shared, <16 x i64> %.111
  %other = call <16 x float> @llvm.masked.gather.v16f32.v16p0(<16 x ptr> %.112, i32 4, <16 x i1> %.107, <16 x float> zeroinitializer)
  %.114 = fadd contract <16 x float> %chosen, %other
  %.115 = sext i32 %i to i64
  %.116 = getelementptr inbounds i32, ptr %y, i64 %.115
  call void @llvm.masked.store.v16f32.p0(<16 x float> %.114, ptr %.116, i32 4, <16 x i1> %.107)
  %.117 = load <16 x float>, ptr %kept
  %.118 = fptrunc <16 x float> %.117 to <16 x half>
  %.119 = getelementptr inbounds i16, ptr %small, i64 %far
  %.120 = getelementptr i8, ptr %.119, <16 x i64> <i64 0, i64 6, i64 12, i64 18, i64 24, i64 30, i64 36, i64 42, i64 48, i64 54, i64 60, i64 66, i64 72, i64 78, i64 84, i64 90>
  call void @llvm.masked.scatter.v16f16.v16p0(<16 x half> %.118, <16 x ptr> %.120, i32 2, <16 x i1> %.107)
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
