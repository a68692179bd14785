// RUN: %regrain-opt %s --regrain-forward-stores | FileCheck %s

// What a loop stores goes where a later one writes all of it before anyone reads, and where nobody reads any more.
// CHECK-LABEL: func.func @written_again
// CHECK: scf.for
// CHECK-NOT: llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr{{ *$}}
// CHECK: llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr<3>
// CHECK: regrain.barrier
// CHECK: scf.for
// CHECK: llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr{{ *$}}
// CHECK: scf.for
// CHECK: llvm.load
// CHECK-NOT: llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr{{ *$}}
// CHECK: return
func.func @written_again(%in: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%b) = (%c0) to (%c64) step (%c1) {
    %tile = regrain.shared : !llvm.array<64 x i32> -> !llvm.ptr<3>
    scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
      %one = llvm.mlir.constant(1 : i64) : i64
      %zero = llvm.mlir.constant(0 : i64) : i64
      %many = llvm.mlir.constant(15 : i64) : i64
      %items = llvm.alloca %one x !llvm.array<15 x i32> : (i64) -> !llvm.ptr
      %others = llvm.alloca %one x !llvm.array<16 x i32> : (i64) -> !llvm.ptr
      %start = llvm.load %others : !llvm.ptr -> i32
      scf.for %i = %zero to %many step %one : i64 {
        %a = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %v = llvm.load %a : !llvm.ptr -> i32
        %p = llvm.getelementptr %items[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        llvm.store %v, %p : i32, !llvm.ptr
        %q = llvm.getelementptr %tile[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<64 x i32>
        llvm.store %v, %q : i32, !llvm.ptr<3>
      }
      regrain.barrier(%x, %y, %z)
      scf.for %i = %zero to %many step %one : i64 {
        %q = llvm.getelementptr %tile[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<64 x i32>
        %v = llvm.load %q : !llvm.ptr<3> -> i32
        %p = llvm.getelementptr %items[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        llvm.store %v, %p : i32, !llvm.ptr
      }
      regrain.barrier(%x, %y, %z)
      scf.for %i = %zero to %many step %one : i64 {
        %p = llvm.getelementptr %items[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %v = llvm.load %p : !llvm.ptr -> i32
        %w = llvm.add %v, %v : i32
        %q = llvm.getelementptr %tile[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<64 x i32>
        llvm.store %w, %q : i32, !llvm.ptr<3>
        %r = llvm.sub %many, %i : i64
        %p2 = llvm.getelementptr %others[%r] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        llvm.store %w, %p2 : i32, !llvm.ptr
      }
      scf.reduce
    }
  }
  return
}

// One element stays; a later round reads; only some rounds write again; a condition may leave it.
// CHECK-LABEL: func.func @do_not_erase
// CHECK: scf.for
// CHECK: llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr{{ *$}}
// CHECK: scf.for
// CHECK: llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr{{ *$}}
// CHECK: scf.for
// CHECK: scf.if
// CHECK: llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr{{ *$}}
// CHECK: scf.for
// CHECK: llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr{{ *$}}
// CHECK: return
func.func @do_not_erase(%in: !llvm.ptr, %out: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
    %one = llvm.mlir.constant(1 : i64) : i64
    %zero = llvm.mlir.constant(0 : i64) : i64
    %many = llvm.mlir.constant(15 : i64) : i64
    %fewer = llvm.mlir.constant(14 : i64) : i64
    %five = llvm.mlir.constant(5 : i32) : i32
    %items = llvm.alloca %one x !llvm.array<15 x i32> : (i64) -> !llvm.ptr
    scf.for %i = %zero to %many step %one : i64 {
      %a = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %v = llvm.load %a : !llvm.ptr -> i32
      %p = llvm.getelementptr %items[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      llvm.store %v, %p : i32, !llvm.ptr
    }
    scf.for %i = %zero to %fewer step %one : i64 {
      %p = llvm.getelementptr %items[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      llvm.store %five, %p : i32, !llvm.ptr
    }
    scf.for %i = %zero to %many step %one : i64 {
      %go = llvm.icmp "slt" %i, %n : i64
      scf.if %go {
        %p = llvm.getelementptr %items[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        llvm.store %five, %p : i32, !llvm.ptr
      }
    }
    %last = llvm.getelementptr %items[%n] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %w = llvm.load %last : !llvm.ptr -> i32
    %sum = scf.for %i = %zero to %n step %one iter_args(%s = %w) -> i32 : i64 {
      %p = llvm.getelementptr %items[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %v = llvm.load %last : !llvm.ptr -> i32
      llvm.store %s, %p : i32, !llvm.ptr
      %t = llvm.add %s, %v : i32
      scf.yield %t : i32
    }
    llvm.store %sum, %out : i32, !llvm.ptr
    scf.reduce
  }
  return
}
