// RUN: %regrain-opt %s --regrain-split-barriers | FileCheck %s

// Each thread publishes, all come to the end of their loop, each reads.
// CHECK-LABEL: func.func @shuffle
func.func @shuffle(%p: !llvm.ptr, %g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      // CHECK: %[[VALUES:.*]] = llvm.alloca %{{.*}} x f32
      // CHECK: scf.parallel
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %a : !llvm.ptr -> f32
        %d = arith.constant 1 : i32
        %c = arith.constant 31 : i32
        %m = arith.constant -1 : i32
        // CHECK: llvm.store %{{.*}}, %{{.*}} : f32, !llvm.ptr
        // What a lane gives that takes no part is 0; where no lane is in range it is the reader's own value.
        // CHECK: scf.parallel
        // CHECK: %[[IN_RANGE:.*]] = arith.cmpi sle, %{{.*}}, %{{.*}} : i32
        // CHECK: %[[SOURCE:.*]] = arith.select %[[IN_RANGE]], %{{.*}}, %[[LANE:.*]] : i32
        // CHECK: %[[EXISTS:.*]] = arith.cmpi slt
        // CHECK: %[[NAMED:.*]] = arith.andi %[[EXISTS]], %{{.*}} : i1
        // CHECK: %[[OWN:.*]] = arith.cmpi eq, %[[SOURCE]], %[[LANE]] : i32
        // CHECK: %[[LIVE:.*]] = arith.ori %[[NAMED]], %[[OWN]] : i1
        // CHECK: %[[READ:.*]] = llvm.load %{{.*}} : !llvm.ptr -> f32
        // CHECK: %[[ZERO:.*]] = llvm.mlir.zero : f32
        // CHECK: arith.select %[[LIVE]], %[[READ]], %[[ZERO]] : f32
        // CHECK-NOT: regrain.shuffle
        %r, %ok = regrain.shuffle down %v, %d, %c mask %m (%x, %y, %z) : f32
        llvm.store %r, %a : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// The lanes whose predicate holds, for each warp once, between the loops.
// CHECK-LABEL: func.func @ballot
func.func @ballot(%p: !llvm.ptr, %g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %m = arith.constant -1 : i32
        %half = arith.constant 16 : i32
        %low = arith.cmpi slt, %t, %half : i32
        // CHECK: scf.parallel
        // CHECK: scf.for
        // CHECK: scf.for
        // CHECK: arith.shli
        // CHECK: scf.parallel
        %r = regrain.vote ballot %low mask %m (%x, %y, %z) : i32
        llvm.store %r, %p : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// What a barrier counts is one value for the block: the branch on it is taken outside of the thread loops.
// CHECK-LABEL: func.func @reduce
func.func @reduce(%p: !llvm.ptr, %g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %v = llvm.load %p : !llvm.ptr -> i32
        %zero = arith.constant 0 : i32
        %some = arith.cmpi ne, %v, %zero : i32
        // CHECK: %[[SUM:.*]] = scf.for
        // CHECK: %[[ANY:.*]] = arith.cmpi ne, %[[SUM]]
        %any = regrain.barrier_reduce or %some (%x, %y, %z) : i1
        // CHECK: scf.if %[[ANY]] {
        // CHECK: scf.parallel
        // CHECK: scf.parallel
        scf.if %any {
          llvm.store %zero, %p : i32, !llvm.ptr
          regrain.barrier(%x, %y, %z)
          llvm.store %v, %p : i32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// A volatile store to shared memory is seen by all lanes before they go on.
// CHECK-LABEL: func.func @lockstep
func.func @lockstep(%p: !llvm.ptr, %g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %s = regrain.shared : !llvm.array<64 x i32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        // CHECK: scf.parallel
        // CHECK: llvm.load volatile
        // CHECK: scf.parallel
        // CHECK: llvm.store volatile
        // CHECK: scf.parallel
        // CHECK: llvm.load volatile
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %s[%t] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i32
        %v = llvm.load volatile %s : !llvm.ptr<3> -> i32
        llvm.store volatile %v, %a : i32, !llvm.ptr<3>
        %w = llvm.load volatile %s : !llvm.ptr<3> -> i32
        llvm.store %w, %p : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}
