// RUN: %regrain-opt %s --regrain-split-barriers | FileCheck %s

// What a loop carries from round to round, what it starts with, what stands for it where it is left out, and what comes of it: one array of the threads.

// CHECK-LABEL: func.func @one
// CHECK-COUNT-1: llvm.alloca
// CHECK-NOT: llvm.alloca
// CHECK: return
func.func @one(%p: !llvm.ptr, %c: i1, %d: i1, %n: index, %g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %init = llvm.load %a : !llvm.ptr -> f32
        %u = scf.if %c -> (f32) {
          %l = scf.for %r = %c0 to %n step %c1 iter_args(%v = %init) -> (f32) {
            regrain.barrier(%x, %y, %z)
            %first = arith.cmpi eq, %r, %c0 : index
            %begin = arith.select %first, %zero, %v : f32
            %m = scf.for %q = %c0 to %n step %c1 iter_args(%w = %begin) -> (f32) {
              %o = llvm.load %p : !llvm.ptr -> f32
              %s = llvm.fadd %w, %o : f32
              scf.yield %s : f32
            }
            regrain.barrier(%x, %y, %z)
            scf.yield %m : f32
          }
          scf.yield %l : f32
        } else {
          scf.yield %init : f32
        }
        llvm.store %u, %a : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// What is read behind the loop is kept beside what the loop carries.
// CHECK-LABEL: func.func @read_behind
// CHECK-COUNT-2: llvm.alloca
// CHECK-NOT: llvm.alloca
// CHECK: return
func.func @read_behind(%p: !llvm.ptr, %c: i1, %d: i1, %n: index, %g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %init = llvm.load %a : !llvm.ptr -> f32
        %l = scf.for %r = %c0 to %n step %c1 iter_args(%v = %init) -> (f32) {
            regrain.barrier(%x, %y, %z)
            %first = arith.cmpi eq, %r, %c0 : index
            %begin = arith.select %first, %zero, %v : f32
            %m = scf.for %q = %c0 to %n step %c1 iter_args(%w = %begin) -> (f32) {
              %o = llvm.load %p : !llvm.ptr -> f32
              %s = llvm.fadd %w, %o : f32
              scf.yield %s : f32
            }
            regrain.barrier(%x, %y, %z)
            scf.yield %m : f32
          }
        %u = llvm.fadd %l, %init : f32
        llvm.store %u, %a : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// So it is where a branch behind the loop may want it.
// CHECK-LABEL: func.func @wanted_behind
// CHECK-COUNT-2: llvm.alloca
// CHECK-NOT: llvm.alloca
// CHECK: return
func.func @wanted_behind(%p: !llvm.ptr, %c: i1, %d: i1, %n: index, %g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %init = llvm.load %a : !llvm.ptr -> f32
        %u = scf.if %c -> (f32) {
          %l = scf.for %r = %c0 to %n step %c1 iter_args(%v = %init) -> (f32) {
            regrain.barrier(%x, %y, %z)
            %first = arith.cmpi eq, %r, %c0 : index
            %begin = arith.select %first, %zero, %v : f32
            %m = scf.for %q = %c0 to %n step %c1 iter_args(%w = %begin) -> (f32) {
              %o = llvm.load %p : !llvm.ptr -> f32
              %s = llvm.fadd %w, %o : f32
              scf.yield %s : f32
            }
            regrain.barrier(%x, %y, %z)
            scf.yield %m : f32
          }
          %h = scf.if %d -> (f32) {
            regrain.barrier(%x, %y, %z)
            scf.yield %l : f32
          } else {
            scf.yield %init : f32
          }
          scf.yield %h : f32
        } else {
          scf.yield %zero : f32
        }
        llvm.store %u, %a : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// And where the loop begins again.
// CHECK-LABEL: func.func @begun_again
// CHECK-COUNT-2: llvm.alloca
// CHECK-NOT: llvm.alloca
// CHECK: return
func.func @begun_again(%p: !llvm.ptr, %c: i1, %d: i1, %n: index, %g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %init = llvm.load %a : !llvm.ptr -> f32
        scf.for %again = %c0 to %n step %c1 {
          %l = scf.for %r = %c0 to %n step %c1 iter_args(%v = %init) -> (f32) {
            regrain.barrier(%x, %y, %z)
            %first = arith.cmpi eq, %r, %c0 : index
            %begin = arith.select %first, %zero, %v : f32
            %m = scf.for %q = %c0 to %n step %c1 iter_args(%w = %begin) -> (f32) {
              %o = llvm.load %p : !llvm.ptr -> f32
              %s = llvm.fadd %w, %o : f32
              scf.yield %s : f32
            }
            regrain.barrier(%x, %y, %z)
            scf.yield %m : f32
          }
          llvm.store %l, %a : f32, !llvm.ptr
          regrain.barrier(%x, %y, %z)
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}

// What a round makes has an array of its own where the number before is read once more.
// CHECK-LABEL: func.func @read_once_more
// CHECK-COUNT-2: llvm.alloca
// CHECK-NOT: llvm.alloca
// CHECK: return
func.func @read_once_more(%p: !llvm.ptr, %c: i1, %d: i1, %n: index, %g: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%b, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %init = llvm.load %a : !llvm.ptr -> f32
        %l = scf.for %r = %c0 to %n step %c1 iter_args(%v = %init) -> (f32) {
            regrain.barrier(%x, %y, %z)
            %first = arith.cmpi eq, %r, %c0 : index
            %begin = arith.select %first, %zero, %v : f32
            %m = scf.for %q = %c0 to %n step %c1 iter_args(%w = %begin) -> (f32) {
              %o = llvm.load %p : !llvm.ptr -> f32
              %s = llvm.fadd %w, %o : f32
              scf.yield %s : f32
            }
            regrain.barrier(%x, %y, %z)
            llvm.store %begin, %p : f32, !llvm.ptr
            scf.yield %m : f32
          }
        llvm.store %l, %a : f32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return
}
