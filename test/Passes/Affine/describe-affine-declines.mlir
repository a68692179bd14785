// RUN: %regrain-opt --regrain-describe-affine --split-input-file --verify-diagnostics %s

// Why functions are not affine, each with an example.
// -----
// expected-remark@below {{not affine: control flow in it is not structured}}
llvm.func @do_not_branch(%a: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^after
^after:
  llvm.return
}

// -----
// expected-remark@below {{not affine: how often a loop in it goes round is not known before}}
llvm.func @do_not_wait(%a: !llvm.ptr, %b: i1) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  scf.while : () -> () {
    scf.condition(%b)
  } do {
    llvm.store %zero, %a : i64, !llvm.ptr
    scf.yield
  }
  llvm.return
}

// -----
// expected-remark@below {{not affine: a bound of a loop in it is not affine}}
llvm.func @do_not_load_bound(%a: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %n = llvm.load %a : !llvm.ptr -> i64
  scf.for %i = %zero to %n step %one : i64 {
    llvm.store %i, %a : i64, !llvm.ptr
  }
  llvm.return
}

// -----
// expected-remark@below {{not affine: the step of a loop in it is no small number}}
llvm.func @do_not_step(%a: !llvm.ptr, %s: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  scf.for %i = %zero to %one step %s : i64 {
    llvm.store %i, %a : i64, !llvm.ptr
  }
  llvm.return
}

// -----
// expected-remark@below {{not affine: a subscript in it is not affine}}
llvm.func @do_not_square(%a: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  scf.for %i = %zero to %n step %one : i64 {
    %square = llvm.mul %i, %i overflow<nsw> : i64
    %p = llvm.getelementptr %a[%square] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    llvm.store %i, %p : i64, !llvm.ptr
  }
  llvm.return
}

// -----
// expected-remark@below {{not affine: an index in it may wrap around}}
llvm.func @do_not_wrap(%a: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  scf.for %i = %zero to %n step %one : i64 {
    %row = llvm.mul %i, %n : i64
    %p = llvm.getelementptr %a[%row] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    llvm.store %i, %p : i64, !llvm.ptr
  }
  llvm.return
}

// -----
// expected-remark@below {{not affine: which array it accesses is not known before}}
llvm.func @do_not_choose(%a: !llvm.ptr, %b: !llvm.ptr, %n: i64, %c: i1) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  scf.for %i = %zero to %n step %one : i64 {
    %p = llvm.select %c, %a, %b : i1, !llvm.ptr
    llvm.store %i, %p : i64, !llvm.ptr
  }
  llvm.return
}

// -----
// expected-remark@below {{not affine: an array in it has elements of several sizes, or of no simple type}}
llvm.func @do_not_mix(%a: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  scf.for %i = %zero to %n step %one : i64 {
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %small = llvm.trunc %i : i64 to i32
    llvm.store %i, %p : i64, !llvm.ptr
    llvm.store %small, %a : i32, !llvm.ptr
  }
  llvm.return
}

// -----
// expected-remark@below {{not affine: subscripts of an array in it do not agree in its shape}}
llvm.func @do_not_stride(%a: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  scf.for %i = %zero to %n step %one : i64 {
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<3 x i32>
    llvm.store %i, %p : i64, !llvm.ptr
  }
  llvm.return
}

// -----

llvm.func @exp(f64) -> f64
// expected-remark@below {{not affine: it calls a function whose result may differ on the device}}
llvm.func @do_not_call(%a: !llvm.ptr, %x: f64) {
  %y = llvm.call @exp(%x) : (f64) -> f64
  llvm.store %y, %a : f64, !llvm.ptr
  llvm.return
}

// -----
// expected-remark@below {{not affine: it has an operation that is not supported}}
llvm.func @do_not_nest(%a: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  scf.execute_region {
    llvm.store %zero, %a : i64, !llvm.ptr
    scf.yield
  }
  llvm.return
}

// -----
// expected-remark@below {{not affine: it has too many statements}}
llvm.func @do_not_go_on(%a: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.store %zero, %a : i64, !llvm.ptr
  llvm.return
}

// -----
// expected-remark@below {{not affine: it stores nothing}}
llvm.func @do_not_nothing(%a: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.return
}
