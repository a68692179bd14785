// __managed__ variables: one object that host and device name alike.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

__managed__ int count = 40;
__managed__ float values[8];
struct Node {
  int key;
  Node *next;
};
__managed__ Node *head;

__global__ void use() {
  if (threadIdx.x == 0)
    count += 2;
  values[threadIdx.x] = threadIdx.x * 0.5f;
  if (threadIdx.x == 3)
    head->next->key *= 2;
}

int main() {
  EXPECT(count == 40);
  count = 50;
  head = managed<Node>(2);
  head->next = head + 1;
  head->next->key = 21;
  use<<<1, 8>>>();
  finish_kernel();
  EXPECT_AT(0, count, 52);
  EXPECT_AT(0, head[1].key, 42);
  for (int i = 0; i < 8; ++i)
    EXPECT_AT(i, values[i], i * 0.5f);
  return result();
}
