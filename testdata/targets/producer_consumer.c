/*
 * A slow producer: producer_consumer [ITEMS]
 *
 * The thread "producer" makes items (make_item: 8 ms until the input has come, here nanosleep, and
 * 2 ms of CPU time) and puts them into a queue (put_item). Two threads "consumer-1" and
 * "consumer-2" take them (take_item) and use each for 1 ms of CPU time (use_item): most of their
 * time they wait in pthread_cond_wait for the producer.
 *
 * Each thread prints how long it took for all that it did (teller.h); the phase "wait" of a
 * consumer is the time that it was in pthread_cond_wait, `times` how often; the phase "make" of the
 * producer the time in make_item.
 */
#include "teller.h"

#include <stdbool.h>

#define CONSUMERS 2
#define QUEUE_MAX 16

static struct {
	pthread_mutex_t lock;
	pthread_cond_t has_items, has_room;
	int items;
	bool is_closed; /* nothing more comes */
} queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false};

static int items_n = 100;

NOINLINE void make_item(void)
{
	sleep_ns(8 * MS);
	compute_until(cpu_ns() + 2 * MS);
}

NOINLINE void put_item(void)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.items == QUEUE_MAX)
		pthread_cond_wait(&queue.has_room, &queue.lock);
	queue.items++;
	pthread_mutex_unlock(&queue.lock);
	pthread_cond_signal(&queue.has_items);
}

NOINLINE void close_queue(void)
{
	pthread_mutex_lock(&queue.lock);
	queue.is_closed = true;
	pthread_mutex_unlock(&queue.lock);
	pthread_cond_broadcast(&queue.has_items);
}

/* False: there are no more. */
NOINLINE bool take_item(struct teller *consumer)
{
	bool is_there;

	pthread_mutex_lock(&queue.lock);
	while (queue.items == 0 && !queue.is_closed) {
		int64_t begin = now_ns();

		pthread_cond_wait(&queue.has_items, &queue.lock);
		consumer->phase_ns += now_ns() - begin;
		consumer->times++;
	}
	is_there = queue.items > 0;
	if (is_there)
		queue.items--;
	pthread_mutex_unlock(&queue.lock);
	pthread_cond_signal(&queue.has_room);
	return is_there;
}

NOINLINE void use_item(void)
{
	compute_until(cpu_ns() + 1 * MS);
}

NOINLINE void produce(struct teller *producer)
{
	producer->phase = "make";
	for (int i = 0; i < items_n; i++) {
		int64_t begin = now_ns();

		make_item();
		producer->phase_ns += now_ns() - begin;
		producer->times++;
		put_item();
	}
	close_queue();
}

NOINLINE void consume(struct teller *consumer)
{
	consumer->phase = "wait";
	while (take_item(consumer))
		use_item();
}

int main(int argc, char **argv)
{
	struct teller producer, consumers[CONSUMERS];

	if (argc > 1)
		items_n = atoi(argv[1]);
	start_teller(&producer, "producer", 0, produce);
	for (int i = 0; i < CONSUMERS; i++)
		start_teller(&consumers[i], "consumer", i + 1, consume);
	finish_teller(&producer);
	for (int i = 0; i < CONSUMERS; i++)
		finish_teller(&consumers[i]);
	return 0;
}
