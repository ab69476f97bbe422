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

; A barrier for GPUs that have no mbarrier, in its place: two words, the arrivals of this phase, and how many there are
; with the parity of the phase in the top bit, which the last thread that arrives turns (compiler/backend/cuda/prelude/turing).
define internal void @mbarrier_init_75(ptr addrspace(3) %barrier, i32 %arrivals) alwaysinline {
  store i32 0, ptr addrspace(3) %barrier
  %state = getelementptr inbounds i32, ptr addrspace(3) %barrier, i32 1
  store i32 %arrivals, ptr addrspace(3) %state
  ret void
}

define internal void @mbarrier_arrive_75(ptr addrspace(3) %barrier) alwaysinline convergent {
  %place = getelementptr inbounds i32, ptr addrspace(3) %barrier, i32 1
  %state = call i32 asm sideeffect "ld.relaxed.cta.shared.u32 $0, [$1];", "=r,r,~{memory}"(ptr addrspace(3) %place)
  %arrivals = and i32 %state, 2147483647
  %last = sub i32 %arrivals, 1
  %before = call i32 asm sideeffect "atom.acq_rel.cta.shared.inc.u32 $0, [$1], $2;", "=r,r,r,~{memory}"(ptr addrspace(3) %barrier, i32 %last)
  %complete = icmp eq i32 %before, %last
  br i1 %complete, label %turn, label %done
turn:
  call void asm sideeffect "red.release.cta.shared.add.u32 [$0], 0x80000000;", "r,~{memory}"(ptr addrspace(3) %place)
  br label %done
done:
  ret void
}

; Whether it has waited in vain.
define internal i1 @mbarrier_wait_75(ptr addrspace(3) %barrier, i32 %parity, ptr addrspace(1) %status) alwaysinline convergent {
  %tries = alloca i32
  %start = alloca i64
  store i32 0, ptr %tries
  store i64 0, ptr %start
  %place = getelementptr inbounds i32, ptr addrspace(3) %barrier, i32 1
  br label %try
try:
  %state = call i32 asm sideeffect "ld.acquire.cta.shared.u32 $0, [$1];", "=r,r,~{memory}"(ptr addrspace(3) %place)
  %phase = lshr i32 %state, 31
  %met = icmp ne i32 %phase, %parity
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
  call void @mbarrier_init_75(ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 768), i32 64)
  call void @mbarrier_init_75(ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 776), i32 64)
  call void @mbarrier_init_75(ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 784), i32 64)
  call void @mbarrier_init_75(ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 792), i32 64)
  call void @mbarrier_init_75(ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 800), i32 128)
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
  %.11 = call i1 @mbarrier_wait_75(ptr addrspace(3) %.7, i32 %.10, ptr addrspace(1) null)
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
  call void @mbarrier_arrive_75(ptr addrspace(3) %.21)
  %.22 = add nsw i32 %t, 1
  store i32 %.22, ptr %t_counter
  br label %for, !llvm.loop !0
done:
  br label %end
else:
  store i32 0, ptr %t_2_counter
  br label %for.1
for.1:
  %t_2 = load i32, ptr %t_2_counter
  %.24 = icmp slt i32 %t_2, 7
  br i1 %.24, label %body.1, label %done.1
body.1:
  %slot_2 = urem i32 %t_2, 2
  %.26 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 768), i32 %slot_2
  %.27 = udiv i32 %t_2, 2
  %.28 = and i32 %.27, 1
  %.29 = call i1 @mbarrier_wait_75(ptr addrspace(3) %.26, i32 %.28, ptr addrspace(1) null)
  %.30 = mul nsw i32 %slot_2, 64
  %.31 = add nsw i32 %.30, %me
  %.32 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %.31
  %w = load float, ptr addrspace(3) %.32, align 4
  %.34 = sub nsw i32 63, %me
  %.35 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 512), i32 %.34
  %.36 = fmul contract float %w, 3.0
  store float %.36, ptr addrspace(3) %.35, align 4
  %.37 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 784), i32 %slot_2
  call void @mbarrier_arrive_75(ptr addrspace(3) %.37)
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 64)
  %.38 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 512), i32 %me
  %m = load float, ptr addrspace(3) %.38, align 4
  %.40 = mul nsw i32 %t_2, 64
  %.41 = add nsw i32 %first, %.40
  %.42 = sub nsw i32 63, %me
  %.43 = add nsw i32 %.41, %.42
  %.44 = sext i32 %.43 to i64
  %.45 = getelementptr inbounds i32, ptr addrspace(1) %y, i64 %.44
  store float %m, ptr addrspace(1) %.45, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 64)
  %.46 = add nsw i32 %t_2, 1
  store i32 %.46, ptr %t_2_counter
  br label %for.1, !llvm.loop !2
done.1:
  br label %end
end:
  %.47 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 800), i32 0
  call void @mbarrier_arrive_75(ptr addrspace(3) %.47)
  %.48 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 800), i32 0
  %.49 = call i1 @mbarrier_wait_75(ptr addrspace(3) %.48, i32 0, ptr addrspace(1) null)
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.unroll.disable"}
