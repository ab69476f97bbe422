; How threads, blocks and clusters wait for each other: the same instructions as in compiler/backend/cuda/prelude/sync.cuh,
; by intrinsics where LLVM has them. What LLVM may not move memory accesses across says sideeffect and ~{memory}.

;: patience_ends
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

;: in_block
; The shared memory address that `place` of this block has in block `rank` of the cluster.
define internal i32 @in_block(ptr addrspace(3) %place, i32 %rank) alwaysinline {
  %there = call i32 asm "mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r"(ptr addrspace(3) %place, i32 %rank)
  ret i32 %there
}

;: mbarrier_arrive_in_block needs in_block
define internal void @mbarrier_arrive_in_block(ptr addrspace(3) %barrier, i32 %rank) alwaysinline convergent {
  %there = call i32 @in_block(ptr addrspace(3) %barrier, i32 %rank)
  call void asm sideeffect "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$0];", "r,~{memory}"(i32 %there)
  ret void
}

;: mbarrier_init_75
; A barrier for GPUs that have no mbarrier, in its place: two words, the arrivals of this phase, and how many there are
; with the parity of the phase in the top bit, which the last thread that arrives turns (compiler/backend/cuda/prelude/turing).
define internal void @mbarrier_init_75(ptr addrspace(3) %barrier, i32 %arrivals) alwaysinline {
  store i32 0, ptr addrspace(3) %barrier
  %state = getelementptr inbounds i32, ptr addrspace(3) %barrier, i32 1
  store i32 %arrivals, ptr addrspace(3) %state
  ret void
}

;: mbarrier_arrive_75
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

;: mbarrier_wait_75 needs patience_ends
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

;: mbarrier_wait_80 needs patience_ends
; Whether it has waited in vain.
define internal i1 @mbarrier_wait_80(ptr addrspace(3) %barrier, i32 %parity, ptr addrspace(1) %status) alwaysinline convergent {
  %tries = alloca i32
  %start = alloca i64
  store i32 0, ptr %tries
  store i64 0, ptr %start
  br label %try
try:
  %done = call i32 asm sideeffect "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [$1], $2; selp.s32 $0, 1, 0, p; }", "=r,r,r,~{memory}"(ptr addrspace(3) %barrier, i32 %parity)
  %met = icmp ne i32 %done, 0
  br i1 %met, label %yes, label %wait
wait:
  %ends = call i1 @patience_ends(ptr %tries, ptr %start, ptr addrspace(1) %status)
  br i1 %ends, label %no, label %try
yes:
  ret i1 false
no:
  ret i1 true
}

;: mbarrier_wait_90 needs patience_ends
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

;: mbarrier_wait_cluster needs patience_ends
; The same; sees what other blocks of the cluster did before they arrived.
define internal i1 @mbarrier_wait_cluster(ptr addrspace(3) %barrier, i32 %parity, ptr addrspace(1) %status) alwaysinline convergent {
  %tries = alloca i32
  %start = alloca i64
  store i32 0, ptr %tries
  store i64 0, ptr %start
  br label %try
try:
  %met = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cluster.space.cta(ptr addrspace(3) %barrier, i32 %parity)
  br i1 %met, label %yes, label %wait
wait:
  %ends = call i1 @patience_ends(ptr %tries, ptr %start, ptr addrspace(1) %status)
  br i1 %ends, label %no, label %try
yes:
  ret i1 false
no:
  ret i1 true
}

;: store_async_1 needs in_block
; Stores to block `rank` of the cluster, where the mbarrier counts the bytes.
define internal void @store_async_1(ptr addrspace(3) %to, i32 %rank, ptr addrspace(3) %barrier, i32 %a) alwaysinline convergent {
  %place = call i32 @in_block(ptr addrspace(3) %to, i32 %rank)
  %counter = call i32 @in_block(ptr addrspace(3) %barrier, i32 %rank)
  call void asm sideeffect "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [$0], $1, [$2];", "r,r,r,~{memory}"(i32 %place, i32 %a, i32 %counter)
  ret void
}

;: store_async_2 needs in_block
define internal void @store_async_2(ptr addrspace(3) %to, i32 %rank, ptr addrspace(3) %barrier, i32 %a, i32 %b) alwaysinline convergent {
  %place = call i32 @in_block(ptr addrspace(3) %to, i32 %rank)
  %counter = call i32 @in_block(ptr addrspace(3) %barrier, i32 %rank)
  call void asm sideeffect "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [$0], {$1, $2}, [$3];", "r,r,r,r,~{memory}"(i32 %place, i32 %a, i32 %b, i32 %counter)
  ret void
}

;: store_async_4 needs in_block
define internal void @store_async_4(ptr addrspace(3) %to, i32 %rank, ptr addrspace(3) %barrier, i32 %a, i32 %b, i32 %c, i32 %d) alwaysinline convergent {
  %place = call i32 @in_block(ptr addrspace(3) %to, i32 %rank)
  %counter = call i32 @in_block(ptr addrspace(3) %barrier, i32 %rank)
  call void asm sideeffect "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [$0], {$1, $2, $3, $4}, [$5];", "r,r,r,r,r,r,~{memory}"(i32 %place, i32 %a, i32 %b, i32 %c, i32 %d, i32 %counter)
  ret void
}

;: grid_arrive
define internal void @grid_arrive(ptr addrspace(1) %counter) alwaysinline {
  call void asm sideeffect "red.release.gpu.global.add.s32 [$0], 1;", "l,~{memory}"(ptr addrspace(1) %counter)
  ret void
}

;: grid_wait needs patience_ends
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

;: store_flagged_1
define internal void @store_flagged_1(ptr addrspace(1) %to, i32 %a) alwaysinline {
  call void asm sideeffect "st.relaxed.gpu.global.b32 [$0], $1;", "l,r,~{memory}"(ptr addrspace(1) %to, i32 %a)
  ret void
}

;: store_flagged_2
define internal void @store_flagged_2(ptr addrspace(1) %to, i32 %a, i32 %b) alwaysinline {
  call void asm sideeffect "st.relaxed.gpu.global.v2.b32 [$0], {$1, $2};", "l,r,r,~{memory}"(ptr addrspace(1) %to, i32 %a, i32 %b)
  ret void
}

;: store_flagged_4
define internal void @store_flagged_4(ptr addrspace(1) %to, i32 %a, i32 %b, i32 %c, i32 %d) alwaysinline {
  call void asm sideeffect "st.relaxed.gpu.global.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,~{memory}"(ptr addrspace(1) %to, i32 %a, i32 %b, i32 %c, i32 %d)
  ret void
}

;: load_flagged_4
; Four words for load_flagged, as they are.
define internal { i32, i32, i32, i32 } @load_flagged_4(ptr addrspace(1) %from) alwaysinline {
  %words = call { i32, i32, i32, i32 } asm sideeffect "ld.relaxed.gpu.global.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,~{memory}"(ptr addrspace(1) %from)
  ret { i32, i32, i32, i32 } %words
}

;: flagged_word
; The bits of a float, but for one NaN, which would say that nothing has come: it gives way to another.
define internal i32 @flagged_word(float %x) alwaysinline {
  %bits = bitcast float %x to i32
  %word = call i32 @llvm.umin.i32(i32 %bits, i32 -2)
  ret i32 %word
}
