
; The upper word of a product of two words.
define internal <32 x i32> @philox_high_32(<32 x i32> %x, <32 x i32> %y) alwaysinline {
  %wide_x = zext <32 x i32> %x to <32 x i64>
  %wide_y = zext <32 x i32> %y to <32 x i64>
  %product = mul nuw <32 x i64> %wide_x, %wide_y
  %upper = lshr <32 x i64> %product, splat (i64 32)
  %high = trunc <32 x i64> %upper to <32 x i32>
  ret <32 x i32> %high
}

; The draw of a channel at its place, a multiple of 2^-24 in [0, 1): Philox 4x32-10 (Salmon et al. 2011), whose key is the
; seed's bits and the number of the draw's name. Its multipliers are 0xD2511F53 and 0xCD9E8D57, its keys grow by 0x9E3779B9
; and 0xBB67AE85.
define internal <32 x float> @philox_uniform_32(<32 x float> %seed, <32 x i32> %stream, <32 x i32> %row, <32 x i32> %step, <32 x i32> %head, <32 x i32> %channel) alwaysinline {
  %key = bitcast <32 x float> %seed to <32 x i32>
  %high_c0 = call <32 x i32> @philox_high_32(<32 x i32> %row, <32 x i32> splat (i32 -845247145))
  %mixed_b0 = xor <32 x i32> %high_c0, %step
  %a0 = xor <32 x i32> %mixed_b0, %key
  %high_a0 = call <32 x i32> @philox_high_32(<32 x i32> %channel, <32 x i32> splat (i32 -766435501))
  %mixed_d0 = xor <32 x i32> %high_a0, %head
  %c0 = xor <32 x i32> %mixed_d0, %stream
  %b0 = mul <32 x i32> %row, splat (i32 -845247145)
  %d0 = mul <32 x i32> %channel, splat (i32 -766435501)
  %key1 = add <32 x i32> %key, splat (i32 -1640531527)
  %stream1 = add <32 x i32> %stream, splat (i32 -1150833019)
  %high_c1 = call <32 x i32> @philox_high_32(<32 x i32> %c0, <32 x i32> splat (i32 -845247145))
  %mixed_b1 = xor <32 x i32> %high_c1, %b0
  %a1 = xor <32 x i32> %mixed_b1, %key1
  %high_a1 = call <32 x i32> @philox_high_32(<32 x i32> %a0, <32 x i32> splat (i32 -766435501))
  %mixed_d1 = xor <32 x i32> %high_a1, %d0
  %c1 = xor <32 x i32> %mixed_d1, %stream1
  %b1 = mul <32 x i32> %c0, splat (i32 -845247145)
  %d1 = mul <32 x i32> %a0, splat (i32 -766435501)
  %key2 = add <32 x i32> %key, splat (i32 1013904242)
  %stream2 = add <32 x i32> %stream, splat (i32 1993301258)
  %high_c2 = call <32 x i32> @philox_high_32(<32 x i32> %c1, <32 x i32> splat (i32 -845247145))
  %mixed_b2 = xor <32 x i32> %high_c2, %b1
  %a2 = xor <32 x i32> %mixed_b2, %key2
  %high_a2 = call <32 x i32> @philox_high_32(<32 x i32> %a1, <32 x i32> splat (i32 -766435501))
  %mixed_d2 = xor <32 x i32> %high_a2, %d1
  %c2 = xor <32 x i32> %mixed_d2, %stream2
  %b2 = mul <32 x i32> %c1, splat (i32 -845247145)
  %d2 = mul <32 x i32> %a1, splat (i32 -766435501)
  %key3 = add <32 x i32> %key, splat (i32 -626627285)
  %stream3 = add <32 x i32> %stream, splat (i32 842468239)
  %high_c3 = call <32 x i32> @philox_high_32(<32 x i32> %c2, <32 x i32> splat (i32 -845247145))
  %mixed_b3 = xor <32 x i32> %high_c3, %b2
  %a3 = xor <32 x i32> %mixed_b3, %key3
  %high_a3 = call <32 x i32> @philox_high_32(<32 x i32> %a2, <32 x i32> splat (i32 -766435501))
  %mixed_d3 = xor <32 x i32> %high_a3, %d2
  %c3 = xor <32 x i32> %mixed_d3, %stream3
  %b3 = mul <32 x i32> %c2, splat (i32 -845247145)
  %d3 = mul <32 x i32> %a2, splat (i32 -766435501)
  %key4 = add <32 x i32> %key, splat (i32 2027808484)
  %stream4 = add <32 x i32> %stream, splat (i32 -308364780)
  %high_c4 = call <32 x i32> @philox_high_32(<32 x i32> %c3, <32 x i32> splat (i32 -845247145))
  %mixed_b4 = xor <32 x i32> %high_c4, %b3
  %a4 = xor <32 x i32> %mixed_b4, %key4
  %high_a4 = call <32 x i32> @philox_high_32(<32 x i32> %a3, <32 x i32> splat (i32 -766435501))
  %mixed_d4 = xor <32 x i32> %high_a4, %d3
  %c4 = xor <32 x i32> %mixed_d4, %stream4
  %b4 = mul <32 x i32> %c3, splat (i32 -845247145)
  %d4 = mul <32 x i32> %a3, splat (i32 -766435501)
  %key5 = add <32 x i32> %key, splat (i32 387276957)
  %stream5 = add <32 x i32> %stream, splat (i32 -1459197799)
  %high_c5 = call <32 x i32> @philox_high_32(<32 x i32> %c4, <32 x i32> splat (i32 -845247145))
  %mixed_b5 = xor <32 x i32> %high_c5, %b4
  %a5 = xor <32 x i32> %mixed_b5, %key5
  %high_a5 = call <32 x i32> @philox_high_32(<32 x i32> %a4, <32 x i32> splat (i32 -766435501))
  %mixed_d5 = xor <32 x i32> %high_a5, %d4
  %c5 = xor <32 x i32> %mixed_d5, %stream5
  %b5 = mul <32 x i32> %c4, splat (i32 -845247145)
  %d5 = mul <32 x i32> %a4, splat (i32 -766435501)
  %key6 = add <32 x i32> %key, splat (i32 -1253254570)
  %stream6 = add <32 x i32> %stream, splat (i32 1684936478)
  %high_c6 = call <32 x i32> @philox_high_32(<32 x i32> %c5, <32 x i32> splat (i32 -845247145))
  %mixed_b6 = xor <32 x i32> %high_c6, %b5
  %a6 = xor <32 x i32> %mixed_b6, %key6
  %high_a6 = call <32 x i32> @philox_high_32(<32 x i32> %a5, <32 x i32> splat (i32 -766435501))
  %mixed_d6 = xor <32 x i32> %high_a6, %d5
  %c6 = xor <32 x i32> %mixed_d6, %stream6
  %b6 = mul <32 x i32> %c5, splat (i32 -845247145)
  %d6 = mul <32 x i32> %a5, splat (i32 -766435501)
  %key7 = add <32 x i32> %key, splat (i32 1401181199)
  %stream7 = add <32 x i32> %stream, splat (i32 534103459)
  %high_c7 = call <32 x i32> @philox_high_32(<32 x i32> %c6, <32 x i32> splat (i32 -845247145))
  %mixed_b7 = xor <32 x i32> %high_c7, %b6
  %a7 = xor <32 x i32> %mixed_b7, %key7
  %high_a7 = call <32 x i32> @philox_high_32(<32 x i32> %a6, <32 x i32> splat (i32 -766435501))
  %mixed_d7 = xor <32 x i32> %high_a7, %d6
  %c7 = xor <32 x i32> %mixed_d7, %stream7
  %b7 = mul <32 x i32> %c6, splat (i32 -845247145)
  %d7 = mul <32 x i32> %a6, splat (i32 -766435501)
  %key8 = add <32 x i32> %key, splat (i32 -239350328)
  %stream8 = add <32 x i32> %stream, splat (i32 -616729560)
  %high_c8 = call <32 x i32> @philox_high_32(<32 x i32> %c7, <32 x i32> splat (i32 -845247145))
  %mixed_b8 = xor <32 x i32> %high_c8, %b7
  %a8 = xor <32 x i32> %mixed_b8, %key8
  %high_a8 = call <32 x i32> @philox_high_32(<32 x i32> %a7, <32 x i32> splat (i32 -766435501))
  %mixed_d8 = xor <32 x i32> %high_a8, %d7
  %c8 = xor <32 x i32> %mixed_d8, %stream8
  %b8 = mul <32 x i32> %c7, splat (i32 -845247145)
  %d8 = mul <32 x i32> %a7, splat (i32 -766435501)
  %key9 = add <32 x i32> %key, splat (i32 -1879881855)
  %high_c9 = call <32 x i32> @philox_high_32(<32 x i32> %c8, <32 x i32> splat (i32 -845247145))
  %mixed_b9 = xor <32 x i32> %high_c9, %b8
  %a9 = xor <32 x i32> %mixed_b9, %key9
  %bits = lshr <32 x i32> %a9, splat (i32 8)
  %number = sitofp <32 x i32> %bits to <32 x float>
  %draw = fmul <32 x float> %number, splat (float 0x3E70000000000000) 
  ret <32 x float> %draw
}

define internal void @draws.block(i32 %block, i32 %grid, ptr noalias align 64 %shared, ptr noalias readonly align 4 %seed, ptr noalias align 4 %out, i32 %step) alwaysinline nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" "reciprocal-estimates"="vec-divf" {
entry:
  %.0 = getelementptr inbounds i32, ptr %seed, i64 0
  %seed_0 = load float, ptr %.0, align 4
  %.2 = insertelement <32 x float> poison, float %seed_0, i64 0
  %.3 = shufflevector <32 x float> %.2, <32 x float> poison, <32 x i32> zeroinitializer
  %.4 = insertelement <32 x i32> poison, i32 %block, i64 0
  %.5 = shufflevector <32 x i32> %.4, <32 x i32> poison, <32 x i32> zeroinitializer
  %.6 = insertelement <32 x i32> poison, i32 %step, i64 0
  %.7 = shufflevector <32 x i32> %.6, <32 x i32> poison, <32 x i32> zeroinitializer
  %drop = call <32 x float> @philox_uniform_32(<32 x float> %.3, <32 x i32> splat (i32 -1448768116), <32 x i32> %.5, <32 x i32> %.7, <32 x i32> splat (i32 3), <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>)
  %.9 = getelementptr inbounds i32, ptr %out, i64 0
  store <32 x float> %drop, ptr %.9, align 4
  %.10 = insertelement <32 x float> poison, float %seed_0, i64 0
  %.11 = shufflevector <32 x float> %.10, <32 x float> poison, <32 x i32> zeroinitializer
  %.12 = insertelement <32 x i32> poison, i32 %block, i64 0
  %.13 = shufflevector <32 x i32> %.12, <32 x i32> poison, <32 x i32> zeroinitializer
  %.14 = insertelement <32 x i32> poison, i32 %step, i64 0
  %.15 = shufflevector <32 x i32> %.14, <32 x i32> poison, <32 x i32> zeroinitializer
  %keep = call <32 x float> @philox_uniform_32(<32 x float> %.11, <32 x i32> splat (i32 -293891000), <32 x i32> %.13, <32 x i32> %.15, <32 x i32> splat (i32 3), <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>)
  %.17 = add nsw i32 0, 32
  %.18 = sext i32 %.17 to i64
  %.19 = getelementptr inbounds i32, ptr %out, i64 %.18
  store <32 x float> %keep, ptr %.19, align 4
  %.20 = insertelement <32 x float> poison, float %seed_0, i64 0
  %.21 = shufflevector <32 x float> %.20, <32 x float> poison, <32 x i32> zeroinitializer
  %.22 = insertelement <32 x i32> poison, i32 %block, i64 0
  %.23 = shufflevector <32 x i32> %.22, <32 x i32> poison, <32 x i32> zeroinitializer
  %.24 = insertelement <32 x i32> poison, i32 %step, i64 0
  %.25 = shufflevector <32 x i32> %.24, <32 x i32> poison, <32 x i32> zeroinitializer
  %.26 = add nsw i32 0, 1
  %.27 = insertelement <32 x i32> poison, i32 %.26, i64 0
  %.28 = shufflevector <32 x i32> %.27, <32 x i32> poison, <32 x i32> zeroinitializer
  %.29 = add <32 x i32> %.28, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %next_drop = call <32 x float> @philox_uniform_32(<32 x float> %.21, <32 x i32> splat (i32 -1448768116), <32 x i32> %.23, <32 x i32> %.25, <32 x i32> splat (i32 3), <32 x i32> %.29)
  %.31 = add nsw i32 0, 64
  %.32 = sext i32 %.31 to i64
  %.33 = getelementptr inbounds i32, ptr %out, i64 %.32
  store <32 x float> %next_drop, ptr %.33, align 4
  ret void
}

define void @draws(ptr %arguments, i32 %block, i32 %grid, ptr %shared) nounwind "no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512" "reciprocal-estimates"="vec-divf" {
  %place.0 = getelementptr inbounds ptr, ptr %arguments, i64 0
  %pointer.0 = load ptr, ptr %place.0
  %argument.0 = load ptr, ptr %pointer.0
  %place.1 = getelementptr inbounds ptr, ptr %arguments, i64 1
  %pointer.1 = load ptr, ptr %place.1
  %argument.1 = load ptr, ptr %pointer.1
  %place.2 = getelementptr inbounds ptr, ptr %arguments, i64 2
  %pointer.2 = load ptr, ptr %place.2
  %argument.2 = load i32, ptr %pointer.2
  call void @draws.block(i32 %block, i32 %grid, ptr %shared, ptr %argument.0, ptr %argument.1, i32 %argument.2)
  ret void
}
