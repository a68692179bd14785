// The stock mlir-opt runs our passes on our dialect, with one MLIR in the process.
// RUN: %mlir-opt --load-dialect-plugin=%regrain-plugin --load-pass-plugin=%regrain-plugin \
// RUN:   --pass-pipeline='builtin.module(any(regrain-eliminate-redundant-barriers),cse)' %s | FileCheck %s
// RUN: %mlir-opt --load-dialect-plugin=%regrain-plugin --load-pass-plugin=%regrain-plugin \
// RUN:   --show-dialects %s | FileCheck %s --check-prefix=DIALECTS
// RUN: llvm-readelf --needed-libs %regrain-plugin | FileCheck %s --check-prefix=NEEDED
// RUN: llvm-nm --dynamic --defined-only %regrain-plugin | FileCheck %s --check-prefix=SYMBOLS

// DIALECTS: regrain
// NEEDED: libMLIR.so
// SYMBOLS-DAG: mlirGetDialectPluginInfo
// SYMBOLS-DAG: mlirGetPassPluginInfo
// SYMBOLS-NOT: MLIRContext

// CHECK-LABEL: func.func @two_in_a_row
func.func @two_in_a_row(%n: index, %p: !llvm.ptr, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    // CHECK: regrain.barrier
    // CHECK-NOT: regrain.barrier
    llvm.store %f, %p : f32, !llvm.ptr
    regrain.barrier(%x)
    regrain.barrier(%x)
    llvm.store %f, %p : f32, !llvm.ptr
  }
  return
}
