// RUN: %regrain-opt %s --regrain-copy-at-once | FileCheck %s

llvm.mlir.global internal @tile() {addr_space = 3 : i32} : !llvm.array<2 x array<64 x struct<"float2", (f32, f32)>>>

llvm.func @__regrain_shared_pointer(i32) -> !llvm.ptr

// CHECK-LABEL: func.func @kinds
func.func @kinds(%from: !llvm.ptr, %bits: i64, %flag: i32, %read: i32, %n: index, %bytes: i64, %stream: !llvm.ptr) {
  %c1 = arith.constant 1 : index
  %r = regrain.gpu_wrapper @k grid(%c1, %c1, %c1) block(%n, %c1, %c1) shared(%bytes : i64) stream(%stream : !llvm.ptr) {
    %c0 = arith.constant 0 : index
    %step = arith.constant 1 : index
    scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%step, %step, %step) step (%step, %step, %step) {
      scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%step, %step, %step) step (%step, %step, %step) {
        %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
        %generic = llvm.addrspacecast %tile : !llvm.ptr<3> to !llvm.ptr
        %shared = llvm.addrspacecast %generic : !llvm.ptr to !llvm.ptr<3>
        %long = llvm.ptrtoint %shared : !llvm.ptr<3> to i64
        %number = llvm.trunc %long : i64 to i32
        %far = llvm.mlir.constant(64 : i32) : i32
        %behind = llvm.add %number, %far : i32
        %eight = llvm.mlir.constant(8 : i32) : i32

        // The elements are those of the array.
        // CHECK: %[[TILE:.*]] = llvm.addrspacecast %{{.*}} : !llvm.ptr<3> to !llvm.ptr
        // CHECK: %[[A:.*]] = llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> f32
        // CHECK: %[[B:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> f32
        // CHECK: llvm.store %[[A]], %{{.*}} {alignment = 8 : i64} : f32
        // CHECK: llvm.store %[[B]], %{{.*}} {alignment = 4 : i64} : f32
        llvm.inline_asm has_side_effects "cp.async.ca.shared.global.L2::128B [$0], [$1+16], $2, $2;", "r,l,n,~{memory}" %number, %from, %eight : (i32, !llvm.ptr, i32) -> ()

        // A number of an address, a sum, and a guard.
        // CHECK: %[[TAKEN:.*]] = arith.cmpi ne, %{{.*}}, %{{.*}} : i32
        // CHECK: scf.if %[[TAKEN]] {
        // CHECK: llvm.inttoptr
        // CHECK-COUNT-4: llvm.store {{.*}} : f32
        // CHECK: }
        llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, $0, 0; @p cp.async.cg.shared::cta.global [$1], [$2], 16; }", "r,r,l" %flag, %behind, %bits : (i32, i32, i64) -> ()

        // Fewer bytes than all: the others are zero.
        // CHECK: %[[ALL:.*]] = arith.cmpi uge, %{{.*}}, %{{.*}} : i32
        // CHECK: scf.if %[[ALL]] {
        // CHECK: llvm.store {{.*}} : f32
        // CHECK: } else {
        // CHECK: scf.for
        // CHECK: llvm.load {{.*}} -> i8
        // CHECK: llvm.store {{.*}} : i8
        llvm.inline_asm has_side_effects "cp.async.ca.shared.global [$0], [$1], 4, $2;", "r,l,r" %number, %from, %read : (i32, !llvm.ptr, i32) -> ()

        // The pointer that an address of 32 bits was made of.
        // CHECK: %[[WHOLE:.*]] = llvm.getelementptr
        // CHECK-NEXT: llvm.load %[[WHOLE]] : !llvm.ptr -> i64
        // CHECK: llvm.call @__regrain_shared_pointer(%{{.*}}) : (i32) -> !llvm.ptr
        // CHECK-NOT: @__regrain_shared_pointer
        %whole = llvm.call @__regrain_shared_pointer(%behind) : (i32) -> !llvm.ptr
        %word = llvm.load %whole : !llvm.ptr -> i64
        llvm.store %word, %from : i64, !llvm.ptr
        %unknown = llvm.call @__regrain_shared_pointer(%flag) : (i32) -> !llvm.ptr
        llvm.store %word, %unknown : i64, !llvm.ptr

        // CHECK-NOT: wait_group
        // CHECK-NOT: commit_group
        llvm.inline_asm has_side_effects "cp.async.commit_group;", "" : () -> ()
        %none = llvm.mlir.constant(0 : i32) : i32
        llvm.inline_asm has_side_effects "cp.async.wait_group $0;", "n" %none : (i32) -> ()

        // Left as they are: a number that nobody knows, a policy for caches, more than a copy.
        // CHECK: llvm.inline_asm {{.*}}"cp.async.ca.shared.global [$0], [$1], 4;"
        // CHECK: llvm.inline_asm {{.*}}cache_hint
        // CHECK: llvm.inline_asm {{.*}}ld.shared
        llvm.inline_asm has_side_effects "cp.async.ca.shared.global [$0], [$1], 4;", "r,l" %flag, %from : (i32, !llvm.ptr) -> ()
        llvm.inline_asm has_side_effects "cp.async.ca.shared.global.L2::cache_hint [$0], [$1], 4, $2;", "r,l,l" %number, %from, %bits : (i32, !llvm.ptr, i64) -> ()
        llvm.inline_asm has_side_effects "{ .reg .u32 a; cp.async.ca.shared.global [$0], [$1], 4; ld.shared.u32 a, [$0]; }", "r,l" %number, %from : (i32, !llvm.ptr) -> ()
        scf.reduce
      }
      scf.reduce
    }
  }
  return
}
