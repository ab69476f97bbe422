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
  %.46 = load i32, ptr %word
  %.47 = icmp ne i32 %.46, -1
  %.48 = load i32, ptr %word.1
  %.49 = icmp ne i32 %.48, -1
  %.50 = and i1 %.47, %.49
  %.51 = load i32, ptr %word.2
  %.52 = icmp ne i32 %.51, -1
  %.53 = and i1 %.50, %.52
  %.54 = load i32, ptr %word.3
  %.55 = icmp ne i32 %.54, -1
  %.56 = and i1 %.53, %.55
  br i1 %.56, label %next, label %load
load:
  %.57 = call { i32, i32, i32, i32 } @load_flagged_4(ptr addrspace(1) %.42)
  %.58 = extractvalue { i32, i32, i32, i32 } %.57, 0
  store i32 %.58, ptr %word
  %.59 = extractvalue { i32, i32, i32, i32 } %.57, 1
  store i32 %.59, ptr %word.1
  %.60 = extractvalue { i32, i32, i32, i32 } %.57, 2
  store i32 %.60, ptr %word.2
  %.61 = extractvalue { i32, i32, i32, i32 } %.57, 3
  store i32 %.61, ptr %word.3
  br label %next
next:
  %.62 = load i32, ptr %word.4
  %.63 = icmp ne i32 %.62, -1
  %.64 = load i32, ptr %word.5
  %.65 = icmp ne i32 %.64, -1
  %.66 = and i1 %.63, %.65
  %.67 = load i32, ptr %word.6
  %.68 = icmp ne i32 %.67, -1
  %.69 = and i1 %.66, %.68
  %.70 = load i32, ptr %word.7
  %.71 = icmp ne i32 %.70, -1
  %.72 = and i1 %.69, %.71
  br i1 %.72, label %next.1, label %load.1
load.1:
  %.73 = call { i32, i32, i32, i32 } @load_flagged_4(ptr addrspace(1) %.45)
  %.74 = extractvalue { i32, i32, i32, i32 } %.73, 0
  store i32 %.74, ptr %word.4
  %.75 = extractvalue { i32, i32, i32, i32 } %.73, 1
  store i32 %.75, ptr %word.5
  %.76 = extractvalue { i32, i32, i32, i32 } %.73, 2
  store i32 %.76, ptr %word.6
  %.77 = extractvalue { i32, i32, i32, i32 } %.73, 3
  store i32 %.77, ptr %word.7
  br label %next.1
next.1:
  %.78 = load i32, ptr %word
  %.79 = icmp ne i32 %.78, -1
  %.80 = load i32, ptr %word.1
  %.81 = icmp ne i32 %.80, -1
  %.82 = and i1 %.79, %.81
  %.83 = load i32, ptr %word.2
  %.84 = icmp ne i32 %.83, -1
  %.85 = and i1 %.82, %.84
  %.86 = load i32, ptr %word.3
  %.87 = icmp ne i32 %.86, -1
  %.88 = and i1 %.85, %.87
  %.89 = load i32, ptr %word.4
  %.90 = icmp ne i32 %.89, -1
  %.91 = and i1 %.88, %.90
  %.92 = load i32, ptr %word.5
  %.93 = icmp ne i32 %.92, -1
  %.94 = and i1 %.91, %.93
  %.95 = load i32, ptr %word.6
  %.96 = icmp ne i32 %.95, -1
  %.97 = and i1 %.94, %.96
  %.98 = load i32, ptr %word.7
  %.99 = icmp ne i32 %.98, -1
  %.100 = and i1 %.97, %.99
  br i1 %.100, label %come, label %wait
wait:
  %.101 = call i1 @patience_ends(ptr %tries, ptr %start, ptr addrspace(1) null)
  br i1 %.101, label %come, label %poll
come:
  %.102 = load i32, ptr %word
  %.103 = bitcast i32 %.102 to float
  store float %.103, ptr %got_0
  %.104 = load i32, ptr %word.1
  %.105 = bitcast i32 %.104 to float
  store float %.105, ptr %got_1
  %.106 = load i32, ptr %word.2
  %.107 = bitcast i32 %.106 to float
  store float %.107, ptr %got_2
  %.108 = load i32, ptr %word.3
  %.109 = bitcast i32 %.108 to float
  store float %.109, ptr %got_3
  %.110 = load i32, ptr %word.4
  %.111 = bitcast i32 %.110 to float
  store float %.111, ptr %got_4
  %.112 = load i32, ptr %word.5
  %.113 = bitcast i32 %.112 to float
  store float %.113, ptr %got_5
  %.114 = load i32, ptr %word.6
  %.115 = bitcast i32 %.114 to float
  store float %.115, ptr %got_6
  %.116 = load i32, ptr %word.7
  %.117 = bitcast i32 %.116 to float
  store float %.117, ptr %got_7
  %.118 = sext i32 %place to i64
  %.119 = getelementptr inbounds i32, ptr addrspace(1) %y, i64 %.118
  %.120 = load float, ptr %got_0
  %.121 = load float, ptr %got_1
  %.122 = load float, ptr %got_2
  %.123 = load float, ptr %got_3
  %.124 = insertelement <4 x float> poison, float %.120, i32 0
  %.125 = insertelement <4 x float> %.124, float %.121, i32 1
  %.126 = insertelement <4 x float> %.125, float %.122, i32 2
  %.127 = insertelement <4 x float> %.126, float %.123, i32 3
  store <4 x float> %.127, ptr addrspace(1) %.119, align 16
  %.128 = add nsw i32 %place, 128
  %.129 = sext i32 %.128 to i64
  %.130 = getelementptr inbounds i32, ptr addrspace(1) %y, i64 %.129
  %.131 = load float, ptr %got_4
  %.132 = load float, ptr %got_5
  %.133 = load float, ptr %got_6
  %.134 = load float, ptr %got_7
  %.135 = insertelement <4 x float> poison, float %.131, i32 0
  %.136 = insertelement <4 x float> %.135, float %.132, i32 1
  %.137 = insertelement <4 x float> %.136, float %.133, i32 2
  %.138 = insertelement <4 x float> %.137, float %.134, i32 3
  store <4 x float> %.138, ptr addrspace(1) %.130, align 16
  ret void
}
