; RUN: %opt -S -passes=loop-vectorize -force-vector-width=4 -force-vector-interleave=1 %s | FileCheck %s

; The vectoriser asks whether the loop has at most 64 rounds, takes that for the answer to whether it has at most 8, and reads
; b[i & 7] as if i & 7 went on counting (SCEVWrapPredicate::implies compares start and step, not widths). When this fails, remove
; `wrapsEarly` and `hide` (crates/mlir-bridge/cpp/optimise.cpp).

; CHECK: vector.scevcheck:
; CHECK: icmp ugt i64 %{{.*}}, 63
; CHECK-NOT: icmp ugt i64 %{{.*}}, 7
; CHECK: vector.body:
; CHECK: load <4 x i32>
; CHECK: load <4 x i32>
target triple = "x86_64-unknown-linux-gnu"
define void @f(ptr noalias %a, ptr noalias %b, ptr noalias %c, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %i63 = and i64 %i, 63
  %i7 = and i64 %i, 7
  %pa = getelementptr i32, ptr %a, i64 %i63
  %pb = getelementptr i32, ptr %b, i64 %i7
  %pc = getelementptr i32, ptr %c, i64 %i
  %x = load i32, ptr %pa
  %y = load i32, ptr %pb
  %s = add i32 %x, %y
  store i32 %s, ptr %pc
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}
