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
