// RUN: %regrain-opt %s --regrain-split-barriers | FileCheck %s

// Each thread compares its value with those of all lanes that take part.
// CHECK-LABEL: func.func @match
func.func @match(%p: !llvm.ptr, %g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      // CHECK: %[[VALUES:.*]] = llvm.alloca %{{.*}} x i64
      // CHECK: scf.parallel
      // CHECK: llvm.store %{{.*}}, %{{.*}} : i64, !llvm.ptr
      // CHECK: scf.parallel
      // CHECK: %[[EQUAL:.*]] = scf.for
      // CHECK: arith.cmpi eq
      // CHECK: %[[PRESENT:.*]] = scf.for
      // CHECK: arith.cmpi eq, %[[EQUAL]], %[[PRESENT]]
      // CHECK: llvm.store %[[EQUAL]], %{{.*}} : i32, !llvm.ptr
      // CHECK-NOT: regrain.match
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i64
        %v = llvm.load %a : !llvm.ptr -> i64
        %m = arith.constant -1 : i32
        %r, %all = regrain.match any %v mask %m (%x, %y, %z) : i64
        llvm.store %r, %a : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// A lane that takes no part counts as the largest.
// CHECK-LABEL: func.func @minimum
func.func @minimum(%p: !llvm.ptr, %g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      // CHECK: scf.parallel
      // CHECK: scf.parallel
      // CHECK: %[[TOTAL:.*]] = scf.for %{{.*}} iter_args(%[[SUM:.*]] = %c-1_i32{{.*}}) -> (i32)
      // CHECK: %[[OWN:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
      // CHECK: arith.minui %[[SUM]], %[[OWN]]
      // CHECK: llvm.store %[[TOTAL]], %{{.*}} : i32, !llvm.ptr
      // CHECK-NOT: regrain.warp_reduce
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %v = llvm.load %a : !llvm.ptr -> i32
        %m = arith.constant -1 : i32
        %r = regrain.warp_reduce umin %v mask %m (%x, %y, %z)
        llvm.store %r, %a : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// What lanes compute together: each thread lays down its words, the function is called for each warp, each thread takes its results.
// CHECK-LABEL: func.func @together
func.func @together(%p: !llvm.ptr, %g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      // CHECK: scf.parallel
      // CHECK: scf.parallel
      // CHECK-COUNT-2: llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr
      // CHECK: scf.for
      // CHECK: arith.constant 96
      // CHECK: %[[TO:.*]] = llvm.getelementptr
      // CHECK: arith.constant 64
      // CHECK: %[[FROM:.*]] = llvm.getelementptr
      // CHECK: llvm.call @__regrain_tile_f(%[[TO]], %[[FROM]]) : (!llvm.ptr, !llvm.ptr) -> ()
      // CHECK: scf.parallel
      // CHECK-COUNT-3: llvm.load
      // CHECK-NOT: regrain.warp_call
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %v = llvm.load %a : !llvm.ptr -> i32
        %m = arith.constant -1 : i32
        %r:3 = regrain.warp_call @__regrain_warp.f(%v, %m) lanes(%x, %y, %z) : (i32, i32) -> (i32, i32, i32)
        %s = llvm.add %r#0, %r#1 : i32
        %u = llvm.add %s, %r#2 : i32
        llvm.store %u, %a : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}
// CHECK: llvm.func @__regrain_tile_f(!llvm.ptr, !llvm.ptr)
