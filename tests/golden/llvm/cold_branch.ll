target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @cold_branch(ptr addrspace(1) noalias readonly align 4 %x, ptr addrspace(1) noalias align 4 %y) convergent nounwind "nvvm.maxntid"="32" "nvvm.minctasm"="1" {
entry:
  %block_x = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %thread_x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %.0 = mul nsw i32 %block_x, 32
  %.1 = add nsw i32 %.0, %thread_x
  %.2 = sext i32 %.1 to i64
  %.3 = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %.2
  %v = load float, ptr addrspace(1) %.3, align 4
  %.5 = fcmp olt float %v, 0.0
  br i1 %.5, label %then, label %end
then:
  %.6 = call i32 asm sideeffect "mov.u32 $0, %ctaid.x;", "=r"()
  %.7 = mul nsw i32 %.6, 32
  %.8 = call i32 asm sideeffect "mov.u32 $0, %tid.x;", "=r"()
  %place = add nsw i32 %.7, %.8
  %.10 = sext i32 %place to i64
  %.11 = call ptr addrspace(1) asm sideeffect "", "=l,0"(ptr addrspace(1) %x)
  %.12 = getelementptr inbounds i32, ptr addrspace(1) %.11, i64 %.10
  %v_2 = load float, ptr addrspace(1) %.12, align 4
  %.14 = sext i32 %place to i64
  %.15 = call ptr addrspace(1) asm sideeffect "", "=l,0"(ptr addrspace(1) %y)
  %.16 = getelementptr inbounds i32, ptr addrspace(1) %.15, i64 %.14
  %.17 = call i32 asm sideeffect "mov.u32 $0, %nctaid.x;", "=r"()
  %.18 = sitofp i32 %.17 to float
  %.19 = fmul contract float %v_2, %.18
  store float %.19, ptr addrspace(1) %.16, align 4
  %.20 = fcmp olt float %v, -1.0
  br i1 %.20, label %then.1, label %end.1
then.1:
  %.21 = sext i32 %place to i64
  %.22 = call ptr addrspace(1) asm sideeffect "", "=l,0"(ptr addrspace(1) %y)
  %.23 = getelementptr inbounds i32, ptr addrspace(1) %.22, i64 %.21
  store float 1.0, ptr addrspace(1) %.23, align 4
  br label %end.1
end.1:
  br label %end
end:
  %.24 = fcmp oge float %v, 0.0
  br i1 %.24, label %then.2, label %end.2
then.2:
  %.25 = mul nsw i32 %block_x, 32
  %.26 = add nsw i32 %.25, %thread_x
  %.27 = sext i32 %.26 to i64
  %.28 = getelementptr inbounds i32, ptr addrspace(1) %y, i64 %.27
  store float %v, ptr addrspace(1) %.28, align 4
  br label %end.2
end.2:
  ret void
}
