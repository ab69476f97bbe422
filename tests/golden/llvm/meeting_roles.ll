target triple = "nvptx64-nvidia-cuda"

@shared_memory = external addrspace(3) global [0 x i8], align 16

; y = what two warps have heard after each turn from four others, whom they asked.
define ptx_kernel void @meeting_roles(ptr addrspace(1) noalias align 4 %y, i32 %turns) convergent nounwind "nvvm.maxntid"="192" "nvvm.minctasm"="1" {
entry:
  %thread_x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block_x = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %heard = alloca i32
  %t_counter = alloca i32
  %i_counter = alloca i32
  %t_2_counter = alloca i32
  %answer = alloca i32
  %i_2_counter = alloca i32
  %warp = udiv i32 %thread_x, 32
  %.1 = icmp slt i32 %thread_x, 64
  br i1 %.1, label %then, label %else
then:
  %.2 = add nsw i32 %block_x, %thread_x
  store i32 %.2, ptr %heard
  store i32 0, ptr %t_counter
  br label %for
for:
  %t = load i32, ptr %t_counter
  %.4 = icmp slt i32 %t, %turns
  br i1 %.4, label %body, label %done
body:
  %.5 = mul nsw i32 %t, 7
  %.6 = mul nsw i32 %warp, 5
  %.7 = add nsw i32 %.5, %.6
  %pieces = urem i32 %.7, 11
  store i32 0, ptr %i_counter
  br label %for.1
for.1:
  %i = load i32, ptr %i_counter
  %.10 = icmp slt i32 %i, %pieces
  br i1 %.10, label %body.1, label %done.1
body.1:
  %.11 = load i32, ptr %heard
  %.12 = mul nsw i32 %.11, 5
  %.13 = add nsw i32 %.12, 1
  %.14 = and i32 %.13, 4095
  store i32 %.14, ptr %heard
  %.15 = add nsw i32 %i, 1
  store i32 %.15, ptr %i_counter
  br label %for.1, !llvm.loop !0
done.1:
  %.16 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %thread_x
  %.17 = load i32, ptr %heard
  store i32 %.17, ptr addrspace(3) %.16, align 4
  call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 1, i32 192)
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 2, i32 192)
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 3, i32 192)
  call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 4, i32 192)
  %.18 = sub nsw i32 63, %thread_x
  %.19 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 256), i32 %.18
  %left = load i32, ptr addrspace(3) %.19, align 4
  %.21 = sub nsw i32 127, %thread_x
  %.22 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 256), i32 %.21
  %right = load i32, ptr addrspace(3) %.22, align 4
  %.24 = add nsw i32 %left, %right
  %.25 = and i32 %.24, 4095
  store i32 %.25, ptr %heard
  %.26 = mul nsw i32 %block_x, %turns
  %.27 = add nsw i32 %.26, %t
  %.28 = mul nsw i32 %.27, 64
  %.29 = add nsw i32 %.28, %thread_x
  %.30 = sext i32 %.29 to i64
  %.31 = getelementptr inbounds i32, ptr addrspace(1) %y, i64 %.30
  %.32 = load i32, ptr %heard
  store i32 %.32, ptr addrspace(1) %.31, align 4
  %.33 = add nsw i32 %t, 1
  store i32 %.33, ptr %t_counter
  br label %for, !llvm.loop !2
done:
  br label %end
else:
  %me = sub nsw i32 %thread_x, 64
  store i32 0, ptr %t_2_counter
  br label %for.2
for.2:
  %t_2 = load i32, ptr %t_2_counter
  %.36 = icmp slt i32 %t_2, %turns
  br i1 %.36, label %body.2, label %done.2
body.2:
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 192)
  call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 2, i32 192)
  %.37 = add nsw i32 %me, %t_2
  %.38 = urem i32 %.37, 64
  %.39 = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 %.38
  %question = load i32, ptr addrspace(3) %.39, align 4
  store i32 %question, ptr %answer
  %.41 = mul nsw i32 %t_2, 7
  %.42 = mul nsw i32 %warp, 5
  %.43 = add nsw i32 %.41, %.42
  %pieces_2 = urem i32 %.43, 11
  store i32 0, ptr %i_2_counter
  br label %for.3
for.3:
  %i_2 = load i32, ptr %i_2_counter
  %.46 = icmp slt i32 %i_2, %pieces_2
  br i1 %.46, label %body.3, label %done.3
body.3:
  %.47 = load i32, ptr %answer
  %.48 = mul nsw i32 %.47, 5
  %.49 = add nsw i32 %.48, 1
  %.50 = and i32 %.49, 4095
  store i32 %.50, ptr %answer
  %.51 = add nsw i32 %i_2, 1
  store i32 %.51, ptr %i_2_counter
  br label %for.3, !llvm.loop !4
done.3:
  %.52 = getelementptr inbounds i32, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 256), i32 %me
  %.53 = load i32, ptr %answer
  %.54 = add nsw i32 %.53, %me
  store i32 %.54, ptr addrspace(3) %.52, align 4
  call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 3, i32 192)
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 4, i32 192)
  %.55 = add nsw i32 %t_2, 1
  store i32 %.55, ptr %t_2_counter
  br label %for.2, !llvm.loop !6
done.2:
  br label %end
end:
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.unroll.disable"}
!4 = distinct !{!4, !5}
!5 = !{!"llvm.loop.unroll.disable"}
!6 = distinct !{!6, !7}
!7 = !{!"llvm.loop.unroll.disable"}
