// RUN: %regrain-opt %s --regrain-lower-cpu="register-bits=256 registers=16" | FileCheck %s
// RUN: %regrain-opt %s --regrain-lower-cpu="register-bits=512 registers=32" | FileCheck %s --check-prefix=WIDE

// Lanes that store anywhere go one by one where a processor has no scatters: the index of each, as narrow as it is, leads to its place.
// CHECK-LABEL: llvm.func @__regrain_block.anywhere
// CHECK-NOT: llvm.intr.masked.scatter
// CHECK: %[[VALUE:.*]] = llvm.extractelement %[[VALUES:.*]][%{{.*}} : i32] : vector<8xi32>
// CHECK: %[[AT:.*]] = llvm.extractelement %[[TO:.*]][%{{.*}} : i32] : vector<8xi32>
// CHECK: %[[INDEX:.*]] = llvm.zext %[[AT]] : i32 to i64
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[OUT:.*]][%[[INDEX]]] : (!llvm.ptr, i64) -> !llvm.ptr, i32
// CHECK: llvm.store %[[VALUE]], %[[PLACE]] {alignment = 4 : i64} : i32, !llvm.ptr
// CHECK: llvm.extractelement %[[VALUES]][
// CHECK: llvm.extractelement %[[TO]][
// CHECK-NOT: llvm.intr.masked.scatter
// CHECK: llvm.return
// WIDE-LABEL: llvm.func @__regrain_block.anywhere
// WIDE: llvm.intr.masked.scatter
llvm.func ptx_kernelcc @anywhere(%p: !llvm.ptr, %q: !llvm.ptr)
llvm.func @__regrain_launch.anywhere(%args: !llvm.ptr, %gx: i32, %gy: i32, %gz: i32, %bx: i32, %by: i32, %bz: i32, %bytes: i64, %stream: !llvm.ptr) -> i32 attributes {regrain.launch = @anywhere} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %slot = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %p = llvm.load %slot {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %second = llvm.load %next : !llvm.ptr -> !llvm.ptr
  %q = llvm.load %second {regrain.kernel_arg = 1 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @anywhere grid(%g, %c1, %c1) block(%c64, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c64, %c1, %c1) step (%c1, %c1, %c1) {
        %t = arith.index_cast %x : index to i64
        %a = llvm.getelementptr %p[%t] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %to = llvm.load %a : !llvm.ptr -> i32
        %w = llvm.mul %to, %to : i32
        %u = llvm.add %w, %to : i32
        %v = llvm.mul %u, %w : i32
        %wide = llvm.zext %to : i32 to i64
        %b = llvm.getelementptr %q[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        llvm.store %v, %b : i32, !llvm.ptr
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return %e : i32
}
