target triple = "nvptx64-nvidia-cuda"

@shared_memory = external addrspace(3) global [0 x i8], align 16

; The total of a row of x, in a fixed order.
; One block a row.
define ptx_kernel void @block_total(ptr addrspace(1) noalias readonly align 4 %x, ptr addrspace(1) noalias align 4 %y, i64 %length) convergent nounwind "nvvm.maxntid"="128" "nvvm.minctasm"="1" {
entry:
  %block_x = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %total = alloca float
  %thread_x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i_counter = alloca i32
  %.0 = sext i32 %block_x to i64
  %first = mul nsw i64 %.0, %length
  store float 0.0, ptr %total
  store i32 %thread_x, ptr %i_counter
  br label %for
for:
  %i = load i32, ptr %i_counter
  %.3 = icmp slt i32 %i, 1024
  br i1 %.3, label %body, label %done
body:
  %.4 = sext i32 %i to i64
  %.5 = icmp slt i64 %.4, %length
  br i1 %.5, label %then, label %end
then:
  %.6 = sext i32 %i to i64
  %.7 = add nsw i64 %first, %.6
  %.8 = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %.7
  %v = call float asm "ld.global.cs.f32 $0, [$1];", "=f,l"(ptr addrspace(1) %.8)
  %.10 = load float, ptr %total
  %.11 = fadd contract float %.10, %v
  store float %.11, ptr %total
  br label %end
end:
  %.12 = add nsw i32 %i, 128
  store i32 %.12, ptr %i_counter
  br label %for, !llvm.loop !0
done:
  %.13 = load float, ptr %total
  %other = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %.13, i32 16, i32 31)
  %.15 = load float, ptr %total
  %.16 = fadd contract float %.15, %other
  store float %.16, ptr %total
  %.17 = load float, ptr %total
  %other_2 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %.17, i32 8, i32 31)
  %.19 = load float, ptr %total
  %.20 = fadd contract float %.19, %other_2
  store float %.20, ptr %total
  %.21 = load float, ptr %total
  %up = call float @llvm.nvvm.shfl.sync.up.f32(i32 -1, float %.21, i32 1, i32 0)
  %zeroth = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %up, i32 0, i32 31)
  %.24 = load float, ptr %total
  %.25 = fadd contract float %.24, %zeroth
  store float %.25, ptr %total
  %.26 = urem i32 %thread_x, 32
  %.27 = icmp eq i32 %.26, 0
  br i1 %.27, label %then.1, label %end.1
then.1:
  %.28 = udiv i32 %thread_x, 32
  %.29 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %.28
  %.30 = load float, ptr %total
  store float %.30, ptr addrspace(3) %.29, align 4
  br label %end.1
end.1:
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %.31 = icmp eq i32 %thread_x, 0
  br i1 %.31, label %then.2, label %else
then.2:
  %.32 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 0
  %p = load float, ptr addrspace(3) %.32, align 4
  %.34 = sext i32 %block_x to i64
  %.35 = getelementptr inbounds i32, ptr addrspace(1) %y, i64 %.34
  %.36 = load float, ptr %total
  %.37 = fadd contract float %p, %.36
  store float %.37, ptr addrspace(1) %.35, align 4
  br label %end.2
else:
  %.38 = icmp eq i32 %thread_x, 1
  br i1 %.38, label %then.3, label %else.1
then.3:
  %.39 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 1
  store float 0.0, ptr addrspace(3) %.39, align 4
  br label %end.3
else.1:
  %.40 = icmp eq i32 %thread_x, 2
  br i1 %.40, label %then.4, label %end.4
then.4:
  %.41 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 2
  store float 1.0, ptr addrspace(3) %.41, align 4
  br label %end.4
end.4:
  br label %end.3
end.3:
  br label %end.2
end.2:
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.count", i32 2}
