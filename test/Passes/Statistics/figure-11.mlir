// RUN: %regrain-opt %s --regrain-print-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=ORIGINAL
// RUN: %regrain-opt %s --regrain-coarsen-blocks='factor=2' --regrain-print-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: %regrain-opt %s --regrain-coarsen-threads='factor=2' --regrain-print-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: %regrain-opt %s --regrain-coarsen-threads='factor=2 indexing=adjacent' --regrain-print-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=NAIVE
// RUN: %regrain-opt %s --regrain-coarsen-threads='factor=2' --regrain-coarsen-blocks='factor=2' --regrain-print-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=BOTH

// One load of global memory for each element, whatever the grain; neighbouring threads read neighbouring elements unless the
// elements of a thread are next to each other.
func.func @loads(%p: !llvm.ptr, %g: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %e = regrain.gpu_wrapper @k grid(%g, %c1, %c1) block(%c128, %c1, %c1) {
    scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%g, %c1, %c1) step (%c1, %c1, %c1) {
      %tile = regrain.shared : !llvm.array<128 x f32> -> !llvm.ptr<3>
      scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%c128, %c1, %c1) step (%c1, %c1, %c1) {
        %base = arith.muli %i, %c128 : index
        %at0 = arith.addi %base, %x : index
        %l = arith.index_cast %at0 : index to i64
        %at = llvm.getelementptr %p[%l] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %at : !llvm.ptr -> f32
        %t = arith.index_cast %x : index to i64
        %s = llvm.getelementptr %tile[%t] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        llvm.store %v, %s : f32, !llvm.ptr<3>
        scf.reduce
      }
      scf.reduce
    }
  }
  func.return %e : i32
}

// ORIGINAL-LABEL: statistics of k at grain original
// ORIGINAL: grid: arg1, 1, 1
// ORIGINAL: block: 128, 1, 1
// ORIGINAL: global load, coalesced: 1 of 4 bytes, 4 sectors
// ORIGINAL: shared store, coalesced: 1 of 4 bytes, 1 passes
// ORIGINAL: loads in flight: 1
// ORIGINAL: static shared memory: 512

// BLOCKS-LABEL: statistics of k at grain b2x1x1{{$}}
// BLOCKS: grid: (arg1 / 2), 1, 1
// BLOCKS: block: 128, 1, 1
// BLOCKS: global load, coalesced: 2 of 4 bytes, 4 sectors; per original thread 1
// BLOCKS: shared store, coalesced: 2 of 4 bytes, 1 passes; per original thread 1
// BLOCKS: loads in flight: 2
// BLOCKS: static shared memory: 1024
// What is left over runs as it was.
// BLOCKS-LABEL: statistics of k at grain original, epilogue
// BLOCKS: global load, coalesced: 1 of 4 bytes, 4 sectors

// THREADS-LABEL: statistics of k at grain t2x1x1
// THREADS: block: 64, 1, 1
// THREADS: global load, coalesced: 2 of 4 bytes, 4 sectors; per original thread 1
// THREADS: shared store, coalesced: 2 of 4 bytes, 1 passes; per original thread 1
// THREADS: loads in flight: 2

// NAIVE-LABEL: statistics of k at grain t2x1x1
// NAIVE: global load, strided by 8 bytes: 2 of 4 bytes, 8 sectors, 1 cached; per original thread 1
// NAIVE: shared store, strided by 8 bytes: 2 of 4 bytes, 2 passes; per original thread 1

// BOTH-LABEL: statistics of k at grain b2x1x1t2x1x1{{$}}
// BOTH: global load, coalesced: 4 of 4 bytes, 4 sectors; per original thread 1
// BOTH: loads in flight: 4
