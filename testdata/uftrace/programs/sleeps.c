/* Functions that wait: switches of the processor. */
#include <unistd.h>

void nap(void)
{
	usleep(2000);
}

void naps(void)
{
	nap();
	nap();
}

int main(void)
{
	for (int i = 0; i < 3; i++)
		naps();
	return 0;
}
