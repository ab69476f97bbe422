target triple = "nvptx64-nvidia-cuda"

@shared_memory = external addrspace(3) global [0 x i8], align 16

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

; Whether it has waited in vain. From sm_90 on a try sleeps for a while in hardware.
define internal i1 @mbarrier_wait_90(ptr addrspace(3) %barrier, i32 %parity, ptr addrspace(1) %status) alwaysinline convergent {
  %tries = alloca i32
  %start = alloca i64
  store i32 0, ptr %tries
  store i64 0, ptr %start
  br label %try
try:
  %met = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) %barrier, i32 %parity)
  br i1 %met, label %yes, label %wait
wait:
  %ends = call i1 @patience_ends(ptr %tries, ptr %start, ptr addrspace(1) %status)
  br i1 %ends, label %no, label %try
yes:
  ret i1 false
no:
  ret i1 true
}

; y = 3 x: two warps hand rows to two others through shared memory.
define ptx_kernel void @warp_roles(ptr addrspace(1) noalias readonly align 4 %x, ptr addrspace(1) noalias align 4 %y) convergent nounwind "nvvm.maxntid"="128" "nvvm.minctasm"="1" {
entry:
  %thread_x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block_x = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t_counter = alloca i32
  %t_2_counter = alloca i32
  %.0 = icmp eq i32 %thread_x, 0
  br i1 %.0, label %initialise, label %initialised
initialise:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 768), i32 64)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 776), i32 64)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 784), i32 64)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 792), i32 64)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 800), i32 128)
  br label %initialised
initialised:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %me = urem i32 %thread_x, 64
  %first = mul nsw i32 %block_x, 448
  %.3 = icmp slt i32 %thread_x, 64
  br i1 %.3, label %then, label %else
then:
  store i32 0, ptr %t_counter
  br label %for
for:
  %t = load i32, ptr %t_counter
  %.5 = icmp slt i32 %t, 7
  br i1 %.5, label %body, label %done
body:
  %slot = urem i32 %t, 2
  %.7 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 784), i32 %slot
  %.8 = udiv i32 %t, 2
  %.9 = and i32 %.8, 1
  %.10 = xor i32 %.9, 1
  %.11 = call i1 @mbarrier_wait_90(ptr addrspace(3) %.7, i32 %.10, ptr addrspace(1) null)
  %.12 = mul nsw i32 %t, 64
  %.13 = add nsw i32 %first, %.12
  %.14 = add nsw i32 %.13, %me
  %.15 = sext i32 %.14 to i64
  %.16 = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %.15
  %v = load float, ptr addrspace(1) %.16, align 4
  %.18 = mul nsw i32 %slot, 64
  %.19 = add nsw i32 %.18, %me
  %.20 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %.19
  store float %v, ptr addrspace(3) %.20, align 4
  %.21 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 768), i32 %slot
  %.22 = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) %.21)
  %.23 = add nsw i32 %t, 1
  store i32 %.23, ptr %t_counter
  br label %for, !llvm.loop !0
done:
  br label %end
else:
  store i32 0, ptr %t_2_counter
  br label %for.1
for.1:
  %t_2 = load i32, ptr %t_2_counter
  %.25 = icmp slt i32 %t_2, 7
  br i1 %.25, label %body.1, label %done.1
body.1:
  %slot_2 = urem i32 %t_2, 2
  %.27 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 768), i32 %slot_2
  %.28 = udiv i32 %t_2, 2
  %.29 = and i32 %.28, 1
  %.30 = call i1 @mbarrier_wait_90(ptr addrspace(3) %.27, i32 %.29, ptr addrspace(1) null)
  %.31 = mul nsw i32 %slot_2, 64
  %.32 = add nsw i32 %.31, %me
  %.33 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %.32
  %w = load float, ptr addrspace(3) %.33, align 4
  %.35 = sub nsw i32 63, %me
  %.36 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 512), i32 %.35
  %.37 = fmul contract float %w, 3.0
  store float %.37, ptr addrspace(3) %.36, align 4
  %.38 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 784), i32 %slot_2
  %.39 = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) %.38)
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 64)
  %.40 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 512), i32 %me
  %m = load float, ptr addrspace(3) %.40, align 4
  %.42 = mul nsw i32 %t_2, 64
  %.43 = add nsw i32 %first, %.42
  %.44 = sub nsw i32 63, %me
  %.45 = add nsw i32 %.43, %.44
  %.46 = sext i32 %.45 to i64
  %.47 = getelementptr inbounds i32, ptr addrspace(1) %y, i64 %.46
  store float %m, ptr addrspace(1) %.47, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 64)
  %.48 = add nsw i32 %t_2, 1
  store i32 %.48, ptr %t_2_counter
  br label %for.1, !llvm.loop !2
done.1:
  br label %end
end:
  %.49 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 800), i32 0
  %.50 = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) %.49)
  %.51 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 800), i32 0
  %.52 = call i1 @mbarrier_wait_90(ptr addrspace(3) %.51, i32 0, ptr addrspace(1) null)
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.unroll.disable"}
