// RUN: %regrain-opt %s --regrain-forward-stores | FileCheck %s

// CHECK-LABEL: func.func @own_place
func.func @own_place(%n: index, %out: !llvm.ptr, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    %tile = regrain.shared : !llvm.array<65 x f32> -> !llvm.ptr<3>
    scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
      // CHECK: llvm.store %{{.*}}, %[[OWN:.*]] : f32, !llvm.ptr<3>
      // CHECK: regrain.barrier
      // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
      // CHECK-NOT: llvm.load %[[OWN]]
      // CHECK: return
      %one = llvm.mlir.constant(1 : i64) : i64
      %i = arith.index_cast %x : index to i64
      %j = llvm.add %i, %one : i64
      %own = llvm.getelementptr %tile[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<65 x f32>
      %next = llvm.getelementptr %tile[0, %j] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<65 x f32>
      llvm.store %f, %own : f32, !llvm.ptr<3>
      regrain.barrier(%x)
      %v = llvm.load %own : !llvm.ptr<3> -> f32
      %w = llvm.load %next : !llvm.ptr<3> -> f32
      %s = llvm.fadd %v, %w : f32
      %o = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %s, %o : f32, !llvm.ptr
    }
  }
  return
}

// Memory that nobody else uses becomes a register: no access of it is left.
// CHECK-LABEL: func.func @memory_to_register
func.func @memory_to_register(%n: index, %out: !llvm.ptr, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    // CHECK-NOT: regrain.shared
    %tile = regrain.shared : !llvm.array<64 x f32> -> !llvm.ptr<3>
    scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
      // CHECK-NOT: !llvm.ptr<3>
      // CHECK: llvm.store %{{.*}}, %{{.*}} : f32, !llvm.ptr
      %i = arith.index_cast %x : index to i64
      %own = llvm.getelementptr %tile[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<64 x f32>
      llvm.store %f, %own : f32, !llvm.ptr<3>
      regrain.barrier(%x)
      %v = llvm.load %own : !llvm.ptr<3> -> f32
      %s = llvm.fadd %v, %v : f32
      llvm.store %s, %own : f32, !llvm.ptr<3>
      regrain.barrier(%x)
      %w = llvm.load %own : !llvm.ptr<3> -> f32
      %o = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %w, %o : f32, !llvm.ptr
    }
  }
  return
}

// What two copies of a coarsened thread load is loaded once, though one of them stores elsewhere meanwhile.
// CHECK-LABEL: func.func @common_to_the_copies
func.func @common_to_the_copies(%n: index, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c100 = arith.constant 100 : index
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    %tile = regrain.shared : !llvm.array<100 x f32> -> !llvm.ptr<3>
    scf.parallel (%x) = (%c0) to (%c32) step (%c1) {
      // CHECK: scf.for
      // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
      // CHECK-NOT: llvm.load
      // CHECK: return
      %i = arith.index_cast %x : index to i64
      %x1 = arith.addi %x, %c32 : index
      %j = arith.index_cast %x1 : index to i64
      %o = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %o1 = llvm.getelementptr %out[%j] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      scf.for %k = %c0 to %c100 step %c1 {
        %at = arith.index_cast %k : index to i64
        %a = llvm.getelementptr %tile[0, %at] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<100 x f32>
        %a1 = llvm.getelementptr %tile[0, %at] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<100 x f32>
        %v = llvm.load %a : !llvm.ptr<3> -> f32
        llvm.store %v, %o : f32, !llvm.ptr
        %v1 = llvm.load %a1 : !llvm.ptr<3> -> f32
        llvm.store %v1, %o1 : f32, !llvm.ptr
      }
    }
  }
  return
}

// The first store is overwritten before anyone can see it.
// CHECK-LABEL: func.func @overwritten
func.func @overwritten(%n: index, %p: !llvm.ptr, %f: f32, %g: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: llvm.store
    // CHECK-NOT: llvm.store
    // CHECK: return
    llvm.store %f, %p : f32, !llvm.ptr
    llvm.store %g, %p : f32, !llvm.ptr
  }
  return
}
