target triple = "nvptx64-nvidia-cuda"

; The upper word of a product of two words.
define internal i32 @philox_high(i32 %x, i32 %y) alwaysinline {
  %wide_x = zext i32 %x to i64
  %wide_y = zext i32 %y to i64
  %product = mul nuw i64 %wide_x, %wide_y
  %upper = lshr i64 %product, 32
  %high = trunc i64 %upper to i32
  ret i32 %high
}

; The draw of a channel at its place, a multiple of 2^-24 in [0, 1): Philox 4x32-10 (Salmon et al. 2011), whose key is the
; seed's bits and the number of the draw's name. Its multipliers are 0xD2511F53 and 0xCD9E8D57, its keys grow by 0x9E3779B9
; and 0xBB67AE85.
define internal float @philox_uniform(float %seed, i32 %stream, i32 %row, i32 %step, i32 %head, i32 %channel) alwaysinline {
  %key = bitcast float %seed to i32
  %high_c0 = call i32 @philox_high(i32 %row, i32 -845247145)
  %mixed_b0 = xor i32 %high_c0, %step
  %a0 = xor i32 %mixed_b0, %key
  %high_a0 = call i32 @philox_high(i32 %channel, i32 -766435501)
  %mixed_d0 = xor i32 %high_a0, %head
  %c0 = xor i32 %mixed_d0, %stream
  %b0 = mul i32 %row, -845247145
  %d0 = mul i32 %channel, -766435501
  %key1 = add i32 %key, -1640531527
  %stream1 = add i32 %stream, -1150833019
  %high_c1 = call i32 @philox_high(i32 %c0, i32 -845247145)
  %mixed_b1 = xor i32 %high_c1, %b0
  %a1 = xor i32 %mixed_b1, %key1
  %high_a1 = call i32 @philox_high(i32 %a0, i32 -766435501)
  %mixed_d1 = xor i32 %high_a1, %d0
  %c1 = xor i32 %mixed_d1, %stream1
  %b1 = mul i32 %c0, -845247145
  %d1 = mul i32 %a0, -766435501
  %key2 = add i32 %key, 1013904242
  %stream2 = add i32 %stream, 1993301258
  %high_c2 = call i32 @philox_high(i32 %c1, i32 -845247145)
  %mixed_b2 = xor i32 %high_c2, %b1
  %a2 = xor i32 %mixed_b2, %key2
  %high_a2 = call i32 @philox_high(i32 %a1, i32 -766435501)
  %mixed_d2 = xor i32 %high_a2, %d1
  %c2 = xor i32 %mixed_d2, %stream2
  %b2 = mul i32 %c1, -845247145
  %d2 = mul i32 %a1, -766435501
  %key3 = add i32 %key, -626627285
  %stream3 = add i32 %stream, 842468239
  %high_c3 = call i32 @philox_high(i32 %c2, i32 -845247145)
  %mixed_b3 = xor i32 %high_c3, %b2
  %a3 = xor i32 %mixed_b3, %key3
  %high_a3 = call i32 @philox_high(i32 %a2, i32 -766435501)
  %mixed_d3 = xor i32 %high_a3, %d2
  %c3 = xor i32 %mixed_d3, %stream3
  %b3 = mul i32 %c2, -845247145
  %d3 = mul i32 %a2, -766435501
  %key4 = add i32 %key, 2027808484
  %stream4 = add i32 %stream, -308364780
  %high_c4 = call i32 @philox_high(i32 %c3, i32 -845247145)
  %mixed_b4 = xor i32 %high_c4, %b3
  %a4 = xor i32 %mixed_b4, %key4
  %high_a4 = call i32 @philox_high(i32 %a3, i32 -766435501)
  %mixed_d4 = xor i32 %high_a4, %d3
  %c4 = xor i32 %mixed_d4, %stream4
  %b4 = mul i32 %c3, -845247145
  %d4 = mul i32 %a3, -766435501
  %key5 = add i32 %key, 387276957
  %stream5 = add i32 %stream, -1459197799
  %high_c5 = call i32 @philox_high(i32 %c4, i32 -845247145)
  %mixed_b5 = xor i32 %high_c5, %b4
  %a5 = xor i32 %mixed_b5, %key5
  %high_a5 = call i32 @philox_high(i32 %a4, i32 -766435501)
  %mixed_d5 = xor i32 %high_a5, %d4
  %c5 = xor i32 %mixed_d5, %stream5
  %b5 = mul i32 %c4, -845247145
  %d5 = mul i32 %a4, -766435501
  %key6 = add i32 %key, -1253254570
  %stream6 = add i32 %stream, 1684936478
  %high_c6 = call i32 @philox_high(i32 %c5, i32 -845247145)
  %mixed_b6 = xor i32 %high_c6, %b5
  %a6 = xor i32 %mixed_b6, %key6
  %high_a6 = call i32 @philox_high(i32 %a5, i32 -766435501)
  %mixed_d6 = xor i32 %high_a6, %d5
  %c6 = xor i32 %mixed_d6, %stream6
  %b6 = mul i32 %c5, -845247145
  %d6 = mul i32 %a5, -766435501
  %key7 = add i32 %key, 1401181199
  %stream7 = add i32 %stream, 534103459
  %high_c7 = call i32 @philox_high(i32 %c6, i32 -845247145)
  %mixed_b7 = xor i32 %high_c7, %b6
  %a7 = xor i32 %mixed_b7, %key7
  %high_a7 = call i32 @philox_high(i32 %a6, i32 -766435501)
  %mixed_d7 = xor i32 %high_a7, %d6
  %c7 = xor i32 %mixed_d7, %stream7
  %b7 = mul i32 %c6, -845247145
  %d7 = mul i32 %a6, -766435501
  %key8 = add i32 %key, -239350328
  %stream8 = add i32 %stream, -616729560
  %high_c8 = call i32 @philox_high(i32 %c7, i32 -845247145)
  %mixed_b8 = xor i32 %high_c8, %b7
  %a8 = xor i32 %mixed_b8, %key8
  %high_a8 = call i32 @philox_high(i32 %a7, i32 -766435501)
  %mixed_d8 = xor i32 %high_a8, %d7
  %c8 = xor i32 %mixed_d8, %stream8
  %b8 = mul i32 %c7, -845247145
  %d8 = mul i32 %a7, -766435501
  %key9 = add i32 %key, -1879881855
  %high_c9 = call i32 @philox_high(i32 %c8, i32 -845247145)
  %mixed_b9 = xor i32 %high_c9, %b8
  %a9 = xor i32 %mixed_b9, %key9
  %bits = lshr i32 %a9, 8
  %number = sitofp i32 %bits to float
  %draw = fmul float %number, 0x3E70000000000000 ; 2^-24
  ret float %draw
}

define ptx_kernel void @draws(ptr addrspace(1) noalias readonly align 4 %seed, ptr addrspace(1) noalias align 4 %out, i32 %step) convergent nounwind "nvvm.maxntid"="32" "nvvm.minctasm"="1" {
entry:
  %block_x = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %thread_x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %.0 = getelementptr inbounds i32, ptr addrspace(1) %seed, i64 0
  %seed_0 = load float, ptr addrspace(1) %.0, align 4
  %drop = call float @philox_uniform(float %seed_0, i32 -1448768116, i32 %block_x, i32 %step, i32 3, i32 %thread_x)
  %.3 = sext i32 %thread_x to i64
  %.4 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %.3
  store float %drop, ptr addrspace(1) %.4, align 4
  %keep = call float @philox_uniform(float %seed_0, i32 -293891000, i32 %block_x, i32 %step, i32 3, i32 %thread_x)
  %.6 = add nsw i32 %thread_x, 32
  %.7 = sext i32 %.6 to i64
  %.8 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %.7
  store float %keep, ptr addrspace(1) %.8, align 4
  %.9 = add nsw i32 %thread_x, 1
  %next_drop = call float @philox_uniform(float %seed_0, i32 -1448768116, i32 %block_x, i32 %step, i32 3, i32 %.9)
  %.11 = add nsw i32 %thread_x, 64
  %.12 = sext i32 %.11 to i64
  %.13 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %.12
  store float %next_drop, ptr addrspace(1) %.13, align 4
  ret void
}
