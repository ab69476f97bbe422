
define internal void @bytes_and_lengths.block(i32 %block, i32 %grid, ptr noalias align 64 %shared, ptr noalias readonly align 1 %resets, ptr noalias readonly align 4 %lengths, ptr noalias readonly align 4 %x, ptr noalias align 4 %out) alwaysinline nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" "reciprocal-estimates"="vec-divf" {
entry:
  %zero = call i32 asm "", "=r,0"(i32 0)
  %.0 = getelementptr inbounds i8, ptr %resets, i64 0
  %.1 = load <32 x i8>, ptr %.0, align 1
  %byte = zext <32 x i8> %.1 to <32 x i32>
  %.3 = icmp eq <32 x i32> %byte, splat (i32 0)
  %reset = select <32 x i1> %.3, <32 x float> splat (float 0.0), <32 x float> splat (float 1.0)
  %.5 = getelementptr inbounds i32, ptr %lengths, i64 0
  %length = load i32, ptr %.5, align 4
  %.7 = add i32 0, %zero
  %.8 = insertelement <32 x i32> poison, i32 %.7, i64 0
  %.9 = shufflevector <32 x i32> %.8, <32 x i32> poison, <32 x i32> zeroinitializer
  %.10 = add <32 x i32> %.9, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %.11 = insertelement <32 x i32> poison, i32 %length, i64 0
  %.12 = shufflevector <32 x i32> %.11, <32 x i32> poison, <32 x i32> zeroinitializer
  %.13 = icmp slt <32 x i32> %.10, %.12
  %valid = select <32 x i1> %.13, <32 x float> splat (float 1.0), <32 x float> splat (float 0.0)
  %.15 = getelementptr inbounds i32, ptr %x, i64 0
  %v = load <32 x float>, ptr %.15, align 4
  %.17 = fcmp une <32 x float> %valid, zeroinitializer
  %.18 = fcmp une <32 x float> %reset, zeroinitializer
  %.19 = select <32 x i1> %.18, <32 x float> splat (float 0.0), <32 x float> %v
  %.20 = select <32 x i1> %.17, <32 x float> %.19, <32 x float> splat (float -1.0)
  %.21 = getelementptr inbounds i32, ptr %out, i64 0
  store <32 x float> %.20, ptr %.21, align 4
  ret void
}

define void @bytes_and_lengths(ptr %arguments, i32 %block, i32 %grid, ptr %shared) nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" "reciprocal-estimates"="vec-divf" {
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
  call void @bytes_and_lengths.block(i32 %block, i32 %grid, ptr %shared, ptr %argument.0, ptr %argument.1, ptr %argument.2, ptr %argument.3)
  ret void
}
