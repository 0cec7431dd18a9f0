/* Calls that are left by longjmp, and a function that ends the program. */
#include <setjmp.h>
#include <stdlib.h>

static jmp_buf place;

void deepest(void)
{
	longjmp(place, 1);
}

void deeper(void)
{
	deepest();
}

void again(void)
{
}

void leave(void)
{
	again();
	exit(0);
}

int main(void)
{
	for (volatile int i = 0; i < 3; i++) {
		if (setjmp(place) == 0)
			deeper();
		again();
	}
	leave();
	return 0;
}
