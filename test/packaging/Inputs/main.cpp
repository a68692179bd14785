#include <cstdio>
extern "C" int sum();
int main() { printf("sum %d\n", sum()); }
