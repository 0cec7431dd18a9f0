/*
 *	first operation --> environment --> segment --descriptor--> recorder
 *	     each thread --> slot of a segment, ring, walker
 */
#include "runtime/rt_process.h"

#include "runtime/rt_memory.h"
#include "runtime/rt_real.h"
#include "runtime/rt_recorder.h"

#include "base/clock.h"
#include "model/traced.h"
#include "runtime/rt_filter.h"
#include "runtime/rt_stack.h"
#include "runtime/rt_syscall.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HANDLER_LEAST 512u /* bytes of a stack: registers of the floating point unit alone */

struct segment {
	uint8_t *bytes; /* shared */
	uint32_t slots;
	uint64_t ring_bytes;
	struct ctx_rt_thread *threads[CTX_RT_SLOTS]; /* made when first used, and kept */
	void *calls[CTX_RT_SLOTS];		     /* the same of calls */
	_Atomic int32_t owners[CTX_RT_SLOTS];	     /* tids, of a ring of calls with FOR_CALLS; 0: free */
};

#define FOR_CALLS (1 << 30)

enum state {
	NEW = 0, /* also after fork: the page is wiped */
	ON,
	OFF,
};

/* In pages that are empty after fork. */
struct process {
	_Atomic uint32_t state;
	_Atomic uint32_t lock;
	uint32_t generation; /* tells a process from its parent */
	uint32_t previous;   /* the same of this process when it was attached to before; 0: it was not */
	_Atomic uint32_t n_segments;
	struct segment segments[CTX_RT_SEGMENTS_MAX];
	_Atomic uint32_t told_pause;
	struct ctx_rt_descriptors descriptors;
};

static struct process *process; /* NULL: the runtime has not begun, or cannot */
static _Atomic uint32_t begun;	/* 1: somebody makes it, or it is made */
static uint32_t generations;
struct ctx_rt_settings ctx_rt_settings;
_Atomic uint32_t ctx_rt_topics = CTX_RT_WHAT_ALL;
uint64_t ctx_rt_sample_bytes;
_Atomic uint32_t ctx_rt_paused;

/* As the C library has it: a mutex of this kind says who locked it. */
static int32_t thread_id_kept(void)
{
	pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	int (*real_lock)(pthread_mutex_t *) = NULL;

	*(void **)&real_lock = ctx_rt_find("pthread_mutex_lock", NULL);
	return real_lock != NULL && real_lock(&mutex) == 0 ? mutex.__data.__owner : 0;
}

static int32_t thread_id(void)
{
	return ctx_rt_is_restricted() ? thread_id_kept() : (int32_t)ctx_rt_syscall(SYS_gettid);
}

/* Segments */

/* Of a limit on its memory, which the program may need for itself, the runtime takes an eighth. */
static bool may_map(uint64_t bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur / 8 >= bytes;
}

/* What the recorder has made; returns its bytes. 0: it cannot be read, or is none. */
static uint64_t read_shape(struct segment *segment, int fd)
{
	struct ctx_rt_header *header = ctx_rt_memory_map_file(fd, CTX_RT_PAGE);
	uint64_t bytes = 0;

	if (header == NULL)
		return 0;
	if (header->magic == CTX_RT_MAGIC && header->version == CTX_RT_VERSION &&
	    ctx_rt_is_shape(header->slots, header->ring_bytes)) {
		segment->slots = header->slots;
		segment->ring_bytes = header->ring_bytes;
		bytes = ctx_rt_segment_bytes(segment->slots, segment->ring_bytes);
	}
	ctx_rt_memory_unmap(header, CTX_RT_PAGE);
	return bytes;
}

/* `n` is how many the process has. */
static bool make_segment(struct segment *segment, uint32_t n)
{
	int fd = ctx_rt_recorder_request(n);
	uint64_t bytes;

	if (fd < 0)
		return false;
	bytes = read_shape(segment, fd);
	if (bytes != 0 && !may_map((n + 1) * bytes))
		bytes = 0;
	segment->bytes = bytes != 0 ? ctx_rt_memory_map_file(fd, (size_t)bytes) : NULL;
	ctx_rt_close(fd);
	if (segment->bytes != NULL && madvise(segment->bytes, (size_t)bytes, MADV_DONTFORK) != 0) {
		ctx_rt_memory_unmap(segment->bytes, (size_t)bytes);
		segment->bytes = NULL;
	}
	if (segment->bytes == NULL) {
		ctx_rt_recorder_report(CTX_RT_UNTRACED_UNMAPPED);
		return false;
	}
	atomic_store(&((struct ctx_rt_header *)segment->bytes)->pid, (uint32_t)getpid());
	return true;
}

/* The process begins */

/* "SOCKET:LETTERS"; NULL: none. What is recorded, as enum ctx_rt_what; 0: nothing. */
static uint32_t read_settings(const char *text)
{
	const char *letters = text != NULL ? strchr(text, ':') : NULL, *letter;
	size_t n = letters != NULL ? (size_t)(letters - text) : 0;

	ctx_rt_settings = (struct ctx_rt_settings){0};
	ctx_rt_sample_bytes = 0;
	if (!ctx_rt_recorder_name(text, n))
		return 0;
	ctx_rt_settings.waits = strchr(letters, 'w') != NULL;
	ctx_rt_settings.gives_way = strchr(letters, 'q') != NULL;
	ctx_rt_settings.has_tsc = strchr(letters, 't') != NULL;
	ctx_rt_settings.letters = letters + 1;
	letter = strchr(letters, 'h');
	if (letter != NULL) {
		ctx_rt_sample_bytes = strtoull(letter + 1, NULL, 10);
		ctx_rt_settings.what |= CTX_RT_WHAT_HEAP;
	}
	if (strchr(letters, 'i') != NULL)
		ctx_rt_settings.what |= CTX_RT_WHAT_IO;
	letter = strchr(letters, 's');
	if (letter != NULL) {
		ctx_rt_settings.sync_threshold_ns = strtoull(letter + 1, NULL, 10);
		ctx_rt_settings.what |= CTX_RT_WHAT_SYNC;
	}
	if (strchr(letters, 'm') != NULL)
		ctx_rt_settings.what |= CTX_RT_WHAT_MARKS;
	if (strchr(letters, 'c') != NULL)
		ctx_rt_settings.what |= CTX_RT_WHAT_CALLS;
	if (strchr(letters, 'o') != NULL)
		ctx_rt_settings.what |= CTX_RT_WHAT_OMP;
	if (strchr(letters, 'e') != NULL)
		ctx_rt_settings.what |= CTX_RT_WHAT_ONCE;
	if (strchr(letters, 'k') != NULL)
		ctx_rt_settings.what |= CTX_RT_WHAT_COUNT;
	return ctx_rt_settings.what;
}

static struct process *make_process(void)
{
	struct process *pages = ctx_rt_memory_map(sizeof(struct process));

	if (pages == NULL)
		return NULL;
	if (madvise(pages, sizeof(struct process), MADV_WIPEONFORK) == 0)
		return pages;
	ctx_rt_memory_unmap(pages, sizeof(struct process));
	return NULL;
}

static void use_process(struct process *pages)
{
	process = pages;
	ctx_rt_generation = &pages->generation;
}

/* Once for the memory of a program; a forked child has the outcome. */
static void begin(void)
{
	uint32_t expected = 0, topics;
	struct process *pages;

	if (!atomic_compare_exchange_strong(&begun, &expected, 1))
		return;
	ctx_rt_stack_begin(true);
	topics = ctx_rt_can_walk() ? read_settings(getenv(CTX_RT_VARIABLE)) : 0;
	pages = topics != 0 ? make_process() : NULL;
	if (pages != NULL)
		use_process(pages);
	atomic_store(&ctx_rt_topics, pages != NULL ? topics : 0);
}

uint32_t ctx_rt_begin(void)
{
	int error = errno;

	if (environ != NULL)
		begin();
	errno = error;
	return ctx_rt_settings.what;
}

static void lock(void)
{
	while (atomic_exchange_explicit(&process->lock, 1, memory_order_acquire) != 0)
		ctx_rt_is_restricted() ? __builtin_ia32_pause() : (void)sched_yield();
}

static void unlock(void)
{
	atomic_store_explicit(&process->lock, 0, memory_order_release);
}

static bool attach(void)
{
	lock();
	if (atomic_load(&process->state) == NEW) {
		bool made = !ctx_rt_is_restricted() && make_segment(&process->segments[0], 0);

		process->generation = ++generations;
		atomic_store(&process->n_segments, made ? 1 : 0);
		atomic_store(&process->state, made ? ON : OFF);
	}
	unlock();
	return atomic_load(&process->state) == ON;
}

/* Attaching */

int ctx_rt_process_attach(const char *setting)
{
	struct process *pages;
	uint32_t previous = process != NULL ? process->generation : 0;

	if (atomic_load(&ctx_rt_topics) != 0 && process != NULL && atomic_load(&process->state) == ON &&
	    ctx_rt_recorder_is_there())
		return CTX_RT_ATTACH_TRACED;
	atomic_store(&ctx_rt_topics, 0);
	atomic_store(&begun, 1);
	if (!ctx_rt_can_walk() || read_settings(setting) == 0)
		return CTX_RT_ATTACH_UNFIT;
	ctx_rt_stack_begin(false);
	pages = make_process();
	if (pages == NULL || !make_segment(&pages->segments[0], 0)) {
		if (pages != NULL)
			ctx_rt_memory_unmap(pages, sizeof(*pages));
		ctx_rt_settings.what = 0;
		return CTX_RT_ATTACH_UNREACHABLE;
	}
	pages->previous = previous;
	pages->generation = ++generations;
	atomic_store(&pages->n_segments, 1);
	atomic_store(&pages->state, ON);
	use_process(pages);
	return CTX_RT_ATTACH_DONE;
}

void ctx_rt_process_go_on(void)
{
	atomic_store(&ctx_rt_topics, ctx_rt_settings.what);
}

void ctx_rt_process_detach(void)
{
	ctx_rt_process_stop();
	ctx_rt_settings.what = 0;
	if (process != NULL)
		atomic_store(&process->state, OFF);
}

/* Threads */

/* Whether a thread of this process has the id. */
static bool is_alive(int32_t tid)
{
	return ctx_rt_is_restricted() || ctx_rt_syscall(SYS_tgkill, getpid(), tid & ~FOR_CALLS, 0) == 0 ||
	       errno != ESRCH;
}

/* Takes a free slot, or that of a thread which has ended. */
static bool take_slot(struct segment *segment, int32_t tid, uint32_t *ret)
{
	for (uint32_t i = 0; i < segment->slots; i++) {
		int32_t owner = atomic_load(&segment->owners[i]);

		if ((owner == 0 || owner == tid || !is_alive(owner)) &&
		    atomic_compare_exchange_strong(&segment->owners[i], &owner, tid)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

/* Another segment than the first `n`: made by this thread, or by another one meanwhile. */
static bool add_segment(uint32_t n)
{
	bool added;

	if (ctx_rt_is_restricted())
		return false;
	lock();
	if (atomic_load(&process->n_segments) == n && n < CTX_RT_SEGMENTS_MAX &&
	    make_segment(&process->segments[n], n))
		atomic_store(&process->n_segments, n + 1);
	added = atomic_load(&process->n_segments) > n;
	unlock();
	return added;
}

static bool find_slot(int32_t tid, struct segment **ret_segment, uint32_t *ret)
{
	uint32_t i = 0;

	do {
		for (; i < atomic_load(&process->n_segments); i++) {
			*ret_segment = &process->segments[i];
			if (take_slot(*ret_segment, tid, ret))
				return true;
		}
	} while (add_segment(i));
	return false;
}

/* The ring goes on where it is: whoever had it before may have had it for something else. */
static struct ctx_rt_ring ring_of(const struct segment *segment, uint32_t i)
{
	struct ctx_rt_slot *slot = ctx_rt_slot_of(segment->bytes, i);

	return (struct ctx_rt_ring){.slot = slot,
				    .words = ctx_rt_words_of(segment->bytes, i, segment->ring_bytes),
				    .bytes = segment->ring_bytes,
				    .head = atomic_load(&slot->head),
				    .tail = atomic_load(&slot->tail)};
}

bool ctx_rt_process_take_place(struct ctx_rt_place *ret)
{
	uint64_t signals = process != NULL ? ctx_rt_signals_block() : CTX_RT_NO_SIGNALS;
	struct segment *segment = NULL;
	struct ctx_rt_header *header;
	uint32_t i = 0;
	bool taken = false;

	if (process == NULL || !attach())
		goto out;
	ret->tid = thread_id();
	taken = find_slot(ret->tid | FOR_CALLS, &segment, &i);
	if (!taken) {
		atomic_fetch_add(&((struct ctx_rt_header *)process->segments[0].bytes)->unplaced, 1);
		goto out;
	}
	header = (struct ctx_rt_header *)segment->bytes;
	ret->ring = ring_of(segment, i);
	ret->closed = &header->closed;
	ret->beat = &header->beat;
	ret->memory = &segment->calls[i];
out:
	ctx_rt_signals_restore(signals);
	return taken;
}

const struct ctx_rt_header *ctx_rt_process_header(void)
{
	return process != NULL && atomic_load(&process->state) == ON
		       ? (const struct ctx_rt_header *)process->segments[0].bytes
		       : NULL;
}

bool ctx_rt_process_is_own(void)
{
	const struct ctx_rt_header *header = ctx_rt_process_header();

	return header != NULL && atomic_load(&header->pid) == (uint32_t)getpid();
}

void ctx_rt_process_each_calls(void (*visit)(void *memory))
{
	for (uint32_t i = 0; i < atomic_load(&process->n_segments); i++) {
		for (uint32_t slot = 0; slot < process->segments[i].slots; slot++) {
			if (process->segments[i].calls[slot] != NULL)
				visit(process->segments[i].calls[slot]);
		}
	}
}

void ctx_rt_process_note_calls(uint64_t patched, uint64_t unpatched)
{
	uint64_t signals = ctx_rt_signals_block();
	struct ctx_rt_header *header;

	if (process != NULL && attach()) {
		header = (struct ctx_rt_header *)process->segments[0].bytes;
		atomic_fetch_add(&header->patched, patched);
		atomic_fetch_add(&header->unpatched, unpatched);
	}
	ctx_rt_signals_restore(signals);
}

static struct ctx_rt_thread *use_slot(struct ctx_rt_thread *thread, const struct segment *segment, uint32_t i)
{
	struct ctx_rt_header *header = (struct ctx_rt_header *)segment->bytes;

	thread->ring = ring_of(segment, i);
	thread->closed = &header->closed;
	thread->beat = &header->beat;
	thread->waits = ctx_rt_settings.waits;
	return thread;
}

static struct ctx_rt_thread *make_thread(const struct segment *segment, uint32_t i)
{
	struct ctx_rt_thread *thread = ctx_rt_memory_map(sizeof(*thread));

	if (thread == NULL)
		return NULL;
	(void)madvise(thread, sizeof(*thread), MADV_DONTFORK);
	return use_slot(thread, segment, i);
}

/* A child was forked in a pause: it begins with one. */
static void tell_pause(struct ctx_rt_thread *thread)
{
	static const char name[] = "pause";
	struct ctx_rt_operation operation = {
		.kind = CTX_RT_MARK, .text = name, .text_bytes = sizeof(name) - 1};

	if (!ctx_rt_is_paused() || atomic_exchange(&process->told_pause, 1) != 0)
		return;
	operation.words[0] = ctx_clock_ns(CLOCK_MONOTONIC);
	operation.words[1] = CTX_MARK_PAUSE;
	ctx_rt_record(thread, &operation, NULL);
}

/* `ctx_rt_own.thread` is the calling thread's; NULL: no slot, or no memory. */
static void enter_thread(void)
{
	int32_t tid = thread_id();
	struct segment *segment;
	uint32_t i;
	struct ctx_rt_operation first = {.kind = CTX_RT_THREAD};
	/* Its own memory of when the process was attached to before. */
	struct ctx_rt_thread *known = process->previous != 0 && ctx_rt_own.generation == process->previous
					      ? ctx_rt_own.thread
					      : NULL;

	ctx_rt_own.thread = NULL;
	ctx_rt_own.generation = process->generation;
	if (!find_slot(tid, &segment, &i))
		return;
	if (segment->threads[i] == NULL)
		segment->threads[i] = known != NULL ? use_slot(known, segment, i) : make_thread(segment, i);
	if (segment->threads[i] == NULL) {
		atomic_store(&segment->owners[i], 0);
		return;
	}
	segment->threads[i]->ring = ring_of(segment, i);
	segment->threads[i]->knows_stack = false;
	segment->threads[i]->walker.low = segment->threads[i]->walker.top = 0;
	first.words[0] = ctx_clock_ns(CLOCK_MONOTONIC);
	first.words[1] = (uint64_t)(uint32_t)tid;
	ctx_rt_own.thread = segment->threads[i];
	ctx_rt_own.thread->tid = tid;
	ctx_rt_walk_anew(&ctx_rt_own.thread->walker);
	ctx_rt_locks_clear(&ctx_rt_own.thread->locks);
	ctx_rt_record(ctx_rt_own.thread, &first, NULL);
	tell_pause(ctx_rt_own.thread);
}

static void enter_unsignalled(void)
{
	uint64_t signals = ctx_rt_signals_block();

	if (attach() && ctx_rt_own.generation != process->generation)
		enter_thread();
	ctx_rt_signals_restore(signals);
}

__attribute__((noinline)) static struct ctx_rt_thread *acquire_first(uint32_t what)
{
	int error = errno;

	if (process == NULL && environ != NULL)
		begin();
	if ((ctx_rt_settings.what & what) == 0) {
		errno = error;
		return NULL;
	}
	if (process != NULL &&
	    (atomic_load(&process->state) == NEW ||
	     (atomic_load(&process->state) == ON && ctx_rt_own.generation != process->generation)))
		enter_unsignalled();
	errno = error;
	if (process == NULL || atomic_load(&process->state) != ON)
		return NULL;
	if (ctx_rt_own.thread == NULL)
		atomic_fetch_add(&((struct ctx_rt_header *)process->segments[0].bytes)->unplaced, 1);
	return ctx_rt_own.thread;
}

static bool is_open(const struct ctx_rt_thread *thread)
{
	return atomic_load_explicit(thread->closed, memory_order_relaxed) == 0;
}

/*
 * A signal handler has interrupted the frame that acquired the thread, and left by longjmp: this is not below that
 * frame by so much as the kernel puts on the stack for a handler. What was half written is not in the ring, and what
 * the walker knows is forgotten.
 */
static bool was_left(struct ctx_rt_thread *thread, uint64_t now_at)
{
	const struct ctx_rt_walker *walker = &thread->walker;

	if (now_at + HANDLER_LEAST <= ctx_rt_own.acquired_at || ctx_rt_own.acquired_at < walker->low ||
	    ctx_rt_own.acquired_at >= walker->top || now_at < walker->low || now_at >= walker->top)
		return false;
	ctx_rt_walk_forget(&thread->walker);
	return true;
}

/* The thread is acquired already. False: it stays so. */
__attribute__((noinline)) static bool acquire_again(uint64_t now_at)
{
	if (ctx_rt_own.thread == NULL || process == NULL || ctx_rt_own.generation != process->generation)
		return false;
	if (was_left(ctx_rt_own.thread, now_at))
		return true;
	atomic_fetch_add(&ctx_rt_own.thread->ring.slot->interrupted, 1);
	return false;
}

/*
 * A child that clone made for one system call, with thread-local memory that is all zero (chromium's sandbox), is no
 * thread: the first word there is its own address otherwise.
 */
static bool is_thread(void)
{
	return __builtin_thread_pointer() != NULL;
}

struct ctx_rt_thread *ctx_rt_thread_acquire(uint32_t what)
{
	const uint64_t now_at = (uintptr_t)__builtin_frame_address(0);
	struct ctx_rt_thread *thread;

	if (__builtin_expect(!is_thread(), 0))
		return NULL;
	if (!ctx_rt_is_on(what) || ctx_rt_own.muted != 0)
		return NULL;
	if (ctx_rt_own.acquired_at != 0 && !acquire_again(now_at))
		return NULL;
	ctx_rt_own.acquired_at = now_at;
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(process != NULL && ctx_rt_own.thread != NULL &&
				     ctx_rt_own.generation == process->generation,
			     1))
		thread = ctx_rt_own.thread;
	else
		thread = acquire_first(what);
	if (thread != NULL && is_open(thread) && ctx_rt_is_on(what))
		return thread;
	ctx_rt_thread_release();
	return NULL;
}

struct ctx_rt_thread *ctx_rt_thread_of(int32_t tid)
{
	uint32_t n = process != NULL ? atomic_load(&process->n_segments) : 0;

	for (uint32_t i = 0; i < n && tid != 0; i++) {
		for (uint32_t slot = 0; slot < process->segments[i].slots; slot++) {
			if (atomic_load_explicit(&process->segments[i].owners[slot], memory_order_relaxed) ==
			    tid)
				return process->segments[i].threads[slot];
		}
	}
	return NULL;
}

struct ctx_rt_descriptors *ctx_rt_process_descriptors(void)
{
	return &process->descriptors;
}

_Atomic uint64_t *ctx_rt_process_closes(void)
{
	return &((struct ctx_rt_header *)process->segments[0].bytes)->closes;
}

void ctx_rt_note_unfit(enum ctx_program why, const char *file)
{
	struct ctx_rt_thread *thread = ctx_rt_thread_acquire(CTX_RT_WHAT_ALL);
	size_t n = file != NULL ? strlen(file) : 0;
	struct ctx_rt_operation operation = {.kind = CTX_RT_UNFIT, .text = file, .text_bytes = (uint32_t)n};

	if (thread == NULL)
		return;
	atomic_fetch_add(&((struct ctx_rt_header *)process->segments[0].bytes)->unfit, 1);
	operation.words[0] = ctx_clock_ns(CLOCK_MONOTONIC);
	operation.words[1] = why;
	if (n != 0 && n <= CTX_RT_TEXT_MAX)
		ctx_rt_record(thread, &operation, NULL);
	ctx_rt_thread_release();
}

/* Slots for threads to come, and memory of their own, which takes no room until they write there. */
static void prepare_threads(int32_t tid)
{
	uint32_t slots = 0;

	for (uint32_t i = 0; i < atomic_load(&process->n_segments); i++) {
		struct segment *segment = &process->segments[i];

		for (uint32_t j = 0; j < segment->slots; j++) {
			int32_t owner = 0;

			slots++;
			/* Whoever takes the slot makes it itself. */
			if (segment->threads[j] == NULL &&
			    atomic_compare_exchange_strong(&segment->owners[j], &owner, tid)) {
				segment->threads[j] = make_thread(segment, j);
				atomic_store(&segment->owners[j], 0);
			}
		}
		if (i + 1 == atomic_load(&process->n_segments) && slots < CTX_RT_SLOTS)
			(void)add_segment(i + 1);
	}
}

void ctx_rt_process_restrict(void)
{
	const struct ctx_rt_thread *thread = ctx_rt_thread_acquire(CTX_RT_WHAT_ALL);

	if (thread != NULL) {
		atomic_store(&((struct ctx_rt_header *)process->segments[0].bytes)->restricted, 1);
		prepare_threads(thread->tid);
		ctx_rt_thread_release();
	}
	atomic_store(&ctx_rt_restricted_now, true);
}

void ctx_rt_process_stop(void)
{
	atomic_store(&ctx_rt_topics, 0);
}

void ctx_rt_note_apart(const char *name)
{
	struct ctx_rt_header *header;
	int error = errno;
	bool is_there = strchr(name, '/') == NULL || ctx_rt_is_restricted() ||
			ctx_rt_syscall(SYS_faccessat, AT_FDCWD, name, R_OK) == 0;

	errno = error;
	if (!is_there)
		return;
	if (ctx_rt_thread_acquire(CTX_RT_WHAT_ALL) == NULL)
		return;
	header = (struct ctx_rt_header *)process->segments[0].bytes;
	if (atomic_fetch_add(&header->apart, 1) == 0)
		(void)stpncpy(header->apart_name, name, sizeof(header->apart_name) - 1);
	ctx_rt_thread_release();
}

void ctx_rt_note_own_allocator(void)
{
	if (ctx_rt_thread_acquire(CTX_RT_WHAT_HEAP) == NULL)
		return;
	atomic_store(&((struct ctx_rt_header *)process->segments[0].bytes)->own_allocators, 1);
	ctx_rt_thread_release();
}

void ctx_rt_note_omp_tool(enum ctx_rt_omp_tool what)
{
	if (ctx_rt_thread_acquire(CTX_RT_WHAT_OMP) == NULL)
		return;
	atomic_store(&((struct ctx_rt_header *)process->segments[0].bytes)->omp_tool, what);
	ctx_rt_thread_release();
}
