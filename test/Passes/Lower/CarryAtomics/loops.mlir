// RUN: %regrain-opt %s --regrain-carry-atomics | FileCheck %s

// Both places are carried, the second through a condition, which gives on what it changes only.
// CHECK-LABEL: llvm.func @carries
// CHECK: %[[COUNT:.*]] = llvm.getelementptr %{{.*}}[1]
// CHECK: %[[LEAST:.*]] = arith.constant -2147483648 : i32
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: %[[ALL:.*]]:3 = scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %[[LEAST]], %{{.*}} = %[[ZERO]])
// CHECK: scf.condition(%{{.*}}) %{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32
// CHECK: ^bb0(%{{.*}}: i32, %[[MOST:.*]]: i32, %[[SUM:.*]]: i32):
// CHECK: %[[VALUE:.*]] = llvm.load
// CHECK: %[[MORE:.*]] = llvm.intr.smax(%[[MOST]], %[[VALUE]])
// CHECK: %[[NEXT:.*]] = scf.if %{{.*}} -> (i32)
// CHECK: %[[ONE:.*]] = llvm.add %[[SUM]], %[[VALUE]]
// CHECK: scf.yield %[[ONE]] : i32
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[SUM]] : i32
// CHECK: scf.yield %{{.*}}, %[[MORE]], %[[NEXT]] : i32, i32, i32
// CHECK: }
// CHECK-DAG: llvm.atomicrmw max %{{.*}}, %[[ALL]]#1 monotonic
// CHECK-DAG: llvm.atomicrmw add %[[COUNT]], %[[ALL]]#2 monotonic
// CHECK: scf.reduce
llvm.func @carries(%p: !llvm.ptr, %gx: i32, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %box = regrain.shared "box" : !llvm.array<2 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %data = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
        %count = llvm.getelementptr %box[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i32
        %stride = llvm.mlir.constant(64 : i32) : i32
        %last = scf.while (%now = %t) : (i32) -> i32 {
          %go = llvm.icmp "slt" %now, %n : i32
          scf.condition(%go) %now : i32
        } do {
        ^bb0(%number: i32):
          %a = llvm.getelementptr %data[%number] : (!llvm.ptr, i32) -> !llvm.ptr, i32
          %v = llvm.load %a : !llvm.ptr -> i32
          %m = llvm.atomicrmw max %box, %v monotonic : !llvm.ptr<3>, i32
          %in = llvm.icmp "sgt" %v, %stride : i32
          scf.if %in {
            %s = llvm.atomicrmw add %count, %v monotonic : !llvm.ptr<3>, i32
          }
          %next = llvm.add %number, %stride : i32
          scf.yield %next : i32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// A loop in a loop: behind both.
// CHECK-LABEL: llvm.func @nests
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: llvm.atomicrmw
// CHECK: llvm.add
// CHECK: scf.yield
// CHECK-NOT: llvm.atomicrmw
// CHECK: scf.yield
// CHECK: llvm.atomicrmw add
// CHECK-NOT: llvm.atomicrmw
// CHECK: llvm.return
llvm.func @nests(%p: !llvm.ptr, %gx: i32, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %box = regrain.shared "box" : i32 -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %zero = llvm.mlir.constant(0 : i32) : i32
        %one = llvm.mlir.constant(1 : i32) : i32
        scf.for %u = %zero to %n step %one : i32 {
          scf.for %w = %zero to %t step %one : i32 {
            %s = llvm.atomicrmw add %box, %w monotonic : !llvm.ptr<3>, i32
          }
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Asked for, of two kinds, of floating-point numbers, read meanwhile, where places may overlap, and beside what waits.
// CHECK-LABEL: llvm.func @stay
// CHECK-NOT: llvm.intr.
// CHECK-COUNT-9: llvm.atomicrmw
// CHECK-NOT: llvm.atomicrmw
// CHECK: llvm.return
llvm.func @stay(%p: !llvm.ptr, %gx: i32, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %box = regrain.shared "box" : !llvm.array<8 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %zero = llvm.mlir.constant(0 : i32) : i32
        %one = llvm.mlir.constant(1 : i32) : i32
        %f = llvm.mlir.constant(1.0 : f32) : f32
        scf.for %u = %zero to %n step %one : i32 {
          %s = llvm.atomicrmw add %box, %one monotonic : !llvm.ptr<3>, i32
          llvm.store %s, %p : i32, !llvm.ptr
        }
        scf.for %u = %zero to %n step %one : i32 {
          %s = llvm.atomicrmw add %box, %one monotonic : !llvm.ptr<3>, i32
          %m = llvm.atomicrmw max %box, %u monotonic : !llvm.ptr<3>, i32
        }
        scf.for %u = %zero to %n step %one : i32 {
          %s = llvm.atomicrmw fadd %box, %f monotonic : !llvm.ptr<3>, f32
        }
        scf.for %u = %zero to %n step %one : i32 {
          %s = llvm.atomicrmw add %box, %one monotonic : !llvm.ptr<3>, i32
          %v = llvm.load %box : !llvm.ptr<3> -> i32
          %a = llvm.getelementptr %box[%v] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
        }
        scf.for %u = %zero to %n step %one : i32 {
          %s = llvm.atomicrmw add %box, %one monotonic : !llvm.ptr<3>, i32
          %a = llvm.getelementptr %box[%u] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          %m = llvm.atomicrmw add %a, %one monotonic : !llvm.ptr<3>, i32
        }
        scf.for %u = %zero to %n step %one : i32 {
          %s = llvm.atomicrmw add %box, %one monotonic : !llvm.ptr<3>, i32
          regrain.barrier(%x, %y, %z)
        }
        scf.for %u = %zero to %n step %one : i32 {
          %s = llvm.atomicrmw xchg %box, %u monotonic : !llvm.ptr<3>, i32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
