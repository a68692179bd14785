// RUN: cat %s | %regrain-opt - --canonicalize | FileCheck %s
// RUN: %regrain-opt %s -o %t && FileCheck %s --input-file=%t
// RUN: %regrain-opt %s --mlir-print-ir-after-all --regrain-eliminate-redundant-barriers 2>&1 | FileCheck %s --check-prefix=AFTER
// RUN: %regrain-opt %s -debug-only=regrain-eliminate-redundant-barriers --regrain-eliminate-redundant-barriers 2>&1 >/dev/null | FileCheck %s --check-prefix=DEBUG
// RUN: %regrain-opt %s --debug-only=some-other-pass --regrain-eliminate-redundant-barriers 2>&1 >/dev/null | count 0
// RUN: %regrain-opt %s --dump-pass-pipeline --regrain-eliminate-redundant-barriers 2>&1 >/dev/null | FileCheck %s --check-prefix=PIPELINE
// RUN: %regrain-opt --help | FileCheck %s --check-prefix=HELP
// RUN: %regrain-opt --show-dialects %s | FileCheck %s --check-prefix=DIALECTS

// CHECK: func.func @f
// AFTER: IR Dump After {{.*}}regrain-eliminate-redundant-barriers
// DEBUG: DEBUG regrain-eliminate-redundant-barriers: removed 0 barriers
// PIPELINE: regrain-eliminate-redundant-barriers
// HELP: --regrain-eliminate-redundant-barriers
// DIALECTS: regrain

func.func @f() {
  return
}
