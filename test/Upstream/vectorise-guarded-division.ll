; RUN: %opt -S -passes=loop-vectorize -force-vector-width=4 -force-vector-interleave=1 %s | FileCheck %s

; The quotient that is the same for all lanes is computed where the first lane's condition holds, and used by all of them. When
; this fails, remove `isInvariantDivision` and `hoist` (crates/mlir-bridge/cpp/optimise.cpp).

; CHECK: vector.body:
; CHECK: %[[FIRST:.*]] = extractelement <4 x i1> %{{.*}}, i32 0
; CHECK: br i1 %[[FIRST]], label %[[THEN:.*]], label
; CHECK: %[[QUOTIENT:.*]] = udiv i64 %m, %d
; CHECK: %[[BASE:.*]] = phi i64 [ poison, %vector.body ], [ %[[QUOTIENT]], %[[THEN]] ]
; CHECK: %[[SUM:.*]] = add i64 %[[BASE]], %index
; CHECK: %[[AT:.*]] = getelementptr i32, ptr %a, i64 %[[SUM]]
; CHECK: masked.load.v4i32.p0(ptr align 4 %[[AT]]
target triple = "x86_64-unknown-linux-gnu"
define void @f(ptr noalias %c, ptr noalias %a, ptr noalias %o, i64 %m, i64 %d, i64 %n) #0 {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pc
  %t = icmp ne i32 %v, 0
  br i1 %t, label %then, label %latch
then:
  %q = udiv i64 %m, %d
  %base = add i64 %q, %i
  %pa = getelementptr i32, ptr %a, i64 %base
  %x = load i32, ptr %pa
  %po = getelementptr i32, ptr %o, i64 %i
  store i32 %x, ptr %po
  br label %latch
latch:
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}
attributes #0 = { "target-cpu"="skylake-avx512" }
