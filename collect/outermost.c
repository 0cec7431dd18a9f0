/*
 * Frames are kept root first: what two reads have in common is then the beginning of both.
 *
 *	last		n frames, of the last read
 *	agreed		the first frames of it: the same in all reads of this and the previous round
 *	of_round	the same in all reads of this round, which has READS_OF_ROUND reads
 */
#include "collect/outermost.h"

#include "base/mem.h"
#include "collect/stack_bounds.h"
#include "model/profile.h"
#include "unwind/outer_chain.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#define WINDOW_MIN ((size_t)4 << 10)
#define WINDOW_MAX ((size_t)32 << 10)
#define ABOVE_ROOT ((size_t)64 << 10) /* thread-local variables and the like, above a thread's root */
#define FRAMES_MAX 1024u	      /* of an outermost part */
#define NEAR_CUT 64u		      /* frames of the cut stack that are compared with it */
#define READS_OF_ROUND 16u
#define LOCATE_AGAIN_NS UINT64_C(200000000)
#define SEARCH_PART 100u /* searches take at most this part of the time */

struct outer_frame {
	struct ctx_unwind_frame frame;
	uint64_t function; /* its first address; without call frame information, its own address */
};

struct entry { /* a thread's */
	uint32_t thread, process;
	bool is_denied;
	struct ctx_stack_bounds bounds; /* all 0: not known */
	uint64_t root;			/* address of the outermost return address; 0: not known */
	uint64_t cut_ns;		/* the time of its first cut stack */
	uint64_t located_ns, read_ns;	/* the last attempts */
	uint64_t first_ns, last_ns;	/* the first read that counts, and the last one */
	uint8_t *bytes;			/* the last read's; owned, WINDOW_MAX */
	size_t window;			/* bytes that are read */
	struct outer_frame *last;	/* owned, FRAMES_MAX */
	size_t n, agreed, of_round;
	unsigned n_reads; /* of this round */
};

struct ctx_outermost {
	ctx_clock_fn *clock;
	struct entry entries[CTX_OUTERMOST_THREADS];
	struct ctx_unwind_frame frames[FRAMES_MAX];
	struct outer_frame found[FRAMES_MAX];
	uint64_t near[NEAR_CUT]; /* functions of the cut stack */
	size_t n_near;
	uint8_t bytes[ABOVE_ROOT];
	uint64_t n_unread;
	uint64_t now_ns;       /* of this call */
	uint64_t search_at_ns; /* not before then */
};

enum ctx_status ctx_outermost_create(ctx_clock_fn *clock, struct ctx_outermost **ret, struct ctx_err *err)
{
	*ret = ctx_calloc(1, sizeof(**ret));
	if (*ret == NULL)
		return ctx_err_nomem(err);
	(*ret)->clock = clock;
	for (size_t i = 0; i < CTX_OUTERMOST_THREADS; i++)
		(*ret)->entries[i].thread = CTX_NONE;
	return CTX_OK;
}

static void forget(struct entry *entry, uint32_t thread, uint32_t process, uint64_t cut_ns)
{
	free(entry->bytes);
	free(entry->last);
	*entry = (struct entry){.thread = thread, .process = process, .window = WINDOW_MIN, .cut_ns = cut_ns};
}

void ctx_outermost_destroy(struct ctx_outermost *outermost)
{
	for (size_t i = 0; outermost != NULL && i < CTX_OUTERMOST_THREADS; i++)
		forget(&outermost->entries[i], CTX_NONE, CTX_NONE, 0);
	free(outermost);
}

uint64_t ctx_outermost_unread(const struct ctx_outermost *outermost)
{
	return outermost != NULL ? outermost->n_unread : 0;
}

static uint64_t function_of(const struct ctx_unwind_space *space, uint64_t address)
{
	uint64_t begin, end;

	return ctx_outer_chain_function(space, address, &begin, &end) ? begin : address;
}

/* The bytes in front of `end`; false: they cannot be read. */
static bool read_before(struct entry *entry, int64_t pid, uint64_t end, void *out, size_t n)
{
	struct iovec to = {.iov_base = out, .iov_len = n};
	struct iovec from = {.iov_base = (void *)(uintptr_t)(end - n), .iov_len = n};

	if (process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0) == (ssize_t)n)
		return true;
	entry->is_denied = errno == EPERM;
	return false;
}

/* Finds the thread's stack, and the root in it. */
static void locate(struct ctx_outermost *outermost, struct entry *entry, const struct ctx_outermost_cut *cut)
{
	struct ctx_unwind_space space = ctx_code_view_space(cut->view);
	uint64_t top = entry->bounds.top;
	size_t n;

	entry->located_ns = outermost->now_ns;
	if (!ctx_stack_bounds_find(cut->view->pid, cut->sp, &entry->bounds)) {
		entry->bounds = (struct ctx_stack_bounds){0};
		return;
	}
	if (entry->root != 0 && entry->bounds.top == top) /* it has grown */
		return;
	entry->root = 0;
	entry->n = entry->agreed = 0;
	n = entry->bounds.top - entry->bounds.begin;
	n = n < ABOVE_ROOT ? n & ~(size_t)7 : ABOVE_ROOT;
	if (read_before(entry, cut->view->pid, entry->bounds.top, outermost->bytes, n))
		(void)ctx_outer_chain_root(&space,
					   &(struct ctx_outer_window){.bytes = outermost->bytes,
								      .n = n,
								      .address = entry->bounds.top - n},
					   &entry->root);
}

static bool is_near(const struct ctx_outermost *outermost, uint64_t function)
{
	for (size_t i = 0; i < outermost->n_near; i++) {
		if (outermost->near[i] == function)
			return true;
	}
	return false;
}

/* The functions of the frames next to the cut. */
static void note_near(struct ctx_outermost *outermost, const struct ctx_outermost_cut *cut)
{
	struct ctx_unwind_space space = ctx_code_view_space(cut->view);
	const struct ctx_stack_part *part = &cut->part;
	uint64_t begin = 0, end = 0;

	outermost->n_near = 0;
	for (size_t i = 0; i < part->n && i < NEAR_CUT; i++) {
		uint64_t address = part->frames[part->n - 1 - i].address;

		if (address - begin < end - begin) /* of the same function as the last one */
			continue;
		if (!ctx_outer_chain_function(&space, address, &begin, &end)) {
			begin = address;
			end = address + 1;
		}
		if (!is_near(outermost, begin))
			outermost->near[outermost->n_near++] = begin;
	}
}

/* The number of frames, from the root on, up to the innermost of a function next to the cut; 0: none. */
static size_t shared(const struct ctx_outermost *outermost, const struct outer_frame *frames, size_t n)
{
	while (n > 0 && !is_near(outermost, frames[n - 1].function))
		n--;
	return n;
}

static bool read_word(void *context, uint64_t address, uint64_t *ret)
{
	const struct ctx_code_view *view = context;
	uint64_t word;
	struct iovec to = {.iov_base = &word, .iov_len = sizeof(word)};
	struct iovec from = {.iov_base = (void *)(uintptr_t)address, .iov_len = sizeof(word)};

	if (process_vm_readv((pid_t)view->pid, &to, 1, &from, 1, 0) != (ssize_t)sizeof(word))
		return false;
	*ret = word;
	return true;
}

/* What the bytes say, root first; returns the number of frames. */
static size_t find_chain(struct ctx_outermost *outermost, const struct entry *entry,
			 struct ctx_code_view *view)
{
	struct ctx_unwind_space space = ctx_code_view_space(view);
	struct ctx_outer_window window = {.bytes = outermost->bytes,
					  .n = entry->window,
					  .address = entry->root + 8 - entry->window,
					  .read_word = read_word,
					  .context = view};
	size_t n = ctx_outer_chain_find(&space, &window, outermost->frames, FRAMES_MAX);

	for (size_t i = 0; i < n; i++) {
		const struct ctx_unwind_frame *frame = &outermost->frames[n - 1 - i];

		outermost->found[i] = (struct outer_frame){.frame = *frame,
							   .function = function_of(&space, frame->address)};
	}
	return n;
}

/* How many frames, from the root on, both have. */
static size_t in_common(const struct entry *entry, const struct outer_frame *frames, size_t n)
{
	size_t i = 0;

	while (i < n && i < entry->n && entry->last[i].frame.address == frames[i].frame.address &&
	       entry->last[i].frame.cfa == frames[i].frame.cfa)
		i++;
	return i;
}

static bool has_room(struct entry *entry)
{
	if (entry->bytes == NULL)
		entry->bytes = ctx_calloc(1, WINDOW_MAX);
	if (entry->last == NULL)
		entry->last = ctx_calloc(FRAMES_MAX, sizeof(*entry->last));
	return entry->bytes != NULL && entry->last != NULL;
}

/* One more read has said what `last` says. */
static void count_read(struct entry *entry, uint64_t now_ns)
{
	entry->last_ns = now_ns;
	if (++entry->n_reads == READS_OF_ROUND) {
		entry->n_reads = 0;
		entry->agreed = entry->of_round;
		entry->of_round = entry->n;
	}
}

/* Takes over the frames of a read, of which `n` are those of `outermost->found`. */
static void take(const struct ctx_outermost *outermost, struct entry *entry, size_t n, uint64_t now_ns)
{
	size_t common = entry->n != 0 ? in_common(entry, outermost->found, n) : n;

	if (entry->n == 0) {
		entry->first_ns = now_ns;
		entry->agreed = entry->of_round = n;
	}
	entry->agreed = entry->agreed < common ? entry->agreed : common;
	entry->of_round = entry->of_round < common ? entry->of_round : common;
	memcpy(entry->last, outermost->found, n * sizeof(*entry->last));
	entry->n = n;
	count_read(entry, now_ns);
}

/* Reads the outermost bytes, and the frames from them if the bytes have changed. */
static void look(struct ctx_outermost *outermost, struct entry *entry, const struct ctx_outermost_cut *cut)
{
	size_t n;

	entry->read_ns = outermost->now_ns;
	if (entry->root + 8 - entry->window < entry->bounds.begin || !has_room(entry) ||
	    !read_before(entry, cut->view->pid, entry->root + 8, outermost->bytes, entry->window))
		return;
	if (entry->n != 0 && memcmp(entry->bytes, outermost->bytes, entry->window) == 0) {
		if (shared(outermost, entry->last, entry->n) != 0)
			count_read(entry, outermost->now_ns);
		return;
	}
	n = find_chain(outermost, entry, cut->view);
	if (shared(outermost, outermost->found, n) == 0) { /* the thread is elsewhere, or a frame is large */
		if (entry->window < WINDOW_MAX && entry->n == 0)
			entry->window *= 2;
		return;
	}
	memcpy(entry->bytes, outermost->bytes, entry->window);
	take(outermost, entry, n, outermost->now_ns);
}

/* The frames that can be this stack's, leaf first. */
static struct ctx_stack_part answer(struct ctx_outermost *outermost, const struct entry *entry,
				    const struct ctx_outermost_cut *cut)
{
	size_t n = shared(outermost, entry->last, entry->n);
	uint64_t cut_at = cut->sp;

	for (size_t i = cut->part.n; i-- > 0 && cut_at == cut->sp;) {
		if (cut->part.frames[i].cfa > cut_at)
			cut_at = cut->part.frames[i].cfa;
	}
	n = n < entry->agreed ? n : entry->agreed;
	while (n > 1 && entry->last[n - 1].frame.cfa <= cut_at)
		n--;
	if (n == 0 || entry->root <= cut_at || entry->last_ns - entry->first_ns < CTX_OUTERMOST_APART_NS)
		return (struct ctx_stack_part){0};
	for (size_t i = 0; i < n; i++)
		outermost->frames[n - 1 - i] = entry->last[i].frame;
	return (struct ctx_stack_part){outermost->frames, n};
}

/* Reads what is due; false: nothing is known of the stack. */
static bool search(struct ctx_outermost *outermost, struct entry *entry, const struct ctx_outermost_cut *cut)
{
	bool is_due = outermost->now_ns >= outermost->search_at_ns &&
		      cut->time_ns >= entry->cut_ns + CTX_OUTERMOST_APART_NS;

	if ((cut->sp < entry->bounds.begin || cut->sp >= entry->bounds.end || entry->root == 0) && is_due &&
	    outermost->now_ns - entry->located_ns >=
		    (entry->root != 0 ? CTX_OUTERMOST_APART_NS : LOCATE_AGAIN_NS) &&
	    !entry->is_denied)
		locate(outermost, entry, cut);
	if (entry->is_denied)
		outermost->n_unread++;
	if (entry->root == 0 || entry->is_denied || cut->sp >= entry->root)
		return false;
	note_near(outermost, cut);
	if (is_due && outermost->now_ns - entry->read_ns >= CTX_OUTERMOST_APART_NS)
		look(outermost, entry, cut);
	return entry->n != 0;
}

/*
 * Searches are paused for a time that follows from what the last one took: threads that wait with deep
 * stacks, each time another, would be searched all the time.
 */
struct ctx_stack_part ctx_outermost_find(struct ctx_outermost *outermost, const struct ctx_outermost_cut *cut)
{
	struct entry *entry = &outermost->entries[cut->thread % CTX_OUTERMOST_THREADS];
	uint64_t began_ns = outermost->clock(CLOCK_THREAD_CPUTIME_ID);
	bool is_known;

	outermost->now_ns = outermost->clock(CLOCK_MONOTONIC);
	if (entry->thread != cut->thread || entry->process != cut->view->process)
		forget(entry, cut->thread, cut->view->process, cut->time_ns);
	is_known = search(outermost, entry, cut);
	if (entry->located_ns == outermost->now_ns || entry->read_ns == outermost->now_ns)
		outermost->search_at_ns =
			outermost->now_ns +
			(outermost->clock(CLOCK_THREAD_CPUTIME_ID) - began_ns) * SEARCH_PART;
	return is_known ? answer(outermost, entry, cut) : (struct ctx_stack_part){0};
}
