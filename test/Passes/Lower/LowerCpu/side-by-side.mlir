// RUN: %regrain-opt %s --regrain-lower-cpu="register-bits=256" | FileCheck %s
// RUN: %regrain-opt %s --regrain-lower-cpu="register-bits=512 registers=32" | FileCheck %s --check-prefix=MANY

// Rows that read the same in each round go through the loop together: what is read once is multiplied by what each has, and each has its sum.
// CHECK-LABEL: llvm.func @__regrain_block.product
// CHECK: ^bb{{.*}}(%{{.*}}: i32, %{{.*}}: vector<16xf32>, %{{.*}}: vector<16xf32>, %{{.*}}: vector<16xf32>, %{{.*}}: vector<16xf32>):
// CHECK-COUNT-1: llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
// CHECK-NOT: llvm.load %{{.*}} -> vector
// CHECK-COUNT-4: llvm.fadd
// CHECK-NOT: llvm.fadd
// CHECK: llvm.br {{.*}}loop_annotation = #[[KEPT:.*]]}
// CHECK-COUNT-4: llvm.store %{{.*}} : vector<16xf32>, !llvm.ptr
// CHECK: llvm.return

// Where there are more registers there are more sums: eight hide the wait of two units for a product.
// MANY-LABEL: llvm.func @__regrain_block.product
// MANY-COUNT-1: llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
// MANY-NOT: llvm.load %{{.*}} -> vector
// MANY-COUNT-8: llvm.fadd
// MANY-NOT: llvm.fadd
// MANY: llvm.return
llvm.func ptx_kernelcc @product(%p: !llvm.ptr, %q: !llvm.ptr, %r: !llvm.ptr)
llvm.func @__regrain_launch.product(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @product} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %sixteen = arith.constant 16 : i32
  %none = llvm.mlir.constant(0.0 : f32) : f32
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %q = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %after = llvm.getelementptr %args[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %third = llvm.load %after : !llvm.ptr -> !llvm.ptr
  %r = llvm.load %third {regrain.kernel_arg = 2 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @product grid(%g, %c1, %c1) block(%c16, %c16, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c16, %c16, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %u = arith.index_cast %y : index to i32
        %row = llvm.mul %u, %sixteen overflow<nsw> : i32
        %sum = scf.for %n = %zero to %sixteen step %one iter_args(%s = %none) -> (f32) : i32 {
          %left = llvm.add %row, %n overflow<nsw> : i32
          %a = llvm.getelementptr %p[%left] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v = llvm.load %a : !llvm.ptr -> f32
          %below = llvm.mul %n, %sixteen overflow<nsw> : i32
          %right = llvm.add %below, %t overflow<nsw> : i32
          %b = llvm.getelementptr %q[%right] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %w = llvm.load %b : !llvm.ptr -> f32
          %m = llvm.fmul %v, %w : f32
          %more = llvm.fadd %s, %m : f32
          scf.yield %more : f32
        }
        %to = llvm.add %row, %t overflow<nsw> : i32
        %o = llvm.getelementptr %r[%to] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        llvm.store %sum, %o : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}

// A store in the loop may change what the other row reads.
// CHECK-LABEL: llvm.func @__regrain_block.do_not_join_what_stores
// CHECK-COUNT-1: llvm.fadd
// CHECK-NOT: llvm.fadd
// CHECK: llvm.return
llvm.func ptx_kernelcc @do_not_join_what_stores(%p: !llvm.ptr, %q: !llvm.ptr)
llvm.func @__regrain_launch.do_not_join_what_stores(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @do_not_join_what_stores} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %sixteen = arith.constant 16 : i32
  %none = llvm.mlir.constant(0.0 : f32) : f32
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %q = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @do_not_join_what_stores grid(%g, %c1, %c1) block(%c16, %c16, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c16, %c16, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i32
        %u = arith.index_cast %y : index to i32
        %row = llvm.mul %u, %sixteen overflow<nsw> : i32
        %to = llvm.add %row, %t overflow<nsw> : i32
        %o = llvm.getelementptr %q[%to] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %sum = scf.for %n = %zero to %sixteen step %one iter_args(%s = %none) -> (f32) : i32 {
          %below = llvm.mul %n, %sixteen overflow<nsw> : i32
          %right = llvm.add %below, %t overflow<nsw> : i32
          %b = llvm.getelementptr %p[%right] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %w = llvm.load %b : !llvm.ptr -> f32
          %more = llvm.fadd %s, %w : f32
          llvm.store %more, %o : f32, !llvm.ptr
          scf.yield %more : f32
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
