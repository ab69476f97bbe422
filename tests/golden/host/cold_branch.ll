
define internal void @cold_branch.block(i32 %block, i32 %grid, ptr noalias align 64 %shared, ptr noalias readonly align 4 %x, ptr noalias align 4 %y) alwaysinline nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" "reciprocal-estimates"="vec-divf" {
entry:
  %.0 = mul nsw i32 %block, 32
  %.1 = add nsw i32 %.0, 0
  %.2 = sext i32 %.1 to i64
  %.3 = getelementptr inbounds i32, ptr %x, i64 %.2
  %v = load <32 x float>, ptr %.3, align 4
  %.5 = fcmp olt <32 x float> %v, splat (float 0.0)
  %.6 = xor <32 x i1> %.5, splat (i1 true)
  %.7 = call i1 @llvm.vector.reduce.or.v32i1(<32 x i1> %.5)
  br i1 %.7, label %some, label %end
some:
  %.8 = mul nsw i32 %block, 32
  %place = add nsw i32 %.8, 0
  %.10 = sext i32 %place to i64
  %.11 = getelementptr inbounds i32, ptr %x, i64 %.10
  %v_2 = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %.11, i32 4, <32 x i1> %.5, <32 x float> zeroinitializer)
  %.13 = sitofp i32 %grid to float
  %.14 = insertelement <32 x float> poison, float %.13, i64 0
  %.15 = shufflevector <32 x float> %.14, <32 x float> poison, <32 x i32> zeroinitializer
  %.16 = fmul contract <32 x float> %v_2, %.15
  %.17 = sext i32 %place to i64
  %.18 = getelementptr inbounds i32, ptr %y, i64 %.17
  call void @llvm.masked.store.v32f32.p0(<32 x float> %.16, ptr %.18, i32 4, <32 x i1> %.5)
  %.19 = fcmp olt <32 x float> %v, splat (float -1.0)
  %.20 = xor <32 x i1> %.19, splat (i1 true)
  %.21 = and <32 x i1> %.5, %.19
  %.22 = call i1 @llvm.vector.reduce.or.v32i1(<32 x i1> %.21)
  br i1 %.22, label %some.1, label %end.1
some.1:
  %.23 = sext i32 %place to i64
  %.24 = getelementptr inbounds i32, ptr %y, i64 %.23
  call void @llvm.masked.store.v32f32.p0(<32 x float> splat (float 1.0), ptr %.24, i32 4, <32 x i1> %.21)
  br label %end.1
end.1:
  br label %end
end:
  %.25 = fcmp oge <32 x float> %v, splat (float 0.0)
  %.26 = xor <32 x i1> %.25, splat (i1 true)
  %.27 = call i1 @llvm.vector.reduce.or.v32i1(<32 x i1> %.25)
  br i1 %.27, label %some.2, label %end.2
some.2:
  %.28 = mul nsw i32 %block, 32
  %.29 = add nsw i32 %.28, 0
  %.30 = sext i32 %.29 to i64
  %.31 = getelementptr inbounds i32, ptr %y, i64 %.30
  call void @llvm.masked.store.v32f32.p0(<32 x float> %v, ptr %.31, i32 4, <32 x i1> %.25)
  br label %end.2
end.2:
  ret void
}

define void @cold_branch(ptr %arguments, i32 %block, i32 %grid, ptr %shared) nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" "reciprocal-estimates"="vec-divf" {
  %place.0 = getelementptr inbounds ptr, ptr %arguments, i64 0
  %pointer.0 = load ptr, ptr %place.0
  %argument.0 = load ptr, ptr %pointer.0
  %place.1 = getelementptr inbounds ptr, ptr %arguments, i64 1
  %pointer.1 = load ptr, ptr %place.1
  %argument.1 = load ptr, ptr %pointer.1
  call void @cold_branch.block(i32 %block, i32 %grid, ptr %shared, ptr %argument.0, ptr %argument.1)
  ret void
}
