// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=256" | FileCheck %s

// CHECK: #[[UNROLL:.*]] = #llvm.loop_unroll<disable = true>
// CHECK: #[[KEPT:.*]] = #llvm.loop_annotation<unroll = #[[UNROLL]]>

// A round moves two registers, and eight of them would be written out.
// CHECK-LABEL: llvm.func @wide
// CHECK: } {llvm.loop_annotation = #[[KEPT]], regrain.rows}
llvm.func @wide(%a: !llvm.ptr, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 16 : index
  %columns = arith.constant 64 : index
  %n = arith.constant 64 : i64
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%columns, %rows, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %r = arith.index_cast %y : index to i64
    %row = llvm.mul %r, %n : i64
    %at = llvm.add %row, %t : i64
    %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    %q = llvm.getelementptr %out[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    %v = llvm.load %p : !llvm.ptr -> f64
    %m = llvm.fmul %v, %v : f64
    llvm.store %m, %q : f64, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// So it does of a tile of the block.
// CHECK-LABEL: llvm.func @tile
// CHECK: } {llvm.loop_annotation = #[[KEPT]], regrain.rows}
llvm.func @tile(%a: !llvm.ptr, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 16 : index
  %columns = arith.constant 64 : index
  %n = arith.constant 64 : i64
  %count = arith.constant 1 : i64
  %tile = llvm.alloca %count x !llvm.array<1024 x f64> : (i64) -> !llvm.ptr
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%columns, %rows, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %r = arith.index_cast %y : index to i64
    %row = llvm.mul %r, %n : i64
    %at = llvm.add %row, %t : i64
    %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    %q = llvm.getelementptr %tile[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    %v = llvm.load %p : !llvm.ptr -> f64
    %m = llvm.fmul %v, %v : f64
    llvm.store %m, %q : f64, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// What each thread keeps may become registers, once places are constants.
// CHECK-LABEL: llvm.func @kept
// CHECK: } {regrain.rows}
llvm.func @kept(%a: !llvm.ptr, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 16 : index
  %columns = arith.constant 64 : index
  %n = arith.constant 64 : i64
  %count = arith.constant 1024 : i64
  %tile = llvm.alloca %count x f64 : (i64) -> !llvm.ptr
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%columns, %rows, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %r = arith.index_cast %y : index to i64
    %row = llvm.mul %r, %n : i64
    %at = llvm.add %row, %t : i64
    %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    %q = llvm.getelementptr %tile[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    %v = llvm.load %p : !llvm.ptr -> f64
    %m = llvm.fmul %v, %v : f64
    llvm.store %m, %q : f64, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// A round of one register is short.
// CHECK-LABEL: llvm.func @narrow
// CHECK: } {regrain.rows}
llvm.func @narrow(%a: !llvm.ptr, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 32 : index
  %columns = arith.constant 8 : index
  %n = arith.constant 8 : i64
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%columns, %rows, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %r = arith.index_cast %y : index to i64
    %row = llvm.mul %r, %n : i64
    %at = llvm.add %row, %t : i64
    %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %q = llvm.getelementptr %out[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %p : !llvm.ptr -> f32
    %m = llvm.fmul %v, %v : f32
    llvm.store %m, %q : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// All rounds are short.
// CHECK-LABEL: llvm.func @few
// CHECK: } {regrain.rows}
llvm.func @few(%a: !llvm.ptr, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 4 : index
  %columns = arith.constant 64 : index
  %n = arith.constant 64 : i64
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%columns, %rows, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %r = arith.index_cast %y : index to i64
    %row = llvm.mul %r, %n : i64
    %at = llvm.add %row, %t : i64
    %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    %q = llvm.getelementptr %out[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    %v = llvm.load %p : !llvm.ptr -> f64
    %m = llvm.fmul %v, %v : f64
    llvm.store %m, %q : f64, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Sums of 1024 threads are too many for registers, and stay in memory between the loops of their threads.
// CHECK-LABEL: llvm.func @sums
// CHECK: } {llvm.loop_annotation = #[[KEPT]]}
// CHECK: } {llvm.loop_annotation = #[[KEPT]], regrain.rows}
llvm.func @sums(%a: !llvm.ptr, %rounds: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 16 : index
  %columns = arith.constant 64 : index
  %n = arith.constant 64 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %threads = arith.muli %rows, %columns : index
  %count = arith.index_cast %threads : index to i64
  %sums = llvm.alloca %count x f64 : (i64) -> !llvm.ptr
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%columns, %rows, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %r = arith.index_cast %y : index to i64
    %row = llvm.mul %r, %n : i64
    %at = llvm.add %row, %t : i64
    %q = llvm.getelementptr %sums[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    %before = llvm.load %q : !llvm.ptr -> f64
    %sum = scf.for %k = %zero to %rounds step %one iter_args(%so_far = %before) -> f64 : i64 {
      %p = llvm.getelementptr %a[%k] : (!llvm.ptr, i64) -> !llvm.ptr, f64
      %v = llvm.load %p : !llvm.ptr -> f64
      %w = llvm.fadd %so_far, %v : f64
      %m = llvm.fmul %w, %v : f64
      scf.yield %m : f64
    }
    llvm.store %sum, %q : f64, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Those of 32 threads are not.
// CHECK-LABEL: llvm.func @few_sums
// CHECK-NOT: llvm.loop_annotation
// CHECK: } {regrain.rows}
llvm.func @few_sums(%a: !llvm.ptr, %rounds: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 4 : index
  %columns = arith.constant 8 : index
  %n = arith.constant 8 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %threads = arith.muli %rows, %columns : index
  %count = arith.index_cast %threads : index to i64
  %sums = llvm.alloca %count x f64 : (i64) -> !llvm.ptr
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%columns, %rows, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %r = arith.index_cast %y : index to i64
    %row = llvm.mul %r, %n : i64
    %at = llvm.add %row, %t : i64
    %q = llvm.getelementptr %sums[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    %before = llvm.load %q : !llvm.ptr -> f64
    %sum = scf.for %k = %zero to %rounds step %one iter_args(%so_far = %before) -> f64 : i64 {
      %p = llvm.getelementptr %a[%k] : (!llvm.ptr, i64) -> !llvm.ptr, f64
      %v = llvm.load %p : !llvm.ptr -> f64
      %w = llvm.fadd %so_far, %v : f64
      %m = llvm.fmul %w, %v : f64
      scf.yield %m : f64
    }
    llvm.store %sum, %q : f64, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// They are not in memory all the time.
// CHECK-LABEL: llvm.func @in_each_round
// CHECK-NOT: llvm.loop_annotation
// CHECK: } {regrain.rows}
llvm.func @in_each_round(%a: !llvm.ptr, %rounds: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 16 : index
  %columns = arith.constant 64 : index
  %n = arith.constant 64 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %threads = arith.muli %rows, %columns : index
  %count = arith.index_cast %threads : index to i64
  %sums = llvm.alloca %count x f64 : (i64) -> !llvm.ptr
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%columns, %rows, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %r = arith.index_cast %y : index to i64
    %row = llvm.mul %r, %n : i64
    %at = llvm.add %row, %t : i64
    %q = llvm.getelementptr %sums[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    scf.for %k = %zero to %rounds step %one : i64 {
      %before = llvm.load %q : !llvm.ptr -> f64
      %p = llvm.getelementptr %a[%k] : (!llvm.ptr, i64) -> !llvm.ptr, f64
      %v = llvm.load %p : !llvm.ptr -> f64
      %w = llvm.fadd %before, %v : f64
      %m = llvm.fmul %w, %v : f64
      llvm.store %m, %q : f64, !llvm.ptr
    }
    scf.reduce
  }
  llvm.return
}

// A loop around rows that LLVM would write out with them stays one, too.
// CHECK-LABEL: llvm.func @around
// CHECK: } {llvm.loop_annotation = #[[KEPT]], regrain.rows}
// CHECK: } {llvm.loop_annotation = #[[KEPT]]}
llvm.func @around(%a: !llvm.ptr, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %rows = arith.constant 16 : index
  %columns = arith.constant 64 : index
  %n = arith.constant 64 : i64
  %plane = arith.constant 1024 : i64
  scf.for %k = %c0 to %c8 step %c1 {
    %s = arith.index_cast %k : index to i64
    %first = llvm.mul %s, %plane : i64
    scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%columns, %rows, %c1) step (%c1, %c1, %c1) {
      %t = arith.index_cast %x : index to i64
      %r = arith.index_cast %y : index to i64
      %row = llvm.mul %r, %n : i64
      %there = llvm.add %row, %t : i64
      %at = llvm.add %there, %first : i64
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f64
      %q = llvm.getelementptr %out[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f64
      %v = llvm.load %p : !llvm.ptr -> f64
      %m = llvm.fmul %v, %v : f64
      llvm.store %m, %q : f64, !llvm.ptr
      scf.reduce
    }
  }
  llvm.return
}
