target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @votes(ptr addrspace(1) noalias readonly align 4 %x, ptr addrspace(1) noalias align 4 %y) convergent nounwind "nvvm.maxntid"="32" "nvvm.minctasm"="1" {
entry:
  %thread_x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %.0 = sext i32 %thread_x to i64
  %.1 = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %.0
  %v = load i32, ptr addrspace(1) %.1, align 4
  %.3 = icmp slt i32 %v, 0
  %negative = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %.3)
  %.5 = sext i32 %thread_x to i64
  %.6 = getelementptr inbounds i32, ptr addrspace(1) %y, i64 %.5
  %.7 = ashr i32 %negative, %thread_x
  %.8 = and i32 %.7, 1
  store i32 %.8, ptr addrspace(1) %.6, align 4
  ret void
}
