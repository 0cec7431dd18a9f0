/* Scores the blocks of an index with a pool of workers. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#define WORKERS 16
#define BLOCKS 1600u
#define BLOCK_SIZE 4096u

static atomic_uint next_block;
static atomic_ullong total;

static void load_block(uint32_t *block, uint32_t number)
{
	for (uint32_t i = 0; i < BLOCK_SIZE; i++)
		block[i] = (number * BLOCK_SIZE + i) * 2654435761u;
}

static uint64_t score_block(const uint32_t *block)
{
	uint64_t score = 0;

	for (int round = 0; round < 200; round++)
		for (uint32_t i = 0; i < BLOCK_SIZE; i++)
			score = (score ^ block[i]) * 1099511628211u;
	return score;
}

static void *work(void *unused)
{
	uint32_t block[BLOCK_SIZE];
	uint32_t number;

	pthread_setname_np(pthread_self(), "scorer");
	while ((number = atomic_fetch_add(&next_block, 1)) < BLOCKS) {
		load_block(block, number);
		atomic_fetch_add(&total, score_block(block));
	}
	return unused;
}

int main(void)
{
	pthread_t workers[WORKERS];

	for (int i = 0; i < WORKERS; i++)
		pthread_create(&workers[i], NULL, work, NULL);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	printf("%016llx\n", atomic_load(&total));
	return 0;
}
