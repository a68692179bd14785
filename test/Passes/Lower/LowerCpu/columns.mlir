// RUN: %regrain-opt %s --regrain-lower-cpu="register-bits=256" | FileCheck %s
// Threads that lie far apart along a row and side by side along a column.

// Eight of a column at a time: what each lane reads of them lies together, and is transposed.
// CHECK-LABEL: llvm.func @__regrain_block.columns
// CHECK-COUNT-8: llvm.load %{{.*}} -> vector<8xf32>
// CHECK: llvm.shufflevector %{{.*}} [0, 8, 2, 10, 4, 12, 6, 14]
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
// CHECK: llvm.return
llvm.func ptx_kernelcc @columns(%p: !llvm.ptr, %q: !llvm.ptr, %n: i32)
llvm.func @__regrain_launch.columns(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @columns} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i32
  %eight = arith.constant 8 : i32
  %sixteen = arith.constant 16 : i32
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %q = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %n = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @columns grid(%g, %c1, %c1) block(%c8, %c8, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<136 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c8, %c8, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %u = arith.index_cast %y : index to i32
        %row = llvm.mul %u, %n overflow<nsw> : i32
        %at = llvm.add %row, %t overflow<nsw> : i32
        %wide = llvm.sext %at : i32 to i64
        %to = llvm.getelementptr %q[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %far = llvm.mul %t, %sixteen overflow<nsw> : i32
        %from = llvm.add %far, %u overflow<nsw> : i32
        %place = llvm.getelementptr %tile[0, %from] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<136 x f32>
        %v = llvm.load %place {alignment = 4 : i64} : !llvm.ptr<3> -> f32
        llvm.store %v, %to {alignment = 4 : i64} : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// All of it is within the tile, so it is read whether the guard holds or not.
// CHECK-LABEL: llvm.func @__regrain_block.guarded
// CHECK-COUNT-8: llvm.load %{{.*}} -> vector<8xf32>
// CHECK: llvm.shufflevector %{{.*}} [0, 8, 2, 10, 4, 12, 6, 14]
// CHECK: llvm.cond_br
// CHECK: llvm.store %{{.*}} : vector<8xf32>, !llvm.ptr
// CHECK: llvm.return
llvm.func ptx_kernelcc @guarded(%p: !llvm.ptr, %q: !llvm.ptr, %n: i32)
llvm.func @__regrain_launch.guarded(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @guarded} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i32
  %eight = arith.constant 8 : i32
  %sixteen = arith.constant 16 : i32
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %q = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %n = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @guarded grid(%g, %c1, %c1) block(%c8, %c8, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<136 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c8, %c8, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %u = arith.index_cast %y : index to i32
        %row = llvm.mul %u, %n overflow<nsw> : i32
        %at = llvm.add %row, %t overflow<nsw> : i32
        %wide = llvm.sext %at : i32 to i64
        %to = llvm.getelementptr %q[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %far = llvm.mul %t, %sixteen overflow<nsw> : i32
        %inside = llvm.icmp "slt" %at, %n : i32
        scf.if %inside {
          %from = llvm.add %far, %u overflow<nsw> : i32
          %place = llvm.getelementptr %tile[0, %from] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<136 x f32>
          %v = llvm.load %place {alignment = 4 : i64} : !llvm.ptr<3> -> f32
          llvm.store %v, %to {alignment = 4 : i64} : f32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// What the guard keeps within the tile is read only where it holds: no thread of another one is.
// CHECK-LABEL: llvm.func @__regrain_block.short
// CHECK-NOT: [0, 8, 2, 10, 4, 12, 6, 14]
// CHECK: llvm.return
llvm.func ptx_kernelcc @short(%p: !llvm.ptr, %q: !llvm.ptr, %n: i32)
llvm.func @__regrain_launch.short(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @short} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i32
  %eight = arith.constant 8 : i32
  %sixteen = arith.constant 16 : i32
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %q = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %n = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @short grid(%g, %c1, %c1) block(%c8, %c8, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<100 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c8, %c8, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %u = arith.index_cast %y : index to i32
        %row = llvm.mul %u, %n overflow<nsw> : i32
        %at = llvm.add %row, %t overflow<nsw> : i32
        %wide = llvm.sext %at : i32 to i64
        %to = llvm.getelementptr %q[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %far = llvm.mul %t, %sixteen overflow<nsw> : i32
        %inside = llvm.icmp "slt" %t, %n : i32
        scf.if %inside {
          %from = llvm.add %far, %u overflow<nsw> : i32
          %place = llvm.getelementptr %tile[0, %from] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<100 x f32>
          %v = llvm.load %place {alignment = 4 : i64} : !llvm.ptr<3> -> f32
          llvm.store %v, %to {alignment = 4 : i64} : f32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// The rounds of all threads are the same: a column goes through each of them.
// CHECK-LABEL: llvm.func @__regrain_block.rounds
// CHECK: ^bb{{.*}}(%[[ROUND:.*]]: i32):
// CHECK: llvm.icmp "slt" %[[ROUND]]
// CHECK-COUNT-8: llvm.load %{{.*}} -> vector<8xf32>
// CHECK: llvm.shufflevector %{{.*}} [0, 8, 2, 10, 4, 12, 6, 14]
// CHECK: llvm.return
llvm.func ptx_kernelcc @rounds(%p: !llvm.ptr, %q: !llvm.ptr, %n: i32)
llvm.func @__regrain_launch.rounds(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @rounds} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i32
  %eight = arith.constant 8 : i32
  %sixteen = arith.constant 16 : i32
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %q = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %n = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @rounds grid(%g, %c1, %c1) block(%c8, %c8, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<136 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c8, %c8, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %u = arith.index_cast %y : index to i32
        %row = llvm.mul %u, %n overflow<nsw> : i32
        %at = llvm.add %row, %t overflow<nsw> : i32
        %wide = llvm.sext %at : i32 to i64
        %to = llvm.getelementptr %q[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %far = llvm.mul %t, %sixteen overflow<nsw> : i32
        scf.for %s = %zero to %sixteen step %eight : i32 {
          %v8 = llvm.add %u, %s overflow<nsw> : i32
          %from = llvm.add %far, %v8 overflow<nsw> : i32
          %place = llvm.getelementptr %tile[0, %from] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<136 x f32>
          %v = llvm.load %place {alignment = 4 : i64} : !llvm.ptr<3> -> f32
          llvm.store %v, %to {alignment = 4 : i64} : f32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
