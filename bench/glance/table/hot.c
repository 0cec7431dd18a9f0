/* A loop that takes all the time. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static unsigned long spin(unsigned long n)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < n; i++)
		sum += i * i ^ sum >> 3;
	return sum;
}

int main(int argc, char **argv)
{
	printf("%lu\n", spin((argc > 1 ? strtoul(argv[1], NULL, 10) : 600) * 1000000));
	return 0;
}
