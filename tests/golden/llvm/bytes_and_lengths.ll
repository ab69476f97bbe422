target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @bytes_and_lengths(ptr addrspace(1) noalias readonly align 1 %resets, ptr addrspace(1) noalias readonly align 4 %lengths, ptr addrspace(1) noalias readonly align 4 %x, ptr addrspace(1) noalias align 4 %out) convergent nounwind "nvvm.maxntid"="32" "nvvm.minctasm"="1" {
entry:
  %thread_x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %.0 = sext i32 %thread_x to i64
  %.1 = getelementptr inbounds i8, ptr addrspace(1) %resets, i64 %.0
  %.2 = load i8, ptr addrspace(1) %.1, align 1
  %byte = zext i8 %.2 to i32
  %.4 = icmp eq i32 %byte, 0
  %reset = select i1 %.4, float 0.0, float 1.0
  %.6 = getelementptr inbounds i32, ptr addrspace(1) %lengths, i64 0
  %length = load i32, ptr addrspace(1) %.6, align 4
  %.8 = icmp slt i32 %thread_x, %length
  %valid = select i1 %.8, float 1.0, float 0.0
  %.10 = sext i32 %thread_x to i64
  %.11 = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %.10
  %v = load float, ptr addrspace(1) %.11, align 4
  %.13 = sext i32 %thread_x to i64
  %.14 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %.13
  %.15 = fcmp une float %valid, 0.0
  %.16 = fcmp une float %reset, 0.0
  %.17 = select i1 %.16, float 0.0, float %v
  %.18 = select i1 %.15, float %.17, float -1.0
  store float %.18, ptr addrspace(1) %.14, align 4
  ret void
}
