/* Marks for a while: one interval that never ends, one every 50 ms, a second thread with its own, a counter. */
#include "ctx_trace.h"

#include <pthread.h>
#include <time.h>

static void wait_ms(long ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&time, 0);
}

static void *other(void *none)
{
	for (int i = 0; i < 14; i++) {
		ctx_trace_begin_id("request", i);
		wait_ms(170);
		ctx_trace_end_id("request", i);
	}
	return none;
}

int main(void)
{
	pthread_t thread;

	ctx_trace_begin("all");
	pthread_create(&thread, 0, other, 0);
	for (int i = 0; i < 60; i++) {
		ctx_trace_begin("step");
		wait_ms(20);
		ctx_trace_end("step");
		ctx_trace_mark("tick");
		ctx_trace_counter("number", i);
		wait_ms(20);
	}
	pthread_join(thread, 0);
	return 0;
}
