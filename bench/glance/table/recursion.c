/* A function that calls itself 1,000 levels deep, and computes on each. */
#include <stdio.h>

__attribute__((noinline)) static unsigned long descend(unsigned level, unsigned long sum)
{
	for (unsigned i = 0; i < 600; i++)
		sum = sum * 31 + i;
	if (level != 0)
		sum += descend(level - 1, sum);
	return sum ^ level;
}

int main(void)
{
	unsigned long sum = 0;

	for (unsigned i = 0; i < 1500; i++)
		sum += descend(1000, i);
	printf("%lu\n", sum);
	return 0;
}
