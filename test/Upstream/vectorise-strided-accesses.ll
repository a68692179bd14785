; RUN: %opt -S -passes=loop-vectorize -force-vector-width=4 -force-vector-interleave=1 -enable-interleaved-mem-accesses %s | FileCheck %s

; A group of strided loads stands where the first of them did, before a store of the same iteration to the second's address:
; what was loaded is not the 7 that was stored. When this fails, remove `enable-interleaved-mem-accesses`
; (crates/mlir-bridge/cpp/optimise.cpp).

; CHECK: vector.body:
; CHECK: %[[ALL:.*]] = load <8 x i32>
; CHECK: %[[ODD:.*]] = shufflevector <8 x i32> %[[ALL]], <8 x i32> poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
; CHECK: store i32 7
; CHECK: add <4 x i32> %{{.*}}, %[[ODD]]
target triple = "x86_64-unknown-linux-gnu"
define void @f(ptr %a, ptr noalias %o, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %k = shl i64 %i, 1
  %k1 = or disjoint i64 %k, 1
  %p0 = getelementptr i32, ptr %a, i64 %k
  %p1 = getelementptr i32, ptr %a, i64 %k1
  %e = load i32, ptr %p0, !llvm.access.group !0
  store i32 7, ptr %p1, !llvm.access.group !0
  %y = load i32, ptr %p1, !llvm.access.group !0
  %po = getelementptr i32, ptr %o, i64 %i
  %s = add i32 %e, %y
  store i32 %s, ptr %po, !llvm.access.group !0
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %exit, !llvm.loop !1
exit:
  ret void
}
!0 = distinct !{}
!1 = distinct !{!1, !2}
!2 = !{!"llvm.loop.parallel_accesses", !0}
