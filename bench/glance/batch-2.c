/* Reads scanned pages, evens out their lighting and counts the marks on them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH 1000
#define HEIGHT 700
#define PAGES 8u
#define RADIUS 9

struct page {
	uint8_t grey[HEIGHT][WIDTH];
};

static void read_page(struct page *page, uint32_t number)
{
	uint32_t state = number * 2654435761u + 1;

	for (int y = 0; y < HEIGHT; y++) {
		for (int x = 0; x < WIDTH; x++) {
			state = state * 1664525u + 1013904223u;
			page->grey[y][x] = (uint8_t)((state >> 26) + (uint32_t)(x * 90 / WIDTH) +
						     (uint32_t)(y * 90 / HEIGHT));
		}
	}
}

static void even_lighting(const struct page *in, struct page *out)
{
	for (int y = RADIUS; y < HEIGHT - RADIUS; y++) {
		for (int x = RADIUS; x < WIDTH - RADIUS; x++) {
			unsigned sum = 0, mean;

			for (int dy = -RADIUS; dy <= RADIUS; dy++)
				for (int dx = -RADIUS; dx <= RADIUS; dx++)
					sum += in->grey[y + dy][x + dx];
			mean = sum / ((2 * RADIUS + 1) * (2 * RADIUS + 1));
			out->grey[y][x] = (uint8_t)(128u + in->grey[y][x] - mean);
		}
	}
}

static unsigned count_marks(const struct page *page)
{
	unsigned marks = 0;

	for (int round = 0; round < 20; round++)
		for (int y = 1; y < HEIGHT; y++)
			for (int x = 1; x < WIDTH; x++)
				if (page->grey[y][x] > 140 + round && page->grey[y][x - 1] <= 140 + round &&
				    page->grey[y - 1][x] <= 140 + round)
					marks++;
	return marks;
}

int main(void)
{
	struct page *in = calloc(1, sizeof(*in)), *out = calloc(1, sizeof(*out));
	unsigned marks = 0;

	if (in == NULL || out == NULL)
		return 1;
	for (uint32_t number = 0; number < PAGES; number++) {
		read_page(in, number);
		even_lighting(in, out);
		marks += count_marks(out);
	}
	printf("%u marks on %u pages\n", marks, PAGES);
	free(in);
	free(out);
	return 0;
}
