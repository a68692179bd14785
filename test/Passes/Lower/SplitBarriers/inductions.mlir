// RUN: %regrain-opt %s --regrain-split-barriers | FileCheck %s

// What all threads count up alike is one number beside the thread loops; what a thread begins with is computed again. Nothing is kept
// for each thread.
// CHECK-LABEL: func.func @walk
func.func @walk(%p: !llvm.ptr, %g: index, %stride: i32, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      // CHECK-NOT: llvm.alloca
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        // The number behind a loop is known by its rounds.
        // CHECK: scf.parallel
        // CHECK: scf.for
        %first = scf.for %r = %zero to %m step %one iter_args(%at = %t) -> (i32) : i32 {
          %a = llvm.getelementptr %p[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v = llvm.load %a : !llvm.ptr -> f32
          %w = llvm.fadd %v, %v : f32
          llvm.store %w, %a : f32, !llvm.ptr
          %next = llvm.add %at, %stride overflow<nsw> : i32
          scf.yield %next : i32
        }
        // CHECK: scf.for {{.*}} iter_args(%[[FAR:.*]] = %c0_i32{{.*}}, %[[BYTES:.*]] = %c0_i64{{.*}}) -> (i32, i64)
        %q = llvm.getelementptr %p[%t] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %r:2 = scf.for %round = %zero to %n step %one iter_args(%at = %first, %to = %q) -> (i32, !llvm.ptr) : i32 {
          // CHECK: scf.parallel
          // CHECK: %[[TO:.*]] = llvm.getelementptr %{{.*}}[%[[BYTES]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
          // CHECK: llvm.store %{{.*}}, %[[TO]]
          %a = llvm.getelementptr %p[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v = llvm.load %a : !llvm.ptr -> f32
          llvm.store %v, %to : f32, !llvm.ptr
          regrain.barrier(%x, %y, %z)
          %next = llvm.add %at, %stride overflow<nsw> : i32
          %further = llvm.getelementptr %to[%stride] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          // CHECK-DAG: arith.addi %[[FAR]], %arg2 : i32
          // CHECK-DAG: %[[STEP:.*]] = arith.muli %{{.*}}, %c4_i64{{.*}} : i64
          // CHECK-DAG: arith.addi %[[BYTES]], %[[STEP]] : i64
          scf.yield %next, %further : i32, !llvm.ptr
        }
        llvm.store %r#0, %r#1 : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// A step that differs from thread to thread stays the thread's own.
// CHECK-LABEL: func.func @own_step
// CHECK: llvm.alloca %{{.*}} x i32
func.func @own_step(%p: !llvm.ptr, %g: index, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %r = scf.for %round = %zero to %n step %one iter_args(%at = %zero) -> (i32) : i32 {
          %a = llvm.getelementptr %p[%at] : (!llvm.ptr, i32) -> !llvm.ptr, i32
          %v = llvm.load %a : !llvm.ptr -> i32
          regrain.barrier(%x, %y, %z)
          llvm.store %t, %a : i32, !llvm.ptr
          %next = llvm.add %at, %v : i32
          scf.yield %next : i32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}
