
define internal void @streamed.block(i32 %block, i32 %grid, ptr noalias align 64 %shared, ptr noalias readonly align 4 %x, ptr noalias align 4 %y, ptr noalias align 2 %half, i32 %n) alwaysinline nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" "reciprocal-estimates"="vec-divf" {
entry:
  %zero = call i32 asm "", "=r,0"(i32 0)
  %.0 = mul nsw i32 %block, 16
  %i = add nsw i32 %.0, 0
  %.2 = sext i32 %i to i64
  %.3 = getelementptr inbounds i32, ptr %x, i64 %.2
  %v = load <16 x float>, ptr %.3, align 4
  %.5 = sext i32 %i to i64
  %.6 = getelementptr inbounds i32, ptr %y, i64 %.5
  %.7 = ptrtoint ptr %.6 to i64
  %.8 = and i64 %.7, 63
  %.9 = icmp eq i64 %.8, 0
  br i1 %.9, label %past, label %through
past:
  store <16 x float> %v, ptr %.6, align 64, !nontemporal !0
  br label %stored
through:
  store <16 x float> %v, ptr %.6, align 4
  br label %stored
stored:
  %.10 = bitcast <16 x float> %v to <16 x i32>
  %.11 = lshr <16 x i32> %.10, splat (i32 16)
  %.12 = and <16 x i32> %.11, splat (i32 1)
  %.13 = add <16 x i32> %.12, splat (i32 32767)
  %.14 = add <16 x i32> %.10, %.13
  %.15 = lshr <16 x i32> %.14, splat (i32 16)
  %.16 = or <16 x i32> %.11, splat (i32 64)
  %.17 = fcmp ord <16 x float> %v, zeroinitializer
  %.18 = select <16 x i1> %.17, <16 x i32> %.15, <16 x i32> %.16
  %.19 = trunc <16 x i32> %.18 to <16 x i16>
  %.20 = sext i32 %i to i64
  %.21 = getelementptr inbounds i16, ptr %half, i64 %.20
  %.22 = ptrtoint ptr %.21 to i64
  %.23 = and i64 %.22, 31
  %.24 = icmp eq i64 %.23, 0
  br i1 %.24, label %past.1, label %through.1
past.1:
  store <16 x i16> %.19, ptr %.21, align 32, !nontemporal !0
  br label %stored.1
through.1:
  store <16 x i16> %.19, ptr %.21, align 2
  br label %stored.1
stored.1:
  %.25 = add i32 %i, %zero
  %.26 = insertelement <16 x i32> poison, i32 %.25, i64 0
  %.27 = shufflevector <16 x i32> %.26, <16 x i32> poison, <16 x i32> zeroinitializer
  %.28 = add <16 x i32> %.27, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %.29 = insertelement <16 x i32> poison, i32 %n, i64 0
  %.30 = shufflevector <16 x i32> %.29, <16 x i32> poison, <16 x i32> zeroinitializer
  %.31 = icmp slt <16 x i32> %.28, %.30
  %.32 = xor <16 x i1> %.31, splat (i1 true)
  %.33 = call i1 @llvm.vector.reduce.or.v16i1(<16 x i1> %.31)
  br i1 %.33, label %some, label %end
some:
  %.34 = add nsw i32 %i, 16
  %.35 = sext i32 %.34 to i64
  %.36 = getelementptr inbounds i32, ptr %y, i64 %.35
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v, ptr %.36, i32 4, <16 x i1> %.31)
  br label %end
end:
  %.37 = sext i32 %block to i64
  %.38 = getelementptr inbounds i32, ptr %x, i64 %.37
  %one = load float, ptr %.38, align 4
  %.40 = insertelement <16 x float> poison, float %one, i64 0
  %.41 = shufflevector <16 x float> %.40, <16 x float> poison, <16 x i32> zeroinitializer
  %.42 = bitcast <16 x float> %.41 to <16 x i32>
  %.43 = lshr <16 x i32> %.42, splat (i32 16)
  %.44 = and <16 x i32> %.43, splat (i32 1)
  %.45 = add <16 x i32> %.44, splat (i32 32767)
  %.46 = add <16 x i32> %.42, %.45
  %.47 = lshr <16 x i32> %.46, splat (i32 16)
  %.48 = or <16 x i32> %.43, splat (i32 64)
  %.49 = fcmp ord <16 x float> %.41, zeroinitializer
  %.50 = select <16 x i1> %.49, <16 x i32> %.47, <16 x i32> %.48
  %.51 = trunc <16 x i32> %.50 to <16 x i16>
  %.52 = sext i32 %block to i64
  %.53 = getelementptr inbounds i16, ptr %half, i64 %.52
  %.54 = getelementptr i8, ptr %.53, <16 x i64> <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  call void @llvm.masked.scatter.v16i16.v16p0(<16 x i16> %.51, <16 x ptr> %.54, i32 2, <16 x i1> splat (i1 true))
  fence seq_cst
  ret void
}

define void @streamed(ptr %arguments, i32 %block, i32 %grid, ptr %shared) nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" "reciprocal-estimates"="vec-divf" {
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
  call void @streamed.block(i32 %block, i32 %grid, ptr %shared, ptr %argument.0, ptr %argument.1, ptr %argument.2, i32 %argument.3)
  ret void
}

!0 = !{i32 1}
