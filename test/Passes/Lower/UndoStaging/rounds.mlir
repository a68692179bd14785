// RUN: %regrain-opt %s --regrain-undo-staging | FileCheck %s

// A loop that the threads go through together. A round is a symbol: %at grows by a plane in each, and what is handed on is what was loaded a
// plane further in the round before. All of it is read again, at what the threads have in common and a multiple of the plane; a barrier
// stays at the end of the round.
// CHECK-LABEL: llvm.func @marched
// CHECK: scf.if
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[SUM:.*]] = %{{.*}}) -> (i64, i64)
// CHECK-NOT: regrain.barrier
// CHECK-NOT: scf.if
// CHECK: arith.addi %{{.*}}, %[[SUM]] : i64
// CHECK: llvm.load
// CHECK: arith.addi %{{.*}}, %[[SUM]] : i64
// CHECK: llvm.load
// CHECK: arith.addi %{{.*}}, %[[SUM]] : i64
// CHECK: llvm.load
// CHECK-NOT: llvm.load
// CHECK: llvm.store
// CHECK-NEXT: llvm.add
// CHECK-NEXT: arith.addi %[[SUM]], %{{.*}} : i64
// CHECK-NEXT: regrain.barrier
// CHECK-NEXT: scf.yield
// CHECK: } else {
// CHECK: scf.for {{.*}} -> (i64, f32, f32)
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<3>
llvm.func @marched(%p: !llvm.ptr, %gx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %planes = llvm.load %p {regrain.kernel_arg = 2 : i64} : !llvm.ptr -> i32
  %plane = llvm.load %p {regrain.kernel_arg = 3 : i64} : !llvm.ptr -> i64
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<64 x f32> -> !llvm.ptr<3>
      %block = arith.index_cast %i : index to i64
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %zero = llvm.mlir.constant(0 : i32) : i32
        %one = llvm.mlir.constant(1 : i32) : i32
        %two = llvm.mlir.constant(2 : i64) : i64
        %t = arith.index_cast %x : index to i64
        %c63 = llvm.mlir.constant(63 : i64) : i64
        %c64 = llvm.mlir.constant(64 : i64) : i64
        %base = llvm.mul %block, %c64 overflow<nsw> : i64
        %first = llvm.add %base, %t overflow<nsw> : i64
        %second = llvm.add %first, %plane overflow<nsw> : i64
        %p0 = llvm.getelementptr %in[%first] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %a = llvm.load %p0 {alignment = 4 : i64} : !llvm.ptr -> f32
        %p1 = llvm.getelementptr %in[%second] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %above = llvm.load %p1 {alignment = 4 : i64} : !llvm.ptr -> f32
        %own = llvm.getelementptr %tile[%t] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %mirror = llvm.sub %c63, %t overflow<nsw> : i64
        %other = llvm.getelementptr %tile[%mirror] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %r:3 = scf.for %round = %zero to %planes step %one
            iter_args(%at = %first, %v = %a, %w = %above) -> (i64, f32, f32) : i32 {
          llvm.store %v, %own : f32, !llvm.ptr<3>
          regrain.barrier(%x, %y, %z)
          %u = llvm.load %other : !llvm.ptr<3> -> f32
          %sum = llvm.fadd %u, %v : f32
          %all = llvm.fadd %sum, %w : f32
          %to = llvm.getelementptr %out[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
          llvm.store %all, %to {alignment = 4 : i64} : f32, !llvm.ptr
          regrain.barrier(%x, %y, %z)
          %later = llvm.add %round, %one overflow<nsw> : i32
          %goes_on = llvm.icmp "slt" %later, %planes : i32
          %next = scf.if %goes_on -> f32 {
            %further = llvm.mul %plane, %two : i64
            %ahead = llvm.add %at, %further : i64
            %pn = llvm.getelementptr %in[%ahead] : (!llvm.ptr, i64) -> !llvm.ptr, f32
            %n = llvm.load %pn {alignment = 4 : i64} : !llvm.ptr -> f32
            scf.yield %n : f32
          } else {
            scf.yield %w : f32
          }
          %there = llvm.add %at, %plane : i64
          scf.yield %there, %w, %next : i64, f32, f32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// What the round before loaded is two planes further, and what is handed to the first round is not: nothing is known of it. A number
// that is not added to is none that grows.
// CHECK-LABEL: llvm.func @elsewhere
// CHECK-NOT: llvm.ptrtoint
// CHECK: llvm.return
llvm.func @elsewhere(%p: !llvm.ptr, %gx: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %p {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %planes = llvm.load %p {regrain.kernel_arg = 2 : i64} : !llvm.ptr -> i32
  %plane = llvm.load %p {regrain.kernel_arg = 3 : i64} : !llvm.ptr -> i64
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<64 x f32> -> !llvm.ptr<3>
      %block = arith.index_cast %i : index to i64
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %zero = llvm.mlir.constant(0 : i32) : i32
        %one = llvm.mlir.constant(1 : i32) : i32
        %two = llvm.mlir.constant(2 : i64) : i64
        %t = arith.index_cast %x : index to i64
        %c63 = llvm.mlir.constant(63 : i64) : i64
        %c64 = llvm.mlir.constant(64 : i64) : i64
        %base = llvm.mul %block, %c64 overflow<nsw> : i64
        %first = llvm.add %base, %t overflow<nsw> : i64
        %p0 = llvm.getelementptr %in[%first] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %a = llvm.load %p0 {alignment = 4 : i64} : !llvm.ptr -> f32
        %own = llvm.getelementptr %tile[%t] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %mirror = llvm.sub %c63, %t overflow<nsw> : i64
        %other = llvm.getelementptr %tile[%mirror] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %r:3 = scf.for %round = %zero to %planes step %one
            iter_args(%at = %first, %v = %a, %flag = %zero) -> (i64, f32, i32) : i32 {
          llvm.store %v, %own : f32, !llvm.ptr<3>
          regrain.barrier(%x, %y, %z)
          %u = llvm.load %other : !llvm.ptr<3> -> f32
          %to = llvm.getelementptr %out[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
          llvm.store %u, %to {alignment = 4 : i64} : f32, !llvm.ptr
          regrain.barrier(%x, %y, %z)
          %further = llvm.mul %plane, %two : i64
          %ahead = llvm.add %at, %further : i64
          %pn = llvm.getelementptr %in[%ahead] : (!llvm.ptr, i64) -> !llvm.ptr, f32
          %n = llvm.load %pn {alignment = 4 : i64} : !llvm.ptr -> f32
          %there = llvm.add %at, %plane : i64
          scf.yield %there, %n, %one : i64, f32, i32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
