// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=256 cost-model=false" | FileCheck %s
// RUN: %regrain-opt %s -verify-diagnostics=only-expected --regrain-vectorize-threads="register-bits=256 report=true" -o /dev/null

// Rows of memory, one for each thread: eight rounds of a lane are read at once and transposed. The sum stays in a register if nothing that
// is read reaches it, which is asked first; the last rounds gather.
// CHECK-LABEL: llvm.func @sums_in_memory
// CHECK: %[[COLUMNS:.*]] = llvm.alloca %{{.*}} x vector<8xf32>
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c8_i32 : i32
// CHECK: %[[ENOUGH:.*]] = arith.cmpi uge
// CHECK: %[[APART:.*]] = scf.if %[[ENOUGH]] -> (i1)
// CHECK: llvm.ptrtoint
// CHECK: arith.cmpi ule
// CHECK: %[[NEXT:.*]] = scf.if %[[APART]] -> (i32)
// CHECK: %[[KEPT:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[KEPT]]) -> (vector<8xf32>)
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK-COUNT-24: llvm.shufflevector
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 32 : i64} : vector<8xf32>
// CHECK: scf.for %[[ROUND:.*]] = %c0_i64{{.*}} to %c8_i64
// CHECK: llvm.getelementptr %[[COLUMNS]][%[[ROUND]]]
// CHECK-NOT: llvm.store
// CHECK: scf.yield %{{.*}} : vector<8xf32>
// CHECK: } {llvm.loop_annotation = #loop_annotation}
// CHECK: llvm.store %[[SUM]], %{{.*}} : vector<8xf32>, !llvm.ptr
// CHECK: scf.for %{{.*}} = %[[NEXT]] to
// CHECK: llvm.intr.masked.gather
// CHECK: llvm.store
llvm.func @sums_in_memory(%a: !llvm.ptr, %x: !llvm.ptr, %out: !llvm.ptr, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %c4096 = arith.constant 4096 : i64
  // expected-remark @below {{threads go in rows of 8: 1 access uniform, 2 contiguous, 1 tiled}}
  scf.parallel (%i, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %i : index to i64
    %row = llvm.mul %t, %c4096 : i64
    %o = llvm.getelementptr %out[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    scf.for %k = %zero to %n step %one : i32 {
      %w = llvm.sext %k : i32 to i64
      %at = llvm.add %row, %w : i64
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %q = llvm.getelementptr %x[%w] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      // expected-remark @below {{a load of f32 is tiled: a tile of 8 rounds, transposed, 16384 bytes from thread to thread}}
      %v = llvm.load %p : !llvm.ptr -> f32
      %u = llvm.load %q : !llvm.ptr -> f32
      %m = llvm.fmul %u, %v : f32
      %s = llvm.load %o : !llvm.ptr -> f32
      %r = llvm.fadd %s, %m : f32
      llvm.store %r, %o : f32, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}

// A round reads what the one before it wrote: columns of rounds hand it on, from a tile to the next one too. What is written goes back
// transposed. Nothing is asked, as only one array is there.
// CHECK-LABEL: llvm.func @recurrence
// CHECK-NOT: llvm.ptrtoint
// CHECK: %[[FIRST:.*]] = llvm.intr.masked.gather
// CHECK: llvm.store %[[FIRST]]
// CHECK: scf.for
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK-COUNT-24: llvm.shufflevector
// CHECK: scf.for
// CHECK: llvm.load %{{.*}} {alignment = 32 : i64}
// CHECK: llvm.load %{{.*}} {alignment = 32 : i64}
// CHECK: llvm.store %{{.*}} {alignment = 32 : i64}
// CHECK-NOT: llvm.intr.masked
// CHECK-COUNT-24: llvm.shufflevector
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 4 : i64} : vector<8xf32>
// CHECK: %[[LAST:.*]] = llvm.load %{{.*}} {alignment = 32 : i64}
// CHECK-NEXT: arith.constant
// CHECK-NEXT: llvm.getelementptr
// CHECK-NEXT: llvm.store %[[LAST]]
llvm.func @recurrence(%a: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i64
  %c1024 = arith.constant 1024 : i64
  // expected-remark @below {{threads go in rows of 8: 3 accesses tiled}}
  scf.parallel (%i, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %i : index to i64
    %row = llvm.mul %t, %c1024 : i64
    scf.for %k = %one to %n step %one : i64 {
      %at = llvm.add %row, %k : i64
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %q = llvm.getelementptr %p[-1] : (!llvm.ptr) -> !llvm.ptr, f32
      // expected-remark @below {{a load of f32 is tiled}}
      %v = llvm.load %p : !llvm.ptr -> f32
      // expected-remark @below {{a load of f32 is tiled}}
      %u = llvm.load %q : !llvm.ptr -> f32
      %m = llvm.fdiv %v, %u : f32
      // expected-remark @below {{a store of f32 is tiled}}
      llvm.store %m, %p : f32, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}

// Rows that begin anywhere, of which all threads of the row make as many rounds as the one with the fewest: pointers lane by lane.
// CHECK-LABEL: llvm.func @own_lengths
// CHECK: %[[LEAST:.*]] = "llvm.intr.vector.reduce.smin"
// CHECK: scf.if
// CHECK-COUNT-8: llvm.extractelement
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK: scf.while
// CHECK: llvm.intr.masked.gather
llvm.func @own_lengths(%starts: !llvm.ptr, %lengths: !llvm.ptr, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %none = arith.constant 0.0 : f32
  // expected-remark @below {{threads go in rows of 8: 3 accesses contiguous, 1 tiled}}
  scf.parallel (%i, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %i : index to i64
    %sp = llvm.getelementptr %starts[%t] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %lp = llvm.getelementptr %lengths[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %start = llvm.load %sp : !llvm.ptr -> !llvm.ptr
    %length = llvm.load %lp : !llvm.ptr -> i64
    %sum = scf.for %k = %zero to %length step %one iter_args(%s = %none) -> f32 : i64 {
      %p = llvm.getelementptr %start[%k] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      %r = llvm.fadd %s, %v : f32
      scf.yield %r : f32
    }
    %o = llvm.getelementptr %out[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %sum, %o : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Fifteen rounds: a tile of eight, and another one that begins with the seventh, whose value is in its first column already and goes back as it
// was. Nothing is read or written lane by lane.
// CHECK-LABEL: llvm.func @last_tile_overlaps
// CHECK: scf.if
// CHECK: scf.for
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK: scf.for %{{.*}} = %c0_i64{{.*}} to %c8_i64
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 4 : i64} : vector<8xf32>
// CHECK: %[[WRITTEN:.*]] = llvm.load %{{.*}} {alignment = 32 : i64}
// CHECK: llvm.store %[[WRITTEN]], %{{.*}} {alignment = 32 : i64}
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK: scf.for %{{.*}} = %c1_i64{{.*}} to %c8_i64
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 4 : i64} : vector<8xf32>
// CHECK: scf.yield %c15_i64
// One round more than a tile goes lane by lane: a tile costs more.
// CHECK-LABEL: llvm.func @do_not_overlap_for_one_round
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %c0_i64{{.*}} to %c8_i64
// CHECK-NOT: to %c8_i64
// CHECK: llvm.intr.masked.gather
llvm.func @last_tile_overlaps(%a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %none = arith.constant 0.0 : f32
  %rounds = arith.constant 15 : i64
  // expected-remark @below {{threads go in rows of 8: 2 accesses tiled}}
  scf.parallel (%i, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %i : index to i64
    %row = llvm.mul %t, %rounds : i64
    %sum = scf.for %k = %zero to %rounds step %one iter_args(%before = %none) -> f32 : i64 {
      %at = llvm.add %row, %k : i64
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      // expected-remark @below {{a load of f32 is tiled}}
      %v = llvm.load %p : !llvm.ptr -> f32
      %s = llvm.fadd %before, %v : f32
      %q = llvm.getelementptr %b[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      // expected-remark @below {{a store of f32 is tiled}}
      llvm.store %s, %q : f32, !llvm.ptr
      scf.yield %s : f32
    }
    scf.reduce
  }
  llvm.return
}

llvm.func @do_not_overlap_for_one_round(%a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %none = arith.constant 0.0 : f32
  %rounds = arith.constant 9 : i64
  // expected-remark @below {{threads go in rows of 8: 2 accesses tiled}}
  scf.parallel (%i, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %i : index to i64
    %row = llvm.mul %t, %rounds : i64
    %sum = scf.for %k = %zero to %rounds step %one iter_args(%before = %none) -> f32 : i64 {
      %at = llvm.add %row, %k : i64
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      // expected-remark @below {{a load of f32 is tiled}}
      %v = llvm.load %p : !llvm.ptr -> f32
      %s = llvm.fadd %before, %v : f32
      %q = llvm.getelementptr %b[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      // expected-remark @below {{a store of f32 is tiled}}
      llvm.store %s, %q : f32, !llvm.ptr
      scf.yield %s : f32
    }
    scf.reduce
  }
  llvm.return
}

// What a loop may write anywhere is not read early, what is volatile not at all, and of few rounds no tile is made.
// CHECK-LABEL: llvm.func @do_not_read_early
// CHECK-NOT: llvm.shufflevector
// CHECK-LABEL: llvm.func @do_not_read_volatile_early
// CHECK-NOT: llvm.shufflevector
// CHECK-LABEL: llvm.func @do_not_tile_few_rounds
// CHECK-NOT: llvm.shufflevector
llvm.func @do_not_read_early(%a: !llvm.ptr, %b: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c1024 = arith.constant 1024 : i64
  // expected-remark @below {{its threads run one by one}}
  scf.parallel (%i, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %i : index to i64
    %row = llvm.mul %t, %c1024 : i64
    scf.for %k = %zero to %n step %one : i64 {
      %at = llvm.add %row, %k : i64
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      %v = llvm.load %p : !llvm.ptr -> i64
      %q = llvm.getelementptr %b[%v] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      llvm.store %k, %q : i64, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}
llvm.func @do_not_read_volatile_early(%a: !llvm.ptr, %out: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c1024 = arith.constant 1024 : i64
  // expected-remark @below {{its threads run one by one}}
  scf.parallel (%i, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %i : index to i64
    %row = llvm.mul %t, %c1024 : i64
    %sum = scf.for %k = %zero to %n step %one iter_args(%s = %zero) -> i64 : i64 {
      %at = llvm.add %row, %k : i64
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      %v = llvm.load volatile %p : !llvm.ptr -> i64
      %r = llvm.add %s, %v : i64
      scf.yield %r : i64
    }
    %o = llvm.getelementptr %out[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    llvm.store %sum, %o : i64, !llvm.ptr
    scf.reduce
  }
  llvm.return
}
llvm.func @do_not_tile_few_rounds(%a: !llvm.ptr, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %three = arith.constant 3 : i64
  %c1024 = arith.constant 1024 : i64
  // expected-remark @below {{its threads run one by one}}
  scf.parallel (%i, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %i : index to i64
    %row = llvm.mul %t, %c1024 : i64
    %sum = scf.for %k = %zero to %three step %one iter_args(%s = %zero) -> i64 : i64 {
      %at = llvm.add %row, %k : i64
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      %v = llvm.load %p : !llvm.ptr -> i64
      %r = llvm.add %s, %v : i64
      scf.yield %r : i64
    }
    %o = llvm.getelementptr %out[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    llvm.store %sum, %o : i64, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Four rounds of a lane end where the next lane begins: what all access is read as it lies, two lanes for each part of a register.
// CHECK-LABEL: llvm.func @all_between_lanes
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK: llvm.shufflevector %{{.*}} [0, 8, 2, 10, 4, 12, 6, 14] : vector<8xf32>
// CHECK-NOT: masked.scatter
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 4 : i64} : vector<4xf32>, !llvm.ptr
// CHECK: } else {
llvm.func @all_between_lanes(%a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i32
  %c4 = arith.constant 4 : i64
  // expected-remark @below {{its threads run one by one}}
  scf.parallel (%i, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %i : index to i64
    %row = llvm.mul %t, %c4 : i64
    scf.for %k = %zero to %four step %one : i32 {
      %w = llvm.sext %k : i32 to i64
      %at = llvm.add %row, %w : i64
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %q = llvm.getelementptr %b[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      %s = llvm.fadd %v, %v : f32
      llvm.store %s, %q : f32, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}
