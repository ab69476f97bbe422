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
  %.20 = icmp slt i32 %t, %time
  br i1 %.20, label %body, label %done
body:
  call void @llvm.nvvm.cp.async.wait.group(i32 2)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %.21 = add nsw i32 %t, 3
  %.22 = icmp slt i32 %.21, %time
  br i1 %.22, label %then.3, label %end.3
then.3:
  %.23 = add nsw i32 %t, 3
  %.24 = urem i32 %.23, 4
  %.25 = mul nsw i32 %.24, 64
  %.26 = add nsw i32 %.25, %mine
  %.27 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.26
  %.28 = sext i32 %.23 to i64
  %.29 = mul nsw i64 %.28, 64
  %.30 = sext i32 %mine to i64
  %.31 = add nsw i64 %.29, %.30
  %.32 = getelementptr inbounds i16, ptr addrspace(1) %x, i64 %.31
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %.27, ptr addrspace(1) %.32)
  br label %end.3
end.3:
  call void @llvm.nvvm.cp.async.commit.group()
  %.33 = urem i32 %t, 4
  %.34 = mul nsw i32 %.33, 64
  %.35 = add nsw i32 %.34, %mine
  %.36 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.35
  %.37 = load i32, ptr addrspace(3) %.36, align 4
  %.38 = call float @low_fp16(i32 %.37)
  %v_1 = call float @high_fp16(i32 %.37)
  %.40 = load float, ptr %total_0
  %.41 = fadd contract float %.40, %.38
  store float %.41, ptr %total_0
  %.42 = load float, ptr %total_1
  %.43 = fadd contract float %.42, %v_1
  store float %.43, ptr %total_1
  %.44 = add nsw i32 %t, 1
  store i32 %.44, ptr %t_counter
  br label %for, !llvm.loop !0
done:
  %.45 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 512), i32 0
  store float 1.0, ptr addrspace(3) %.45, align 4
  %.46 = sext i32 %mine to i64
  %.47 = getelementptr inbounds i16, ptr addrspace(1) %sum, i64 %.46
  %.48 = load float, ptr %total_0
  %.49 = load float, ptr %total_1
  %.50 = call i32 @pack_fp16(float %.48, float %.49)
  call void asm sideeffect "st.global.cs.b32 [$0], $1;", "l,r,~{memory}"(ptr addrspace(1) %.47, i32 %.50)
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.count", i32 4}
