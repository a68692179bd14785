// RUN: %regrain-opt %s --regrain-split-barriers --regrain-lower-cpu="register-bits=256" | FileCheck %s

// Rows are warps where the program uses warps: a shuffle over a distance that all lanes have is one permutation of five, or
// goes through memory; a vote is the mask's bits.
// CHECK-LABEL: llvm.func @__regrain_block.k.b64x1x1
// CHECK: llvm.shufflevector {{.*}} [1, 0, 3, 2, {{.*}}] : vector<32xf32>
// CHECK: llvm.shufflevector {{.*}} [16, 17, {{.*}}] : vector<32xf32>
// CHECK: llvm.bitcast %{{.*}} : vector<32xi1> to i32
// CHECK-NOT: regrain.
llvm.func ptx_kernelcc @k(%p: !llvm.ptr)
llvm.func @__regrain_launch.k.b64x1x1(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @k, regrain.block_shape = array<i64: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %d = llvm.load %p : !llvm.ptr -> i32
        %v = llvm.load %a : !llvm.ptr -> f32
        %all = arith.constant -1 : i32
        %clamp = arith.constant 31 : i32
        %w, %ok = regrain.shuffle bfly %v, %d, %clamp mask %all(%x, %y, %z) : f32
        %zero = arith.constant 0.0 : f32
        %c = llvm.fcmp "ogt" %w, %zero : f32
        %bits = regrain.vote ballot %c mask %all(%x, %y, %z) : i32
        %f = llvm.sitofp %bits : i32 to f32
        %s = llvm.fadd %w, %f : f32
        llvm.store %s, %a : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// A bound that differs from lane to lane says who keeps its own: the others read at a distance that is known.
// CHECK-LABEL: llvm.func @__regrain_block.bounded.b32x1x1
// CHECK: %[[V:.*]] = llvm.load %{{.*}} -> vector<32xf32>
// CHECK: %[[OK:.*]] = llvm.icmp "sge" %{{.*}} : vector<32xi32>
// CHECK: %[[MOVED:.*]] = llvm.shufflevector %[[V]], %[[V]] [4, 5, 6, 7, {{.*}}, 28, 29, 30, 31] : vector<32xf32>
// CHECK: llvm.select %[[OK]], %[[MOVED]], %[[V]]
// CHECK-NOT: masked.gather
// CHECK: llvm.return
llvm.func ptx_kernelcc @bounded(%p: !llvm.ptr)
llvm.func @__regrain_launch.bounded.b32x1x1(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @bounded, regrain.block_shape = array<i64: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @bounded grid(%g, %c1, %c1) block(%c32, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %b = llvm.getelementptr %a[64] : (!llvm.ptr) -> !llvm.ptr, i32
        %bound = llvm.load %b : !llvm.ptr -> i32
        %v = llvm.load %a : !llvm.ptr -> f32
        %all = arith.constant -1 : i32
        %distance = arith.constant 4 : i32
        %w, %ok = regrain.shuffle down %v, %distance, %bound mask %all(%x, %y, %z) : f32
        llvm.store %w, %a : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// What the lanes compute together: their vectors side by side in memory. Words that each lane loads side by side and that go to lanes as they
// are loaded are vectors of a lane, unless something is stored between.
// CHECK-LABEL: llvm.func @__regrain_block.together.b32x1x1
// CHECK: %[[MADE:.*]] = llvm.alloca %{{.*}} x !llvm.array<4 x i32> {alignment = 64
// CHECK-COUNT-32: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<4xi32>
// CHECK-NOT: llvm.call
// CHECK: llvm.getelementptr %[[MADE]][32]
// CHECK-NEXT: llvm.load %{{.*}} {alignment = 64 : i64} : !llvm.ptr -> vector<32xi32>
// CHECK: llvm.store
// CHECK-NOT: vector<4xi32>
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 64 : i64} : vector<32xi32>, !llvm.ptr
// CHECK: llvm.call @__regrain_tile_rows_4(%{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr) -> ()
// CHECK: llvm.return
llvm.func ptx_kernelcc @together(%p: !llvm.ptr)
llvm.func @__regrain_launch.together.b32x1x1(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @together, regrain.block_shape = array<i64: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @together grid(%g, %c1, %c1) block(%c32, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<24 x i8>
        %b = llvm.getelementptr %a[4] : (!llvm.ptr) -> !llvm.ptr, i8
        %c = llvm.getelementptr %a[8] : (!llvm.ptr) -> !llvm.ptr, i8
        %d = llvm.getelementptr %a[12] : (!llvm.ptr) -> !llvm.ptr, i8
        %va = llvm.load %a : !llvm.ptr -> i32
        %vb = llvm.load %b : !llvm.ptr -> i32
        %vc = llvm.load %c : !llvm.ptr -> i32
        %vd = llvm.load %d : !llvm.ptr -> i32
        %r:4 = regrain.warp_call @__regrain_warp.rows_4(%va, %vb, %vc, %vd) lanes(%x, %y, %z) : (i32, i32, i32, i32) -> (i32, i32, i32, i32)
        llvm.store %r#1, %a : i32, !llvm.ptr
        %wa = llvm.load %a : !llvm.ptr -> i32
        %wb = llvm.load %b : !llvm.ptr -> i32
        %wc = llvm.load %c : !llvm.ptr -> i32
        %wd = llvm.load %d : !llvm.ptr -> i32
        llvm.store %r#2, %b : i32, !llvm.ptr
        %s:4 = regrain.warp_call @__regrain_warp.rows_4(%wa, %wb, %wc, %wd) lanes(%x, %y, %z) : (i32, i32, i32, i32) -> (i32, i32, i32, i32)
        llvm.store %s#3, %c : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
