target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @asked_ahead(ptr addrspace(1) noalias readonly align 4 %x, ptr addrspace(1) noalias align 4 %y, i32 %steps) convergent nounwind "nvvm.maxntid"="64" "nvvm.minctasm"="1" {
entry:
  %sum = alloca float
  %step_counter = alloca i32
  %thread_x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  store float 0.0, ptr %sum
  store i32 0, ptr %step_counter
  br label %for
for:
  %step = load i32, ptr %step_counter
  %.1 = icmp slt i32 %step, %steps
  br i1 %.1, label %body, label %done
body:
  %.2 = add nsw i32 %step, 1
  %.3 = mul nsw i32 %.2, 64
  %.4 = add nsw i32 %.3, %thread_x
  %.5 = sext i32 %.4 to i64
  %.6 = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %.5
  call void asm sideeffect "prefetch.global.L1 [$0];", "l"(ptr addrspace(1) %.6)
  %.7 = add nsw i32 %step, 2
  %.8 = mul nsw i32 %.7, 64
  %.9 = add nsw i32 %.8, %thread_x
  %.10 = sext i32 %.9 to i64
  %.11 = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %.10
  call void asm sideeffect "prefetch.global.L2 [$0];", "l"(ptr addrspace(1) %.11)
  %.12 = mul nsw i32 %step, 64
  %.13 = add nsw i32 %.12, %thread_x
  %.14 = sext i32 %.13 to i64
  %.15 = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %.14
  %v = load float, ptr addrspace(1) %.15, align 4
  %.17 = load float, ptr %sum
  %.18 = fadd contract float %.17, %v
  store float %.18, ptr %sum
  %.19 = add nsw i32 %step, 1
  store i32 %.19, ptr %step_counter
  br label %for, !llvm.loop !0
done:
  %.20 = sext i32 %thread_x to i64
  %.21 = getelementptr inbounds i32, ptr addrspace(1) %y, i64 %.20
  %.22 = load float, ptr %sum
  store float %.22, ptr addrspace(1) %.21, align 4
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
