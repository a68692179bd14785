// RUN: %regrain-opt %s --split-input-file --regrain-lower-cpu="register-bits=256 cost-model=false" | FileCheck %s

// Rows begin behind the first threads, which take no part, and end before the last: there is no mask. Of two rows at most the second
// begins so that it ends with the last thread; threads that are in both do the same twice.
// CHECK-LABEL: llvm.func @__regrain_block.between
// CHECK-COUNT-4: llvm.freeze
// CHECK: %[[FROM:.*]] = llvm.intr.smin(%{{.*}}, %{{.*}}) : (i64, i64) -> i64
// CHECK-NEXT: %[[END:.*]] = llvm.intr.smax(%{{.*}}, %[[FROM]]) : (i64, i64) -> i64
// CHECK-NEXT: %[[TO:.*]] = llvm.intr.smin(%[[END]], %{{.*}}) : (i64, i64) -> i64
// CHECK: %[[SECOND:.*]] = llvm.sub %[[TO]], %{{.*}} : i64
// CHECK: llvm.icmp "sge" %[[SECOND]], %[[FROM]] : i64
// CHECK: llvm.cond_br
// CHECK-NOT: masked
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<8xf32>
// CHECK: llvm.store %{{.*}} : vector<8xf32>, !llvm.ptr
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<8xf32>
// CHECK: llvm.store %{{.*}} : vector<8xf32>, !llvm.ptr
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK-NOT: masked
// CHECK: llvm.return
llvm.func ptx_kernelcc @between(%p: !llvm.ptr, %step: i32)
llvm.func @__regrain_launch.between(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @between} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %false = arith.constant false
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %step = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @between grid(%g, %c1, %c1) block(%c16, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared : !llvm.array<16 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c16, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %a = llvm.getelementptr inbounds %p[%t] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %v = llvm.load %a : !llvm.ptr -> f32
        %b = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<16 x f32>
        llvm.store %v, %b : f32, !llvm.ptr<3>
        scf.reduce
      }
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c16, %c1, %c1) step (%c1, %c1, %c1) {
        %fifteen = arith.constant 15 : i32
        %t = arith.index_cast %x : index to i32
        %end = llvm.sub %fifteen, %step : i32
        %above = llvm.icmp "sgt" %t, %step : i32
        %below = llvm.icmp "slt" %t, %end : i32
        %c = llvm.select %above, %below, %false : i1, i1
        scf.if %c {
          %b = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<16 x f32>
          %v = llvm.load %b : !llvm.ptr<3> -> f32
          %a = llvm.getelementptr inbounds %p[%t] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.store %v, %a : f32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// -----

// What is written is read there: no thread goes twice, and the last ones go one by one.
// CHECK-LABEL: llvm.func @__regrain_block.once
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<8xf32>
// CHECK: llvm.store %{{.*}} : vector<8xf32>, !llvm.ptr
// CHECK-NOT: vector<8xf32>
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK-NOT: vector<8xf32>
// CHECK: llvm.return
llvm.func ptx_kernelcc @once(%p: !llvm.ptr, %step: i32)
llvm.func @__regrain_launch.once(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @once} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %step = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @once grid(%g, %c1, %c1) block(%c16, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c16, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %above = llvm.icmp "sgt" %t, %step : i32
        scf.if %above {
          %a = llvm.getelementptr inbounds %p[%t] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v = llvm.load %a : !llvm.ptr -> f32
          %w = llvm.fadd %v, %v : f32
          llvm.store %w, %a : f32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// -----

// A guard that asks for no thread of the block, but for the problem's edge, leaves the loop as it is.
// CHECK-LABEL: llvm.func @__regrain_block.edge
// CHECK-NOT: llvm.intr.smin
// CHECK: llvm.return
llvm.func ptx_kernelcc @edge(%p: !llvm.ptr, %base: i32)
llvm.func @__regrain_launch.edge(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @edge} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %base = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> i32
  %e = regrain.gpu_wrapper @edge grid(%g, %c1, %c1) block(%c16, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c16, %c1, %c1) step (%c1, %c1, %c1) {
        %zero = arith.constant 0 : i32
        %t = arith.index_cast %x : index to i32
        %col = llvm.add %t, %base overflow<nsw> : i32
        %above = llvm.icmp "sge" %col, %zero : i32
        scf.if %above {
          %a = llvm.getelementptr inbounds %p[%col] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v = llvm.load %a : !llvm.ptr -> f32
          %w = llvm.fadd %v, %v : f32
          llvm.store %w, %a : f32, !llvm.ptr
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
