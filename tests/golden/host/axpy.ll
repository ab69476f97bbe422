
; y = 2 x, one element a thread.
define internal void @axpy.block(i32 %block, i32 %grid, ptr noalias align 64 %shared, ptr noalias readonly align 2 %x, ptr noalias align 2 %y, i32 %n) alwaysinline nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" "reciprocal-estimates"="vec-divf" {
entry:
  %zero = call i32 asm "", "=r,0"(i32 0)
  %.0 = mul nsw i32 %block, 128
  %i = add nsw i32 %.0, 0
  %.2 = add i32 %i, %zero
  %.3 = insertelement <128 x i32> poison, i32 %.2, i64 0
  %.4 = shufflevector <128 x i32> %.3, <128 x i32> poison, <128 x i32> zeroinitializer
  %.5 = add <128 x i32> %.4, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63, i32 64, i32 65, i32 66, i32 67, i32 68, i32 69, i32 70, i32 71, i32 72, i32 73, i32 74, i32 75, i32 76, i32 77, i32 78, i32 79, i32 80, i32 81, i32 82, i32 83, i32 84, i32 85, i32 86, i32 87, i32 88, i32 89, i32 90, i32 91, i32 92, i32 93, i32 94, i32 95, i32 96, i32 97, i32 98, i32 99, i32 100, i32 101, i32 102, i32 103, i32 104, i32 105, i32 106, i32 107, i32 108, i32 109, i32 110, i32 111, i32 112, i32 113, i32 114, i32 115, i32 116, i32 117, i32 118, i32 119, i32 120, i32 121, i32 122, i32 123, i32 124, i32 125, i32 126, i32 127>
  %.6 = insertelement <128 x i32> poison, i32 %n, i64 0
  %.7 = shufflevector <128 x i32> %.6, <128 x i32> poison, <128 x i32> zeroinitializer
  %.8 = icmp slt <128 x i32> %.5, %.7
  %.9 = xor <128 x i1> %.8, splat (i1 true)
  %.10 = call i1 @llvm.vector.reduce.or.v128i1(<128 x i1> %.8)
  br i1 %.10, label %some, label %end
some:
  %.11 = sext i32 %i to i64
  %.12 = getelementptr inbounds i16, ptr %x, i64 %.11
  %.13 = call <128 x i16> @llvm.masked.load.v128i16.p0(ptr %.12, i32 2, <128 x i1> %.8, <128 x i16> zeroinitializer)
  %.14 = zext <128 x i16> %.13 to <128 x i32>
  %.15 = shl <128 x i32> %.14, splat (i32 16)
  %v = bitcast <128 x i32> %.15 to <128 x float>
  %.17 = fmul contract <128 x float> %v, splat (float 2.0)
  %.18 = bitcast <128 x float> %.17 to <128 x i32>
  %.19 = lshr <128 x i32> %.18, splat (i32 16)
  %.20 = and <128 x i32> %.19, splat (i32 1)
  %.21 = add <128 x i32> %.20, splat (i32 32767)
  %.22 = add <128 x i32> %.18, %.21
  %.23 = lshr <128 x i32> %.22, splat (i32 16)
  %.24 = or <128 x i32> %.19, splat (i32 64)
  %.25 = fcmp ord <128 x float> %.17, zeroinitializer
  %.26 = select <128 x i1> %.25, <128 x i32> %.23, <128 x i32> %.24
  %.27 = trunc <128 x i32> %.26 to <128 x i16>
  %.28 = sext i32 %i to i64
  %.29 = getelementptr inbounds i16, ptr %y, i64 %.28
  call void @llvm.masked.store.v128i16.p0(<128 x i16> %.27, ptr %.29, i32 2, <128 x i1> %.8)
  br label %end
end:
  ret void
}

define void @axpy(ptr %arguments, i32 %block, i32 %grid, ptr %shared) nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" "reciprocal-estimates"="vec-divf" {
  %place.0 = getelementptr inbounds ptr, ptr %arguments, i64 0
  %pointer.0 = load ptr, ptr %place.0
  %argument.0 = load ptr, ptr %pointer.0
  %place.1 = getelementptr inbounds ptr, ptr %arguments, i64 1
  %pointer.1 = load ptr, ptr %place.1
  %argument.1 = load ptr, ptr %pointer.1
  %place.2 = getelementptr inbounds ptr, ptr %arguments, i64 2
  %pointer.2 = load ptr, ptr %place.2
  %argument.2 = load i32, ptr %pointer.2
  call void @axpy.block(i32 %block, i32 %grid, ptr %shared, ptr %argument.0, ptr %argument.1, i32 %argument.2)
  ret void
}
