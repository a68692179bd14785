// RUN: %regrain-opt %s | %regrain-opt | FileCheck %s
// RUN: %regrain-opt %s --mlir-print-op-generic | %regrain-opt | FileCheck %s
// RUN: %regrain-opt %s --verify-roundtrip -o /dev/null

// CHECK-LABEL: func.func @launch
// CHECK-SAME: (%[[GX:.*]]: index, %[[N:.*]]: index, %[[S:.*]]: !llvm.ptr, %[[B:.*]]: i64)
func.func @launch(%gx: index, %n: index, %stream: !llvm.ptr, %bytes: i64) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[ERR:.*]] = regrain.gpu_wrapper @kernel grid(%[[GX]], %[[C1:.*]], %[[C1]])
  // CHECK-SAME: block(%[[N]], %[[C1]], %[[C1]]) shared(%[[B]] : i64) stream(%[[S]] : !llvm.ptr)
  // CHECK-SAME: attributes {tag = 1 : i32} {
  %err = regrain.gpu_wrapper @kernel grid(%gx, %c1, %c1) block(%n, %c1, %c1)
      shared(%bytes : i64) stream(%stream : !llvm.ptr) attributes {tag = 1 : i32} {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%gx, %c1, %c1) step (%c1, %c1, %c1) {
      // CHECK: regrain.shared : !llvm.array<16 x array<16 x f32>> -> !llvm.ptr<3>
      %tile = regrain.shared : !llvm.array<16 x array<16 x f32>> -> !llvm.ptr<3>
      // CHECK: regrain.shared "tile" align 16 : f32 -> !llvm.ptr<3>
      %named = regrain.shared "tile" align 16 : f32 -> !llvm.ptr<3>
      // CHECK: regrain.dynamic_shared %[[B]] align 128 : i64 -> !llvm.ptr<3>
      %dyn = regrain.dynamic_shared %bytes align 128 : i64 -> !llvm.ptr<3>
      // CHECK: %[[FITS:.*]] = arith.cmpi ult
      // CHECK: regrain.take_blocks 8 if %[[FITS]]
      %fits = arith.cmpi ult, %bytes, %bytes : i64
      %many = regrain.take_blocks 8 if %fits
      // CHECK: scf.parallel (%[[X:.*]], %[[Y:.*]], %[[Z:.*]]) =
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
        // CHECK: regrain.barrier(%[[X]], %[[Y]], %[[Z]])
        regrain.barrier(%x, %y, %z)
      }
    }
  }
  return %err : i32
}

// CHECK-LABEL: func.func @plain_launch
func.func @plain_launch(%n: index) -> i32 {
  // CHECK: regrain.gpu_wrapper grid(%{{.*}}, %{{.*}}, %{{.*}}) block(%{{.*}}, %{{.*}}, %{{.*}}) {
  %err = regrain.gpu_wrapper grid(%n, %n, %n) block(%n, %n, %n) {
  }
  return %err : i32
}

// CHECK-LABEL: func.func @barriers
func.func @barriers(%n: index, %id: i32, %count: i32, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.parallel (%[[X:.*]], %[[Y:.*]]) =
  scf.parallel (%x, %y) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    // CHECK: regrain.barrier(%[[X]], %[[Y]]) id %[[ID:.*]] count %[[COUNT:.*]] {unaligned}
    regrain.barrier(%x, %y) id %id count %count {unaligned}
    // CHECK: regrain.barrier(%[[X]], %[[Y]]) id %[[ID]]
    regrain.barrier(%x, %y) id %id
    // CHECK: regrain.barrier(%[[X]], %[[Y]]) {grid}
    regrain.barrier(%x, %y) {grid}
    // CHECK: regrain.barrier_reduce popc %[[P:.*]](%[[X]], %[[Y]]) : i32
    %0 = regrain.barrier_reduce popc %p (%x, %y) : i32
    // CHECK: regrain.barrier_reduce and %[[P]](%[[X]], %[[Y]]) id %[[ID]] : i1
    %1 = regrain.barrier_reduce and %p (%x, %y) id %id : i1
    // CHECK: regrain.barrier_reduce or %[[P]](%[[X]], %[[Y]]) : i1
    %2 = regrain.barrier_reduce or %p (%x, %y) : i1
  }
  return
}

// CHECK-LABEL: func.func @warps
func.func @warps(%n: index, %v: f32, %w: i64, %i: i32, %mask: i32, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.parallel (%[[X:.*]]) =
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: regrain.shuffle down %{{.*}}, %[[I:.*]], %[[I]] mask %[[MASK:.*]](%[[X]]) : f32
    %r, %ok = regrain.shuffle down %v, %i, %i mask %mask (%x) : f32
    // CHECK: regrain.shuffle bfly %{{.*}}, %[[I]], %[[I]] mask %[[MASK]](%[[X]]) : i64
    %r2, %ok2 = regrain.shuffle bfly %w, %i, %i mask %mask (%x) : i64
    // CHECK: regrain.vote ballot %[[P:.*]] mask %[[MASK]](%[[X]]) : i32
    %b = regrain.vote ballot %p mask %mask (%x) : i32
    // CHECK: regrain.vote all %[[P]] mask %[[MASK]](%[[X]]) : i1
    %a = regrain.vote all %p mask %mask (%x) : i1
    // CHECK: regrain.match any %{{.*}} mask %[[MASK]](%[[X]]) : i64
    %m, %e = regrain.match any %w mask %mask (%x) : i64
    // CHECK: regrain.warp_reduce umax %[[I]] mask %[[MASK]](%[[X]])
    %u = regrain.warp_reduce umax %i mask %mask (%x)
    // CHECK: regrain.warp_call @f(%[[I]], %[[MASK]]) lanes(%[[X]]) : (i32, i32) -> (i32, i32)
    %t:2 = regrain.warp_call @f(%i, %mask) lanes(%x) : (i32, i32) -> (i32, i32)
    // CHECK: regrain.active_mask(%[[X]])
    %am = regrain.active_mask(%x)
    // CHECK: regrain.warp_barrier %[[MASK]](%[[X]])
    regrain.warp_barrier %mask (%x)
    // CHECK: regrain.lane_id(%[[X]])
    %lane = regrain.lane_id(%x)
    // CHECK: regrain.warp_id(%[[X]])
    %warp = regrain.warp_id(%x)
  }
  return
}

// CHECK-LABEL: func.func @alternatives
func.func @alternatives(%n: index) {
  // CHECK: regrain.alternatives ["original", "block 2x1x1"] {
  // CHECK: }, {
  // CHECK: }
  regrain.alternatives ["original", "block 2x1x1"] {
    %0 = arith.addi %n, %n : index
  }, {
    %0 = arith.muli %n, %n : index
  }
  return
}

// CHECK-LABEL: func.func @alternatives_with_result
func.func @alternatives_with_result(%a: i32, %b: i32) -> i32 {
  // CHECK: %[[E:.*]] = regrain.alternatives ["original", "b2x1x1"] -> i32 {
  // CHECK-NEXT: regrain.yield %{{.*}} : i32
  // CHECK-NEXT: }, {
  // CHECK-NEXT: regrain.yield %{{.*}} : i32
  %e = regrain.alternatives ["original", "b2x1x1"] -> i32 {
    regrain.yield %a : i32
  }, {
    regrain.yield %b : i32
  }
  // CHECK: return %[[E]]
  return %e : i32
}
