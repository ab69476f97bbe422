target triple = "nvptx64-nvidia-cuda"

; What is waited for comes within microseconds. After 4 seconds *status is 1 and no wait lasts any more: a defect must
; not hang the GPU. Without a status the kernel traps. The status lies in host memory: looked at all the time, it slows
; every load of the GPU twentyfold.
define internal i1 @patience_ends(ptr %tries, ptr %start, ptr addrspace(1) %status) alwaysinline {
  %before = load i32, ptr %tries
  %count = add i32 %before, 1
  store i32 %count, ptr %tries
  %in_16 = and i32 %count, 15
  %not_16th = icmp ne i32 %in_16, 0
  %in_65536 = and i32 %count, 65535
  %not_65536th = icmp ne i32 %in_65536, 0
  %less = sub i32 %count, 1
  %common = and i32 %count, %less
  %no_power = icmp ne i32 %common, 0
  %seldom = and i1 %not_65536th, %no_power
  %skip = or i1 %not_16th, %seldom
  br i1 %skip, label %no, label %look
look:
  %now = call i64 @llvm.nvvm.read.ptx.sreg.globaltimer()
  %known = load i64, ptr %start
  %first = icmp eq i64 %known, 0
  %begin = select i1 %first, i64 %now, i64 %known
  store i64 %begin, ptr %start
  %lasted = sub i64 %now, %begin
  %in_vain = icmp ugt i64 %lasted, 4000000000
  %watched = icmp ne ptr addrspace(1) %status, null
  br i1 %in_vain, label %give_up, label %go_on
give_up:
  br i1 %watched, label %tell, label %trap
trap:
  call void @llvm.trap()
  unreachable
tell:
  store volatile i32 1, ptr addrspace(1) %status
  br label %go_on
go_on:
  %long = icmp ugt i64 %lasted, 20000
  %ask = and i1 %long, %watched
  br i1 %ask, label %others, label %no
others:
  %said = load volatile i32, ptr addrspace(1) %status
  %told = icmp ne i32 %said, 0
  ret i1 %told
no:
  ret i1 false
}

define internal void @grid_arrive(ptr addrspace(1) %counter) alwaysinline {
  call void asm sideeffect "red.release.gpu.global.add.s32 [$0], 1;", "l,~{memory}"(ptr addrspace(1) %counter)
  ret void
}

define internal void @grid_wait(ptr addrspace(1) %counter, i32 %target, ptr addrspace(1) %status) alwaysinline {
  %tries = alloca i32
  %start = alloca i64
  store i32 0, ptr %tries
  store i64 0, ptr %start
  br label %try
try:
  %count = call i32 asm sideeffect "ld.acquire.gpu.global.s32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(1) %counter)
  %met = icmp sge i32 %count, %target
  br i1 %met, label %done, label %wait
wait:
  %ends = call i1 @patience_ends(ptr %tries, ptr %start, ptr addrspace(1) %status)
  br i1 %ends, label %done, label %try
done:
  ret void
}

; A row that wanders around the blocks: y[t, i] = y[t - 1, i - 1] + 1.
define ptx_kernel void @grid_ring(ptr addrspace(1) align 4 %y, ptr addrspace(1) align 4 %counter, i32 %turns) convergent nounwind "nvvm.maxntid"="64" "nvvm.minctasm"="1" {
entry:
  %grid_x = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %block_x = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %thread_x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t_counter = alloca i32
  %.0 = mul nsw i32 %block_x, 64
  %me = add nsw i32 %.0, %thread_x
  %.2 = sext i32 %me to i64
  %.3 = getelementptr inbounds i32, ptr addrspace(1) %y, i64 %.2
  %.4 = sitofp i32 %me to float
  store float %.4, ptr addrspace(1) %.3, align 4
  store i32 1, ptr %t_counter
  br label %for
for:
  %t = load i32, ptr %t_counter
  %.6 = icmp slt i32 %t, %turns
  br i1 %.6, label %body, label %done
body:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %.7 = icmp eq i32 %thread_x, 0
  br i1 %.7, label %then, label %end
then:
  %.8 = getelementptr inbounds i32, ptr addrspace(1) %counter, i64 0
  call void @grid_arrive(ptr addrspace(1) %.8)
  %.9 = getelementptr inbounds i32, ptr addrspace(1) %counter, i64 0
  %.10 = mul nsw i32 %t, %grid_x
  call void @grid_wait(ptr addrspace(1) %.9, i32 %.10, ptr addrspace(1) null)
  br label %end
end:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %.11 = add nsw i32 %block_x, %grid_x
  %.12 = sub nsw i32 %.11, 1
  %.13 = call i32 @llvm.umax.i32(i32 %grid_x, i32 1)
  %.14 = urem i32 %.12, %.13
  %.15 = mul nsw i32 %.14, 64
  %left = add nsw i32 %.15, %thread_x
  %row = mul nsw i32 %grid_x, 64
  %.18 = sub nsw i32 %t, 1
  %.19 = mul nsw i32 %.18, %row
  %.20 = add nsw i32 %.19, %left
  %.21 = sext i32 %.20 to i64
  %.22 = getelementptr inbounds i32, ptr addrspace(1) %y, i64 %.21
  %v = load float, ptr addrspace(1) %.22, align 4
  %.24 = mul nsw i32 %t, %row
  %.25 = add nsw i32 %.24, %me
  %.26 = sext i32 %.25 to i64
  %.27 = getelementptr inbounds i32, ptr addrspace(1) %y, i64 %.26
  %.28 = fadd contract float %v, 1.0
  store float %.28, ptr addrspace(1) %.27, align 4
  %.29 = add nsw i32 %t, 1
  store i32 %.29, ptr %t_counter
  br label %for, !llvm.loop !0
done:
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
