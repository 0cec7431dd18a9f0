/* Rings between a traced process and the recorder: what is written comes out, whatever else is there. */
#include "chance.h"
#include "collect/trace_drain.h"
#include "collect/trace_listener.h"
#include "collect/trace_texts.h"
#include "runtime/program_check.h"
#include "runtime/rt_environment.h"
#include "runtime/rt_ring.h"

#include "base/mem.h"
#include "model/event_source.h"
#include "model/profile.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#define RING_BYTES CTX_RT_RING_BYTES_MAX
#define RING_WORDS (RING_BYTES / 8)
#define DEPTH 60u

/* Both sides of a ring, and what was put into it. */
struct both {
	struct ctx_rt_slot *slot;
	uint64_t *words;
	struct ctx_rt_ring out;
	struct ctx_trace_ring in;
	struct ctx_trace_reader reader;
	struct ctx_trace_pool pool;
	struct ctx_rt_operation *put; /* ring of the last operations, each with its own frames */
	uint64_t (*frames)[DEPTH];    /* whole stacks, leaf first */
	uint64_t n_put, n_taken, stays_at;
};

#define KEPT ((size_t)1 << 16)

static void begin(struct both *both)
{
	*both = (struct both){.stays_at = UINT64_MAX};
	both->slot = aligned_alloc(64, sizeof(*both->slot));
	assert_non_null(both->slot);
	memset(both->slot, 0, sizeof(*both->slot));
	both->words = ctx_calloc(RING_WORDS, sizeof(*both->words));
	both->put = ctx_calloc(KEPT, sizeof(*both->put));
	both->frames = ctx_calloc(KEPT, sizeof(*both->frames));
	assert_true(both->words != NULL && both->put != NULL && both->frames != NULL);
	both->out.slot = both->in.slot = both->slot;
	both->out.words = both->words;
	both->in.words = both->words;
	both->out.bytes = both->in.bytes = RING_BYTES;
}

static void end(struct both *both)
{
	ctx_trace_ring_clear(&both->in, &both->pool);
	ctx_trace_ring_deinit(&both->in);
	ctx_trace_reader_deinit(&both->reader);
	assert_int_equal(both->pool.n_used, 0);
	ctx_trace_pool_deinit(&both->pool);
	free(both->slot);
	free(both->words);
	free(both->put);
	free(both->frames);
}

static enum ctx_status take(void *context, const struct ctx_trace_record *record, struct ctx_err *err)
{
	struct both *both = context;
	const struct ctx_rt_operation *wanted = &both->put[both->n_taken % KEPT];
	bool is_cut = wanted->end != CTX_TRUNCATED_NOT;

	(void)err;
	if (both->n_taken == both->stays_at)
		return CTX_END;
	assert_int_equal(record->kind, wanted->kind);
	assert_memory_equal(record->words, wanted->words, ctx_rt_words(wanted->kind) * 8);
	assert_int_equal(record->text != NULL, wanted->kind == CTX_RT_IO_NAMED);
	if (record->text != NULL) {
		assert_int_equal(record->text_bytes, (wanted->text_bytes + 7) / 8 * 8);
		for (size_t i = 0; i < record->text_bytes; i++)
			assert_int_equal(record->text[i],
					 i < wanted->text_bytes ? 'a' + (int)(wanted->words[0] % 26) : 0);
	}
	if (wanted->n_new + wanted->kept != 0) {
		size_t n = wanted->n_new + wanted->kept;

		assert_int_equal(record->n_frames, n + is_cut);
		assert_memory_equal(record->frames, wanted->frames, n * 8);
		if (is_cut)
			assert_int_equal(record->frames[n],
					 ctx_frame_truncated((enum ctx_truncation)wanted->end));
	}
	both->n_taken++;
	return CTX_OK;
}

static enum ctx_status read_ring(struct both *both, ctx_trace_ring_fn *function, void *context, size_t *ret_n)
{
	enum ctx_status status;

	both->reader.take = function;
	both->reader.context = context;
	ctx_trace_ring_pull(&both->in, &both->pool);
	ctx_trace_queue_move(&both->in.queue, &both->in.incoming);
	status = ctx_trace_ring_read(&both->in, &both->reader, ret_n, NULL);
	ctx_trace_pool_take_back(&both->pool, both->reader.spent);
	both->reader.spent = NULL;
	return status;
}

/* A stack like those of a thread: the root's side mostly stays. */
static void put(struct both *both, uint64_t *seed, uint64_t *stack, uint32_t *depth)
{
	static const enum ctx_rt_kind kinds[] = {CTX_RT_ALLOCATE, CTX_RT_IO,	     CTX_RT_IO_NAMED,
						 CTX_RT_FREE,	  CTX_RT_REALLOCATE, CTX_RT_THREAD};
	static char text[CTX_RT_TEXT_MAX];
	struct ctx_rt_operation *operation = &both->put[both->n_put % KEPT];
	uint64_t *frames = both->frames[both->n_put % KEPT];
	uint64_t kind = random_below(seed, 200);

	*operation = (struct ctx_rt_operation){.kind = kinds[kind == 0 ? 5 : kind % 5], .frames = frames};
	for (unsigned i = 0; i < CTX_RT_ARGUMENTS_MAX; i++)
		operation->words[i] = random_below(seed, 1000000);
	if (operation->kind == CTX_RT_IO_NAMED) {
		operation->text = text;
		operation->text_bytes =
			1 + (uint32_t)random_below(seed, random_below(seed, 50) == 0 ? CTX_RT_TEXT_MAX : 40);
		memset(text, 'a' + (int)(operation->words[0] % 26), sizeof(text));
	}
	if (operation->kind != CTX_RT_FREE && operation->kind != CTX_RT_THREAD) {
		uint32_t kept = (uint32_t)random_below(seed, *depth + 1);

		*depth = kept + (uint32_t)random_below(seed, DEPTH - kept);
		*depth = *depth != 0 ? *depth : 1;
		for (uint32_t i = kept; i < *depth; i++)
			stack[i] = 1 + random_below(seed, 50);
		for (uint32_t i = 0; i < *depth; i++)
			frames[i] = stack[*depth - 1 - i];
		operation->kept = kept;
		operation->n_new = *depth - kept;
		operation->end = random_below(seed, 20) == 0 ? CTX_TRUNCATED_NO_TABLE : CTX_TRUNCATED_NOT;
	}
	if (operation->kind == CTX_RT_THREAD)
		*depth = 0;
	ctx_rt_ring_put(&both->out, operation);
	both->n_put++;
}

static void test_trace_ring__what_was_put_comes_out_over_and_over(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		uint64_t random = seed, stack[DEPTH];
		uint32_t depth = 0;
		struct both both;
		size_t n;

		begin(&both);
		while (both.n_put < 60000) {
			uint64_t more = random_below(&random, 30000);

			while (more-- > 0 && ctx_rt_ring_has_room(&both.out))
				put(&both, &random, stack, &depth);
			/* Some stays for the next time. */
			both.stays_at =
				both.n_taken + random_below(&random, 2 * (both.n_put - both.n_taken) + 1);
			assert_int_equal(read_ring(&both, take, &both, &n), CTX_OK);
		}
		both.stays_at = UINT64_MAX;
		assert_int_equal(read_ring(&both, take, &both, &n), CTX_OK);
		assert_int_equal(both.n_taken, both.n_put);
		assert_int_equal(both.in.damaged, 0);
		end(&both);
	}
}

static void test_trace_ring__a_full_ring_has_no_room_until_it_is_read(void **state)
{
	uint64_t random = 9, stack[DEPTH];
	uint32_t depth = 0;
	struct both both;
	size_t n;

	(void)state;
	begin(&both);
	while (ctx_rt_ring_has_room(&both.out))
		put(&both, &random, stack, &depth);
	assert_true(both.out.head > RING_BYTES - 4 * 8 * CTX_RT_RECORD_WORDS_MAX);
	assert_true(both.out.head <= RING_BYTES);
	assert_int_equal(read_ring(&both, take, &both, &n), CTX_OK);
	assert_int_equal(n, both.n_put);
	assert_true(ctx_rt_ring_has_room(&both.out));
	/* A tail that no recorder writes makes no room. */
	both.out.tail = 0;
	both.out.head = RING_BYTES;
	atomic_store(&both.slot->tail, RING_BYTES + 8);
	assert_false(ctx_rt_ring_has_room(&both.out));
	end(&both);
}

static enum ctx_status count(void *context, const struct ctx_trace_record *record, struct ctx_err *err)
{
	volatile uint64_t *sum = context;

	(void)err;
	assert_true(record->kind > CTX_RT_PAD && record->kind < CTX_RT_KIND_N);
	assert_true(record->n_frames <= CTX_RT_FRAMES_MAX + 1);
	for (size_t i = 0; i < record->n_frames; i++)
		*sum += record->frames[i];
	return CTX_OK;
}

/* The target writes anything anywhere: nothing outside the ring is read, and damage is counted. */
static void test_trace_ring__scribbled_memory_is_damage_and_no_more(void **state)
{
	uint64_t random = 11, sum = 0, damaged = 0;
	struct both both;

	(void)state;
	begin(&both);
	for (int round = 0; round < 3000; round++) {
		uint64_t n_words = random_below(&random, 300);
		size_t n;

		for (uint64_t i = 0; i < n_words; i++) {
			/* Mostly plausible first words, some with a field too large. */
			struct ctx_rt_word0 word = {
				.kind = (uint32_t)random_below(&random, CTX_RT_KIND_N + 1),
				.end = (uint32_t)random_below(&random, CTX_TRUNCATED_N + 1),
				.kept = (uint32_t)random_below(&random, 4),
				.n_new = (uint32_t)random_below(&random, 6)};

			word.words =
				1 +
				(word.kind < CTX_RT_KIND_N ? ctx_rt_words((enum ctx_rt_kind)word.kind) : 0) +
				word.n_new;
			if (random_below(&random, 9) == 0)
				word.words = (uint32_t)random_below(&random, 70000) & 0xffff;
			if (random_below(&random, 9) == 0)
				word.kept = word.n_new = 0xffff;
			both.words[(both.in.tail / 8 + i) % RING_WORDS] =
				random_below(&random, 3) != 0 ? ctx_rt_pack(&word) : random;
		}
		atomic_store(&both.slot->head,
			     random_below(&random, 20) == 0 ? random * random : both.in.tail + n_words * 8);
		atomic_store(&both.slot->tail, random);
		assert_int_equal(read_ring(&both, count, &sum, &n), CTX_OK);
		assert_int_equal(both.in.tail % 8, 0);
		damaged += both.in.damaged + both.in.torn != 0;
	}
	assert_true(damaged > 1000);
	end(&both);
}

/* What is granted is never more than the bound, and something for many. */
static void test_trace_grant__all_segments_together_stay_within_the_bound(void **state)
{
	static const uint64_t limits[] = {0, 1, 65536, 2 * 4096 + 65536, 1 << 20, 4 << 20, 256 << 20};
	uint64_t random = 5;

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(limits); i++) {
		uint64_t used = 0, last = UINT64_MAX, n = 0;
		struct ctx_trace_grant grant;

		while (ctx_trace_grant(limits[i], used, 0, &grant)) {
			assert_int_equal(grant.slots, 1);
			assert_true(ctx_rt_is_shape(grant.slots, grant.ring_bytes) &&
				    grant.ring_bytes <= last);
			last = grant.ring_bytes;
			used += ctx_rt_segment_bytes(grant.slots, grant.ring_bytes);
			assert_true(used <= limits[i]);
			n++;
		}
		assert_true(limits[i] - used < 2 * 4096 + 65536);
		assert_true(i != 6 || n >= 300);
	}
	for (int round = 0; round < 20000; round++) {
		uint64_t limit = random_below(&random, 1 << 28), used = random_below(&random, 1 << 28);
		struct ctx_trace_grant grant;

		if (!ctx_trace_grant(limit, used, (uint32_t)random_below(&random, 256), &grant))
			continue;
		assert_true(ctx_rt_is_shape(grant.slots, grant.ring_bytes));
		assert_true(used + ctx_rt_segment_bytes(grant.slots, grant.ring_bytes) <= limit);
	}
}

/* A process of a thousand threads: a ring for each. */
static void test_trace_grant__a_thousand_threads_have_rings(void **state)
{
	const uint64_t limit = 256 << 20;
	uint64_t used = 0, rings = 0;
	struct ctx_trace_grant grant;

	(void)state;
	for (uint32_t n = 0; n < CTX_RT_SEGMENTS_MAX && ctx_trace_grant(limit, used, n, &grant); n++) {
		used += ctx_rt_segment_bytes(grant.slots, grant.ring_bytes);
		rings += grant.slots;
		assert_true(n != 0 || grant.ring_bytes == CTX_RT_RING_BYTES_MAX);
	}
	assert_true(rings >= 1000);
}

static void test_trace__nobody_waits_for_a_recorder_that_gave_up(void **state)
{
	struct ctx_trace_segments segments;
	int fd;

	(void)state;
	ctx_trace_segments_init(&segments, (uint64_t)1 << 30);
	assert_int_equal(ctx_trace_segments_make(&segments, 5, 0, &fd, NULL), CTX_OK);
	close(fd);
	ctx_trace_segments_take(&segments);
	assert_int_equal(ctx_trace_segments_make(&segments, 6, 0, &fd, NULL), CTX_OK);
	close(fd);
	assert_int_equal(atomic_load(&segments.first->header->closed), 0);
	ctx_trace_segments_close(&segments);
	assert_int_equal(atomic_load(&segments.first->header->closed), 1);
	assert_int_equal(atomic_load(&segments.arrived->header->closed), 1);
	assert_int_equal(ctx_trace_segments_make(&segments, 7, 0, &fd, NULL), CTX_END);
	ctx_trace_segments_deinit(&segments);
}

static void test_trace_segments__the_bound_counts_what_there_is(void **state)
{
	const uint64_t one = ctx_rt_segment_bytes(1, CTX_RT_RING_BYTES_MIN);
	struct ctx_trace_segments segments;
	struct ctx_rt_header *header;
	int fd;

	(void)state;
	ctx_trace_segments_init(&segments, 2 * one);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ctx_trace_segments_make(&segments, 5 + i, 0, &fd, NULL), CTX_OK);
		close(fd);
	}
	assert_int_equal(segments.used_bytes, 2 * one);
	assert_int_equal(ctx_trace_segments_make(&segments, 7, 0, &fd, NULL), CTX_END);
	assert_int_equal(ctx_trace_segments_make(&segments, 5, 1, &fd, NULL), CTX_END);
	assert_int_equal(segments.refused, 1);
	assert_int_equal(segments.refused_more, 1);
	ctx_trace_segments_take(&segments);
	assert_int_equal(segments.n, 2);
	assert_int_equal(segments.first->pid, 6);
	ctx_trace_segments_remove(&segments, &segments.first->next);
	assert_int_equal(segments.used_bytes, one);
	/* The process has the same memory, which it cannot make smaller, and is told when nobody reads any more. */
	assert_int_equal(ctx_trace_segments_make(&segments, 7, 0, &fd, NULL), CTX_OK);
	assert_int_equal(segments.most_bytes, 2 * one);
	assert_int_not_equal(ftruncate(fd, 0), 0);
	header = mmap(NULL, one, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(header, MAP_FAILED);
	assert_int_equal(header->magic, CTX_RT_MAGIC);
	assert_int_equal(atomic_load(&header->closed), 0);
	ctx_trace_segments_deinit(&segments);
	assert_int_equal(atomic_load(&header->closed), 1);
	munmap(header, one);
	close(fd);
}

static int connect_to(const char *name, bool by_path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t length = sizeof(address);
	int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (by_path)
		snprintf(address.sun_path, sizeof(address.sun_path), CTX_RT_SOCKETS "/%s", name);
	else
		length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				     (size_t)snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
						      "%s", name));
	assert_int_equal(connect(connection, (struct sockaddr *)&address, length), 0);
	return connection;
}

/* By the name in one of both places. Returns the descriptor of the answer; -1: none. */
static int ask(const char *name, bool by_path, unsigned char n_segments)
{
	char byte = (char)n_segments;
	struct iovec data = {&byte, 1};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	int connection = connect_to(name, by_path), fd = -1;

	assert_int_equal(write(connection, &byte, 1), 1);
	assert_int_equal(recvmsg(connection, &message, MSG_CMSG_CLOEXEC), 1);
	if (message.msg_controllen != 0)
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	close(connection);
	return fd;
}

static void test_trace_listener__a_process_is_answered_at_both_sockets(void **state)
{
	struct ctx_trace_segments segments;
	struct ctx_trace_listener *listener, *other;
	char path[128], left[] = CTX_RT_SOCKETS "/ctxrec-0123456789abcdef0123456789abcdef";
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct pollfd polled;
	int fd;

	(void)state;
	ctx_trace_segments_init(&segments, 1 << 20);
	assert_int_equal(ctx_trace_listener_create(&segments, -1, -1, &listener, NULL), CTX_OK);
	assert_int_equal(ctx_trace_listener_start(listener, NULL), CTX_OK);
	snprintf(path, sizeof(path), CTX_RT_SOCKETS "/%s", ctx_trace_listener_name(listener));
	for (unsigned char i = 0; i < 2; i++) {
		polled = (struct pollfd){.fd = ctx_trace_listener_fd(listener), .events = POLLIN};
		fd = ask(ctx_trace_listener_name(listener), i != 0, i);
		assert_true(fd >= 0);
		close(fd);
		assert_int_equal(poll(&polled, 1, -1), 1);
		ctx_trace_listener_seen(listener);
		ctx_trace_segments_take(&segments);
		assert_int_equal(segments.n, i + 1);
		assert_int_equal(segments.first->pid, getpid());
		assert_int_equal(segments.first->grant.slots, 1u << i);
	}
	/* Another recorder removes what nobody listens to, and nothing else. */
	strcpy(address.sun_path, left);
	unlink(left);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	assert_int_equal(ctx_trace_listener_create(&segments, -1, -1, &other, NULL), CTX_OK);
	ctx_trace_listener_destroy(other);
	assert_int_not_equal(access(left, F_OK), 0);
	assert_int_equal(access(path, F_OK), 0);
	/* No memory: an answer, without. */
	segments.limit_bytes = 0;
	assert_int_equal(ask(ctx_trace_listener_name(listener), false, 0), -1);
	ctx_trace_listener_destroy(listener);
	assert_int_not_equal(access(path, F_OK), 0);
	ctx_trace_segments_deinit(&segments);
}

#define SILENT 259u /* three more than the listener keeps */

static uint64_t locked(struct ctx_trace_segments *segments, const uint64_t *count)
{
	uint64_t n;

	pthread_mutex_lock(&segments->lock);
	n = *count;
	pthread_mutex_unlock(&segments->lock);
	return n;
}

static void test_trace_listener__of_those_who_say_nothing_the_oldest_are_dropped(void **state)
{
	struct ctx_trace_listener *listener;
	struct ctx_trace_segments segments;
	int silent[SILENT], fd;
	char byte = 0;

	(void)state;
	ctx_trace_segments_init(&segments, 1 << 20);
	assert_int_equal(ctx_trace_listener_create(&segments, -1, -1, &listener, NULL), CTX_OK);
	for (unsigned i = 0; i < SILENT; i++)
		silent[i] = connect_to(ctx_trace_listener_name(listener), false);
	assert_int_equal(ctx_trace_listener_start(listener, NULL), CTX_OK);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(recv(silent[i], &byte, 1, 0), 0);
	/* The others are answered as soon as they say something. That leaves room for one that has not said anything yet. */
	assert_int_equal(write(silent[SILENT - 1], &byte, 1), 1);
	assert_int_equal(recv(silent[SILENT - 1], &byte, 1, 0), 1);
	assert_int_equal(byte, 's');
	fd = ask(ctx_trace_listener_name(listener), false, 0);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(locked(&segments, &segments.failed), 3);
	for (unsigned i = 0; i < SILENT; i++)
		close(silent[i]);
	ctx_trace_listener_destroy(listener);
	ctx_trace_segments_deinit(&segments);
}

static void test_trace_listener__who_goes_on_without_is_counted_and_gets_nothing(void **state)
{
	static const unsigned char why[] = {CTX_RT_UNTRACED_UNMAPPED, CTX_RT_UNTRACED_LEFT,
					    CTX_RT_UNTRACED_LEFT, CTX_RT_UNTRACED_END, 255};
	struct ctx_trace_listener *listener;
	struct ctx_trace_segments segments;
	char byte = 0;
	int fd;

	(void)state;
	ctx_trace_segments_init(&segments, 1 << 20);
	assert_int_equal(ctx_trace_listener_create(&segments, -1, -1, &listener, NULL), CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(why); i++) {
		fd = connect_to(ctx_trace_listener_name(listener), false);
		assert_int_equal(write(fd, &why[i], 1), 1);
		close(fd);
	}
	/* It does not wait any more. */
	fd = connect_to(ctx_trace_listener_name(listener), false);
	assert_int_equal(write(fd, &byte, 1), 1);
	close(fd);
	assert_int_equal(ctx_trace_listener_start(listener, NULL), CTX_OK);
	/* Connections are served in their order. */
	fd = ask(ctx_trace_listener_name(listener), false, 0);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(locked(&segments, &segments.untraced[0]), 1);
	assert_int_equal(locked(&segments, &segments.untraced[1]), 2);
	ctx_trace_segments_take(&segments);
	assert_int_equal(segments.n, 1);
	assert_int_equal(segments.failed, 0);
	ctx_trace_listener_destroy(listener);
	ctx_trace_segments_deinit(&segments);
}

/* The thread may have had no processor meanwhile. */
static void test_trace_listener__what_was_said_before_the_end_is_counted(void **state)
{
	const unsigned char why = CTX_RT_UNTRACED_UNMAPPED;
	struct ctx_trace_listener *listener;
	struct ctx_trace_segments segments;

	(void)state;
	ctx_trace_segments_init(&segments, 1 << 20);
	assert_int_equal(ctx_trace_listener_create(&segments, -1, -1, &listener, NULL), CTX_OK);
	for (unsigned i = 0; i < 100; i++) {
		int fd = connect_to(ctx_trace_listener_name(listener), false);

		assert_int_equal(write(fd, &why, 1), 1);
		close(fd);
	}
	ctx_trace_listener_end(listener);
	assert_int_equal(segments.untraced[0], 100);
	assert_int_equal(ctx_trace_listener_start(listener, NULL), CTX_OK);
	ctx_trace_listener_end(listener);
	ctx_trace_listener_end(listener);
	ctx_trace_listener_destroy(listener);
	ctx_trace_segments_deinit(&segments);
}

static void test_trace_counts__memory_that_nobody_used_holds_nothing(void **state)
{
	struct ctx_trace_counts counts = {0};
	struct ctx_trace_segments segments;
	struct ctx_trace_segment *segment;
	int fd;

	(void)state;
	ctx_trace_segments_init(&segments, 1 << 20);
	assert_int_equal(ctx_trace_segments_make(&segments, 5, 0, &fd, NULL), CTX_OK);
	close(fd);
	ctx_trace_segments_take(&segments);
	segment = segments.first;
	ctx_trace_counts_add(&counts, segment);
	assert_int_equal(counts.nobodys, 0);
	atomic_store(&segment->header->pid, 5);
	atomic_store(&segment->rings[0].slot->dropped, 7);
	ctx_trace_counts_add(&counts, segment);
	assert_int_equal(counts.nobodys, 1);
	assert_int_equal(counts.dropped, 0);
	segment->process = 3;
	ctx_trace_counts_add(&counts, segment);
	assert_int_equal(counts.nobodys, 1);
	assert_int_equal(counts.dropped, 7);
	ctx_trace_segments_deinit(&segments);
}

/* The environment as one line. */
static void check_environment(char *const *from, bool with, const char *wanted)
{
	const struct ctx_rt_words words = {"/lib/rt.so", CTX_RT_VARIABLE "=s:h"};
	size_t bytes = ctx_rt_environment_bytes(&words, from, with);
	void *room = calloc(1, bytes + 1);
	char line[512] = "";

	assert_non_null(room);
	for (char *const *at = bytes != 0 ? ctx_rt_environment_make(&words, from, with, room) : from;
	     *at != NULL; at++)
		strcat(strcat(line, *at), "|");
	assert_string_equal(line, wanted);
	free(room);
}

static void test_runtime__the_environment_is_handed_on_and_the_users_part_kept(void **state)
{
	char *const empty[] = {NULL};
	char *const plain[] = {"A=1", "B=2", NULL};
	char *const users[] = {"A=1", "LD_PRELOAD=/x.so:/y.so", "B=2", NULL};
	char *const there[] = {"A=1", "LD_PRELOAD=/lib/rt.so:/x.so", "CTXREC_RUNTIME=s:h", "B=2", NULL};
	char *const old[] = {"CTXREC_RUNTIME=t:h", "LD_PRELOAD=/lib/rt.so", NULL};

	(void)state;
	check_environment(empty, true, "LD_PRELOAD=/lib/rt.so|CTXREC_RUNTIME=s:h|");
	check_environment(plain, true, "A=1|B=2|LD_PRELOAD=/lib/rt.so|CTXREC_RUNTIME=s:h|");
	check_environment(users, true, "A=1|B=2|LD_PRELOAD=/lib/rt.so:/x.so:/y.so|CTXREC_RUNTIME=s:h|");
	check_environment(there, true, "A=1|LD_PRELOAD=/lib/rt.so:/x.so|CTXREC_RUNTIME=s:h|B=2|");
	check_environment(old, true, "LD_PRELOAD=/lib/rt.so|CTXREC_RUNTIME=s:h|");
	check_environment(there, false, "A=1|B=2|LD_PRELOAD=/x.so|");
	check_environment(users, false, "A=1|LD_PRELOAD=/x.so:/y.so|B=2|");
	check_environment(plain, false, "A=1|B=2|");
}

static void write_script(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void test_runtime__a_script_is_its_interpreter(void **state)
{
	char path[] = "/tmp/ctx-test-trace-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_script(path, "#! /proc/self/exe -x\n");
	assert_int_equal(ctx_program_check(path), ctx_program_check("/proc/self/exe"));
	write_script(path, "#!/nowhere\n");
	assert_int_equal(ctx_program_check(path), CTX_PROGRAM_UNKNOWN);
	write_script(path, "echo\n");
	assert_int_equal(ctx_program_check(path), CTX_PROGRAM_UNKNOWN);
	/* Interprets itself. */
	char text[64] = "#!";

	strcat(strcat(text, path), "\n");
	write_script(path, text);
	assert_int_equal(ctx_program_check(path), CTX_PROGRAM_UNKNOWN);
	unlink(path);
}

/* A segment of a process, with a producer for its first ring. */
static struct ctx_trace_segment *add_segment(struct ctx_trace_segments *segments, int64_t pid,
					     struct ctx_rt_ring *out)
{
	struct ctx_trace_segment *segment;
	int fd;

	assert_int_equal(ctx_trace_segments_make(segments, pid, 0, &fd, NULL), CTX_OK);
	close(fd);
	ctx_trace_segments_take(segments);
	segment = segments->first;
	segment->process = 0;
	*out = (struct ctx_rt_ring){
		.slot = segment->rings[0].slot,
		.words = ctx_rt_words_of((uint8_t *)segment->header, 0, segment->grant.ring_bytes),
		.bytes = segment->grant.ring_bytes};
	return segment;
}

static void put_free(struct ctx_rt_ring *ring)
{
	const struct ctx_rt_operation operation = {.kind = CTX_RT_FREE, .words = {1, 4096}};

	ctx_rt_ring_put(ring, &operation);
}

static void test_trace_drain__rings_are_pulled_together_up_to_a_limit(void **state)
{
	struct ctx_trace_segments segments;
	struct ctx_trace_chunk *spent = NULL;
	struct ctx_trace_segment *mine, *other;
	struct ctx_rt_ring rings[2];
	struct ctx_trace_drain *drain;
	uint64_t horizon_ns;

	(void)state;
	ctx_trace_segments_init(&segments, 1 << 20);
	assert_int_equal(ctx_trace_drain_create(&segments, sizeof(struct ctx_trace_chunk), &drain, NULL),
			 CTX_OK);
	mine = add_segment(&segments, 5, &rings[0]);
	other = add_segment(&segments, 6, &rings[1]);
	put_free(&rings[0]);
	ctx_trace_drain_lock(drain);
	horizon_ns = ctx_trace_drain_pull(drain, &spent);
	assert_int_equal(mine->rings[0].queue.n, 3);
	/* The queues have what they may: neither ring is emptied, and the horizon stays. */
	put_free(&rings[0]);
	put_free(&rings[1]);
	assert_int_equal(ctx_trace_drain_pull(drain, &spent), horizon_ns);
	assert_int_equal(mine->rings[0].queue.n, 3);
	assert_int_equal(other->rings[0].queue.n, 0);
	assert_true(atomic_load(&other->header->beat) >= 2);
	/* At the end of a process it is, whatever they have; what is nobody's is not. */
	assert_true(ctx_trace_drain_pull_process(drain, 6) >= horizon_ns);
	assert_int_equal(other->rings[0].queue.n, 3);
	mine->process = CTX_NONE;
	(void)ctx_trace_drain_pull_process(drain, 5);
	assert_int_equal(mine->rings[0].queue.n, 3);
	/* What was read makes room. */
	mine->process = 0;
	ctx_trace_queue_drop(&mine->rings[0].queue, 3, &spent);
	ctx_trace_queue_drop(&other->rings[0].queue, 3, &spent);
	assert_true(ctx_trace_drain_pull(drain, &spent) >= horizon_ns);
	assert_null(spent);
	assert_int_equal(mine->rings[0].queue.n, 3);
	ctx_trace_queue_drop(&mine->rings[0].queue, 3, &spent);
	(void)ctx_trace_drain_pull(drain, &spent);
	ctx_trace_drain_unlock(drain);
	ctx_trace_drain_start(drain, 5000000);
	put_free(&rings[1]);
	while (atomic_load(&other->rings[0].slot->tail) != rings[1].head)
		usleep(1000); /* until the thread does it */
	ctx_trace_drain_destroy(drain);
	ctx_trace_segments_deinit(&segments);
}

static void test_trace_drain__pauses_are_longer_while_little_is_found(void **state)
{
	const uint64_t longest_ns = 20000000, much = CTX_RT_RING_BYTES_MAX / 32 + 1;
	uint64_t pause_ns = CTX_TRACE_PAUSE_NS;

	(void)state;
	for (int i = 0; i < 10; i++) {
		uint64_t next_ns = ctx_trace_drain_pause(pause_ns, much - 1, longest_ns);

		assert_true(next_ns == pause_ns * 2 || next_ns == longest_ns);
		assert_true(next_ns >= pause_ns);
		pause_ns = next_ns;
	}
	assert_int_equal(pause_ns, longest_ns);
	assert_int_equal(ctx_trace_drain_pause(pause_ns, much, longest_ns), CTX_TRACE_PAUSE_NS);
	assert_int_equal(ctx_trace_drain_pause(CTX_TRACE_PAUSE_NS, 0, 3000000), 3000000);
}

static void test_trace_texts__what_is_missing_is_said_with_its_reason(void **state)
{
	static const struct {
		struct ctx_trace_counts counts;
		const char *wanted; /* NULL: nothing is missing */
	} cases[] = {
		{{0}, NULL},
		{{.dropped = 3},
		 "3 waits were not recorded, since the recorder could not keep up: sums are too small"},
		{{.interrupted = 4},
		 "4 waits were not recorded, since they are of signal handlers that interrupted the "
		 "recording of "
		 "others: sums are too small"},
		{{.dropped = 3, .interrupted = 4},
		 "7 waits were not recorded, since the recorder could not keep up or they are of signal "
		 "handlers "
		 "that interrupted the recording of others: sums are too small"},
	};
	const struct ctx_rec_trace trace = {.sync = true, .waits = true};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		char text[CTX_TRACE_TEXT_MAX];

		assert_int_equal(ctx_trace_text(&cases[i].counts, &trace, 1, text), cases[i].wanted != NULL);
		if (cases[i].wanted != NULL)
			assert_string_equal(text, cases[i].wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace_ring__what_was_put_comes_out_over_and_over),
		cmocka_unit_test(test_trace_ring__a_full_ring_has_no_room_until_it_is_read),
		cmocka_unit_test(test_trace_ring__scribbled_memory_is_damage_and_no_more),
		cmocka_unit_test(test_trace_drain__rings_are_pulled_together_up_to_a_limit),
		cmocka_unit_test(test_trace_grant__all_segments_together_stay_within_the_bound),
		cmocka_unit_test(test_trace_grant__a_thousand_threads_have_rings),
		cmocka_unit_test(test_trace__nobody_waits_for_a_recorder_that_gave_up),
		cmocka_unit_test(test_trace_segments__the_bound_counts_what_there_is),
		cmocka_unit_test(test_trace_listener__a_process_is_answered_at_both_sockets),
		cmocka_unit_test(test_trace_drain__pauses_are_longer_while_little_is_found),
		cmocka_unit_test(test_trace_listener__of_those_who_say_nothing_the_oldest_are_dropped),
		cmocka_unit_test(test_trace_listener__who_goes_on_without_is_counted_and_gets_nothing),
		cmocka_unit_test(test_trace_listener__what_was_said_before_the_end_is_counted),
		cmocka_unit_test(test_trace_counts__memory_that_nobody_used_holds_nothing),
		cmocka_unit_test(test_runtime__the_environment_is_handed_on_and_the_users_part_kept),
		cmocka_unit_test(test_runtime__a_script_is_its_interpreter),
		cmocka_unit_test(test_trace_texts__what_is_missing_is_said_with_its_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
