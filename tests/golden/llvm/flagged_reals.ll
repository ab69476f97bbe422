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

define internal void @store_flagged_2(ptr addrspace(1) %to, i32 %a, i32 %b) alwaysinline {
  call void asm sideeffect "st.relaxed.gpu.global.v2.b32 [$0], {$1, $2};", "l,r,r,~{memory}"(ptr addrspace(1) %to, i32 %a, i32 %b)
  ret void
}

define internal void @store_flagged_4(ptr addrspace(1) %to, i32 %a, i32 %b, i32 %c, i32 %d) alwaysinline {
  call void asm sideeffect "st.relaxed.gpu.global.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,~{memory}"(ptr addrspace(1) %to, i32 %a, i32 %b, i32 %c, i32 %d)
  ret void
}

; Four words for load_flagged, as they are.
define internal { i32, i32, i32, i32 } @load_flagged_4(ptr addrspace(1) %from) alwaysinline {
  %words = call { i32, i32, i32, i32 } asm sideeffect "ld.relaxed.gpu.global.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,~{memory}"(ptr addrspace(1) %from)
  ret { i32, i32, i32, i32 } %words
}

; The bits of a float, but for one NaN, which would say that nothing has come: it gives way to another.
define internal i32 @flagged_word(float %x) alwaysinline {
  %bits = bitcast float %x to i32
  %word = call i32 @llvm.umin.i32(i32 %bits, i32 -2)
  ret i32 %word
}

; y = x of the other block.
define ptx_kernel void @flagged_reals(ptr addrspace(1) noalias readonly align 4 %x, ptr addrspace(1) align 4 %y, ptr addrspace(1) align 4 %sent) convergent nounwind "nvvm.maxntid"="32" "nvvm.minctasm"="1" {
entry:
  %block_x = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %thread_x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %got_0 = alloca float
  %got_1 = alloca float
  %got_2 = alloca float
  %got_3 = alloca float
  %got_4 = alloca float
  %got_5 = alloca float
  %got_6 = alloca float
  %got_7 = alloca float
  %word = alloca i32
  %word.1 = alloca i32
  %word.2 = alloca i32
  %word.3 = alloca i32
  %word.4 = alloca i32
  %word.5 = alloca i32
  %word.6 = alloca i32
  %word.7 = alloca i32
  %tries = alloca i32
  %start = alloca i64
  %.0 = mul nsw i32 %block_x, 256
  %.1 = mul nsw i32 %thread_x, 4
  %place = add nsw i32 %.0, %.1
  %.3 = sub nsw i32 1, %block_x
  %.4 = mul nsw i32 %.3, 256
  %.5 = mul nsw i32 %thread_x, 4
  %other = add nsw i32 %.4, %.5
  %.7 = sext i32 %place to i64
  %.8 = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %.7
  %.9 = load <4 x float>, ptr addrspace(1) %.8, align 16
  %.10 = extractelement <4 x float> %.9, i32 0
  %.11 = extractelement <4 x float> %.9, i32 1
  %.12 = extractelement <4 x float> %.9, i32 2
  %v_3 = extractelement <4 x float> %.9, i32 3
  %.14 = add nsw i32 %place, 128
  %.15 = sext i32 %.14 to i64
  %.16 = getelementptr inbounds i32, ptr addrspace(1) %x, i64 %.15
  %.17 = load <4 x float>, ptr addrspace(1) %.16, align 16
  %.18 = extractelement <4 x float> %.17, i32 0
  %.19 = extractelement <4 x float> %.17, i32 1
  %.20 = extractelement <4 x float> %.17, i32 2
  %v_3_2 = extractelement <4 x float> %.17, i32 3
  %.22 = sext i32 %place to i64
  %.23 = getelementptr inbounds i32, ptr addrspace(1) %sent, i64 %.22
  %.24 = call i32 @flagged_word(float %.10)
  %.25 = call i32 @flagged_word(float %.11)
  %.26 = call i32 @flagged_word(float %.12)
  %.27 = call i32 @flagged_word(float %v_3)
  call void @store_flagged_4(ptr addrspace(1) %.23, i32 %.24, i32 %.25, i32 %.26, i32 %.27)
  %.28 = add nsw i32 %place, 128
  %.29 = sext i32 %.28 to i64
  %.30 = getelementptr inbounds i32, ptr addrspace(1) %sent, i64 %.29
  %.31 = call i32 @flagged_word(float %.18)
  %.32 = call i32 @flagged_word(float %.19)
  call void @store_flagged_2(ptr addrspace(1) %.30, i32 %.31, i32 %.32)
  %.33 = add nsw i32 %place, 130
  %.34 = sext i32 %.33 to i64
  %.35 = getelementptr inbounds i32, ptr addrspace(1) %sent, i64 %.34
  %.36 = call i32 @flagged_word(float %.20)
  %.37 = call i32 @flagged_word(float %v_3_2)
  call void @store_flagged_2(ptr addrspace(1) %.35, i32 %.36, i32 %.37)
  %.38 = sext i32 %other to i64
  %.39 = getelementptr inbounds i32, ptr addrspace(1) %sent, i64 %.38
  %.40 = mul nsw i32 128, 0
  %.41 = sext i32 %.40 to i64
  %.42 = getelementptr inbounds i32, ptr addrspace(1) %.39, i64 %.41
  %.43 = mul nsw i32 128, 1
  %.44 = sext i32 %.43 to i64
  %.45 = getelementptr inbounds i32, ptr addrspace(1) %.39, i64 %.44
  %.46 = call i32 @llvm.nvvm.read.ptx.sreg.clock()
  br label %rest
rest:
  %.47 = call i32 @llvm.nvvm.read.ptx.sreg.clock()
  %.48 = sub i32 %.47, %.46
  %.49 = icmp ult i32 %.48, 100
  br i1 %.49, label %rest, label %rested
rested:
  store i32 0, ptr %tries
  store i64 0, ptr %start
  store i32 -1, ptr %word
  store i32 -1, ptr %word.1
  store i32 -1, ptr %word.2
  store i32 -1, ptr %word.3
  store i32 -1, ptr %word.4
  store i32 -1, ptr %word.5
  store i32 -1, ptr %word.6
  store i32 -1, ptr %word.7
  br label %poll
poll:
  %.50 = load i32, ptr %word
  %.51 = icmp ne i32 %.50, -1
  %.52 = load i32, ptr %word.1
  %.53 = icmp ne i32 %.52, -1
  %.54 = and i1 %.51, %.53
  %.55 = load i32, ptr %word.2
  %.56 = icmp ne i32 %.55, -1
  %.57 = and i1 %.54, %.56
  %.58 = load i32, ptr %word.3
  %.59 = icmp ne i32 %.58, -1
  %.60 = and i1 %.57, %.59
  br i1 %.60, label %next, label %load
load:
  %.61 = call { i32, i32, i32, i32 } @load_flagged_4(ptr addrspace(1) %.42)
  %.62 = extractvalue { i32, i32, i32, i32 } %.61, 0
  store i32 %.62, ptr %word
  %.63 = extractvalue { i32, i32, i32, i32 } %.61, 1
  store i32 %.63, ptr %word.1
  %.64 = extractvalue { i32, i32, i32, i32 } %.61, 2
  store i32 %.64, ptr %word.2
  %.65 = extractvalue { i32, i32, i32, i32 } %.61, 3
  store i32 %.65, ptr %word.3
  br label %next
next:
  %.66 = load i32, ptr %word.4
  %.67 = icmp ne i32 %.66, -1
  %.68 = load i32, ptr %word.5
  %.69 = icmp ne i32 %.68, -1
  %.70 = and i1 %.67, %.69
  %.71 = load i32, ptr %word.6
  %.72 = icmp ne i32 %.71, -1
  %.73 = and i1 %.70, %.72
  %.74 = load i32, ptr %word.7
  %.75 = icmp ne i32 %.74, -1
  %.76 = and i1 %.73, %.75
  br i1 %.76, label %next.1, label %load.1
load.1:
  %.77 = call { i32, i32, i32, i32 } @load_flagged_4(ptr addrspace(1) %.45)
  %.78 = extractvalue { i32, i32, i32, i32 } %.77, 0
  store i32 %.78, ptr %word.4
  %.79 = extractvalue { i32, i32, i32, i32 } %.77, 1
  store i32 %.79, ptr %word.5
  %.80 = extractvalue { i32, i32, i32, i32 } %.77, 2
  store i32 %.80, ptr %word.6
  %.81 = extractvalue { i32, i32, i32, i32 } %.77, 3
  store i32 %.81, ptr %word.7
  br label %next.1
next.1:
  %.82 = load i32, ptr %word
  %.83 = icmp ne i32 %.82, -1
  %.84 = load i32, ptr %word.1
  %.85 = icmp ne i32 %.84, -1
  %.86 = and i1 %.83, %.85
  %.87 = load i32, ptr %word.2
  %.88 = icmp ne i32 %.87, -1
  %.89 = and i1 %.86, %.88
  %.90 = load i32, ptr %word.3
  %.91 = icmp ne i32 %.90, -1
  %.92 = and i1 %.89, %.91
  %.93 = load i32, ptr %word.4
  %.94 = icmp ne i32 %.93, -1
  %.95 = and i1 %.92, %.94
  %.96 = load i32, ptr %word.5
  %.97 = icmp ne i32 %.96, -1
  %.98 = and i1 %.95, %.97
  %.99 = load i32, ptr %word.6
  %.100 = icmp ne i32 %.99, -1
  %.101 = and i1 %.98, %.100
  %.102 = load i32, ptr %word.7
  %.103 = icmp ne i32 %.102, -1
  %.104 = and i1 %.101, %.103
  br i1 %.104, label %come, label %wait
wait:
  %.105 = call i1 @patience_ends(ptr %tries, ptr %start, ptr addrspace(1) null)
  br i1 %.105, label %come, label %poll
come:
  %.106 = load i32, ptr %word
  %.107 = bitcast i32 %.106 to float
  store float %.107, ptr %got_0
  %.108 = load i32, ptr %word.1
  %.109 = bitcast i32 %.108 to float
  store float %.109, ptr %got_1
  %.110 = load i32, ptr %word.2
  %.111 = bitcast i32 %.110 to float
  store float %.111, ptr %got_2
  %.112 = load i32, ptr %word.3
  %.113 = bitcast i32 %.112 to float
  store float %.113, ptr %got_3
  %.114 = load i32, ptr %word.4
  %.115 = bitcast i32 %.114 to float
  store float %.115, ptr %got_4
  %.116 = load i32, ptr %word.5
  %.117 = bitcast i32 %.116 to float
  store float %.117, ptr %got_5
  %.118 = load i32, ptr %word.6
  %.119 = bitcast i32 %.118 to float
  store float %.119, ptr %got_6
  %.120 = load i32, ptr %word.7
  %.121 = bitcast i32 %.120 to float
  store float %.121, ptr %got_7
  %.122 = sext i32 %place to i64
  %.123 = getelementptr inbounds i32, ptr addrspace(1) %y, i64 %.122
  %.124 = load float, ptr %got_0
  %.125 = load float, ptr %got_1
  %.126 = load float, ptr %got_2
  %.127 = load float, ptr %got_3
  %.128 = insertelement <4 x float> poison, float %.124, i32 0
  %.129 = insertelement <4 x float> %.128, float %.125, i32 1
  %.130 = insertelement <4 x float> %.129, float %.126, i32 2
  %.131 = insertelement <4 x float> %.130, float %.127, i32 3
  store <4 x float> %.131, ptr addrspace(1) %.123, align 16
  %.132 = add nsw i32 %place, 128
  %.133 = sext i32 %.132 to i64
  %.134 = getelementptr inbounds i32, ptr addrspace(1) %y, i64 %.133
  %.135 = load float, ptr %got_4
  %.136 = load float, ptr %got_5
  %.137 = load float, ptr %got_6
  %.138 = load float, ptr %got_7
  %.139 = insertelement <4 x float> poison, float %.135, i32 0
  %.140 = insertelement <4 x float> %.139, float %.136, i32 1
  %.141 = insertelement <4 x float> %.140, float %.137, i32 2
  %.142 = insertelement <4 x float> %.141, float %.138, i32 3
  store <4 x float> %.142, ptr addrspace(1) %.134, align 16
  ret void
}
