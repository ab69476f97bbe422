target triple = "nvptx64-nvidia-cuda"

; y = 2 x, one element a thread.
define ptx_kernel void @axpy(ptr addrspace(1) noalias readonly align 2 %x, ptr addrspace(1) noalias align 2 %y, i32 %n) convergent nounwind "nvvm.maxntid"="128" "nvvm.minctasm"="1" {
entry:
  %block_x = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %thread_x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %.0 = mul nsw i32 %block_x, 128
  %i = add nsw i32 %.0, %thread_x
  %.2 = icmp slt i32 %i, %n
  br i1 %.2, label %then, label %end
then:
  %.3 = sext i32 %i to i64
  %.4 = getelementptr inbounds i16, ptr addrspace(1) %x, i64 %.3
  %.5 = load i16, ptr addrspace(1) %.4, align 2
  %.6 = zext i16 %.5 to i32
  %.7 = shl i32 %.6, 16
  %v = bitcast i32 %.7 to float
  %.9 = sext i32 %i to i64
  %.10 = getelementptr inbounds i16, ptr addrspace(1) %y, i64 %.9
  %.11 = fmul contract float %v, 2.0
  %.12 = fptrunc float %.11 to bfloat
  %.13 = bitcast bfloat %.12 to i16
  store i16 %.13, ptr addrspace(1) %.10, align 2
  br label %end
end:
  ret void
}
