// RUN: %regrain-opt %s --regrain-eliminate-redundant-barriers | FileCheck %s

// Which accesses are each thread's own, and which may meet.

// CHECK-LABEL: func.func @one_place_for_each_thread
func.func @one_place_for_each_thread(%n: index, %p: !llvm.ptr, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    %tile = regrain.shared : !llvm.array<64 x f32> -> !llvm.ptr<3>
    scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
      // CHECK: scf.parallel
      // CHECK: scf.parallel
      // CHECK-NOT: regrain.barrier
      %t = arith.index_cast %x : index to i32
      %i = llvm.sext %t : i32 to i64
      %a = llvm.getelementptr %tile[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<64 x f32>
      llvm.store %f, %a : f32, !llvm.ptr<3>
      regrain.barrier(%x)
      %v = llvm.load %a : !llvm.ptr<3> -> f32
    }
  }
  return
}

// Rows and columns: a thread is one place if its column is less than the length of a row.
// CHECK-LABEL: func.func @two_dimensions
func.func @two_dimensions(%n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    %tile = regrain.shared : !llvm.array<16 x array<16 x f32>> -> !llvm.ptr<3>
    scf.parallel (%x, %y) = (%c0, %c0) to (%c16, %c16) step (%c1, %c1) {
      // CHECK-NOT: regrain.barrier
      // CHECK: llvm.store
      // CHECK-NOT: regrain.barrier
      %i = arith.index_cast %x : index to i64
      %j = arith.index_cast %y : index to i64
      %row = llvm.getelementptr %tile[0, %j] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<16 x array<16 x f32>>
      %a = llvm.getelementptr %row[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<16 x f32>
      llvm.store %f, %a : f32, !llvm.ptr<3>
      regrain.barrier(%x, %y)
      %v = llvm.load %a : !llvm.ptr<3> -> f32
    }
  }
  return
}

// A row of 17 columns may be one place with the next row's first.
// CHECK-LABEL: func.func @do_not_remove_where_rows_overlap
func.func @do_not_remove_where_rows_overlap(%n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c17 = arith.constant 17 : index
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    %tile = regrain.shared : !llvm.array<17 x array<16 x f32>> -> !llvm.ptr<3>
    scf.parallel (%x, %y) = (%c0, %c0) to (%c17, %c17) step (%c1, %c1) {
      // CHECK: llvm.store
      // CHECK: regrain.barrier
      %i = arith.index_cast %x : index to i64
      %j = arith.index_cast %y : index to i64
      %row = llvm.getelementptr %tile[0, %j] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<17 x array<16 x f32>>
      %a = llvm.getelementptr %row[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<16 x f32>
      llvm.store %f, %a : f32, !llvm.ptr<3>
      regrain.barrier(%x, %y)
      %v = llvm.load %a : !llvm.ptr<3> -> f32
    }
  }
  return
}

// The size of the second dimension is not known: threads of one column share a place.
// CHECK-LABEL: func.func @do_not_remove_where_another_dimension_repeats
func.func @do_not_remove_where_another_dimension_repeats(%n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    %tile = regrain.shared : !llvm.array<16 x f32> -> !llvm.ptr<3>
    scf.parallel (%x, %y) = (%c0, %c0) to (%c16, %n) step (%c1, %c1) {
      // CHECK: llvm.store
      // CHECK: regrain.barrier
      %i = arith.index_cast %x : index to i64
      %a = llvm.getelementptr %tile[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<16 x f32>
      llvm.store %f, %a : f32, !llvm.ptr<3>
      regrain.barrier(%x, %y)
      %v = llvm.load %a : !llvm.ptr<3> -> f32
    }
  }
  return
}

// CHECK-LABEL: func.func @do_not_remove_before_reading_a_neighbour
func.func @do_not_remove_before_reading_a_neighbour(%n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    %tile = regrain.shared : !llvm.array<65 x f32> -> !llvm.ptr<3>
    %c64 = arith.constant 64 : index
    scf.parallel (%x) = (%c0) to (%c64) step (%c1) {
      // CHECK: llvm.store
      // CHECK: regrain.barrier
      // CHECK: llvm.load
      %one = llvm.mlir.constant(1 : i64) : i64
      %i = arith.index_cast %x : index to i64
      %next = llvm.add %i, %one : i64
      %a = llvm.getelementptr %tile[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<65 x f32>
      %b1 = llvm.getelementptr %tile[0, %next] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<65 x f32>
      llvm.store %f, %a : f32, !llvm.ptr<3>
      regrain.barrier(%x)
      %v = llvm.load %b1 : !llvm.ptr<3> -> f32
    }
  }
  return
}

// Copies of a coarsened thread: places apart by as many as there are threads.
// CHECK-LABEL: func.func @copies_of_a_thread
func.func @copies_of_a_thread(%n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    %tile = regrain.shared : !llvm.array<64 x f32> -> !llvm.ptr<3>
    scf.parallel (%x) = (%c0) to (%c32) step (%c1) {
      // CHECK-NOT: regrain.barrier
      // CHECK: llvm.store
      // CHECK-NOT: regrain.barrier
      %y = arith.addi %x, %c32 : index
      %i = arith.index_cast %x : index to i64
      %j = arith.index_cast %y : index to i64
      %p = llvm.getelementptr %tile[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<64 x f32>
      %q = llvm.getelementptr %tile[0, %j] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<64 x f32>
      llvm.store %f, %p : f32, !llvm.ptr<3>
      llvm.store %f, %q : f32, !llvm.ptr<3>
      regrain.barrier(%x)
      %v = llvm.load %p : !llvm.ptr<3> -> f32
      %w = llvm.load %q : !llvm.ptr<3> -> f32
    }
  }
  return
}

// Different objects.
// CHECK-LABEL: func.func @two_tiles
func.func @two_tiles(%n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    %one = regrain.shared : f32 -> !llvm.ptr<3>
    %two = regrain.shared : f32 -> !llvm.ptr<3>
    scf.parallel (%x) = (%c0) to (%n) step (%c1) {
      // CHECK-NOT: regrain.barrier
      // CHECK: llvm.store
      // CHECK-NOT: regrain.barrier
      llvm.store %f, %one : f32, !llvm.ptr<3>
      regrain.barrier(%x)
      %v = llvm.load %two : !llvm.ptr<3> -> f32
    }
  }
  return
}

// Even and odd places never meet, however far their numbers reach; places three apart may.
// CHECK-LABEL: func.func @even_and_odd
func.func @even_and_odd(%n: index, %p: !llvm.ptr, %f: f32, %some: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %one = llvm.mlir.constant(1 : i32) : i32
  %two = llvm.mlir.constant(2 : i32) : i32
  %three = llvm.mlir.constant(3 : i32) : i32
  %own = regrain.shared : !llvm.array<256 x i32> -> !llvm.ptr<3>
  scf.parallel (%x) = (%c0) to (%c256) step (%c1) {
    // CHECK: llvm.store
    // CHECK-NOT: regrain.barrier
    // CHECK: llvm.load %{{.*}} : !llvm.ptr -> f32
    // CHECK: regrain.barrier
    // CHECK: llvm.store
    %t = arith.index_cast %x : index to i64
    %mine = llvm.getelementptr %own[0, %t] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<256 x i32>
    %k = llvm.load %mine : !llvm.ptr<3> -> i32
    %even = llvm.mul %k, %two overflow<nsw> : i32
    %odd = llvm.add %even, %one overflow<nsw> : i32
    %third = llvm.mul %k, %three overflow<nsw> : i32
    %at = llvm.getelementptr %p[%even] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    llvm.store %f, %at : f32, !llvm.ptr
    regrain.barrier(%x)
    %other = llvm.getelementptr %p[%odd] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %v = llvm.load %other : !llvm.ptr -> f32
    regrain.barrier(%x)
    %far = llvm.getelementptr %p[%third] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    llvm.store %v, %far : f32, !llvm.ptr
  }
  return
}

// The address of one of them gets away.
// CHECK-LABEL: func.func @do_not_remove_where_an_address_escapes
func.func @do_not_remove_where_an_address_escapes(%n: index, %f: f32, %box: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    %one = regrain.shared : f32 -> !llvm.ptr<3>
    scf.parallel (%x) = (%c0) to (%n) step (%c1) {
      // CHECK: llvm.store
      // CHECK: regrain.barrier
      // CHECK: llvm.load
      %generic = llvm.addrspacecast %one : !llvm.ptr<3> to !llvm.ptr
      llvm.store %generic, %box : !llvm.ptr, !llvm.ptr
      llvm.store %f, %one : f32, !llvm.ptr<3>
      regrain.barrier(%x)
      %p = llvm.load %box : !llvm.ptr -> !llvm.ptr
      %v = llvm.load %p : !llvm.ptr -> f32
    }
  }
  return
}

// Unsigned arithmetic of 32 bits may wrap, but not so that two threads meet.
// CHECK-LABEL: func.func @a_number_that_may_wrap
func.func @a_number_that_may_wrap(%n: index, %p: !llvm.ptr, %first: i32, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  scf.parallel (%x) = (%c0) to (%c256) step (%c1) {
    // CHECK-NOT: regrain.barrier
    // CHECK: llvm.store
    // CHECK-NOT: regrain.barrier
    %t = arith.index_cast %x : index to i32
    %i = llvm.add %first, %t : i32
    %j = llvm.sext %i : i32 to i64
    %a = llvm.getelementptr %p[%j] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %f, %a : f32, !llvm.ptr
    regrain.barrier(%x)
    %v = llvm.load %a : !llvm.ptr -> f32
  }
  return
}

// Numbers of 8 bits wrap within a block.
// CHECK-LABEL: func.func @do_not_remove_where_numbers_wrap
func.func @do_not_remove_where_numbers_wrap(%n: index, %p: !llvm.ptr, %first: i8, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  scf.parallel (%x) = (%c0) to (%c512) step (%c1) {
    // CHECK: llvm.store
    // CHECK: regrain.barrier
    %t = arith.index_cast %x : index to i8
    %i = llvm.add %first, %t : i8
    %j = llvm.sext %i : i8 to i64
    %a = llvm.getelementptr %p[%j] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %f, %a : f32, !llvm.ptr
    regrain.barrier(%x)
    %v = llvm.load %a : !llvm.ptr -> f32
  }
  return
}
