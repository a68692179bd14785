// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=256 cost-model=false" | FileCheck %s

// Rounds that not all lanes make keep a long loop that the source wants unrolled, on a copy of the memory that it goes through; the rounds
// before, of all lanes, have it unrolled, and the memory itself.
// CHECK-DAG: #[[FULL:.*]] = #llvm.loop_unroll<full = true>
// CHECK-DAG: #[[NOT:.*]] = #llvm.loop_unroll<disable = true>
// CHECK-DAG: #[[UNROLLED:.*]] = #llvm.loop_annotation<unroll = #[[FULL]]>
// CHECK-DAG: #[[ROLLED:.*]] = #llvm.loop_annotation<unroll = #[[NOT]]>
// CHECK-LABEL: llvm.func @long
// CHECK: %[[OWN:.*]] = llvm.alloca %{{.*}} x !llvm.array<64 x f32>
// CHECK: %[[COPY:.*]] = llvm.alloca %{{.*}} x !llvm.array<64 x f32>
// CHECK: scf.for
// CHECK: scf.for
// CHECK: llvm.getelementptr %[[OWN]]
// CHECK: llvm.loop_annotation = #[[UNROLLED]]
// CHECK: scf.if %[[SOME:.*]] {
// CHECK: "llvm.intr.memcpy"(%[[COPY]], %[[OWN]], %[[BYTES:.*]])
// CHECK-NOT: llvm.getelementptr %[[OWN]][
// CHECK: scf.while
// CHECK: scf.for
// CHECK: llvm.getelementptr %[[COPY]]
// CHECK: llvm.loop_annotation = #[[ROLLED]]
// CHECK: scf.if %[[SOME]] {
// CHECK: "llvm.intr.memcpy"(%[[OWN]], %[[COPY]]
// CHECK-NOT: llvm.getelementptr %[[COPY]][
// CHECK: llvm.return
llvm.func @long(%p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %one = llvm.mlir.constant(1 : i64) : i64
  %a = llvm.alloca %one x !llvm.array<64 x f32> {alignment = 4 : i64, regrain.reused} : (i64) -> !llvm.ptr
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %n = llvm.load %p : !llvm.ptr -> i32
    %step = llvm.mlir.constant(32 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %next = llvm.mlir.constant(1 : i32) : i32
    %many = llvm.mlir.constant(64 : i32) : i32
    scf.for %q = %t to %n step %step : i32 {
      %w = llvm.sext %q : i32 to i64
      %f = llvm.getelementptr %p[%w] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %f : !llvm.ptr -> f32
      scf.for %j = %zero to %many step %next : i32 {
        %jw = llvm.sext %j : i32 to i64
        %at = llvm.getelementptr %a[0, %jw] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<64 x f32>
        %old = llvm.load %at : !llvm.ptr -> f32
        %sum = llvm.fadd %old, %v : f32
        llvm.store %sum, %at : f32, !llvm.ptr
      } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
    }
    %first = llvm.load %a : !llvm.ptr -> f32
    %u = llvm.sext %t : i32 to i64
    %o = llvm.getelementptr %p[%u] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %first, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// What LLVM would unroll without being told stays as it is.
// CHECK-LABEL: llvm.func @short
// CHECK-NOT: memcpy
// CHECK-NOT: #[[ROLLED]]
// CHECK: llvm.return
llvm.func @short(%p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %one = llvm.mlir.constant(1 : i64) : i64
  %a = llvm.alloca %one x !llvm.array<4 x f32> {alignment = 4 : i64, regrain.reused} : (i64) -> !llvm.ptr
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %n = llvm.load %p : !llvm.ptr -> i32
    %step = llvm.mlir.constant(32 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %next = llvm.mlir.constant(1 : i32) : i32
    %many = llvm.mlir.constant(4 : i32) : i32
    scf.for %q = %t to %n step %step : i32 {
      %w = llvm.sext %q : i32 to i64
      %f = llvm.getelementptr %p[%w] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %f : !llvm.ptr -> f32
      scf.for %j = %zero to %many step %next : i32 {
        %jw = llvm.sext %j : i32 to i64
        %at = llvm.getelementptr %a[0, %jw] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x f32>
        %old = llvm.load %at : !llvm.ptr -> f32
        %sum = llvm.fadd %old, %v : f32
        llvm.store %sum, %at : f32, !llvm.ptr
      } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
    }
    %first = llvm.load %a : !llvm.ptr -> f32
    %u = llvm.sext %t : i32 to i64
    %o = llvm.getelementptr %p[%u] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %first, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}
