// RUN: %regrain-opt %s --regrain-split-barriers | FileCheck %s

// The block waits between its thread loops; control flow that its threads share is the block's.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK: scf.parallel (%[[X:.*]], %{{.*}}, %{{.*}}) =
// CHECK: llvm.store
// CHECK: llvm.call @__regrain_grid_barrier() : () -> ()
// CHECK-NEXT: scf.parallel
// CHECK: llvm.load
// CHECK: llvm.call @__regrain_grid_barrier() : () -> ()
// CHECK-NOT: regrain.barrier
func.func @loop(%g: index, %b: index, %p: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        scf.for %r = %c0 to %n step %c1 {
          %f = llvm.mlir.constant(1.0 : f32) : f32
          llvm.store %f, %a : f32, !llvm.ptr
          regrain.barrier(%x, %y, %z) {grid}
          %v = llvm.load %p : !llvm.ptr -> f32
          llvm.store %v, %a : f32, !llvm.ptr
          regrain.barrier(%x, %y, %z) {grid}
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// What is loaded before is kept for each thread; that the block goes on is asked once for each round.
// CHECK-LABEL: func.func @until
// CHECK: %[[KEPT:.*]] = llvm.alloca %{{.*}} x f32
// CHECK: scf.while
// CHECK: llvm.call @__regrain_grid_barrier() : () -> ()
// CHECK: scf.parallel
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK: scf.condition
// CHECK: llvm.getelementptr %[[KEPT]]
func.func @until(%g: index, %b: index, %p: !llvm.ptr, %flag: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %a : !llvm.ptr -> f32
        scf.while : () -> () {
          regrain.barrier(%x, %y, %z) {grid}
          %w = llvm.load %flag : !llvm.ptr -> i32
          %zero = arith.constant 0 : i32
          %more = arith.cmpi ne, %w, %zero : i32
          scf.condition(%more)
        } do {
          scf.yield
        }
        llvm.store %v, %a : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// CHECK: llvm.func @__regrain_grid_barrier()
