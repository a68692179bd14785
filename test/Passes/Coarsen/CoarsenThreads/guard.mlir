// RUN: %regrain-opt %s --regrain-coarsen-threads='factor=2' | FileCheck %s

// A block size known at the launch alone: the launch decides.
// CHECK-LABEL: func.func @decided_at_launch
// CHECK-SAME: %[[G:[a-z0-9]+]]: index, %[[B:[a-z0-9]+]]: index
// CHECK: %[[HALF:.*]] = arith.divui %[[B]]
// CHECK: %[[REST:.*]] = arith.remui %[[B]]
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]]
// CHECK: %[[E:.*]] = scf.if %[[EVEN]] -> (i32)
// CHECK: regrain.gpu_wrapper @k grid(%[[G]], {{.*}}) block(%[[HALF]],
// CHECK: arith.addi %{{.*}}, %[[HALF]]
// CHECK: } else {
// CHECK: regrain.gpu_wrapper @k grid(%[[G]], {{.*}}) block(%[[B]],
// CHECK: return %[[E]]
func.func @decided_at_launch(%p: !llvm.ptr, %g: index, %b: index, %n: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        llvm.store %t, %p : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// With warp operations it asks for whole warps as well.
// CHECK-LABEL: func.func @whole_warps_at_launch
// CHECK: arith.remui
// CHECK: %[[C64:.*]] = arith.constant 64 : index
// CHECK: arith.remui %{{.*}}, %[[C64]]
// CHECK: arith.andi
// CHECK: scf.if
// CHECK-COUNT-3: regrain.shuffle
func.func @whole_warps_at_launch(%p: !llvm.ptr, %g: index, %b: index, %n: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %all = arith.constant -1 : i32
        %r, %ok = regrain.shuffle down %t, %n, %n mask %all (%x, %y, %z) : i32
        llvm.store %r, %p : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}
