// RUN: %regrain-opt %s --regrain-vectorize-threads="register-bits=256" | FileCheck %s

// A loop over the distances of a shuffle that constants say is made of its rounds, of one permutation each.
// CHECK-LABEL: llvm.func @tree
// CHECK-NOT: scf.while
// CHECK: llvm.shufflevector {{.*}} [4, 5, 6, 7, {{.*}}] : vector<32xf32>
// CHECK: llvm.fadd
// CHECK: llvm.shufflevector {{.*}} [2, 3, 4, 5, {{.*}}] : vector<32xf32>
// CHECK: llvm.fadd
// CHECK: llvm.shufflevector {{.*}} [1, 2, 3, 4, {{.*}}] : vector<32xf32>
// CHECK: llvm.fadd
// CHECK-NOT: shufflevector
// CHECK: llvm.store
llvm.func @tree(%p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %a : !llvm.ptr -> f32
    %all = arith.constant -1 : i32
    %clamp = arith.constant 31 : i32
    %two = arith.constant 2 : i32
    %none = arith.constant 0 : i32
    %from = arith.constant 4 : i32
    %r:2 = scf.while (%s = %v, %d = %from) : (f32, i32) -> (f32, i32) {
      %more = llvm.icmp "sgt" %d, %none : i32
      scf.condition(%more) %s, %d : f32, i32
    } do {
    ^bb0(%s: f32, %d: i32):
      %w, %ok = regrain.shuffle down %s, %d, %clamp mask %all(%x, %y, %z) : f32
      %sum = llvm.fadd %s, %w : f32
      %next = llvm.sdiv %d, %two : i32
      scf.yield %sum, %next : f32, i32
    }
    llvm.store %r#0, %a : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Halves of a number of 64 bits go by a permutation of the whole.
// CHECK-LABEL: llvm.func @halves
// CHECK-NOT: shufflevector {{.*}} : vector<32xi32>
// CHECK: llvm.shufflevector {{.*}} [4, 5, 6, 7, {{.*}}] : vector<32xi64>
// CHECK: llvm.shufflevector {{.*}} [1, 2, 3, 4, {{.*}}] : vector<32xi64>
// CHECK-NOT: shufflevector {{.*}} : vector<32xi32>
// CHECK: llvm.return
llvm.func @halves(%p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    %v = llvm.load %a : !llvm.ptr -> f64
    %all = arith.constant -1 : i32
    %clamp = arith.constant 31 : i32
    %two = arith.constant 2 : i32
    %none = arith.constant 0 : i32
    %from = arith.constant 4 : i32
    %r:2 = scf.while (%s = %v, %d = %from) : (f64, i32) -> (f64, i32) {
      %more = llvm.icmp "sgt" %d, %none : i32
      scf.condition(%more) %s, %d : f64, i32
    } do {
    ^bb0(%s: f64, %d: i32):
      %bits = llvm.bitcast %s : f64 to i64
      %low = llvm.trunc %bits : i64 to i32
      %half = arith.constant 32 : i64
      %shifted = llvm.lshr %bits, %half : i64
      %high = llvm.trunc %shifted : i64 to i32
      %l, %okl = regrain.shuffle down %low, %d, %clamp mask %all(%x, %y, %z) : i32
      %h, %okh = regrain.shuffle down %high, %d, %clamp mask %all(%x, %y, %z) : i32
      %l64 = llvm.zext %l : i32 to i64
      %h64 = llvm.zext %h : i32 to i64
      %top = llvm.shl %h64, %half : i64
      %both = llvm.or %l64, %top : i64
      %w = llvm.bitcast %both : i64 to f64
      %sum = llvm.fadd %s, %w : f64
      %next = llvm.sdiv %d, %two : i32
      scf.yield %sum, %next : f64, i32
    }
    llvm.store %r#0, %a : f64, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Where the first distance is not known the loop stays one.
// CHECK-LABEL: llvm.func @do_not_unroll
// CHECK: scf.while
// CHECK: scf.index_switch
// CHECK: llvm.return
llvm.func @do_not_unroll(%p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %a : !llvm.ptr -> f32
    %all = arith.constant -1 : i32
    %clamp = arith.constant 31 : i32
    %two = arith.constant 2 : i32
    %none = arith.constant 0 : i32
    %from = llvm.load %p : !llvm.ptr -> i32
    %r:2 = scf.while (%s = %v, %d = %from) : (f32, i32) -> (f32, i32) {
      %more = llvm.icmp "sgt" %d, %none : i32
      scf.condition(%more) %s, %d : f32, i32
    } do {
    ^bb0(%s: f32, %d: i32):
      %w, %ok = regrain.shuffle down %s, %d, %clamp mask %all(%x, %y, %z) : f32
      %sum = llvm.fadd %s, %w : f32
      %next = llvm.sdiv %d, %two : i32
      scf.yield %sum, %next : f32, i32
    }
    llvm.store %r#0, %a : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Nor where it would be many rounds.
// CHECK-LABEL: llvm.func @do_not_unroll_many
// CHECK: scf.while
// CHECK: scf.index_switch
// CHECK: llvm.return
llvm.func @do_not_unroll_many(%p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c32, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i64
    %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %a : !llvm.ptr -> f32
    %all = arith.constant -1 : i32
    %clamp = arith.constant 31 : i32
    %two = arith.constant 2 : i32
    %none = arith.constant 0 : i32
    %from = arith.constant 1024 : i32
    %r:2 = scf.while (%s = %v, %d = %from) : (f32, i32) -> (f32, i32) {
      %more = llvm.icmp "sgt" %d, %none : i32
      scf.condition(%more) %s, %d : f32, i32
    } do {
    ^bb0(%s: f32, %d: i32):
      %w, %ok = regrain.shuffle down %s, %d, %clamp mask %all(%x, %y, %z) : f32
      %sum = llvm.fadd %s, %w : f32
      %next = llvm.sdiv %d, %two : i32
      scf.yield %sum, %next : f32, i32
    }
    llvm.store %r#0, %a : f32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}
