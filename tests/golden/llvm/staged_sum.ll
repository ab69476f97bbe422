target triple = "nvptx64-nvidia-cuda"

@shared_memory = external addrspace(3) global [0 x i8], align 16

define internal i32 @pack_fp16(float %low, float %high) alwaysinline {
  %pair = call <2 x half> @llvm.nvvm.ff2f16x2.rn(float %high, float %low)
  %bits = bitcast <2 x half> %pair to i32
  ret i32 %bits
}

define internal float @low_fp16(i32 %pair) alwaysinline {
  %halves = bitcast i32 %pair to <2 x half>
  %half = extractelement <2 x half> %halves, i32 0
  %x = fpext half %half to float
  ret float %x
}

define internal float @high_fp16(i32 %pair) alwaysinline {
  %halves = bitcast i32 %pair to <2 x half>
  %half = extractelement <2 x half> %halves, i32 1
  %x = fpext half %half to float
  ret float %x
}

; Sums over time of 2 channels a thread; x is staged in shared memory.
define ptx_kernel void @staged_sum(ptr addrspace(1) noalias readonly align 2 %x, ptr addrspace(1) noalias align 2 %sum, i32 %time) convergent nounwind "nvvm.maxntid"="32" "nvvm.minctasm"="4" {
entry:
  %thread_x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %total_0 = alloca float
  %total_1 = alloca float
  %t_counter = alloca i32
  %mine = mul nsw i32 %thread_x, 2
  store float 0.0, ptr %total_0
  store float 0.0, ptr %total_1
  ; fill the ring
  %.1 = icmp slt i32 0, %time
  br i1 %.1, label %then, label %end
then:
  %.2 = add nsw i32 0, %mine
  %.3 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.2
  %.4 = sext i32 %mine to i64
  %.5 = add nsw i64 0, %.4
  %.6 = getelementptr inbounds i16, ptr addrspace(1) %x, i64 %.5
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %.3, ptr addrspace(1) %.6)
  br label %end
end:
  call void @llvm.nvvm.cp.async.commit.group()
  %.7 = icmp slt i32 1, %time
  br i1 %.7, label %then.1, label %end.1
then.1:
  %.8 = add nsw i32 64, %mine
  %.9 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.8
  %.10 = sext i32 %mine to i64
  %.11 = add nsw i64 64, %.10
  %.12 = getelementptr inbounds i16, ptr addrspace(1) %x, i64 %.11
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %.9, ptr addrspace(1) %.12)
  br label %end.1
end.1:
  call void @llvm.nvvm.cp.async.commit.group()
  %.13 = icmp slt i32 2, %time
  br i1 %.13, label %then.2, label %end.2
then.2:
  %.14 = add nsw i32 128, %mine
  %.15 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.14
  %.16 = sext i32 %mine to i64
  %.17 = add nsw i64 128, %.16
  %.18 = getelementptr inbounds i16, ptr addrspace(1) %x, i64 %.17
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %.15, ptr addrspace(1) %.18)
  br label %end.2
end.2:
  call void @llvm.nvvm.cp.async.commit.group()
  store i32 0, ptr %t_counter
  br label %for
for:
  %t = load i32, ptr %t_counter
  %.20 = mul nsw i32 1, 3
  %.21 = sub nsw i32 %time, %.20
  %.22 = icmp slt i32 %t, %.21
  br i1 %.22, label %body, label %done
body:
  call void @llvm.nvvm.cp.async.wait.group(i32 2)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %.23 = add nsw i32 %t, 3
  %.24 = icmp slt i32 %.23, %time
  br i1 %.24, label %then.3, label %end.3
then.3:
  %.25 = add nsw i32 %t, 3
  %.26 = urem i32 %.25, 4
  %.27 = mul nsw i32 %.26, 64
  %.28 = add nsw i32 %.27, %mine
  %.29 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.28
  %.30 = sext i32 %.25 to i64
  %.31 = mul nsw i64 %.30, 64
  %.32 = sext i32 %mine to i64
  %.33 = add nsw i64 %.31, %.32
  %.34 = getelementptr inbounds i16, ptr addrspace(1) %x, i64 %.33
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %.29, ptr addrspace(1) %.34)
  br label %end.3
end.3:
  call void @llvm.nvvm.cp.async.commit.group()
  %.35 = urem i32 %t, 4
  %.36 = mul nsw i32 %.35, 64
  %.37 = add nsw i32 %.36, %mine
  %.38 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.37
  %.39 = load i32, ptr addrspace(3) %.38, align 4
  %.40 = call float @low_fp16(i32 %.39)
  %v_1 = call float @high_fp16(i32 %.39)
  %.42 = load float, ptr %total_0
  %.43 = fadd contract float %.42, %.40
  store float %.43, ptr %total_0
  %.44 = load float, ptr %total_1
  %.45 = fadd contract float %.44, %v_1
  store float %.45, ptr %total_1
  %.46 = add nsw i32 %t, 1
  call void @llvm.nvvm.cp.async.wait.group(i32 2)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %.47 = add nsw i32 %.46, 3
  %.48 = icmp slt i32 %.47, %time
  br i1 %.48, label %then.4, label %end.4
then.4:
  %.49 = add nsw i32 %.46, 3
  %.50 = urem i32 %.49, 4
  %.51 = mul nsw i32 %.50, 64
  %.52 = add nsw i32 %.51, %mine
  %.53 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.52
  %.54 = sext i32 %.49 to i64
  %.55 = mul nsw i64 %.54, 64
  %.56 = sext i32 %mine to i64
  %.57 = add nsw i64 %.55, %.56
  %.58 = getelementptr inbounds i16, ptr addrspace(1) %x, i64 %.57
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %.53, ptr addrspace(1) %.58)
  br label %end.4
end.4:
  call void @llvm.nvvm.cp.async.commit.group()
  %.59 = urem i32 %.46, 4
  %.60 = mul nsw i32 %.59, 64
  %.61 = add nsw i32 %.60, %mine
  %.62 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.61
  %.63 = load i32, ptr addrspace(3) %.62, align 4
  %.64 = call float @low_fp16(i32 %.63)
  %v_1.1 = call float @high_fp16(i32 %.63)
  %.66 = load float, ptr %total_0
  %.67 = fadd contract float %.66, %.64
  store float %.67, ptr %total_0
  %.68 = load float, ptr %total_1
  %.69 = fadd contract float %.68, %v_1.1
  store float %.69, ptr %total_1
  %.70 = add nsw i32 %.46, 1
  call void @llvm.nvvm.cp.async.wait.group(i32 2)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %.71 = add nsw i32 %.70, 3
  %.72 = icmp slt i32 %.71, %time
  br i1 %.72, label %then.5, label %end.5
then.5:
  %.73 = add nsw i32 %.70, 3
  %.74 = urem i32 %.73, 4
  %.75 = mul nsw i32 %.74, 64
  %.76 = add nsw i32 %.75, %mine
  %.77 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.76
  %.78 = sext i32 %.73 to i64
  %.79 = mul nsw i64 %.78, 64
  %.80 = sext i32 %mine to i64
  %.81 = add nsw i64 %.79, %.80
  %.82 = getelementptr inbounds i16, ptr addrspace(1) %x, i64 %.81
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %.77, ptr addrspace(1) %.82)
  br label %end.5
end.5:
  call void @llvm.nvvm.cp.async.commit.group()
  %.83 = urem i32 %.70, 4
  %.84 = mul nsw i32 %.83, 64
  %.85 = add nsw i32 %.84, %mine
  %.86 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.85
  %.87 = load i32, ptr addrspace(3) %.86, align 4
  %.88 = call float @low_fp16(i32 %.87)
  %v_1.2 = call float @high_fp16(i32 %.87)
  %.90 = load float, ptr %total_0
  %.91 = fadd contract float %.90, %.88
  store float %.91, ptr %total_0
  %.92 = load float, ptr %total_1
  %.93 = fadd contract float %.92, %v_1.2
  store float %.93, ptr %total_1
  %.94 = add nsw i32 %.70, 1
  call void @llvm.nvvm.cp.async.wait.group(i32 2)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %.95 = add nsw i32 %.94, 3
  %.96 = icmp slt i32 %.95, %time
  br i1 %.96, label %then.6, label %end.6
then.6:
  %.97 = add nsw i32 %.94, 3
  %.98 = urem i32 %.97, 4
  %.99 = mul nsw i32 %.98, 64
  %.100 = add nsw i32 %.99, %mine
  %.101 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.100
  %.102 = sext i32 %.97 to i64
  %.103 = mul nsw i64 %.102, 64
  %.104 = sext i32 %mine to i64
  %.105 = add nsw i64 %.103, %.104
  %.106 = getelementptr inbounds i16, ptr addrspace(1) %x, i64 %.105
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %.101, ptr addrspace(1) %.106)
  br label %end.6
end.6:
  call void @llvm.nvvm.cp.async.commit.group()
  %.107 = urem i32 %.94, 4
  %.108 = mul nsw i32 %.107, 64
  %.109 = add nsw i32 %.108, %mine
  %.110 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.109
  %.111 = load i32, ptr addrspace(3) %.110, align 4
  %.112 = call float @low_fp16(i32 %.111)
  %v_1.3 = call float @high_fp16(i32 %.111)
  %.114 = load float, ptr %total_0
  %.115 = fadd contract float %.114, %.112
  store float %.115, ptr %total_0
  %.116 = load float, ptr %total_1
  %.117 = fadd contract float %.116, %v_1.3
  store float %.117, ptr %total_1
  %.118 = add nsw i32 %.94, 1
  store i32 %.118, ptr %t_counter
  br label %for, !llvm.loop !0
done:
  br label %for.1
for.1:
  %t.1 = load i32, ptr %t_counter
  %.120 = icmp slt i32 %t.1, %time
  br i1 %.120, label %body.1, label %done.1
body.1:
  call void @llvm.nvvm.cp.async.wait.group(i32 2)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %.121 = add nsw i32 %t.1, 3
  %.122 = icmp slt i32 %.121, %time
  br i1 %.122, label %then.7, label %end.7
then.7:
  %.123 = add nsw i32 %t.1, 3
  %.124 = urem i32 %.123, 4
  %.125 = mul nsw i32 %.124, 64
  %.126 = add nsw i32 %.125, %mine
  %.127 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.126
  %.128 = sext i32 %.123 to i64
  %.129 = mul nsw i64 %.128, 64
  %.130 = sext i32 %mine to i64
  %.131 = add nsw i64 %.129, %.130
  %.132 = getelementptr inbounds i16, ptr addrspace(1) %x, i64 %.131
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %.127, ptr addrspace(1) %.132)
  br label %end.7
end.7:
  call void @llvm.nvvm.cp.async.commit.group()
  %.133 = urem i32 %t.1, 4
  %.134 = mul nsw i32 %.133, 64
  %.135 = add nsw i32 %.134, %mine
  %.136 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.135
  %.137 = load i32, ptr addrspace(3) %.136, align 4
  %.138 = call float @low_fp16(i32 %.137)
  %v_1.4 = call float @high_fp16(i32 %.137)
  %.140 = load float, ptr %total_0
  %.141 = fadd contract float %.140, %.138
  store float %.141, ptr %total_0
  %.142 = load float, ptr %total_1
  %.143 = fadd contract float %.142, %v_1.4
  store float %.143, ptr %total_1
  %.144 = add nsw i32 %t.1, 1
  store i32 %.144, ptr %t_counter
  br label %for.1, !llvm.loop !2
done.1:
  %.145 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 512), i32 0
  store float 1.0, ptr addrspace(3) %.145, align 4
  %.146 = sext i32 %mine to i64
  %.147 = getelementptr inbounds i16, ptr addrspace(1) %sum, i64 %.146
  %.148 = load float, ptr %total_0
  %.149 = load float, ptr %total_1
  %.150 = call i32 @pack_fp16(float %.148, float %.149)
  call void asm sideeffect "st.global.cs.b32 [$0], $1;", "l,r,~{memory}"(ptr addrspace(1) %.147, i32 %.150)
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.unroll.disable"}
