// RUN: %regrain-opt %s --regrain-scope-debug-info --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: %regrain-opt %s --regrain-scope-debug-info --mlir-print-debuginfo | mlir-translate --mlir-to-llvmir - | FileCheck %s --check-prefix=LLVM

// The operations of a version say that they stand in the kernel that they come from; it gets a subprogram of its own.

// CHECK-LABEL: llvm.func @k(
// CHECK: llvm.load {{.*}} loc(fused<#llvm.di_subprogram<id = distinct[[K:\[[0-9]+\]]]<>
// CHECK-LABEL: llvm.func @k$b2x1x1(
// CHECK-NEXT: llvm.load {{.*}} loc(fused<#llvm.di_subprogram<id = distinct[[OWN:\[[0-9]+\]]]<>{{.*}}name = "k", linkageName = "k$b2x1x1"{{.*}}>["a.cu":5:12])
// Lexical blocks go along; what was inlined stays what it was, but for the place that it was inlined into.
// CHECK-NEXT: llvm.fadd {{.*}} loc(fused<#llvm.di_lexical_block<scope = #llvm.di_subprogram<id = distinct[[OWN]]<>{{.*}}>["a.cu":6:3])
// CHECK-NEXT: llvm.fmul {{.*}} loc(callsite(fused<#llvm.di_subprogram<id = distinct[[HELPER:\[[0-9]+\]]]<>{{.*}}name = "helper"{{.*}}>["a.cu":1:1] at fused<#llvm.di_subprogram<id = distinct[[OWN]]<>
// What the compiler made has line 0.
// CHECK-NEXT: llvm.store {{.*}} loc(fused<#llvm.di_subprogram<id = distinct[[OWN]]<>{{.*}}>["a.cu":0:0])
// CHECK-LABEL: llvm.func @nothing_known
// CHECK-NEXT: llvm.return loc("b.cu":3:1)

// LLVM: define void @"k$b2x1x1"(ptr %0) !dbg ![[#OWN:]]
// LLVM-NEXT: load float, ptr %0, align 4, !dbg ![[#LOAD:]]
// LLVM-DAG: ![[#OWN]] = distinct !DISubprogram(name: "k", linkageName: "k$b2x1x1",
// LLVM-DAG: ![[#LOAD]] = !DILocation(line: 5, column: 12, scope: ![[#OWN]])

#file = #llvm.di_file<"a.cu" in "/">
#unit = #llvm.di_compile_unit<id = distinct[0]<>, sourceLanguage = DW_LANG_C_plus_plus, file = #file, isOptimized = true, emissionKind = LineTablesOnly>
#type = #llvm.di_subroutine_type<>
#k = #llvm.di_subprogram<id = distinct[1]<>, compileUnit = #unit, scope = #file, name = "k", file = #file, line = 2, scopeLine = 2, subprogramFlags = "Definition|Optimized", type = #type>
#helper = #llvm.di_subprogram<id = distinct[2]<>, compileUnit = #unit, scope = #file, name = "helper", file = #file, line = 1, scopeLine = 1, subprogramFlags = "Definition|Optimized", type = #type>
#block = #llvm.di_lexical_block<scope = #k, file = #file, line = 6, column = 1>

llvm.func @k(%p: !llvm.ptr) {
  %a = llvm.load %p : !llvm.ptr -> f32 loc(#load)
  llvm.return loc(#load)
} loc(#start)

llvm.func @k$b2x1x1(%p: !llvm.ptr) {
  %a = llvm.load %p : !llvm.ptr -> f32 loc(#load)
  %b = llvm.fadd %a, %a : f32 loc(#sum)
  %c = llvm.fmul %b, %b : f32 loc(#inlined)
  llvm.store %c, %p : f32, !llvm.ptr loc(unknown)
  llvm.return loc(#load)
} loc("a.cu":2:0)

llvm.func @nothing_known() {
  llvm.return loc("b.cu":3:1)
} loc("b.cu":2:0)

#start = loc(fused<#k>["a.cu":2:0])
#load = loc(fused<#k>["a.cu":5:12])
#sum = loc(fused<#block>["a.cu":6:3])
#inside = loc(fused<#helper>["a.cu":1:1])
#at = loc(fused<#k>["a.cu":7:9])
#inlined = loc(callsite(#inside at #at))
