//===- regrain.td - the regrain dialect ---------------------------------------===//
//
// GPU kernels as parallel loops inside host code. See docs in the descriptions below;
// dialects/docs/regrain.md is generated from this file.
//
//===--------------------------------------------------------------------------===//

#ifndef REGRAIN_TD
#define REGRAIN_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Dialect/LLVMIR/LLVMTypes.td"

def Regrain_Dialect : Dialect {
  let name = "regrain";
  let cppNamespace = "::regrain";
  let summary = "GPU kernels as parallel loops, at any grain";
  let description = [{
    A kernel launch is a `regrain.gpu_wrapper` around two nests of `scf.parallel`: the outer over
    the blocks of the grid, the inner over the threads of a block. Synchronisation names the loop
    that it belongs to by taking all of that loop's induction variables as operands:

    ```mlir
    %err = regrain.gpu_wrapper grid(%gx, %gy, %gz) block(%bx, %by, %bz) stream(%s : !llvm.ptr) {
      scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%gx, %gy, %gz) step (%c1, %c1, %c1) {
        %tile = regrain.shared : !llvm.array<256 x f32> -> !llvm.ptr<3>
        scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%bx, %by, %bz) step (%c1, %c1, %c1) {
          regrain.barrier(%x, %y, %z)
        }
      }
    }
    ```

    Warps are 32 lanes wide on every target, in CUDA's linear thread order.

    ## Attributes

    Facts of kernels, launches and values are discardable attributes. The dialect verifies each: the operation that it
    stands on, the type and the range of its value, and what it needs beside it. An attribute `regrain.*` that is not in
    this list is an error. Names of functions are unique labels, nothing is read from them.

    On the host function (`llvm.func`) that holds a launch:

    | attribute | value | meaning |
    |---|---|---|
    | `regrain.launch` | `@k` | launches kernel `k` as the program does |
    | `regrain.dispatch` | `@k` | launches versions of kernel `k`; its launches may be changed |
    | `regrain.block_shape` | `array<i64: x, y, z>` | the only block shape that it is for (also on a version) |
    | `regrain.seldom` | unit | no launch is expected to need it (also on a version) |
    | `regrain.doubtful` | unit | another one is for the launches that are expected, by a guess (also on a version) |
    | `regrain.sole` | unit | no launch of another shape is expected, and none is made for all shapes (also on a version) |
    | `regrain.content` | 32 hexadecimal digits | hash of what the kernel does |
    | `regrain.space` | text | the grains that are tried for its launch |
    | `regrain.omitted` | array of arrays of three texts | the grains that are not among its alternatives: grain, `declined` or `pruned`, reason |
    | `regrain.host` | unit | it belongs to the host's half (also on `llvm.mlir.global`) |

    On a function (`llvm.func`) that runs one block of a kernel on the CPU:

    | attribute | value | meaning |
    |---|---|---|
    | `regrain.block_of` | text | the kernel; `regrain.block_shape`, `regrain.seldom`, `regrain.doubtful`, `regrain.sole`, and of a version `regrain.static_shared` and `regrain.max_threads`, are its |
    | `regrain.parameter_sizes` | array of i64 | of a version, the bytes of each parameter |

    On the declaration (`llvm.func`) of a kernel:

    | attribute | value | meaning |
    |---|---|---|
    | `regrain.version_of` | `@k` | it was made of a changed launch of kernel `k` |
    | `regrain.grain`, `regrain.thread_grain` | `array<i64: x, y, z>` | how many original blocks one of its blocks is, and threads one of its threads |
    | `regrain.rest` | dimension, i64 | it runs what coarse blocks leave over in this dimension |
    | `regrain.static_shared` | bytes, i64 | static shared memory of a block (on a dispatch function: of its versions, the most) |
    | `regrain.max_threads` | `array<i64: n>` | launch bound: the most threads of a block, one to three factors |
    | `regrain.required_threads` | `array<i64: x, y, z>` | launch bound: the shape that blocks must have |
    | `regrain.min_blocks` | i64 | launch bound: blocks that are to be resident at once |
    | `regrain.cluster_shape` | `array<i64: x, y, z>` | blocks of a cluster |
    | `regrain.max_cluster` | i64 | the most blocks of a cluster |
    | `regrain.linkage`, `regrain.comdat` | those of `llvm.func` | what its definition had |
    | `regrain.not_raised` | text | why it has no parallel form |

    On `regrain.gpu_wrapper`:

    | attribute | value | meaning |
    |---|---|---|
    | `regrain.grain`, `regrain.thread_grain` | `array<i64: x, y, z>` | as above |
    | `regrain.tasks` | i32 | how many of its blocks a CPU's thread takes at once |
    | `regrain.epilogue` | unit | it runs the blocks that a coarse launch beside it leaves over |
    | `regrain.original` | unit | it is the launch that the program wrote, in a function that may be changed |
    | `regrain.kept` | unit | nothing may change it |
    | `regrain.optimised` | unit | it was optimised |
    | `regrain.not_split` | text | why its block loop cannot be split at barriers |

    Elsewhere:

    | attribute | on | value | meaning |
    |---|---|---|---|
    | `regrain.handle` | `llvm.mlir.global` | `@k` | its address stands for kernel `k` in launches; with `regrain.rest` if that kernel has it |
    | `regrain.kernel_arg` | an operation with one result | number, i64 | the result is this argument of the kernel |
    | `regrain.unchanging` | a load | unit | nothing writes that memory while the kernel runs |
    | `regrain.reused` | `llvm.alloca` | unit | threads of a block use this memory in turn |
    | `regrain.interleaved` | `llvm.alloca` | i64 | each element of so many bytes lies beside those of the other threads |
    | `regrain.guarded` | `llvm.alloca` | unit | memory of a block, with room on both sides for what lies beside the lanes of a row |
    | `regrain.own` | `llvm.alloca` | unit | nothing points to it but what is computed of its address; each thread's part is its own, or barriers order it |
    | `regrain.taken_by_row` | `llvm.func` | unit | whoever runs its thread loop asks for each row |
    | `regrain.together` | `scf.if` | unit | the threads of a block meet inside of it, so all of them take it or none, but for those that have ended |
    | `regrain.convex` | `scf.if` | unit | what the `arith.ori` of the condition joins, each for itself, holds for all blocks between two along x for which it holds |
    | `regrain.rows` | `scf.for` | unit | the loop over the rows of a block's threads, between two barriers: its rounds may run in any order |
    | `regrain.of_blocks` | an operation with one result, `scf.if` | i64, at least 1 | shared memory of so many blocks that go together; the choice between them and one block |
    | `regrain.asm_attributes` | `llvm.inline_asm` | text | attributes of the call that MLIR has no place for |
    | `regrain.grid_constant` | an argument of `llvm.func` | unit | a `__grid_constant__` parameter |
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect"];
}

class Regrain_Op<string mnemonic, list<Trait> traits = []>
    : Op<Regrain_Dialect, mnemonic, traits>;

def Regrain_SharedPtr : Type<
    CPred<"::llvm::isa<::mlir::LLVM::LLVMPointerType>($_self) && "
          "::llvm::cast<::mlir::LLVM::LLVMPointerType>($_self).getAddressSpace() == 3">,
    "pointer to shared memory (!llvm.ptr<3>)">,
    BuildableType<"::mlir::LLVM::LLVMPointerType::get($_builder.getContext(), 3)">;

def Regrain_Word : AnyTypeOf<[I32, I64, F32, F64], "32 or 64 bit integer or float">;

// Reads and writes of everything, so that no memory access moves across.
def Regrain_Fence : MemoryEffects<[MemRead, MemWrite]>;

//===--------------------------------------------------------------------------===//
// Launch
//===--------------------------------------------------------------------------===//

def Regrain_GpuWrapperOp : Regrain_Op<"gpu_wrapper",
    [AttrSizedOperandSegments, RecursiveMemoryEffects, SingleBlock, NoTerminator]> {
  let summary = "A kernel launch: grid and block loops inside host code";
  let description = [{
    Runs its region as a kernel. `grid` and `block` hold three sizes each; the region holds one
    grid loop (`scf.parallel` over the blocks) with one block loop inside. Operations beside the
    grid loop compute values that are uniform over the grid. `shared` is the number of bytes of
    dynamic shared memory of each block, `stream` the stream that the launch goes to. The result
    is the error code of the launch (a `cudaError_t`).

    The optional symbol names the kernel.

    ```mlir
    %err = regrain.gpu_wrapper @kernel grid(%gx, %gy, %gz) block(%bx, %by, %bz)
        shared(%bytes : i64) stream(%s : !llvm.ptr) {
      scf.parallel ...
    }
    ```
  }];
  let arguments = (ins
    Variadic<Index>:$grid,
    Variadic<Index>:$block,
    Optional<AnySignlessIntegerOrIndex>:$sharedBytes,
    Optional<LLVM_AnyPointer>:$stream,
    OptionalAttr<FlatSymbolRefAttr>:$kernel);
  let results = (outs I32:$error);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    ($kernel^)? `grid` `(` $grid `)` `block` `(` $block `)`
    (`shared` `(` $sharedBytes^ `:` type($sharedBytes) `)`)?
    (`stream` `(` $stream^ `:` type($stream) `)`)?
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

//===--------------------------------------------------------------------------===//
// Synchronisation of a block
//===--------------------------------------------------------------------------===//

def Regrain_BarrierOp : Regrain_Op<"barrier", [AttrSizedOperandSegments, Regrain_Fence]> {
  let summary = "All iterations of a parallel loop wait for one another";
  let description = [{
    The operands are the induction variables, all and in order, of one enclosing `scf.parallel`:
    the barrier belongs to that loop, and control flow around it is uniform over it. Memory
    accesses before the barrier are visible to all iterations after it.

    `id` is the number of a named barrier (0 when absent), `count` the number of participating
    threads where that is not the whole block, `unaligned` says that the threads of a warp may
    arrive separately. At a barrier of the `grid` the threads of all blocks wait for one another;
    it has neither number nor count.

    ```mlir
    regrain.barrier(%x, %y, %z)
    regrain.barrier(%x, %y, %z) id %id count %n {unaligned}
    regrain.barrier(%x, %y, %z) {grid}
    ```
  }];
  let arguments = (ins Variadic<Index>:$ivs, Optional<I32>:$id, Optional<I32>:$count,
                       UnitAttr:$unaligned, UnitAttr:$grid);
  let assemblyFormat = "`(` $ivs `)` (`id` $id^)? (`count` $count^)? attr-dict";
  let hasVerifier = 1;
}

def Regrain_ReduceKind : I32EnumAttr<"ReduceKind", "what a barrier reduces with", [
    I32EnumAttrCase<"Popc", 0, "popc">, I32EnumAttrCase<"And", 1, "and">, I32EnumAttrCase<"Or", 2, "or">]> {
  let cppNamespace = "::regrain";
}

def Regrain_BarrierReduceOp : Regrain_Op<"barrier_reduce", [AttrSizedOperandSegments, Regrain_Fence]> {
  let summary = "A barrier that combines one predicate of each thread";
  let description = [{
    As `regrain.barrier`, and every thread gets the number of threads whose predicate holds
    (`popc`, i32), whether all (`and`, i1) or any (`or`, i1) hold: `__syncthreads_count`,
    `__syncthreads_and`, `__syncthreads_or`.

    ```mlir
    %n = regrain.barrier_reduce popc %p (%x, %y, %z) : i32
    ```
  }];
  let arguments = (ins Regrain_ReduceKind:$kind, I1:$predicate, Variadic<Index>:$ivs,
                       Optional<I32>:$id);
  let results = (outs AnyTypeOf<[I1, I32]>:$result);
  let assemblyFormat = [{
    $kind $predicate `(` $ivs `)` (`id` $id^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

//===--------------------------------------------------------------------------===//
// Shared memory
//===--------------------------------------------------------------------------===//

def Regrain_SharedOp : Regrain_Op<"shared", []> {
  let summary = "A static allocation of shared memory, one for each block";
  let description = [{
    Stands inside a grid loop and outside of its block loop. The memory lives as long as the
    iteration of the grid loop; its contents are undefined at the start. `name` is that of the
    `__shared__` variable.

    ```mlir
    %tile = regrain.shared : !llvm.array<16 x array<16 x f32>> -> !llvm.ptr<3>
    %tile = regrain.shared "tile" align 16 : !llvm.array<64 x f32> -> !llvm.ptr<3>
    ```
  }];
  let arguments = (ins TypeAttr:$type, OptionalAttr<I64Attr>:$alignment,
                       OptionalAttr<StrAttr>:$name);
  let results = (outs Res<Regrain_SharedPtr, "", [MemAlloc]>:$pointer);
  let assemblyFormat = [{
    ($name^)? (`align` $alignment^)? attr-dict `:` $type `->` type($pointer)
  }];
  let hasVerifier = 1;
}

def Regrain_DynamicSharedOp : Regrain_Op<"dynamic_shared", []> {
  let summary = "The dynamic shared memory of a block";
  let description = [{
    The address of the `bytes` bytes of dynamic shared memory (`extern __shared__`) of a block.
    Several such operations in one block give the same address. Stands inside a grid loop and
    outside of its block loop.

    ```mlir
    %dyn = regrain.dynamic_shared %bytes : i64 -> !llvm.ptr<3>
    ```
  }];
  let arguments = (ins AnySignlessIntegerOrIndex:$bytes, OptionalAttr<I64Attr>:$alignment);
  let results = (outs Res<Regrain_SharedPtr, "", [MemAlloc]>:$pointer);
  let assemblyFormat = [{
    $bytes (`align` $alignment^)? attr-dict `:` type($bytes) `->` type($pointer)
  }];
  let hasVerifier = 1;
}

def Regrain_TakeBlocksOp : Regrain_Op<"take_blocks", [Regrain_Fence]> {
  let summary = "Several blocks that follow one another in x run as one";
  let description = [{
    Whether `count` blocks, from the one of the grid loop's iteration on along x, are left to whoever runs
    it, and `allowed` holds. If so they are taken: the iteration stands for all of them, and those behind
    it have been run. Stands inside a grid loop and outside of its block loop.

    ```mlir
    %many = regrain.take_blocks 8 if %fits
    ```
  }];
  let arguments = (ins I64Attr:$count, I1:$allowed);
  let results = (outs I1:$taken);
  let assemblyFormat = "$count `if` $allowed attr-dict";
  let hasVerifier = 1;
}

//===--------------------------------------------------------------------------===//
// Alternatives
//===--------------------------------------------------------------------------===//

def Regrain_AlternativesOp : Regrain_Op<"alternatives",
    [RecursiveMemoryEffects, NoRegionArguments, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "The same computation at several grains";
  let description = [{
    Exactly one region runs; all compute the same, and `regrain.yield` gives the results of the one
    that ran. `descriptions` says for each what it is.

    ```mlir
    %err = regrain.alternatives ["original", "b2x1x1"] -> i32 {
      %e = regrain.gpu_wrapper ...
      regrain.yield %e : i32
    }, {
      ...
    }
    ```
  }];
  let arguments = (ins StrArrayAttr:$descriptions);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region VariadicRegion<SizedRegion<1>>:$choices);
  let assemblyFormat = [{
    $descriptions (`->` type($results)^)? attr-dict-with-keyword $choices
  }];
  let hasVerifier = 1;
}

def Regrain_YieldOp : Regrain_Op<"yield", [Pure, Terminator, HasParent<"AlternativesOp">]> {
  let summary = "Ends an alternative and gives its results";
  let description = [{
    The operands become the results of the enclosing `regrain.alternatives`. Not written where
    there are none.

    ```mlir
    regrain.yield %e : i32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ (void)$_builder; (void)$_state; }]>];
}

//===--------------------------------------------------------------------------===//
// Warps
//===--------------------------------------------------------------------------===//

def Regrain_ShuffleKind : I32EnumAttr<"ShuffleKind", "how a shuffle finds its source lane", [
    I32EnumAttrCase<"Idx", 0, "idx">, I32EnumAttrCase<"Up", 1, "up">, I32EnumAttrCase<"Down", 2, "down">,
    I32EnumAttrCase<"Bfly", 3, "bfly">]> {
  let cppNamespace = "::regrain";
}

def Regrain_ShuffleOp : Regrain_Op<"shuffle",
    [Regrain_Fence, TypesMatchWith<"the value and the result have one type", "value", "result",
                                   "$_self">]> {
  let summary = "Exchange of a value between the lanes of a warp";
  let description = [{
    `shfl.sync`: the lanes named in `mask` exchange `value`; `offset` and `clamp` are PTX's `b` and
    `c` operands. `inBounds` tells whether the source lane was in range. The loop is the block loop
    whose warps take part.

    ```mlir
    %r, %ok = regrain.shuffle down %v, %offset, %clamp mask %mask (%x, %y, %z) : f32
    ```
  }];
  let arguments = (ins Regrain_ShuffleKind:$kind, Regrain_Word:$value, I32:$offset, I32:$clamp,
                       I32:$mask, Variadic<Index>:$ivs);
  let results = (outs Regrain_Word:$result, I1:$inBounds);
  let assemblyFormat = [{
    $kind $value `,` $offset `,` $clamp `mask` $mask `(` $ivs `)` attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
}

def Regrain_VoteKind : I32EnumAttr<"VoteKind", "what a vote asks", [
    I32EnumAttrCase<"All", 0, "all">, I32EnumAttrCase<"Any", 1, "any">, I32EnumAttrCase<"Uni", 2, "uni">,
    I32EnumAttrCase<"Ballot", 3, "ballot">]> {
  let cppNamespace = "::regrain";
}

def Regrain_VoteOp : Regrain_Op<"vote", [Regrain_Fence]> {
  let summary = "A vote among the lanes of a warp";
  let description = [{
    `vote.sync`: over the lanes in `mask`, whether the predicate holds for `all`, for `any`, or is
    equal in all (`uni`), as i1; or the mask of the lanes for which it holds (`ballot`, i32).

    ```mlir
    %b = regrain.vote ballot %p mask %mask (%x, %y, %z) : i32
    ```
  }];
  let arguments = (ins Regrain_VoteKind:$kind, I1:$predicate, I32:$mask, Variadic<Index>:$ivs);
  let results = (outs AnyTypeOf<[I1, I32]>:$result);
  let assemblyFormat = [{
    $kind $predicate `mask` $mask `(` $ivs `)` attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Regrain_MatchKind : I32EnumAttr<"MatchKind", "what a match asks", [
    I32EnumAttrCase<"Any", 0, "any">, I32EnumAttrCase<"All", 1, "all">]> {
  let cppNamespace = "::regrain";
}

def Regrain_MatchOp : Regrain_Op<"match", [Regrain_Fence]> {
  let summary = "Finds the lanes of a warp that hold equal values";
  let description = [{
    `match.sync`: `any` gives the mask of the lanes whose value equals this lane's; `all` gives
    `mask` if all lanes hold one value, else 0. `allEqual` says whether all lanes hold one value.

    ```mlir
    %m, %all = regrain.match any %v mask %mask (%x, %y, %z) : i32
    ```
  }];
  let arguments = (ins Regrain_MatchKind:$kind, AnyTypeOf<[I32, I64]>:$value, I32:$mask,
                       Variadic<Index>:$ivs);
  let results = (outs I32:$lanes, I1:$allEqual);
  let assemblyFormat = [{
    $kind $value `mask` $mask `(` $ivs `)` attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
}

def Regrain_WarpReduceKind : I32EnumAttr<"WarpReduceKind", "what a warp reduces with", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Umin", 1, "umin">, I32EnumAttrCase<"Umax", 2, "umax">,
    I32EnumAttrCase<"Min", 3, "min">, I32EnumAttrCase<"Max", 4, "max">, I32EnumAttrCase<"And", 5, "and">,
    I32EnumAttrCase<"Or", 6, "or">, I32EnumAttrCase<"Xor", 7, "xor">]> {
  let cppNamespace = "::regrain";
}

def Regrain_WarpReduceOp : Regrain_Op<"warp_reduce", [Regrain_Fence]> {
  let summary = "Reduction over the lanes of a warp";
  let description = [{
    `redux.sync`: every lane in `mask` gets the reduction of the values of all of them.

    ```mlir
    %r = regrain.warp_reduce add %v mask %mask (%x, %y, %z)
    ```
  }];
  let arguments = (ins Regrain_WarpReduceKind:$kind, I32:$value, I32:$mask, Variadic<Index>:$ivs);
  let results = (outs I32:$result);
  let assemblyFormat = "$kind $value `mask` $mask `(` $ivs `)` attr-dict";
  let hasVerifier = 1;
}

def Regrain_WarpCallOp : Regrain_Op<"warp_call", [AttrSizedOperandSegments, Regrain_Fence]> {
  let summary = "All lanes of a warp compute something together";
  let description = [{
    A function of the target's library that takes `values` of all lanes and gives each lane its
    results, as matrix instructions do. It accesses no memory. All lanes of the warp take part; values
    and results are words of one size.

    ```mlir
    %d:2 = regrain.warp_call @f(%a, %b) lanes(%x, %y, %z) : (i32, i32) -> (i32, i32)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$function, Variadic<AnyTypeOf<[I32, I64]>>:$values,
                       Variadic<Index>:$ivs);
  let results = (outs Variadic<AnyTypeOf<[I32, I64]>>:$results);
  let assemblyFormat = [{
    $function `(` $values `)` `lanes` `(` $ivs `)` attr-dict `:` functional-type($values, $results)
  }];
  let hasVerifier = 1;
}

def Regrain_ActiveMaskOp : Regrain_Op<"active_mask", [Regrain_Fence]> {
  let summary = "The lanes of this warp that execute together now";
  let description = [{
    `activemask`. Depends on control flow, hence ordered like a barrier.

    ```mlir
    %m = regrain.active_mask(%x, %y, %z)
    ```
  }];
  let arguments = (ins Variadic<Index>:$ivs);
  let results = (outs I32:$mask);
  let assemblyFormat = "`(` $ivs `)` attr-dict";
  let hasVerifier = 1;
}

def Regrain_WarpBarrierOp : Regrain_Op<"warp_barrier", [Regrain_Fence]> {
  let summary = "The lanes of a warp wait for one another";
  let description = [{
    `__syncwarp(mask)`: memory accesses before are visible to the lanes in `mask` after.

    ```mlir
    regrain.warp_barrier %mask (%x, %y, %z)
    ```
  }];
  let arguments = (ins I32:$mask, Variadic<Index>:$ivs);
  let assemblyFormat = "$mask `(` $ivs `)` attr-dict";
  let hasVerifier = 1;
}

def Regrain_LaneIdOp : Regrain_Op<"lane_id", [Pure]> {
  let summary = "The number of this thread within its warp";
  let description = [{
    The linear thread index within the block, modulo 32.

    ```mlir
    %lane = regrain.lane_id(%x, %y, %z)
    ```
  }];
  let arguments = (ins Variadic<Index>:$ivs);
  let results = (outs I32:$lane);
  let assemblyFormat = "`(` $ivs `)` attr-dict";
  let hasVerifier = 1;
}

def Regrain_WarpIdOp : Regrain_Op<"warp_id", [Pure]> {
  let summary = "The number of this thread's warp within its block";
  let description = [{
    The linear thread index within the block, divided by 32.

    ```mlir
    %warp = regrain.warp_id(%x, %y, %z)
    ```
  }];
  let arguments = (ins Variadic<Index>:$ivs);
  let results = (outs I32:$warp);
  let assemblyFormat = "`(` $ivs `)` attr-dict";
  let hasVerifier = 1;
}

#endif
