// RUN: %regrain-opt %s --regrain-vectorize-blocks=lanes=4 | FileCheck %s

// Each element lies beside those of the other blocks; what the block computes and loads for itself each lane does.
// CHECK-LABEL: llvm.func @together
// CHECK: scf.parallel (%[[I:.*]], %{{.*}}, %{{.*}}) =
// CHECK: %[[TILE:.*]] = regrain.shared "tile" : !llvm.array<128 x i32>
// CHECK: %[[FIRST:.*]] = llvm.load
// CHECK: %[[ALLOWED:.*]] = arith.constant true
// CHECK: %[[TILES:.*]] = regrain.shared "tile" align 64 {regrain.of_blocks = 4 : i64} : !llvm.array<128 x array<4 x i32>>
// CHECK: %[[MANY:.*]] = regrain.take_blocks 4 if %[[ALLOWED]]
// CHECK: scf.if %[[MANY]] {
// CHECK: scf.parallel (%[[B:.*]], %[[X:.*]], %[[Y:.*]]) = ({{.*}}) to (%{{.*}}, %{{.*}}, %{{.*}})
// CHECK: %[[BLOCK:.*]] = arith.addi %[[I]], %[[B]] : index
// CHECK: %[[N:.*]] = arith.index_cast %[[BLOCK]] : index to i64
// CHECK: %[[AT:.*]] = llvm.getelementptr %{{.*}}[%[[N]]]
// CHECK: llvm.load %[[AT]]
// CHECK: arith.index_cast %[[BLOCK]] : index to i32
// CHECK: arith.index_cast %[[X]] : index to i32
// CHECK: %[[OWN:.*]] = llvm.getelementptr %[[TILES]][0, %{{.*}}] : {{.*}}, !llvm.array<128 x array<4 x i32>>
// CHECK: %[[LANE:.*]] = arith.index_castui %[[B]] : index to i64
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[OWN]][%[[LANE]]] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i32
// CHECK: llvm.store %{{.*}}, %[[PLACE]] {alignment = 4 : i64}
// CHECK: regrain.barrier(%[[B]], %[[X]], %[[Y]])
// CHECK: %[[OTHER:.*]] = llvm.getelementptr %[[OWN]][%{{.*}}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<4 x i32>
// CHECK: llvm.getelementptr %[[OTHER]][4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.array<4 x i8>
// CHECK: } else {
// CHECK: llvm.getelementptr %[[TILE]][0, %{{.*}}] : {{.*}}, !llvm.array<128 x i32>
// CHECK: } {regrain.of_blocks = 4 : i64}
llvm.func @together(%p: !llvm.ptr, %gx: i32, %bx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %most = llvm.mlir.constant(6 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @together grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared "tile" : !llvm.array<128 x i32> -> !llvm.ptr<3>
      %at = arith.index_cast %i : index to i64
      %from = llvm.getelementptr %in[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %first = llvm.load %from : !llvm.ptr -> i32
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<128 x i32>
        llvm.store %first, %own {alignment = 8 : i64} : i32, !llvm.ptr<3>
        scf.for %s = %zero to %most step %one : i32 {
          regrain.barrier(%x, %y, %z)
          %other = llvm.getelementptr %own[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          %next = llvm.getelementptr %other[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
          %v = llvm.load %next : !llvm.ptr<3> -> i32
          regrain.barrier(%x, %y, %z)
          llvm.store %v, %own : i32, !llvm.ptr<3>
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}

// Dynamic shared memory of all of them must have room.
// CHECK-LABEL: llvm.func @dynamic
// CHECK: %[[MOST:.*]] = arith.constant 32768 : i64
// CHECK: %[[FITS:.*]] = arith.cmpi ule, %{{.*}}, %[[MOST]] : i64
// CHECK: %[[ALLOWED:.*]] = arith.andi %{{.*}}, %[[FITS]] : i1
// CHECK: %[[FOUR:.*]] = arith.constant 4 : i64
// CHECK: %[[ALL:.*]] = arith.muli %{{.*}}, %[[FOUR]] : i64
// CHECK: regrain.dynamic_shared %[[ALL]] align 64
// CHECK: regrain.take_blocks 4 if %[[ALLOWED]]
llvm.func @dynamic(%p: !llvm.ptr, %gx: i32, %bx: i32, %bytes: i64, %stream: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = arith.constant 64 : index
  %g = arith.index_castui %gx : i32 to index
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %most = llvm.mlir.constant(6 : i32) : i32
  %in = llvm.load %p {regrain.kernel_arg = 0 : i64} : !llvm.ptr -> !llvm.ptr
  %e = regrain.gpu_wrapper @dynamic grid(%g, %c1, %c1) block(%b, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.dynamic_shared %bytes : i64 -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%b, %c1, %c1) step (%c1, %c1, %c1) {
        %block = arith.index_cast %i : index to i32
        %t = arith.index_cast %x : index to i32
        %own = llvm.getelementptr %tile[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<128 x i32>
        llvm.store %block, %own {alignment = 8 : i64} : i32, !llvm.ptr<3>
        scf.for %s = %zero to %most step %one : i32 {
          regrain.barrier(%x, %y, %z)
          %other = llvm.getelementptr %own[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          %next = llvm.getelementptr %other[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
          %v = llvm.load %next : !llvm.ptr<3> -> i32
          regrain.barrier(%x, %y, %z)
          llvm.store %v, %own : i32, !llvm.ptr<3>
        }
        scf.reduce
      }
      scf.reduce
    }
  }
  llvm.return
}
