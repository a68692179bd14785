// RUN: %regrain-opt %s --regrain-hoist-to-host | FileCheck %s

llvm.func ptx_kernelcc @k(!llvm.ptr {llvm.byval = !llvm.struct<(f32, f32)>}, i32, i32, !llvm.ptr)
llvm.func ptx_kernelcc @flushes(f32, f32, !llvm.ptr) attributes {passthrough = [["denormal-fp-math-f32", "preserve-sign,preserve-sign"]]}

// CHECK-LABEL: llvm.func @__regrain_launch.k
llvm.func @__regrain_launch.k(%args: !llvm.ptr, %gx: i32, %bx: i32, %f: f32, %g: f32, %n: i32, %m: i32, %out: !llvm.ptr) -> i32 attributes {regrain.launch = @k} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %gxi = arith.index_castui %gx : i32 to index
  %bxi = arith.index_castui %bx : i32 to index
  %s = llvm.load %args {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %slot = llvm.getelementptr %args[0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %model = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  // The kernel comes to the division in a condition only: a zero must not fault.
  // CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[M:.*]], %{{.*}} : i32
  // CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[M]] : i32
  // CHECK: %[[Q:.*]] = llvm.sdiv %{{.*}}, %[[SAFE]] : i32
  // CHECK: %[[A:.*]] = llvm.load
  // CHECK: %[[B:.*]] = llvm.load
  // CHECK: %[[R:.*]] = llvm.fdiv %[[A]], %[[B]] {fastmathFlags = #llvm.fastmath<contract>} : f32
  // CHECK: regrain.gpu_wrapper
  %e = regrain.gpu_wrapper @k grid(%gxi, %c1, %c1) block(%bxi, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%gxi, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bxi, %c1, %c1) step (%c1, %c1, %c1) {
        // CHECK-NOT: llvm.fdiv
        // CHECK-NOT: llvm.sdiv
        // CHECK: scf.if
        // CHECK: llvm.store %[[Q]]
        // CHECK: llvm.fmul %[[R]]
        %p = llvm.getelementptr %model[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(f32, f32)>
        %some = arith.cmpi slt, %x, %c1 : index
        scf.if %some {
          %q = llvm.sdiv %n, %m : i32
          llvm.store %q, %out : i32, !llvm.ptr
        }
        %a = llvm.load %model : !llvm.ptr -> f32
        %b = llvm.load %p : !llvm.ptr -> f32
        %r = llvm.fdiv %a, %b {fastmathFlags = #llvm.fastmath<contract>} : f32
        %o = llvm.fmul %r, %r {fastmathFlags = #llvm.fastmath<contract>} : f32
        llvm.store %o, %out : f32, !llvm.ptr
      }
    }
  }
  llvm.return %e : i32
}

// CHECK-LABEL: llvm.func @do_not_hoist
llvm.func @do_not_hoist(%gx: i32, %bx: i32, %f: f32, %g: f32, %n: i32, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %gxi = arith.index_castui %gx : i32 to index
  %bxi = arith.index_castui %bx : i32 to index
  // CHECK: regrain.gpu_wrapper
  %e = regrain.gpu_wrapper @k grid(%gxi, %c1, %c1) block(%bxi, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%gxi, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bxi, %c1, %c1) step (%c1, %c1, %c1) {
        // Device memory, approximate arithmetic, arithmetic that the device fuses, and what costs nothing.
        // CHECK: llvm.load
        // CHECK: llvm.sdiv
        // CHECK: llvm.fdiv %{{.*}} {fastmathFlags = #llvm.fastmath<arcp>}
        // CHECK: llvm.fmul %{{.*}} {fastmathFlags = #llvm.fastmath<contract>}
        // CHECK: llvm.fdiv
        // CHECK: llvm.mul
        %d = llvm.load %out : !llvm.ptr -> i32
        %q = llvm.sdiv %n, %d : i32
        llvm.store %q, %out : i32, !llvm.ptr
        %r = llvm.fdiv %f, %g {fastmathFlags = #llvm.fastmath<arcp>} : f32
        llvm.store %r, %out : f32, !llvm.ptr
        %m = llvm.fmul %f, %g {fastmathFlags = #llvm.fastmath<contract>} : f32
        %t = llvm.fdiv %m, %g : f32
        llvm.store %t, %out : f32, !llvm.ptr
        %c = llvm.mul %n, %n : i32
        llvm.store %c, %out : i32, !llvm.ptr
      }
    }
  }
  llvm.return %e : i32
}

// CHECK-LABEL: llvm.func @do_not_hoist_where_denormals_are_flushed
llvm.func @do_not_hoist_where_denormals_are_flushed(%gx: i32, %bx: i32, %f: f32, %g: f32, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %gxi = arith.index_castui %gx : i32 to index
  %bxi = arith.index_castui %bx : i32 to index
  // CHECK: regrain.gpu_wrapper
  %e = regrain.gpu_wrapper @flushes grid(%gxi, %c1, %c1) block(%bxi, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%gxi, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bxi, %c1, %c1) step (%c1, %c1, %c1) {
        // CHECK: llvm.fdiv
        %r = llvm.fdiv %f, %g : f32
        llvm.store %r, %out : f32, !llvm.ptr
      }
    }
  }
  llvm.return %e : i32
}

// CHECK-LABEL: llvm.func @do_not_hoist_from_the_original
llvm.func @do_not_hoist_from_the_original(%gx: i32, %bx: i32, %n: i32, %m: i32, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %gxi = arith.index_castui %gx : i32 to index
  %bxi = arith.index_castui %bx : i32 to index
  // CHECK: regrain.gpu_wrapper
  %e = regrain.gpu_wrapper @k grid(%gxi, %c1, %c1) block(%bxi, %c1, %c1) attributes {regrain.original} {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%gxi, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bxi, %c1, %c1) step (%c1, %c1, %c1) {
        // CHECK: llvm.udiv
        %q = llvm.udiv %n, %m : i32
        llvm.store %q, %out : i32, !llvm.ptr
      }
    }
  }
  llvm.return %e : i32
}
