// RUN: %regrain-opt %s --regrain-vectorize-threads="cost-model=false short=true" | FileCheck %s --check-prefixes=CHECK,SHORT
// RUN: %regrain-opt %s --regrain-vectorize-threads="cost-model=false" | FileCheck %s --check-prefixes=CHECK,FAST

// Code that is to be short has no copies for rows and rounds that all lanes take part in.
// CHECK-LABEL: llvm.func @long
// SHORT: scf.for %{{.*}} step %c8
// SHORT: arith.subi %{{.*}}, %[[FIRST:.*]] : index
// SHORT: scf.while
// SHORT: llvm.intr.masked.load
// SHORT-NOT: llvm.load
// SHORT: llvm.intr.masked.store
// SHORT-NOT: llvm.load
// FAST: llvm.load {{.*}} -> vector<8xi32>
// FAST: llvm.intr.masked.load
// FAST: llvm.store {{.*}} : vector<8xi32>
// CHECK: llvm.return
llvm.func @long(%a: !llvm.ptr, %out: !llvm.ptr, %threads: i64, %n: i32) {
  %nx = arith.index_cast %threads : i64 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %step = arith.constant 64 : i32
  %zero = arith.constant 0 : i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%nx, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %s = scf.for %k = %t to %n step %step iter_args(%sum = %zero) -> (i32) : i32 {
      %k64 = llvm.sext %k : i32 to i64
      %at = llvm.getelementptr inbounds %a[%k64] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %v = llvm.load %at : !llvm.ptr -> i32
      %p0 = llvm.mul %v, %v : i32
      %p1 = llvm.mul %p0, %v : i32
      %p2 = llvm.mul %p1, %v : i32
      %p3 = llvm.mul %p2, %v : i32
      %p4 = llvm.mul %p3, %v : i32
      %p5 = llvm.mul %p4, %v : i32
      %p6 = llvm.mul %p5, %v : i32
      %p7 = llvm.mul %p6, %v : i32
      %p8 = llvm.mul %p7, %v : i32
      %p9 = llvm.mul %p8, %v : i32
      %p10 = llvm.mul %p9, %v : i32
      %p11 = llvm.mul %p10, %v : i32
      %p12 = llvm.mul %p11, %v : i32
      %p13 = llvm.mul %p12, %v : i32
      %p14 = llvm.mul %p13, %v : i32
      %p15 = llvm.mul %p14, %v : i32
      %p16 = llvm.mul %p15, %v : i32
      %p17 = llvm.mul %p16, %v : i32
      %p18 = llvm.mul %p17, %v : i32
      %p19 = llvm.mul %p18, %v : i32
      %p20 = llvm.mul %p19, %v : i32
      %p21 = llvm.mul %p20, %v : i32
      %p22 = llvm.mul %p21, %v : i32
      %p23 = llvm.mul %p22, %v : i32
      %p24 = llvm.mul %p23, %v : i32
      %p25 = llvm.mul %p24, %v : i32
      %p26 = llvm.mul %p25, %v : i32
      %p27 = llvm.mul %p26, %v : i32
      %p28 = llvm.mul %p27, %v : i32
      %p29 = llvm.mul %p28, %v : i32
      %p30 = llvm.mul %p29, %v : i32
      %p31 = llvm.mul %p30, %v : i32
      %p32 = llvm.mul %p31, %v : i32
      %p33 = llvm.mul %p32, %v : i32
      %p34 = llvm.mul %p33, %v : i32
      %p35 = llvm.mul %p34, %v : i32
      %p36 = llvm.mul %p35, %v : i32
      %p37 = llvm.mul %p36, %v : i32
      %p38 = llvm.mul %p37, %v : i32
      %p39 = llvm.mul %p38, %v : i32
      %next = llvm.add %sum, %p39 : i32
      scf.yield %next : i32
    }
    %t64 = llvm.sext %t : i32 to i64
    %to = llvm.getelementptr inbounds %out[%t64] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    llvm.store %s, %to : i32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Where little is made twice it is.
// CHECK-LABEL: llvm.func @little
// CHECK: llvm.load {{.*}} -> vector<8xi32>
// CHECK: llvm.intr.masked.load
// CHECK: llvm.store {{.*}} : vector<8xi32>
// CHECK: llvm.return
llvm.func @little(%a: !llvm.ptr, %out: !llvm.ptr, %threads: i64, %n: i32) {
  %nx = arith.index_cast %threads : i64 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %step = arith.constant 64 : i32
  %zero = arith.constant 0 : i32
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%nx, %c1, %c1) step (%c1, %c1, %c1) {
    %t = arith.index_cast %x : index to i32
    %s = scf.for %k = %t to %n step %step iter_args(%sum = %zero) -> (i32) : i32 {
      %k64 = llvm.sext %k : i32 to i64
      %at = llvm.getelementptr inbounds %a[%k64] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %v = llvm.load %at : !llvm.ptr -> i32
      %p0 = llvm.mul %v, %v : i32
      %p1 = llvm.mul %p0, %v : i32
      %next = llvm.add %sum, %p1 : i32
      scf.yield %next : i32
    }
    %t64 = llvm.sext %t : i32 to i64
    %to = llvm.getelementptr inbounds %out[%t64] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    llvm.store %s, %to : i32, !llvm.ptr
    scf.reduce
  }
  llvm.return
}

// Memory of the block gets room around it, of however many elements it is: a row of which some threads take part loads all of it, and
// writes back what is not theirs.
// CHECK-LABEL: llvm.func @memory_of_each_thread
// SHORT: %[[BYTES:.*]] = llvm.mul %arg0, %{{.*}} : i64
// SHORT: %[[ROOM:.*]] = llvm.add %[[BYTES]], %{{.*}} : i64
// SHORT: llvm.alloca %[[ROOM]] x i8 {alignment = 64 : i64}
// SHORT-NOT: llvm.intr.masked
// SHORT: llvm.load %{{.*}} -> vector<8xi8>
// SHORT: %[[OLD:.*]] = llvm.load %{{.*}} -> vector<8xi8>
// SHORT: %[[KEPT:.*]] = llvm.freeze %[[OLD]]
// SHORT: %[[ALL:.*]] = llvm.select %{{.*}}, %{{.*}}, %[[KEPT]] : vector<8xi1>, vector<8xi8>
// SHORT: llvm.store %[[ALL]], {{.*}} : vector<8xi8>
// CHECK: llvm.return
llvm.func @memory_of_each_thread(%threads: i64) {
  %nx = arith.index_cast %threads : i64 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %own = llvm.alloca %threads x i8 {alignment = 64 : i64} : (i64) -> !llvm.ptr
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%nx, %c1, %c1) step (%c1, %c1, %c1) {
    %i = arith.index_cast %x : index to i64
    %a = llvm.getelementptr %own[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %v = llvm.load %a : !llvm.ptr -> i8
    %p0 = llvm.mul %v, %v : i8
    %p1 = llvm.mul %p0, %v : i8
    %p2 = llvm.mul %p1, %v : i8
    %p3 = llvm.mul %p2, %v : i8
    %p4 = llvm.mul %p3, %v : i8
    %p5 = llvm.mul %p4, %v : i8
    %p6 = llvm.mul %p5, %v : i8
    %p7 = llvm.mul %p6, %v : i8
    %p8 = llvm.mul %p7, %v : i8
    %p9 = llvm.mul %p8, %v : i8
    %p10 = llvm.mul %p9, %v : i8
    %p11 = llvm.mul %p10, %v : i8
    %p12 = llvm.mul %p11, %v : i8
    %p13 = llvm.mul %p12, %v : i8
    %p14 = llvm.mul %p13, %v : i8
    %p15 = llvm.mul %p14, %v : i8
    %p16 = llvm.mul %p15, %v : i8
    %p17 = llvm.mul %p16, %v : i8
    %p18 = llvm.mul %p17, %v : i8
    %p19 = llvm.mul %p18, %v : i8
    %p20 = llvm.mul %p19, %v : i8
    %p21 = llvm.mul %p20, %v : i8
    %p22 = llvm.mul %p21, %v : i8
    %p23 = llvm.mul %p22, %v : i8
    %p24 = llvm.mul %p23, %v : i8
    %p25 = llvm.mul %p24, %v : i8
    %p26 = llvm.mul %p25, %v : i8
    %p27 = llvm.mul %p26, %v : i8
    %p28 = llvm.mul %p27, %v : i8
    %p29 = llvm.mul %p28, %v : i8
    %p30 = llvm.mul %p29, %v : i8
    %p31 = llvm.mul %p30, %v : i8
    %p32 = llvm.mul %p31, %v : i8
    %p33 = llvm.mul %p32, %v : i8
    %p34 = llvm.mul %p33, %v : i8
    %p35 = llvm.mul %p34, %v : i8
    %p36 = llvm.mul %p35, %v : i8
    %p37 = llvm.mul %p36, %v : i8
    %p38 = llvm.mul %p37, %v : i8
    %p39 = llvm.mul %p38, %v : i8
    llvm.store %p39, %a : i8, !llvm.ptr
    scf.reduce
  }
  llvm.return
}
