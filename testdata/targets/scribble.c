/*
 * Writes anything over all memory that it shares with the recorder, and allocates meanwhile; ends with status 5. With status 3 if it finds no such
 * memory: it is not recorded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static unsigned long seed = 7;

static unsigned long random_word(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed;
}

/* The header, the slots, the beginnings of rings, or anywhere. */
static void scribble(char *area, size_t size)
{
	const size_t limits[] = {4096, 8192, 65536, size};
	unsigned long where = random_word() >> 20;
	volatile unsigned long *word =
		(volatile unsigned long *)(area + where / 16 % (limits[where % 4] / 8) * 8);

	switch (where / 4 % 3) {
	case 0:
		*word = random_word();
		break;
	case 1: /* a head that goes on */
		*word += 8;
		break;
	default: /* what might be a record */
		*word = (random_word() >> 60) << 48 | (random_word() >> 61) << 40 | (random_word() >> 62);
		break;
	}
}

int main(void)
{
	void *volatile block = malloc(10);
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long begin = 0, end = 0;
	char line[400];
	int found = 0;

	while (!found && maps != NULL && fgets(line, sizeof(line), maps) != NULL)
		found = strstr(line, "/memfd:ctxrec") != NULL && sscanf(line, "%lx-%lx", &begin, &end) == 2;
	if (!found)
		return 3;
	for (clock_t until = clock() + CLOCKS_PER_SEC / 10; clock() < until;) {
		for (int i = 0; i < 2000; i++) {
			scribble((char *)begin, end - begin);
			if (i % 10 == 0) {
				free(block);
				block = malloc(30);
			}
		}
	}
	return 5;
}
