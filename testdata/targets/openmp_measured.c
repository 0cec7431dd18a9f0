/*
 * OpenMP that measures itself, for C and C++: openmp_measured [TIMES]. For each region a line: its name, what its threads worked, what they
 * waited, and how much of that in the construct that it is named after, in ns, together, by the program's own clock; of tasks what they worked. Two
 * threads in each team.
 *
 *	thread 0	|--- work ---|- wait for another -|--- work ---|--- wait for the end ---|
 *	                begin        before               after        done                     end of the region
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MILLISECOND 1000000
#define THREADS 2

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void spin(int64_t ns)
{
	int64_t begin = now_ns();

	while (now_ns() - begin < ns)
		;
}

/* Of a thread in the region that runs; each is in a cache line of its own. */
struct part {
	int64_t begin, done, waits;
	char apart[104];
};

static struct part parts[THREADS];
static int64_t work_ns, wait_ns, inside_ns; /* of a region, in all its executions */

static struct part *begin_part(void)
{
	struct part *part = &parts[omp_get_thread_num()];

	part->waits = 0;
	part->done = 0;
	part->begin = now_ns();
	return part;
}

static void end_part(struct part *part)
{
	part->done = now_ns();
}

static void end_region(void)
{
	int64_t end = now_ns();

	for (int i = 0; i < THREADS; i++) {
		work_ns += parts[i].done - parts[i].begin - parts[i].waits;
		wait_ns += end - parts[i].done + parts[i].waits;
		inside_ns += parts[i].waits;
	}
}

static void put(const char *name)
{
	printf("%s %lld %lld %lld\n", name, (long long)work_ns, (long long)wait_ns, (long long)inside_ns);
	work_ns = wait_ns = inside_ns = 0;
}

/* The first thread has iterations that take three times as long. */
static void imbalanced(void)
{
#pragma omp parallel num_threads(2) /* region imbalanced */
	{
		struct part *part = begin_part();

#pragma omp for schedule(static) nowait
		for (int i = 0; i < 4; i++)
			spin((i < 2 ? 3 : 1) * MILLISECOND);
		end_part(part);
	}
	end_region();
}

static void critical(void)
{
#pragma omp parallel num_threads(2) /* region critical */
	{
		struct part *part = begin_part();

		for (int i = 0; i < 4; i++) {
			int64_t before = now_ns();

#pragma omp critical
			{
				part->waits += now_ns() - before;
				spin(MILLISECOND);
			}
		}
		end_part(part);
	}
	end_region();
}

static omp_lock_t lock;

static void locked(void)
{
#pragma omp parallel num_threads(2) /* region locked */
	{
		struct part *part = begin_part();

		for (int i = 0; i < 4; i++) {
			int64_t before = now_ns();

			omp_set_lock(&lock);
			part->waits += now_ns() - before;
			spin(MILLISECOND);
			omp_unset_lock(&lock);
		}
		end_part(part);
	}
	end_region();
}

static void ordered(void)
{
#pragma omp parallel num_threads(2) /* region ordered */
	{
		struct part *part = begin_part();

#pragma omp for ordered schedule(static, 1) nowait
		for (int i = 0; i < 6; i++) {
			int64_t before = now_ns();

#pragma omp ordered
			{
				part->waits += now_ns() - before;
				spin(MILLISECOND);
			}
		}
		end_part(part);
	}
	end_region();
}

static void barrier(void)
{
#pragma omp parallel num_threads(2) /* region barrier */
	{
		struct part *part = begin_part();
		int64_t before;

		spin((omp_get_thread_num() == 0 ? 4 : 1) * MILLISECOND);
		before = now_ns();
#pragma omp barrier
		part->waits += now_ns() - before;
		spin((omp_get_thread_num() == 0 ? 1 : 3) * MILLISECOND);
		end_part(part);
	}
	end_region();
}

/* Small, but of many values: a tree where the runtime has one, or KMP_FORCE_REDUCTION says another way. */
static long reduction(void)
{
	long a = 0, b = 0, c = 0;

#pragma omp parallel num_threads(2) reduction(+ : a, b, c) /* region reduction */
	{
		struct part *part = begin_part();

		spin(MILLISECOND * 2);
		a += 1;
		b += 2;
		c += 3;
		end_part(part);
	}
	end_region();
	return a + b + c;
}

/* The work of the outer region is that of its two threads, the inner ones and their waits within. */
static void nested(void)
{
#pragma omp parallel num_threads(2) /* region nested */
	{
		struct part *part = begin_part();

		spin(MILLISECOND / 10);
#pragma omp parallel num_threads(2) /* region inner */
		spin((omp_get_thread_num() == 0 ? 2 : 1) * MILLISECOND);

		spin(MILLISECOND / 10); /* or clang would jump to the region */
		end_part(part);
	}
	end_region();
}

static int64_t tasks_ns;

/* What a task works itself, without those that it waits for. */
static void add_to_tasks(int64_t ns)
{
#pragma omp atomic
	tasks_ns += ns;
}

static long fib(int n)
{
	long a = 0, b = 0;

	if (n < 2) {
		spin(MILLISECOND);
		return n;
	}
#pragma omp task shared(a) firstprivate(n) /* task first */
	{
		int64_t begin = now_ns();

		a = fib(n - 1);
		if (n - 1 < 2)
			add_to_tasks(now_ns() - begin);
	}
#pragma omp task shared(b) firstprivate(n) /* task second */
	{
		int64_t begin = now_ns();

		b = fib(n - 2);
		if (n - 2 < 2)
			add_to_tasks(now_ns() - begin);
	}
#pragma omp taskwait
	return a + b;
}

static long tasks(void)
{
	long result = 0;

#pragma omp parallel num_threads(2) /* region tasks */
#pragma omp single
	result = fib(8);
	return result;
}

static void taskloop(void)
{
#pragma omp parallel num_threads(2) /* region taskloop */
#pragma omp single
#pragma omp taskloop num_tasks(10) /* task loop */
	for (int i = 0; i < 20; i++) {
		int64_t begin = now_ns();

		spin(MILLISECOND / 4);
		add_to_tasks(now_ns() - begin);
	}
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;
	long results = 0;
	void (*const regions[])(void) = {imbalanced, critical, locked, ordered, barrier, nested};
	static const char *const names[] = {"imbalanced", "critical", "locked",
					    "ordered",	  "barrier",  "nested"};

	omp_set_max_active_levels(2);
	omp_init_lock(&lock);
	for (int k = 0; k < (int)(sizeof(regions) / sizeof(*regions)); k++) {
		for (int i = 0; i < times; i++)
			regions[k]();
		put(names[k]);
	}
	for (int i = 0; i < times; i++)
		results += reduction();
	put("reduction");
	for (int i = 0; i < times; i++)
		results += tasks();
	printf("tasks %lld\n", (long long)tasks_ns);
	tasks_ns = 0;
	for (int i = 0; i < times; i++)
		taskloop();
	printf("taskloop %lld\n", (long long)tasks_ns);
	omp_destroy_lock(&lock);
	return results != times * (12 + 21);
}
