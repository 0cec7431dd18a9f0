/* One thread receives orders, four fill them. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define ORDERS 400u
#define QUEUE 64u
#define FILLERS 4

struct order {
	uint64_t id, key;
};

static struct order queue[QUEUE];
static unsigned head, tail;
static bool closed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;

static uint64_t verify_signature(uint64_t key)
{
	for (int i = 0; i < 3000000; i++)
		key = key * 6364136223846793005u + 1442695040888963407u;
	return key;
}

static void queue_order(struct order order)
{
	pthread_mutex_lock(&lock);
	while (tail - head == QUEUE)
		pthread_cond_wait(&not_full, &lock);
	queue[tail++ % QUEUE] = order;
	pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&lock);
}

static bool take_order(struct order *order)
{
	bool taken = false;

	pthread_mutex_lock(&lock);
	while (head == tail && !closed)
		pthread_cond_wait(&not_empty, &lock);
	if (head != tail) {
		*order = queue[head++ % QUEUE];
		pthread_cond_signal(&not_full);
		taken = true;
	}
	pthread_mutex_unlock(&lock);
	return taken;
}

static void *receive(void *unused)
{
	pthread_setname_np(pthread_self(), "receiver");
	for (uint64_t id = 0; id < ORDERS; id++)
		queue_order((struct order){id, verify_signature(id)});
	pthread_mutex_lock(&lock);
	closed = true;
	pthread_cond_broadcast(&not_empty);
	pthread_mutex_unlock(&lock);
	return unused;
}

static uint64_t fill_order(const struct order *order)
{
	uint64_t goods = order->key;

	for (int i = 0; i < 200000; i++)
		goods = (goods ^ order->id) * 1099511628211u;
	return goods;
}

static void *fill(void *argument)
{
	uint64_t *goods = argument;
	struct order order;

	pthread_setname_np(pthread_self(), "filler");
	while (take_order(&order))
		*goods ^= fill_order(&order);
	return NULL;
}

int main(void)
{
	pthread_t receiver, fillers[FILLERS];
	uint64_t goods[FILLERS] = {0};

	pthread_create(&receiver, NULL, receive, NULL);
	for (int i = 0; i < FILLERS; i++)
		pthread_create(&fillers[i], NULL, fill, &goods[i]);
	pthread_join(receiver, NULL);
	for (int i = 0; i < FILLERS; i++)
		pthread_join(fillers[i], NULL);
	printf("%016llx\n", (unsigned long long)(goods[0] ^ goods[1] ^ goods[2] ^ goods[3]));
	return 0;
}
