// What only instruction selection decides: waits around barriers, instructions for each kind of memory, vectors, no scratch.

// REQUIRES: cuda-toolkit
// RUN: %regrain --offload-arch=gfx90a -O2 --cuda-device-only -S %s -o %t.90a.s
// RUN: FileCheck %s --check-prefixes=ALL,GFX9 --input-file=%t.90a.s
// RUN: %regrain --offload-arch=gfx1030 -O2 --cuda-device-only -S %s -o %t.1030.s
// RUN: FileCheck %s --check-prefixes=ALL,GFX10 --input-file=%t.1030.s

// ALL: .amdhsa_code_object_version 4

__constant__ float table[4];

// What was written before the barrier has arrived before it; of the dispatch packet the block's size is read.
// ALL-LABEL: {{^}}_Z4tilePKfPfi:
// ALL: s_load_dword {{s[0-9]+}}, {{.*}}, 0x4
// ALL: global_load_dword {{v[0-9]+}}
// ALL: ds_write_b32
// ALL: s_waitcnt lgkmcnt(0)
// ALL: s_barrier
// ALL: ds_read_b32
// ALL: global_store_dword
// ALL: s_endpgm
// ALL: ; ScratchSize: 0
__global__ void tile(const float *a, float *b, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = a[i];
  __syncthreads();
  b[i] = s[255 - threadIdx.x] + table[threadIdx.x & 3];
}

// A structure by value is read where the launch put it.
// ALL-LABEL: {{^}}_Z6bounds4Args:
// ALL-NOT: buffer_
// ALL-NOT: ds_
// ALL: s_load_dword
// ALL: s_endpgm
// ALL: .amdhsa_private_segment_fixed_size 0
// ALL: ; ScratchSize: 0
struct Args {
  float *p;
  int n;
  float f[6];
};
__global__ void __launch_bounds__(256, 4) bounds(Args args) { args.p[threadIdx.x] = args.f[args.n & 3]; }

// ALL-LABEL: {{^}}_Z7vectorsPK6float4PS_:
// ALL: global_load_dwordx4
// ALL: global_store_dwordx4
// ALL: s_endpgm
// ALL: ; ScratchSize: 0
__global__ void vectors(const float4 *a, float4 *b) { b[threadIdx.x] = a[threadIdx.x]; }

// Dynamic shared memory begins where the kernel's own ends.
// ALL-LABEL: {{^}}_Z7dynamicPf:
// ALL: ds_write_b32
// ALL: s_barrier
// ALL: ds_read_b32
// ALL: .amdhsa_group_segment_fixed_size 0
__global__ void dynamic(float *a) {
  extern __shared__ float d[];
  d[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  a[threadIdx.x] = d[threadIdx.x ^ 1];
}

// Lanes are those of one's own 32: on waves of 64 the other half is masked out of the lane and shifted out of the ballot.
// ALL-LABEL: {{^}}_Z5warpsPi:
// GFX9: v_mbcnt_hi_u32_b32
// GFX9: v_and_b32_e32 {{v[0-9]+}}, 0xfc,
// GFX10-NOT: v_mbcnt_hi
// ALL: ds_bpermute_b32
// GFX9: v_and_b32_e32 {{v[0-9]+}}, 32,
// GFX9: v_lshrrev_b64
// GFX10-NOT: v_lshrrev_b64
// GFX9: v_bcnt_u32_b32
// GFX10: s_bcnt1_i32_b32 {{s[0-9]+}}, vcc_lo
// ALL: s_endpgm
__global__ void warps(int *a) {
  int v = a[threadIdx.x];
  v += __shfl_xor_sync(~0u, v, 16);
  a[threadIdx.x] = v + __popc(__ballot_sync(~0u, v > 0));
}

// Atomics of the device are relaxed; a fence of the device makes what others wrote visible.
// ALL-LABEL: {{^}}_Z7atomicsPi:
// ALL-NOT: buffer_
// ALL: global_atomic_add
// GFX9: buffer_wbinvl1_vol
// GFX10: buffer_gl1_inv
// GFX10: buffer_gl0_inv
// ALL: s_endpgm
__global__ void atomics(int *a) {
  atomicAdd(a, 1);
  __threadfence();
  a[1] = a[2];
}

// An atomic operation of the source has the order that it asks for, here of the whole system.
// ALL-LABEL: {{^}}_Z6strongPi:
// GFX9: buffer_wbl2
// GFX9: global_atomic_add
// GFX9: s_waitcnt vmcnt(0)
// GFX9: buffer_invl2
// GFX9: global_load_dword
// GFX10: global_atomic_add
// GFX10: buffer_gl1_inv
// GFX10: buffer_gl0_inv
// GFX10: global_load_dword
// ALL: s_endpgm
__global__ void strong(int *a) {
  __atomic_fetch_add(a, 1, __ATOMIC_SEQ_CST);
  a[1] = a[2];
}

// The wave is named in the kernel's descriptor.
// GFX10: .amdhsa_wavefront_size32 1
