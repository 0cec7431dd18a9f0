/*
 * Waiting for records: what wakes the recorder, and what does not.
 */
#include "collect/ring_wait.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#define RING_BYTES 4096u
#define MANY 1000u

struct fixture {
	struct perf_event_mmap_page page;
	uint8_t data[RING_BYTES];
	struct ctx_ring ring;
	int signals[2], event[2];
	struct pollfd polls[CTX_RING_WAIT_OWN + 1];
	struct ctx_ring_wait wait;
};

static void set_up(struct fixture *fixture)
{
	*fixture = (struct fixture){0};
	assert_int_equal(ctx_ring_attach(&fixture->ring, &fixture->page, fixture->data, RING_BYTES, NULL),
			 CTX_OK);
	assert_int_equal(pipe(fixture->signals), 0);
	assert_int_equal(pipe(fixture->event), 0);
	fixture->polls[1] = (struct pollfd){.fd = -1};
	fixture->polls[0] = (struct pollfd){.fd = fixture->signals[0], .events = POLLIN};
	fixture->polls[CTX_RING_WAIT_OWN] = (struct pollfd){.fd = fixture->event[0], .events = POLLIN};
}

static void tear_down(struct fixture *fixture)
{
	ctx_ring_unmap(&fixture->ring);
	for (int i = 0; i < 2; i++) {
		close(fixture->signals[i]);
		close(fixture->event[i]);
	}
}

static int wait_ms(struct fixture *fixture, int timeout_ms)
{
	return ctx_ring_wait(&fixture->wait, fixture->polls, &fixture->ring, 1, timeout_ms);
}

static void test_ring_wait__an_event_ends_it_while_few_tasks_end(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	assert_int_equal(write(fixture.event[1], "", 1), 1);
	fixture.wait.n_ended = 1;
	assert_int_equal(wait_ms(&fixture, 100000), 1);
	assert_int_equal(fixture.polls[CTX_RING_WAIT_OWN].revents, POLLIN);
	assert_int_equal(fixture.wait.n_ended, 0);
	tear_down(&fixture);
}

static void test_ring_wait__events_are_not_polled_while_many_tasks_end(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	assert_int_equal(write(fixture.event[1], "", 1), 1);
	fixture.polls[CTX_RING_WAIT_OWN].revents = POLLHUP; /* of an earlier wait */
	fixture.wait.n_ended = MANY;
	assert_int_equal(wait_ms(&fixture, 12), 0);
	assert_int_equal(fixture.polls[CTX_RING_WAIT_OWN].revents, 0);
	/* They are counted anew for each wait. */
	assert_int_equal(wait_ms(&fixture, 100000), 1);
	tear_down(&fixture);
}

static void test_ring_wait__a_signal_or_a_filled_ring_ends_it_at_any_time(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	assert_int_equal(write(fixture.signals[1], "", 1), 1);
	fixture.wait.n_ended = MANY;
	assert_int_equal(wait_ms(&fixture, 1000000), 1);
	assert_int_equal(fixture.polls[0].revents, POLLIN);
	tear_down(&fixture);
	set_up(&fixture);
	fixture.page.data_head = RING_BYTES / 4;
	fixture.wait.n_ended = MANY;
	assert_int_equal(wait_ms(&fixture, 1000000), 0);
	fixture.page.data_head--;
	fixture.wait.n_ended = MANY;
	assert_int_equal(wait_ms(&fixture, 6), 0);
	tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring_wait__an_event_ends_it_while_few_tasks_end),
		cmocka_unit_test(test_ring_wait__events_are_not_polled_while_many_tasks_end),
		cmocka_unit_test(test_ring_wait__a_signal_or_a_filled_ring_ends_it_at_any_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
