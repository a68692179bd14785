// RUN: %regrain-opt %s --regrain-split-barriers | FileCheck %s

// A loaded value is kept in an array with a cell for each thread; the address is computed again.
// CHECK-LABEL: func.func @kept
func.func @kept(%p: !llvm.ptr, %g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared : !llvm.array<256 x f32> -> !llvm.ptr<3>
      // CHECK: %[[KEPT:.*]] = llvm.alloca %{{.*}} x f32 {alignment = 64 : i64}
      // CHECK-NOT: llvm.alloca
      // CHECK: scf.parallel
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        // CHECK: %[[V:.*]] = llvm.load %{{.*}} : !llvm.ptr -> f32
        // CHECK: %[[CELL:.*]] = llvm.getelementptr %[[KEPT]][%{{.*}}]
        // CHECK: llvm.store %[[V]], %[[CELL]]
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %a : !llvm.ptr -> f32
        %s = llvm.getelementptr %tile[%t] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        llvm.store %v, %s : f32, !llvm.ptr<3>
        // CHECK: scf.reduce
        // CHECK-NOT: regrain.barrier
        regrain.barrier(%x, %y, %z)
        // CHECK: scf.parallel
        // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
        // CHECK: %[[AGAIN:.*]] = llvm.getelementptr %[[KEPT]][%{{.*}}]
        // CHECK: llvm.load %[[AGAIN]] : !llvm.ptr -> f32
        %w = llvm.load %s : !llvm.ptr<3> -> f32
        %sum = llvm.fadd %v, %w : f32
        // CHECK: llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        llvm.store %sum, %a : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// A loop whose bounds all threads share moves outside; what it carries for each thread lies in cells.
// CHECK-LABEL: func.func @uniform_loop
func.func @uniform_loop(%p: !llvm.ptr, %g: index, %b: index, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared : !llvm.array<256 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %s = llvm.getelementptr %tile[%t] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %z0 = arith.constant 0 : i32
        %z1 = arith.constant 1 : i32
        %f0 = arith.constant 0.0 : f32
        // CHECK: scf.parallel
        // CHECK: scf.for %{{.*}} = %{{.*}} to %arg3
        // CHECK: scf.parallel
        // CHECK: scf.parallel
        %r = scf.for %q = %z0 to %n step %z1 iter_args(%acc = %f0) -> (f32) : i32 {
          llvm.store %acc, %s : f32, !llvm.ptr<3>
          regrain.barrier(%x, %y, %z)
          %w = llvm.load %s : !llvm.ptr<3> -> f32
          %sum = llvm.fadd %acc, %w : f32
          scf.yield %sum : f32
        }
        // CHECK: scf.parallel
        llvm.store %r, %a : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// Threads beyond the end are masked off; a barrier joins the others.
// CHECK-LABEL: func.func @masked
func.func @masked(%p: !llvm.ptr, %g: index, %b: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %in = arith.cmpi slt, %x, %n : index
        %zero = arith.constant 0 : i32
        // CHECK: scf.parallel
        // CHECK: llvm.store %{{.*}} : i8, !llvm.ptr
        // CHECK: scf.for
        // CHECK: scf.if
        // CHECK: scf.parallel
        // CHECK: scf.if
        // CHECK: scf.parallel
        // CHECK: scf.if
        scf.if %in {
          llvm.store %zero, %p : i32, !llvm.ptr
          regrain.barrier(%x, %y, %z)
          llvm.store %zero, %p : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}
