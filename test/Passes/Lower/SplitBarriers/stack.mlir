// RUN: %regrain-opt %s --regrain-split-barriers | FileCheck %s

// An array whose lifetime starts in each thread loop that uses it is one for all threads; one that is read behind the barrier gets
// an element for each thread beside the other, and is filled element by element.
// CHECK-LABEL: func.func @scopes
func.func @scopes(%p: !llvm.ptr, %g: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      // CHECK-DAG: llvm.alloca %{{.*}} x !llvm.array<4 x f32> {alignment = 4 : i64, regrain.reused}
      // CHECK-DAG: llvm.alloca %{{.*}} x i8 {alignment = 64 : i64, regrain.interleaved = 4 : i64}
      // CHECK-NOT: llvm.alloca
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %one = arith.constant 1 : i32
        %scratch = llvm.alloca %one x !llvm.array<4 x f32> : (i32) -> !llvm.ptr
        %sums = llvm.alloca %one x !llvm.array<4 x f32> : (i32) -> !llvm.ptr
        %zero = arith.constant 0 : i8
        %size = arith.constant 16 : i64
        // CHECK: scf.for %[[AT:.*]] = %c0_i64{{.*}} to %c16_i64{{.*}} step %c4_i64
        // CHECK: %[[NEAR:.*]] = arith.addi %c0_i64{{.*}} : i64
        // CHECK: %[[FAR:.*]] = arith.muli %[[NEAR]], %{{.*}} : i64
        // CHECK: %[[CELL:.*]] = llvm.getelementptr %{{.*}}[%[[FAR]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
        // CHECK: llvm.store %{{.*}}, %[[CELL]] {alignment = 1 : i64} : i32
        // CHECK-NOT: llvm.intr.memset
        "llvm.intr.memset"(%sums, %zero, %size) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
        %n = arith.constant 4 : i32
        %f = arith.constant 0 : i32
        scf.for %round = %f to %n step %one : i32 {
          regrain.barrier(%x, %y, %z)
          // CHECK-NOT: llvm.intr.lifetime
          llvm.intr.lifetime.start %scratch : !llvm.ptr
          %a = llvm.getelementptr %p[%round] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v = llvm.load %a : !llvm.ptr -> f32
          %s = llvm.getelementptr %scratch[%round] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.store %v, %s : f32, !llvm.ptr
          %w = llvm.load %scratch : !llvm.ptr -> f32
          %q = llvm.getelementptr %sums[%round] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %old = llvm.load %q : !llvm.ptr -> f32
          %new = llvm.fadd %old, %w : f32
          llvm.store %new, %q : f32, !llvm.ptr
          llvm.intr.lifetime.end %scratch : !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// The lifetime starts before the barrier, or not on every way: each thread has its own.
// CHECK-LABEL: func.func @lives_on
func.func @lives_on(%p: !llvm.ptr, %g: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      // CHECK-NOT: regrain.reused
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %one = arith.constant 1 : i32
        %before = llvm.alloca %one x !llvm.array<4 x f32> : (i32) -> !llvm.ptr
        %perhaps = llvm.alloca %one x !llvm.array<4 x f32> : (i32) -> !llvm.ptr
        %v = llvm.load %p : !llvm.ptr -> f32
        llvm.intr.lifetime.start %before : !llvm.ptr
        llvm.store %v, %before : f32, !llvm.ptr
        regrain.barrier(%x, %y, %z)
        scf.if %c {
          llvm.intr.lifetime.start %perhaps : !llvm.ptr
          llvm.store %v, %perhaps : f32, !llvm.ptr
        }
        %w = llvm.load %perhaps : !llvm.ptr -> f32
        %u = llvm.load %before : !llvm.ptr -> f32
        %t = llvm.fadd %w, %u : f32
        llvm.store %t, %p : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}
// CHECK: func.func @end
func.func @end() {
  func.return
}
