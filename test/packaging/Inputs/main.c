#include <stdio.h>
int sum(void);
int main(void) { return printf("sum %d\n", sum()) < 0; }
