// RUN: %regrain-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{'llvm.func' op attribute 'regrain.kernel' is not known to the regrain dialect}}
llvm.func @unknown() attributes {regrain.kernel = @k}

// -----

// expected-error @below {{attribute 'regrain.launch' stands on 'llvm.mlir.global', expected 'llvm.func'}}
llvm.mlir.global external @g() {regrain.launch = @k} : i8

// -----

// expected-error @below {{attribute 'regrain.launch' is "k", expected the name of a symbol}}
llvm.func @f() attributes {regrain.launch = "k"}

// -----

// expected-error @below {{attribute 'regrain.launch' contradicts 'regrain.dispatch'}}
llvm.func @f() attributes {regrain.launch = @k, regrain.dispatch = @k}

// -----

// expected-error @below {{attribute 'regrain.dispatch' contradicts 'regrain.version_of'}}
llvm.func @f() attributes {regrain.dispatch = @k, regrain.version_of = @k}

// -----

// expected-error @below {{attribute 'regrain.dispatch' is 1 : i64, expected the name of a symbol}}
llvm.func @f() attributes {regrain.dispatch = 1}

// -----

// expected-error @below {{attribute 'regrain.block_shape' is array<i64: 16, 16>, expected an array of three i64 of at least 1}}
llvm.func @f() attributes {regrain.launch = @k, regrain.block_shape = array<i64: 16, 16>}

// -----

// expected-error @below {{attribute 'regrain.block_shape' is array<i64: 16, 0, 1>, expected an array of three i64 of at least 1}}
llvm.func @f() attributes {regrain.launch = @k, regrain.block_shape = array<i64: 16, 0, 1>}

// -----

// expected-error @below {{attribute 'regrain.block_shape' stands without 'regrain.launch' or 'regrain.dispatch' or 'regrain.version_of'}}
llvm.func @f() attributes {regrain.block_shape = array<i64: 16, 1, 1>}

// -----

// expected-error @below {{attribute 'regrain.content' is "12", expected 32 hexadecimal digits}}
llvm.func @f() attributes {regrain.launch = @k, regrain.content = "12"}

// -----

// expected-error @below {{attribute 'regrain.content' stands without 'regrain.launch' or 'regrain.dispatch'}}
llvm.func @f() attributes {regrain.content = "0123456789abcdef0123456789abcdef"}

// -----

// expected-error @below {{attribute 'regrain.space' is "", expected a text that is not empty}}
llvm.func @f() attributes {regrain.space = ""}

// -----

// expected-error @below {{attribute 'regrain.version_of' is "k", expected the name of a symbol}}
llvm.func @f() attributes {regrain.version_of = "k"}

// -----

// expected-error @below {{attribute 'regrain.rest' is 3 : i64, expected a dimension: an i64 from 0 to 2}}
llvm.func @f() attributes {regrain.version_of = @k, regrain.rest = 3}

// -----

// expected-error @below {{attribute 'regrain.rest' stands without 'regrain.version_of' or 'regrain.handle'}}
llvm.mlir.global external @g() {regrain.rest = 0} : i8

// -----

// expected-error @below {{attribute 'regrain.static_shared' is -4 : i64, expected an i64 of at least 0}}
llvm.func @f() attributes {regrain.version_of = @k, regrain.static_shared = -4}

// -----

// expected-error @below {{attribute 'regrain.static_shared' stands without 'regrain.version_of' or 'regrain.dispatch'}}
llvm.func @f() attributes {regrain.static_shared = 4}

// -----

// expected-error @below {{attribute 'regrain.handle' stands on 'llvm.func', expected 'llvm.mlir.global'}}
llvm.func @f() attributes {regrain.handle = @k}

// -----

// expected-error @below {{attribute 'regrain.host' is true, expected no value}}
llvm.func @f() attributes {regrain.host = true}

// -----

// expected-error @below {{attribute 'regrain.not_raised' is unit, expected a text that is not empty}}
llvm.func @f() attributes {regrain.not_raised}

// -----

// expected-error @below {{attribute 'regrain.linkage' is "weak", expected a linkage}}
llvm.func @f() attributes {regrain.linkage = "weak"}

// -----

// expected-error @below {{attribute 'regrain.comdat' is "k", expected the name of a symbol}}
llvm.func @f() attributes {regrain.comdat = "k"}

// -----

// expected-error @below {{attribute 'regrain.max_threads' is 256 : i64, expected an array of one to three i64 of at least 1}}
llvm.func @f() attributes {regrain.max_threads = 256}

// -----

// expected-error @below {{attribute 'regrain.required_threads' is array<i64: 1, 1, 1, 1>, expected an array of one to three i64 of at least 1}}
llvm.func @f() attributes {regrain.required_threads = array<i64: 1, 1, 1, 1>}

// -----

// expected-error @below {{attribute 'regrain.min_blocks' is 0 : i64, expected an i64 of at least 1}}
llvm.func @f() attributes {regrain.min_blocks = 0}

// -----

// expected-error @below {{attribute 'regrain.cluster_shape' is array<i64>, expected an array of one to three i64 of at least 1}}
llvm.func @f() attributes {regrain.cluster_shape = array<i64>}

// -----

// expected-error @below {{attribute 'regrain.max_cluster' is 2 : i32, expected an i64 of at least 1}}
llvm.func @f() attributes {regrain.max_cluster = 2 : i32}

// -----

// expected-error @below {{attribute 'regrain.grain' is array<i32: 2, 1, 1>, expected an array of three i64 of at least 1}}
llvm.func @f() attributes {regrain.grain = array<i32: 2, 1, 1>}

// -----

// expected-error @below {{attribute 'regrain.grain' stands on 'llvm.mlir.global', expected 'llvm.func' or 'regrain.gpu_wrapper'}}
llvm.mlir.global external @g() {regrain.grain = array<i64: 2, 1, 1>} : i8

// -----

func.func @tasks(%n: index) {
  // expected-error @below {{attribute 'regrain.tasks' is 0 : i32, expected an i32 of at least 1}}
  %e = regrain.gpu_wrapper grid(%n, %n, %n) block(%n, %n, %n) attributes {regrain.tasks = 0 : i32} {
  }
  return
}

// -----

func.func @thread_grain(%n: index) {
  // expected-error @below {{attribute 'regrain.thread_grain' is array<i64: 2, 1, -1>, expected an array of three i64 of at least 1}}
  %e = regrain.gpu_wrapper grid(%n, %n, %n) block(%n, %n, %n) attributes {regrain.thread_grain = array<i64: 2, 1, -1>} {
  }
  return
}

// -----

func.func @coarse_original(%n: index) {
  // expected-error @below {{attribute 'regrain.original' contradicts 'regrain.grain'}}
  %e = regrain.gpu_wrapper grid(%n, %n, %n) block(%n, %n, %n) attributes {regrain.original, regrain.grain = array<i64: 2, 1, 1>} {
  }
  return
}

// -----

func.func @original_epilogue(%n: index) {
  // expected-error @below {{attribute 'regrain.original' contradicts 'regrain.epilogue'}}
  %e = regrain.gpu_wrapper grid(%n, %n, %n) block(%n, %n, %n) attributes {regrain.original, regrain.epilogue} {
  }
  return
}

// -----

// expected-error @below {{attribute 'regrain.epilogue' stands on 'func.func', expected 'regrain.gpu_wrapper'}}
func.func private @epilogue() attributes {regrain.epilogue}

// -----

// expected-error @below {{attribute 'regrain.kept' stands on 'func.func', expected 'regrain.gpu_wrapper'}}
func.func private @kept() attributes {regrain.kept}

// -----

// expected-error @below {{attribute 'regrain.optimised' stands on 'func.func', expected 'regrain.gpu_wrapper'}}
func.func private @optimised() attributes {regrain.optimised}

// -----

func.func @not_split(%n: index) {
  // expected-error @below {{attribute 'regrain.not_split' is unit, expected a text that is not empty}}
  %e = regrain.gpu_wrapper grid(%n, %n, %n) block(%n, %n, %n) attributes {regrain.not_split} {
  }
  return
}

// -----

func.func @kernel_arg(%p: !llvm.ptr) {
  // expected-error @below {{attribute 'regrain.kernel_arg' is -1 : i64, expected an i64 of at least 0}}
  %a = llvm.load %p {regrain.kernel_arg = -1} : !llvm.ptr -> i32
  return
}

// -----

func.func @kernel_arg_of_nothing(%p: !llvm.ptr, %a: i32) {
  // expected-error @below {{attribute 'regrain.kernel_arg' stands on 'llvm.store', expected an operation with one result}}
  llvm.store %a, %p {regrain.kernel_arg = 0} : i32, !llvm.ptr
  return
}

// -----

func.func @unchanging(%p: !llvm.ptr, %a: i32) {
  // expected-error @below {{attribute 'regrain.unchanging' stands on 'llvm.store', expected a load}}
  llvm.store %a, %p {regrain.unchanging} : i32, !llvm.ptr
  return
}

// -----

func.func @reused(%p: !llvm.ptr) {
  // expected-error @below {{attribute 'regrain.reused' stands on 'llvm.load', expected 'llvm.alloca'}}
  %a = llvm.load %p {regrain.reused} : !llvm.ptr -> i32
  return
}

// -----

func.func @guarded(%p: !llvm.ptr) {
  // expected-error @below {{attribute 'regrain.guarded' stands on 'llvm.load', expected 'llvm.alloca'}}
  %a = llvm.load %p {regrain.guarded} : !llvm.ptr -> i32
  return
}

// -----

func.func @together(%p: !llvm.ptr) {
  // expected-error @below {{attribute 'regrain.together' stands on 'llvm.load', expected 'scf.if'}}
  %a = llvm.load %p {regrain.together} : !llvm.ptr -> i32
  return
}

// -----

func.func @convex(%p: !llvm.ptr) {
  // expected-error @below {{attribute 'regrain.convex' stands on 'llvm.load', expected 'scf.if'}}
  %a = llvm.load %p {regrain.convex} : !llvm.ptr -> i32
  return
}

// -----

func.func @of_blocks(%n: i1) {
  // expected-error @below {{attribute 'regrain.of_blocks' is 0 : i64, expected}}
  scf.if %n {
  } {regrain.of_blocks = 0 : i64}
  return
}

// -----

func.func @blocks_of_nothing(%n: index) {
  // expected-error @below {{attribute 'regrain.of_blocks' stands on 'scf.for', expected an operation with one result or 'scf.if'}}
  scf.for %i = %n to %n step %n {
  } {regrain.of_blocks = 8 : i64}
  return
}

// -----

func.func @rows(%n: i1) {
  // expected-error @below {{attribute 'regrain.rows' stands on 'scf.if', expected 'scf.for'}}
  scf.if %n {
  } {regrain.rows}
  return
}

// -----

func.func @asm(%p: !llvm.ptr) {
  // expected-error @below {{attribute 'regrain.asm_attributes' stands on 'llvm.load', expected 'llvm.inline_asm'}}
  %a = llvm.load %p {regrain.asm_attributes = "nounwind"} : !llvm.ptr -> i32
  return
}

// -----

// expected-error @below {{attribute 'regrain.grid_constant' is 1 : i64, expected no value}}
llvm.func @f(!llvm.ptr {regrain.grid_constant = 1})

// -----

// expected-error @below {{attribute 'regrain.grid_constant' stands on 'llvm.func', expected an argument of a function}}
llvm.func @f(!llvm.ptr) attributes {regrain.grid_constant}

// -----

// expected-error @below {{attribute 'regrain.launch' stands on argument #1, expected 'llvm.func'}}
llvm.func @f(i32, !llvm.ptr {regrain.launch = @k})

// -----

// expected-error @below {{attribute 'regrain.constant' of argument #0 is not known to the regrain dialect}}
llvm.func @f(!llvm.ptr {regrain.constant})

// -----

// expected-error @below {{attribute 'regrain.omitted'}}
llvm.func @f() attributes {regrain.launch = @k, regrain.omitted = [["b2x1x1", "declined"]]}

// -----

// expected-error @below {{attribute 'regrain.omitted'}}
llvm.func @f() attributes {regrain.omitted = []}

// -----

// expected-error @below {{attribute 'regrain.block_of'}}
llvm.func @f() attributes {regrain.block_of = @k}

// -----

// expected-error @below {{attribute 'regrain.parameter_sizes'}}
llvm.func @f() attributes {regrain.parameter_sizes = array<i64: 8>}

// -----

// expected-error @below {{attribute 'regrain.parameter_sizes'}}
llvm.func @f() attributes {regrain.block_of = "k", regrain.parameter_sizes = array<i64: 0, -8>}
