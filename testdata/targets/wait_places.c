/*
 * One thread that waits at three places, thousands of times: wait_places [ROUNDS]
 *
 * Main asks the thread "answers" through a pipe, and waits for its answer in read: at shallow_place;
 * or below 20 calls of descend, which begin at one_way or at other_way. These two wait at the same pc,
 * at the same depth of the stack and behind the same 20 return addresses. A line of JSON for each wait
 * says where and when it was: {"place":"one_way","begin":NS,"end":NS}, on CLOCK_MONOTONIC; before them is
 * one about main's phase "ask" (own_times.h).
 */
#include "own_times.h"

#include <pthread.h>

#define ROUNDS 1500
#define DEPTH 20

struct wait {
	const char *place;
	int64_t begin_ns, end_ns;
};

static int question[2], answer[2];

static void *answers(void *unused)
{
	char byte;

	while (read(question[0], &byte, 1) == 1 && write(answer[1], &byte, 1) == 1)
		;
	return unused;
}

static int take_answer(void)
{
	char byte;

	return (int)read(answer[0], &byte, 1);
}

static NOINLINE int shallow_place(void)
{
	return take_answer() + 1;
}

static NOINLINE int descend(int depth)
{
	return depth == 0 ? take_answer() + 1 : descend(depth - 1) + 1;
}

static NOINLINE int one_way(void)
{
	return descend(DEPTH) + 1;
}

static NOINLINE int other_way(void)
{
	return descend(DEPTH) + 2;
}

static int wait_at(unsigned round, struct wait *wait)
{
	static const struct {
		const char *name;
		int (*wait)(void);
	} places[] = {{"shallow_place", shallow_place}, {"one_way", one_way}, {"other_way", other_way}};
	unsigned at = round * round / 7 % 3; /* in no simple order */
	int n;

	wait->place = places[at].name;
	wait->begin_ns = now_ns();
	if (write(question[1], "?", 1) != 1)
		return 0;
	n = places[at].wait();
	wait->end_ns = now_ns();
	return n;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : ROUNDS;
	struct wait *waits = calloc(n, sizeof(*waits));
	struct own_times begin, end;
	pthread_t thread;

	if (waits == NULL || pipe(question) != 0 || pipe(answer) != 0 ||
	    pthread_create(&thread, NULL, answers, NULL) != 0)
		return 1;
	begin = own_times();
	for (unsigned i = 0; i < n; i++) {
		if (wait_at(i, &waits[i]) <= 1)
			return 1;
	}
	end = own_times();
	close(question[1]);
	pthread_join(thread, NULL);
	print_phase("wait_places", getpid(), "ask", begin, end);
	for (unsigned i = 0; i < n; i++)
		printf("{\"place\":\"%s\",\"begin\":%" PRId64 ",\"end\":%" PRId64 "}\n", waits[i].place,
		       waits[i].begin_ns, waits[i].end_ns);
	return 0;
}
