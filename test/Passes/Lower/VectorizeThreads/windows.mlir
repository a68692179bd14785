// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=256 cost-model=false" | FileCheck %s

// Lanes that differ by constants: one load and a permutation.
// CHECK-LABEL: llvm.func @neighbours
// CHECK: %[[ALL:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<8xf32>
// CHECK: llvm.shufflevector %[[ALL]], %[[ALL]] [1, 0, 3, 2, 5, 4, 7, 6]
// CHECK-NOT: gather
// CHECK: llvm.return
llvm.func @neighbours(%p: !llvm.ptr, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %one = llvm.mlir.constant(1 : i32) : i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i32
    %other = llvm.xor %i, %one : i32
    %wide = llvm.zext %other : i32 to i64
    %a = llvm.getelementptr %p[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %a : !llvm.ptr -> f32
    %w = llvm.zext %i : i32 to i64
    %b = llvm.getelementptr %q[%w] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %v, %b : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// A remainder of no power of two tells nothing of bits.
// CHECK-LABEL: llvm.func @do_not_take_a_remainder_for_bits
// CHECK: llvm.intr.masked.gather
// CHECK: llvm.return
llvm.func @do_not_take_a_remainder_for_bits(%p: !llvm.ptr, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %six = llvm.mlir.constant(6 : i32) : i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i32
    %other = llvm.urem %i, %six : i32
    %wide = llvm.zext %other : i32 to i64
    %a = llvm.getelementptr %p[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %a : !llvm.ptr -> f32
    %w = llvm.zext %i : i32 to i64
    %b = llvm.getelementptr %q[%w] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %v, %b : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Every other element of memory of the block: what lies between is written back, and there is room around it.
// CHECK-LABEL: llvm.func @every_other
// CHECK: %[[BYTES:.*]] = arith.constant 1536 : i64
// CHECK: %[[MEMORY:.*]] = llvm.alloca %[[BYTES]] x i8 {alignment = 64 : i64}
// CHECK: llvm.getelementptr %[[MEMORY]]
// CHECK: llvm.shufflevector %{{.*}}, %{{.*}} [0, -1, 1, -1, 2, -1, 3, -1]
// CHECK: %[[OLD:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<8xf32>
// CHECK: %[[FROZEN:.*]] = llvm.freeze %[[OLD]]
// CHECK: llvm.select %{{.*}}, %{{.*}}, %[[FROZEN]]
// CHECK: llvm.shufflevector %{{.*}}, %{{.*}} [4, -1, 5, -1, 6, -1, 7, -1]
// CHECK-NOT: scatter
// CHECK: llvm.return
llvm.func @every_other(%p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %count = arith.constant 1 : i32
  %tile = llvm.alloca %count x !llvm.array<128 x f32> {alignment = 64 : i64} : (i32) -> !llvm.ptr
  %two = llvm.mlir.constant(2 : i64) : i64
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i64
    %b = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %b : !llvm.ptr -> f32
    %far = llvm.mul %i, %two : i64
    %a = llvm.getelementptr %tile[%far] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %v, %a : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Some of the threads: those that take no part write back what is there, told lane by lane, so that only constants choose in memory.
// CHECK-LABEL: llvm.func @some_of_every_other
// CHECK: %[[TAKEN:.*]] = llvm.fcmp
// CHECK: %[[THERE:.*]] = llvm.shufflevector %{{.*}}, %{{.*}} [0, 1, 2, 3, 8, 10, 12, 14]
// CHECK: %[[OLD:.*]] = llvm.freeze %[[THERE]]
// CHECK: %[[LANES:.*]] = llvm.select %[[TAKEN]], %{{.*}}, %[[OLD]]
// CHECK: llvm.shufflevector %[[LANES]], %[[LANES]] [0, -1, 1, -1, 2, -1, 3, -1]
// CHECK-NOT: llvm.shufflevector %[[TAKEN]]
// CHECK-NOT: scatter
// CHECK: llvm.return
llvm.func @some_of_every_other(%p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %count = arith.constant 1 : i32
  %tile = llvm.alloca %count x !llvm.array<128 x f32> {alignment = 64 : i64} : (i32) -> !llvm.ptr
  %two = llvm.mlir.constant(2 : i64) : i64
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i64
    %b = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %b : !llvm.ptr -> f32
    %far = llvm.mul %i, %two : i64
    %a = llvm.getelementptr %tile[%far] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %c = llvm.fcmp "ogt" %v, %zero : f32
    scf.if %c {
      llvm.store %v, %a : f32, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}

// Of memory that others see nothing is written back between the lanes.
// CHECK-LABEL: llvm.func @do_not_write_between_lanes
// CHECK: llvm.intr.masked.scatter
// CHECK: llvm.return
llvm.func @do_not_write_between_lanes(%p: !llvm.ptr, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %two = llvm.mlir.constant(2 : i64) : i64
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i64
    %b = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %b : !llvm.ptr -> f32
    %far = llvm.mul %i, %two : i64
    %a = llvm.getelementptr %q[%far] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %v, %a : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Lanes of a mask that lie anywhere are stored without a branch for each: those that take no part store aside. (Of few lanes: few.mlir.)
// CHECK-LABEL: llvm.func @aside
// CHECK: %[[ASIDE:.*]] = llvm.alloca %c1_i64
// CHECK-NOT: llvm.alloca
// CHECK: } else {
// CHECK: scf.if
// CHECK: %[[ASIDES:.*]] = vector.broadcast %[[ASIDE]] : !llvm.ptr to vector<8x!llvm.ptr>
// CHECK: %[[TO:.*]] = llvm.select %{{.*}}, %{{.*}}, %[[ASIDES]]
// CHECK: %[[ALL:.*]] = vector.broadcast %true
// CHECK: llvm.intr.masked.scatter %{{.*}}, %[[TO]], %[[ALL]]
// CHECK: llvm.intr.masked.scatter
// CHECK: llvm.return
llvm.func @aside(%p: !llvm.ptr, %q: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %zero = llvm.mlir.constant(0 : i64) : i64
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i64
    %b = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %v = llvm.load %b : !llvm.ptr -> i64
    %some = llvm.icmp "sgt" %v, %zero : i64
    scf.if %some {
      %a = llvm.getelementptr %q[%v] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      llvm.store %v, %a : i64, !llvm.ptr
      %next = llvm.getelementptr %a[%v] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      llvm.store %v, %next : i64, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}

// With padding of which the row knows only that its lanes have it alike: both elements of a pair are reached by the same whole vectors.
// CHECK-LABEL: llvm.func @padded
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<8xi32>
// CHECK: llvm.shufflevector %{{.*}}, %{{.*}} [0, 2, 4, 6, -1, -1, -1, -1]
// CHECK: llvm.getelementptr %{{.*}}[-4]
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<8xi32>
// CHECK: llvm.shufflevector %{{.*}}, %{{.*}} [1, 3, 5, 7, -1, -1, -1, -1]
// CHECK-NOT: gather
// CHECK: llvm.return
llvm.func @padded() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %count = arith.constant 1 : i32
  %tile = llvm.alloca %count x !llvm.array<132 x i32> {alignment = 64 : i64} : (i32) -> !llvm.ptr
  %one = llvm.mlir.constant(1 : i64) : i64
  %two = llvm.mlir.constant(2 : i64) : i64
  %five = llvm.mlir.constant(5 : i64) : i64
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%n, %c1, %c1) step (%c1, %c1, %c1) {
    %wide = arith.index_cast %x : index to i64
    %left = llvm.mul %wide, %two : i64
    %right = llvm.or %left, %one : i64
    %banks = llvm.lshr %left, %five : i64
    %a = llvm.add %left, %banks : i64
    %banks1 = llvm.lshr %right, %five : i64
    %b = llvm.add %right, %banks1 : i64
    %pa = llvm.getelementptr %tile[%a] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %pb = llvm.getelementptr %tile[%b] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %va = llvm.load %pa : !llvm.ptr -> i32
    %vb = llvm.load %pb : !llvm.ptr -> i32
    %s = llvm.add %va, %vb : i32
    llvm.store %s, %pb : i32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}
