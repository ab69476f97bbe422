
define internal void @asked_ahead.block(i32 %block, i32 %grid, ptr noalias align 64 %shared, ptr noalias readonly align 4 %x, ptr noalias align 4 %y, i32 %steps) alwaysinline nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" "reciprocal-estimates"="vec-divf" {
entry:
  %sum = alloca <64 x float>
  %step_counter = alloca i32
  store <64 x float> splat (float 0.0), ptr %sum
  store i32 0, ptr %step_counter
  br label %for
for:
  %step = load i32, ptr %step_counter
  %.1 = icmp slt i32 %step, %steps
  br i1 %.1, label %body, label %done
body:
  %.2 = add nsw i32 %step, 1
  %.3 = mul nsw i32 %.2, 64
  %.4 = add nsw i32 %.3, 0
  %.5 = sext i32 %.4 to i64
  %.6 = getelementptr inbounds i32, ptr %x, i64 %.5
  call void @llvm.prefetch.p0(ptr %.6, i32 0, i32 3, i32 1)
  %.7 = add nsw i32 %step, 2
  %.8 = mul nsw i32 %.7, 64
  %.9 = add nsw i32 %.8, 0
  %.10 = sext i32 %.9 to i64
  %.11 = getelementptr inbounds i32, ptr %x, i64 %.10
  call void @llvm.prefetch.p0(ptr %.11, i32 0, i32 2, i32 1)
  %.12 = mul nsw i32 %step, 64
  %.13 = add nsw i32 %.12, 0
  %.14 = sext i32 %.13 to i64
  %.15 = getelementptr inbounds i32, ptr %x, i64 %.14
  %v = load <64 x float>, ptr %.15, align 4
  %.17 = load <64 x float>, ptr %sum
  %.18 = fadd contract <64 x float> %.17, %v
  store <64 x float> %.18, ptr %sum
  %.19 = add nsw i32 %step, 1
  store i32 %.19, ptr %step_counter
  br label %for, !llvm.loop !0
done:
  %.20 = load <64 x float>, ptr %sum
  %.21 = getelementptr inbounds i32, ptr %y, i64 0
  store <64 x float> %.20, ptr %.21, align 4
  ret void
}

define void @asked_ahead(ptr %arguments, i32 %block, i32 %grid, ptr %shared) nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" "reciprocal-estimates"="vec-divf" {
  %place.0 = getelementptr inbounds ptr, ptr %arguments, i64 0
  %pointer.0 = load ptr, ptr %place.0
  %argument.0 = load ptr, ptr %pointer.0
  %place.1 = getelementptr inbounds ptr, ptr %arguments, i64 1
  %pointer.1 = load ptr, ptr %place.1
  %argument.1 = load ptr, ptr %pointer.1
  %place.2 = getelementptr inbounds ptr, ptr %arguments, i64 2
  %pointer.2 = load ptr, ptr %place.2
  %argument.2 = load i32, ptr %pointer.2
  call void @asked_ahead.block(i32 %block, i32 %grid, ptr %shared, ptr %argument.0, ptr %argument.1, i32 %argument.2)
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
