target triple = "nvptx64-nvidia-cuda"

@shared_memory = external addrspace(3) global [0 x i8], align 16

define internal float @low_bf16(i32 %pair) alwaysinline {
  %bits = shl i32 %pair, 16
  %x = bitcast i32 %bits to float
  ret float %x
}

define internal float @high_bf16(i32 %pair) alwaysinline {
  %bits = and i32 %pair, -65536
  %x = bitcast i32 %bits to float
  ret float %x
}

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

; The shared memory address that `place` of this block has in block `rank` of the cluster.
define internal i32 @in_block(ptr addrspace(3) %place, i32 %rank) alwaysinline {
  %there = call i32 asm "mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r"(ptr addrspace(3) %place, i32 %rank)
  ret i32 %there
}

define internal void @mbarrier_arrive_in_block(ptr addrspace(3) %barrier, i32 %rank) alwaysinline convergent {
  %there = call i32 @in_block(ptr addrspace(3) %barrier, i32 %rank)
  call void asm sideeffect "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$0];", "r,~{memory}"(i32 %there)
  ret void
}

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

; Stores to block `rank` of the cluster, where the mbarrier counts the bytes.
define internal void @store_async_1(ptr addrspace(3) %to, i32 %rank, ptr addrspace(3) %barrier, i32 %a) alwaysinline convergent {
  %place = call i32 @in_block(ptr addrspace(3) %to, i32 %rank)
  %counter = call i32 @in_block(ptr addrspace(3) %barrier, i32 %rank)
  call void asm sideeffect "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [$0], $1, [$2];", "r,r,r,~{memory}"(i32 %place, i32 %a, i32 %counter)
  ret void
}

define internal void @store_async_2(ptr addrspace(3) %to, i32 %rank, ptr addrspace(3) %barrier, i32 %a, i32 %b) alwaysinline convergent {
  %place = call i32 @in_block(ptr addrspace(3) %to, i32 %rank)
  %counter = call i32 @in_block(ptr addrspace(3) %barrier, i32 %rank)
  call void asm sideeffect "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [$0], {$1, $2}, [$3];", "r,r,r,r,~{memory}"(i32 %place, i32 %a, i32 %b, i32 %counter)
  ret void
}

define internal void @store_async_4(ptr addrspace(3) %to, i32 %rank, ptr addrspace(3) %barrier, i32 %a, i32 %b, i32 %c, i32 %d) alwaysinline convergent {
  %place = call i32 @in_block(ptr addrspace(3) %to, i32 %rank)
  %counter = call i32 @in_block(ptr addrspace(3) %barrier, i32 %rank)
  call void asm sideeffect "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [$0], {$1, $2, $3, $4}, [$5];", "r,r,r,r,r,r,~{memory}"(i32 %place, i32 %a, i32 %b, i32 %c, i32 %d, i32 %counter)
  ret void
}

; y of each block = the sum of the rows of x of its cluster, turn by turn.
define ptx_kernel void @cluster_sum(ptr addrspace(1) noalias readonly align 2 %x, ptr addrspace(1) noalias readonly align 4 %words, ptr addrspace(1) align 4 %y, ptr addrspace(1) align 4 %others, i32 %turns) convergent nounwind "nvvm.maxntid"="32" "nvvm.minctasm"="1" "nvvm.cluster_dim"="4,1,1" {
entry:
  %thread_x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block_x = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %cluster_rank = urem i32 %block_x, 4
  %t_counter = alloca i32
  %grid_x = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %sum = alloca float
  %sum.1 = alloca float
  %.0 = icmp eq i32 %thread_x, 0
  br i1 %.0, label %initialise, label %initialised
initialise:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1664), i32 1)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1672), i32 128)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1680), i32 1)
  call void @llvm.nvvm.fence.mbarrier_init.release.cluster()
  br label %initialised
initialised:
  call void @llvm.nvvm.barrier.cluster.arrive.aligned()
  call void @llvm.nvvm.barrier.cluster.wait.aligned()
  %.1 = icmp eq i32 %thread_x, 0
  br i1 %.1, label %then, label %end
then:
  %.2 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1680), i32 0
  %.3 = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) %.2, i32 128)
  br label %end
end:
  %.4 = add nsw i32 %cluster_rank, 1
  %next = urem i32 %.4, 4
  %.6 = mul nsw i32 %block_x, 32
  %.7 = add nsw i32 %.6, %thread_x
  %.8 = sext i32 %.7 to i64
  %.9 = getelementptr inbounds i32, ptr addrspace(1) %words, i64 %.8
  %word = load i32, ptr addrspace(1) %.9, align 4
  %.11 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %thread_x
  %.12 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1680), i32 0
  call void @store_async_1(ptr addrspace(3) %.11, i32 %next, ptr addrspace(3) %.12, i32 %word)
  %.13 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1680), i32 0
  %.14 = call i1 @mbarrier_wait_cluster(ptr addrspace(3) %.13, i32 0, ptr addrspace(1) null)
  %.15 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1536), i32 %thread_x
  %got = load i32, ptr addrspace(3) %.15, align 4
  %.17 = mul nsw i32 %block_x, 32
  %.18 = add nsw i32 %.17, %thread_x
  %.19 = sext i32 %.18 to i64
  %.20 = getelementptr inbounds i32, ptr addrspace(1) %others, i64 %.19
  store i32 %got, ptr addrspace(1) %.20, align 4
  store i32 0, ptr %t_counter
  br label %for
for:
  %t = load i32, ptr %t_counter
  %.22 = icmp slt i32 %t, %turns
  br i1 %.22, label %body, label %done
body:
  %parity = urem i32 %t, 2
  %.24 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1672), i32 0
  %.25 = xor i32 %parity, 1
  %.26 = call i1 @mbarrier_wait_cluster(ptr addrspace(3) %.24, i32 %.25, ptr addrspace(1) null)
  %.27 = icmp eq i32 %thread_x, 0
  br i1 %.27, label %then.1, label %end.1
then.1:
  %.28 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1664), i32 0
  %.29 = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) %.28, i32 1536)
  br label %end.1
end.1:
  %.30 = mul nsw i32 %t, %grid_x
  %.31 = add nsw i32 %.30, %block_x
  %from = mul nsw i32 %.31, 64
  %.33 = icmp slt i32 %thread_x, 16
  br i1 %.33, label %then.2, label %end.2
then.2:
  %.34 = mul nsw i32 %thread_x, 4
  %.35 = add nsw i32 %from, %.34
  %.36 = sext i32 %.35 to i64
  %.37 = getelementptr inbounds i16, ptr addrspace(1) %x, i64 %.36
  %.38 = load <2 x i32>, ptr addrspace(1) %.37, align 8
  %.39 = extractelement <2 x i32> %.38, i32 0
  %pair_1 = extractelement <2 x i32> %.38, i32 1
  %.41 = mul nsw i32 %cluster_rank, 64
  %.42 = mul nsw i32 %thread_x, 4
  %.43 = add nsw i32 %.41, %.42
  %.44 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.43
  %.45 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1664), i32 0
  call void @store_async_2(ptr addrspace(3) %.44, i32 0, ptr addrspace(3) %.45, i32 %.39, i32 %pair_1)
  %.46 = mul nsw i32 %thread_x, 4
  %.47 = add nsw i32 %from, %.46
  %.48 = sext i32 %.47 to i64
  %.49 = getelementptr inbounds i16, ptr addrspace(1) %x, i64 %.48
  %.50 = load <2 x i32>, ptr addrspace(1) %.49, align 8
  %.51 = extractelement <2 x i32> %.50, i32 0
  %.52 = extractelement <2 x i32> %.50, i32 1
  %.53 = call float @low_bf16(i32 %.51)
  %.54 = call float @high_bf16(i32 %.51)
  %.55 = call float @low_bf16(i32 %.52)
  %third_3 = call float @high_bf16(i32 %.52)
  %.57 = mul nsw i32 %cluster_rank, 64
  %.58 = mul nsw i32 %thread_x, 4
  %.59 = add nsw i32 %.57, %.58
  %.60 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 512), i32 %.59
  %.61 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1664), i32 0
  %.62 = fmul contract float %.53, 0x3FD5555560000000
  %.63 = bitcast float %.62 to i32
  %.64 = fmul contract float %.54, 0x3FD5555560000000
  %.65 = bitcast float %.64 to i32
  %.66 = fmul contract float %.55, 0x3FD5555560000000
  %.67 = bitcast float %.66 to i32
  %.68 = fmul contract float %third_3, 0x3FD5555560000000
  %.69 = bitcast float %.68 to i32
  call void @store_async_4(ptr addrspace(3) %.60, i32 0, ptr addrspace(3) %.61, i32 %.63, i32 %.65, i32 %.67, i32 %.69)
  br label %end.2
end.2:
  %.70 = icmp slt i32 %thread_x, 16
  br i1 %.70, label %then.3, label %end.3
then.3:
  %.71 = mul nsw i32 %thread_x, 4
  %.72 = add nsw i32 %from, %.71
  %.73 = sext i32 %.72 to i64
  %.74 = getelementptr inbounds i16, ptr addrspace(1) %x, i64 %.73
  %.75 = load <2 x i32>, ptr addrspace(1) %.74, align 8
  %.76 = extractelement <2 x i32> %.75, i32 0
  %pair_1.1 = extractelement <2 x i32> %.75, i32 1
  %.78 = mul nsw i32 %cluster_rank, 64
  %.79 = mul nsw i32 %thread_x, 4
  %.80 = add nsw i32 %.78, %.79
  %.81 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.80
  %.82 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1664), i32 0
  call void @store_async_2(ptr addrspace(3) %.81, i32 1, ptr addrspace(3) %.82, i32 %.76, i32 %pair_1.1)
  %.83 = mul nsw i32 %thread_x, 4
  %.84 = add nsw i32 %from, %.83
  %.85 = sext i32 %.84 to i64
  %.86 = getelementptr inbounds i16, ptr addrspace(1) %x, i64 %.85
  %.87 = load <2 x i32>, ptr addrspace(1) %.86, align 8
  %.88 = extractelement <2 x i32> %.87, i32 0
  %.89 = extractelement <2 x i32> %.87, i32 1
  %.90 = call float @low_bf16(i32 %.88)
  %.91 = call float @high_bf16(i32 %.88)
  %.92 = call float @low_bf16(i32 %.89)
  %third_3.1 = call float @high_bf16(i32 %.89)
  %.94 = mul nsw i32 %cluster_rank, 64
  %.95 = mul nsw i32 %thread_x, 4
  %.96 = add nsw i32 %.94, %.95
  %.97 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 512), i32 %.96
  %.98 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1664), i32 0
  %.99 = fmul contract float %.90, 0x3FD5555560000000
  %.100 = bitcast float %.99 to i32
  %.101 = fmul contract float %.91, 0x3FD5555560000000
  %.102 = bitcast float %.101 to i32
  %.103 = fmul contract float %.92, 0x3FD5555560000000
  %.104 = bitcast float %.103 to i32
  %.105 = fmul contract float %third_3.1, 0x3FD5555560000000
  %.106 = bitcast float %.105 to i32
  call void @store_async_4(ptr addrspace(3) %.97, i32 1, ptr addrspace(3) %.98, i32 %.100, i32 %.102, i32 %.104, i32 %.106)
  br label %end.3
end.3:
  %.107 = icmp slt i32 %thread_x, 16
  br i1 %.107, label %then.4, label %end.4
then.4:
  %.108 = mul nsw i32 %thread_x, 4
  %.109 = add nsw i32 %from, %.108
  %.110 = sext i32 %.109 to i64
  %.111 = getelementptr inbounds i16, ptr addrspace(1) %x, i64 %.110
  %.112 = load <2 x i32>, ptr addrspace(1) %.111, align 8
  %.113 = extractelement <2 x i32> %.112, i32 0
  %pair_1.2 = extractelement <2 x i32> %.112, i32 1
  %.115 = mul nsw i32 %cluster_rank, 64
  %.116 = mul nsw i32 %thread_x, 4
  %.117 = add nsw i32 %.115, %.116
  %.118 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.117
  %.119 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1664), i32 0
  call void @store_async_2(ptr addrspace(3) %.118, i32 2, ptr addrspace(3) %.119, i32 %.113, i32 %pair_1.2)
  %.120 = mul nsw i32 %thread_x, 4
  %.121 = add nsw i32 %from, %.120
  %.122 = sext i32 %.121 to i64
  %.123 = getelementptr inbounds i16, ptr addrspace(1) %x, i64 %.122
  %.124 = load <2 x i32>, ptr addrspace(1) %.123, align 8
  %.125 = extractelement <2 x i32> %.124, i32 0
  %.126 = extractelement <2 x i32> %.124, i32 1
  %.127 = call float @low_bf16(i32 %.125)
  %.128 = call float @high_bf16(i32 %.125)
  %.129 = call float @low_bf16(i32 %.126)
  %third_3.2 = call float @high_bf16(i32 %.126)
  %.131 = mul nsw i32 %cluster_rank, 64
  %.132 = mul nsw i32 %thread_x, 4
  %.133 = add nsw i32 %.131, %.132
  %.134 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 512), i32 %.133
  %.135 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1664), i32 0
  %.136 = fmul contract float %.127, 0x3FD5555560000000
  %.137 = bitcast float %.136 to i32
  %.138 = fmul contract float %.128, 0x3FD5555560000000
  %.139 = bitcast float %.138 to i32
  %.140 = fmul contract float %.129, 0x3FD5555560000000
  %.141 = bitcast float %.140 to i32
  %.142 = fmul contract float %third_3.2, 0x3FD5555560000000
  %.143 = bitcast float %.142 to i32
  call void @store_async_4(ptr addrspace(3) %.134, i32 2, ptr addrspace(3) %.135, i32 %.137, i32 %.139, i32 %.141, i32 %.143)
  br label %end.4
end.4:
  %.144 = icmp slt i32 %thread_x, 16
  br i1 %.144, label %then.5, label %end.5
then.5:
  %.145 = mul nsw i32 %thread_x, 4
  %.146 = add nsw i32 %from, %.145
  %.147 = sext i32 %.146 to i64
  %.148 = getelementptr inbounds i16, ptr addrspace(1) %x, i64 %.147
  %.149 = load <2 x i32>, ptr addrspace(1) %.148, align 8
  %.150 = extractelement <2 x i32> %.149, i32 0
  %pair_1.3 = extractelement <2 x i32> %.149, i32 1
  %.152 = mul nsw i32 %cluster_rank, 64
  %.153 = mul nsw i32 %thread_x, 4
  %.154 = add nsw i32 %.152, %.153
  %.155 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.154
  %.156 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1664), i32 0
  call void @store_async_2(ptr addrspace(3) %.155, i32 3, ptr addrspace(3) %.156, i32 %.150, i32 %pair_1.3)
  %.157 = mul nsw i32 %thread_x, 4
  %.158 = add nsw i32 %from, %.157
  %.159 = sext i32 %.158 to i64
  %.160 = getelementptr inbounds i16, ptr addrspace(1) %x, i64 %.159
  %.161 = load <2 x i32>, ptr addrspace(1) %.160, align 8
  %.162 = extractelement <2 x i32> %.161, i32 0
  %.163 = extractelement <2 x i32> %.161, i32 1
  %.164 = call float @low_bf16(i32 %.162)
  %.165 = call float @high_bf16(i32 %.162)
  %.166 = call float @low_bf16(i32 %.163)
  %third_3.3 = call float @high_bf16(i32 %.163)
  %.168 = mul nsw i32 %cluster_rank, 64
  %.169 = mul nsw i32 %thread_x, 4
  %.170 = add nsw i32 %.168, %.169
  %.171 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 512), i32 %.170
  %.172 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1664), i32 0
  %.173 = fmul contract float %.164, 0x3FD5555560000000
  %.174 = bitcast float %.173 to i32
  %.175 = fmul contract float %.165, 0x3FD5555560000000
  %.176 = bitcast float %.175 to i32
  %.177 = fmul contract float %.166, 0x3FD5555560000000
  %.178 = bitcast float %.177 to i32
  %.179 = fmul contract float %third_3.3, 0x3FD5555560000000
  %.180 = bitcast float %.179 to i32
  call void @store_async_4(ptr addrspace(3) %.171, i32 3, ptr addrspace(3) %.172, i32 %.174, i32 %.176, i32 %.178, i32 %.180)
  br label %end.5
end.5:
  %.181 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1664), i32 0
  %.182 = call i1 @mbarrier_wait_cluster(ptr addrspace(3) %.181, i32 %parity, ptr addrspace(1) null)
  %.183 = mul nsw i32 %thread_x, 2
  %at = add nsw i32 %.183, 0
  store float 0.0, ptr %sum
  %.185 = add nsw i32 0, %at
  %.186 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 512), i32 %.185
  %w = load float, ptr addrspace(3) %.186, align 4
  %.188 = add nsw i32 0, %at
  %.189 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.188
  %.190 = load i16, ptr addrspace(3) %.189, align 2
  %.191 = zext i16 %.190 to i32
  %.192 = shl i32 %.191, 16
  %v = bitcast i32 %.192 to float
  %.194 = load float, ptr %sum
  %.195 = fadd contract float %.194, %v
  %.196 = fadd contract float %.195, %w
  store float %.196, ptr %sum
  %.197 = add nsw i32 64, %at
  %.198 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 512), i32 %.197
  %w.1 = load float, ptr addrspace(3) %.198, align 4
  %.200 = add nsw i32 64, %at
  %.201 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.200
  %.202 = load i16, ptr addrspace(3) %.201, align 2
  %.203 = zext i16 %.202 to i32
  %.204 = shl i32 %.203, 16
  %v.1 = bitcast i32 %.204 to float
  %.206 = load float, ptr %sum
  %.207 = fadd contract float %.206, %v.1
  %.208 = fadd contract float %.207, %w.1
  store float %.208, ptr %sum
  %.209 = add nsw i32 128, %at
  %.210 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 512), i32 %.209
  %w.2 = load float, ptr addrspace(3) %.210, align 4
  %.212 = add nsw i32 128, %at
  %.213 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.212
  %.214 = load i16, ptr addrspace(3) %.213, align 2
  %.215 = zext i16 %.214 to i32
  %.216 = shl i32 %.215, 16
  %v.2 = bitcast i32 %.216 to float
  %.218 = load float, ptr %sum
  %.219 = fadd contract float %.218, %v.2
  %.220 = fadd contract float %.219, %w.2
  store float %.220, ptr %sum
  %.221 = add nsw i32 192, %at
  %.222 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 512), i32 %.221
  %w.3 = load float, ptr addrspace(3) %.222, align 4
  %.224 = add nsw i32 192, %at
  %.225 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.224
  %.226 = load i16, ptr addrspace(3) %.225, align 2
  %.227 = zext i16 %.226 to i32
  %.228 = shl i32 %.227, 16
  %v.3 = bitcast i32 %.228 to float
  %.230 = load float, ptr %sum
  %.231 = fadd contract float %.230, %v.3
  %.232 = fadd contract float %.231, %w.3
  store float %.232, ptr %sum
  %.233 = add nsw i32 %from, %at
  %.234 = sext i32 %.233 to i64
  %.235 = getelementptr inbounds i32, ptr addrspace(1) %y, i64 %.234
  %.236 = load float, ptr %sum
  store float %.236, ptr addrspace(1) %.235, align 4
  %.237 = mul nsw i32 %thread_x, 2
  %at.1 = add nsw i32 %.237, 1
  store float 0.0, ptr %sum.1
  %.239 = add nsw i32 0, %at.1
  %.240 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 512), i32 %.239
  %w.4 = load float, ptr addrspace(3) %.240, align 4
  %.242 = add nsw i32 0, %at.1
  %.243 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.242
  %.244 = load i16, ptr addrspace(3) %.243, align 2
  %.245 = zext i16 %.244 to i32
  %.246 = shl i32 %.245, 16
  %v.4 = bitcast i32 %.246 to float
  %.248 = load float, ptr %sum.1
  %.249 = fadd contract float %.248, %v.4
  %.250 = fadd contract float %.249, %w.4
  store float %.250, ptr %sum.1
  %.251 = add nsw i32 64, %at.1
  %.252 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 512), i32 %.251
  %w.5 = load float, ptr addrspace(3) %.252, align 4
  %.254 = add nsw i32 64, %at.1
  %.255 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.254
  %.256 = load i16, ptr addrspace(3) %.255, align 2
  %.257 = zext i16 %.256 to i32
  %.258 = shl i32 %.257, 16
  %v.5 = bitcast i32 %.258 to float
  %.260 = load float, ptr %sum.1
  %.261 = fadd contract float %.260, %v.5
  %.262 = fadd contract float %.261, %w.5
  store float %.262, ptr %sum.1
  %.263 = add nsw i32 128, %at.1
  %.264 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 512), i32 %.263
  %w.6 = load float, ptr addrspace(3) %.264, align 4
  %.266 = add nsw i32 128, %at.1
  %.267 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.266
  %.268 = load i16, ptr addrspace(3) %.267, align 2
  %.269 = zext i16 %.268 to i32
  %.270 = shl i32 %.269, 16
  %v.6 = bitcast i32 %.270 to float
  %.272 = load float, ptr %sum.1
  %.273 = fadd contract float %.272, %v.6
  %.274 = fadd contract float %.273, %w.6
  store float %.274, ptr %sum.1
  %.275 = add nsw i32 192, %at.1
  %.276 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 512), i32 %.275
  %w.7 = load float, ptr addrspace(3) %.276, align 4
  %.278 = add nsw i32 192, %at.1
  %.279 = getelementptr inbounds i16, ptr addrspace(3) @shared_memory, i32 %.278
  %.280 = load i16, ptr addrspace(3) %.279, align 2
  %.281 = zext i16 %.280 to i32
  %.282 = shl i32 %.281, 16
  %v.7 = bitcast i32 %.282 to float
  %.284 = load float, ptr %sum.1
  %.285 = fadd contract float %.284, %v.7
  %.286 = fadd contract float %.285, %w.7
  store float %.286, ptr %sum.1
  %.287 = add nsw i32 %from, %at.1
  %.288 = sext i32 %.287 to i64
  %.289 = getelementptr inbounds i32, ptr addrspace(1) %y, i64 %.288
  %.290 = load float, ptr %sum.1
  store float %.290, ptr addrspace(1) %.289, align 4
  %.291 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1672), i32 0
  call void @mbarrier_arrive_in_block(ptr addrspace(3) %.291, i32 0)
  %.292 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1672), i32 0
  call void @mbarrier_arrive_in_block(ptr addrspace(3) %.292, i32 1)
  %.293 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1672), i32 0
  call void @mbarrier_arrive_in_block(ptr addrspace(3) %.293, i32 2)
  %.294 = getelementptr inbounds i64, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 1672), i32 0
  call void @mbarrier_arrive_in_block(ptr addrspace(3) %.294, i32 3)
  %.295 = add nsw i32 %t, 1
  store i32 %.295, ptr %t_counter
  br label %for, !llvm.loop !0
done:
  ; no block leaves while others may still write to it
  call void @llvm.nvvm.barrier.cluster.arrive.aligned()
  call void @llvm.nvvm.barrier.cluster.wait.aligned()
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
