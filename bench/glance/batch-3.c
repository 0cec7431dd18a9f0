/* Bins the events of a detector block by block and finds the fullest bin of each block. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define BINS (256u * 1024u)
#define BLOCKS 1500u
#define EVENTS 500u

struct event {
	uint32_t channel, energy;
};

static void decode_block(struct event *events, uint32_t block)
{
	uint32_t state = block * 2654435761u + 1;

	for (unsigned i = 0; i < EVENTS; i++) {
		state = state * 1664525u + 1013904223u;
		events[i].channel = (state >> 8) % BINS;
		events[i].energy = state >> 28;
	}
}

static uint32_t *bins_create(void)
{
	void *bins = mmap(NULL, BINS * sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	if (bins == MAP_FAILED) {
		perror("bins");
		exit(1);
	}
	return bins;
}

static void bins_destroy(uint32_t *bins)
{
	munmap(bins, BINS * sizeof(uint32_t));
}

static uint32_t bin_events(uint32_t *bins, const struct event *events)
{
	uint32_t fullest = 0;

	for (unsigned i = 0; i < EVENTS; i++) {
		uint32_t *bin = &bins[events[i].channel];

		*bin += events[i].energy;
		if (*bin > fullest)
			fullest = *bin;
	}
	return fullest;
}

static uint32_t fit_peak(const struct event *events)
{
	uint32_t best = 0;

	for (unsigned i = 0; i < EVENTS; i++)
		for (unsigned j = i; j < i + 40 && j < EVENTS; j++)
			best ^= events[i].energy * events[j].channel + (best >> 3);
	return best;
}

int main(void)
{
	static struct event events[EVENTS];
	uint64_t sum = 0;

	for (uint32_t block = 0; block < BLOCKS; block++) {
		uint32_t *bins = bins_create();

		decode_block(events, block);
		sum += bin_events(bins, events);
		sum += fit_peak(events) & 1;
		bins_destroy(bins);
	}
	printf("%u blocks, %llu\n", BLOCKS, (unsigned long long)sum);
	return 0;
}
