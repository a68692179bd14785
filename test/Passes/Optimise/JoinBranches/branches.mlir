// RUN: %regrain-opt %s --regrain-join-branches | FileCheck %s
// RUN: %regrain-opt %s --regrain-join-branches --regrain-forward-stores | FileCheck %s --check-prefix=GONE

// What the first branch gives is used in the second, in both of its ways, through what is computed between them, and behind both. The tile only
// hands on what is known once they are one.
// CHECK-LABEL: func.func @follows
// CHECK: %[[IN:.*]] = arith.cmpi slt
// CHECK: %[[R:.*]]:2 = scf.if %[[IN]] -> (f32, f32) {
// CHECK-NEXT: %[[A:.*]] = llvm.load
// CHECK: llvm.store %[[A]], %{{.*}} : f32, !llvm.ptr<3>
// CHECK-NEXT: %[[W:.*]] = llvm.fmul %[[A]],
// CHECK: llvm.store %[[W]],
// CHECK: scf.yield %[[A]], %[[W]] : f32, f32
// CHECK-NEXT: } else {
// CHECK: %[[U:.*]] = llvm.fmul %[[ZERO:.*]], %{{.*}} : f32
// CHECK: scf.yield %[[ZERO]], %[[U]] : f32, f32
// CHECK-NEXT: }
// CHECK-NOT: scf.if
// CHECK: %[[Z:.*]] = llvm.fadd %[[R]]#0,
// CHECK-NEXT: llvm.store %[[Z]],
// CHECK-NEXT: llvm.store %[[R]]#1,
// CHECK: return
// GONE-LABEL: func.func @follows
// GONE-NOT: !llvm.ptr<3>
// GONE: return
func.func @follows(%p: !llvm.ptr, %q: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  scf.parallel (%b) = (%c0) to (%c64) step (%c1) {
    %tile = regrain.shared : !llvm.array<64 x f32> -> !llvm.ptr<3>
    scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
      %in = arith.cmpi slt, %x, %n : index
      %k = arith.index_cast %x : index to i64
      %at = llvm.getelementptr %tile[%k] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
      %v:2 = scf.if %in -> (f32, f32) {
        %a = llvm.load %p : !llvm.ptr -> f32
        llvm.store %a, %at : f32, !llvm.ptr<3>
        scf.yield %a, %two : f32, f32
      } else {
        scf.yield %zero, %zero : f32, f32
      }
      %w = llvm.fmul %v#0, %two : f32
      %z = llvm.fadd %v#0, %two : f32
      %both = scf.if %in -> (f32) {
        llvm.store %w, %q : f32, !llvm.ptr
        %again = llvm.load %at : !llvm.ptr<3> -> f32
        llvm.store %again, %q : f32, !llvm.ptr
        scf.yield %w : f32
      } else {
        scf.yield %w : f32
      }
      llvm.store %z, %p : f32, !llvm.ptr
      llvm.store %both, %p : f32, !llvm.ptr
    }
  }
  return
}

// Three in a row, the last with the other way too; and branches inside of those that were joined.
// CHECK-LABEL: func.func @three
// CHECK: scf.if
// CHECK: scf.if
// CHECK-COUNT-2: llvm.store
// CHECK-NOT: scf.if
// CHECK: } else {
// CHECK-NEXT: llvm.store
// CHECK: return
func.func @three(%p: !llvm.ptr, %n: index, %v: f32, %inner: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%b) = (%c0) to (%c64) step (%c1) {
    scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
      %in = arith.cmpi slt, %x, %n : index
      scf.if %in {
        scf.if %inner {
          llvm.store %v, %p : f32, !llvm.ptr
        }
      }
      scf.if %in {
        scf.if %inner {
          llvm.store %v, %p : f32, !llvm.ptr
        }
      }
      scf.if %in {
      } else {
        llvm.store %v, %p : f32, !llvm.ptr
      }
    }
  }
  return
}

// Another condition, a store between them, a barrier between or inside of them.
// CHECK-LABEL: func.func @stay
// CHECK-COUNT-8: scf.if
// CHECK: return
func.func @stay(%p: !llvm.ptr, %n: index, %v: f32, %one: i1, %other: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%b) = (%c0) to (%c64) step (%c1) {
    scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
      scf.if %one {
        llvm.store %v, %p : f32, !llvm.ptr
      }
      scf.if %other {
        llvm.store %v, %p : f32, !llvm.ptr
      }
      scf.if %one {
        llvm.store %v, %p : f32, !llvm.ptr
      }
      llvm.store %v, %p : f32, !llvm.ptr
      scf.if %one {
        llvm.store %v, %p : f32, !llvm.ptr
      }
      regrain.barrier(%x)
      scf.if %one {
        llvm.store %v, %p : f32, !llvm.ptr
      }
      scf.if %other {
        regrain.barrier(%x)
        llvm.store %v, %p : f32, !llvm.ptr
      }
      scf.if %other {
        llvm.store %v, %p : f32, !llvm.ptr
      }
      scf.if %one {
        llvm.store %v, %p : f32, !llvm.ptr
      }
    }
  }
  return
}
