/*
 *	hook --place, function--> enter: one more open call, a word
 *	     --place-----------> leave: one less, a word; where the function returns to
 *
 * All of it runs with integer registers alone (see CMakeLists.txt). What is called where a compiler has expected
 * no call keeps all of them (CTX_RT_KEEPS).
 */
#include "runtime/rt_calls.h"

#include "runtime/rt_calls_open.h"
#include "runtime/rt_process.h"
#include "runtime/rt_returns.h"

#define HIDDEN __attribute__((visibility("hidden"), used))
#define SLOW __attribute__((noinline)) CTX_RT_KEEPS
#define LIKELY(condition) __builtin_expect((condition), 1)

static __thread struct ctx_rt_calls *own CTX_RT_TLS;
static __thread uint32_t refused CTX_RT_TLS; /* there was no ring in this generation */

#ifdef __x86_64__
HIDDEN CTX_RT_KEEPS uint32_t ctx_rt_calls_enter(uint64_t place, uint64_t function);
HIDDEN CTX_RT_KEEPS void ctx_rt_calls_enter_here(uint64_t place, uint64_t function);
HIDDEN CTX_RT_KEEPS void ctx_rt_calls_enter_sled(uint64_t place, uint64_t function);
HIDDEN CTX_RT_KEEPS void ctx_rt_calls_leave(uint64_t place);
HIDDEN CTX_RT_KEEPS void ctx_rt_calls_leave_sled(uint64_t place);
#endif

static inline uint32_t mode(void)
{
	return atomic_load_explicit(&ctx_rt_calls_mode, memory_order_relaxed);
}

static inline void fence(void)
{
	atomic_signal_fence(memory_order_seq_cst);
}

/* Beginning and ending a hook */

/* In a hook that has interrupted another one. */
static bool defer(struct ctx_rt_calls *calls, const struct ctx_rt_deferred *what)
{
	if (calls->n_deferred >= CTX_RT_DEFERRED_MAX) {
		if (calls->ring.slot != NULL)
			atomic_fetch_add(&calls->ring.slot->interrupted, 1);
		return false;
	}
	calls->deferred[calls->n_deferred++] = *what;
	return true;
}

static inline void begin_hook(struct ctx_rt_calls *calls, uint64_t place)
{
	calls->begun.head = calls->ring.head;
	calls->begun.depth = calls->depth;
	calls->busy_place = place;
	fence();
	calls->busy = 1;
	fence();
}

/* The same where more than one word may be written. `told` is right then. */
static void begin_slow(struct ctx_rt_calls *calls, uint64_t place)
{
	begin_hook(calls, place);
	calls->busy = 2;
	if (ctx_rt_calls_tells_all() && calls->lost == 0)
		calls->told = calls->depth;
	calls->begun.told = calls->told;
}

static void do_one(struct ctx_rt_calls *calls, const struct ctx_rt_deferred *what)
{
	if (what->leaves)
		ctx_rt_open_leave(calls, what);
	else
		(void)ctx_rt_open_enter(calls, what);
}

SLOW static void do_deferred(struct ctx_rt_calls *calls)
{
	while (calls->n_deferred != 0) {
		begin_slow(calls, calls->busy_place);
		for (uint32_t i = 0; i < calls->n_deferred; i++)
			do_one(calls, &calls->deferred[i]);
		calls->n_deferred = 0;
		fence();
		calls->busy = 0;
	}
}

static inline void end_hook(struct ctx_rt_calls *calls)
{
	fence();
	calls->busy = 0;
	fence();
	if (!LIKELY(calls->n_deferred == 0))
		do_deferred(calls);
}

/* The thread's, with a ring; NULL: it has none. `old` is what it has. */
SLOW static struct ctx_rt_calls *begin_thread(struct ctx_rt_calls *old)
{
	struct ctx_rt_calls_request request = {.need = CTX_RT_CALLS_BEGIN, .calls = old};

	if (refused == *ctx_rt_generation && refused != 0)
		return NULL;
	if (old != NULL)
		old->busy = 1;
	ctx_rt_calls_heavy(&request);
	own = (struct ctx_rt_calls *)(uintptr_t)request.result;
	if (own == NULL) {
		own = old;
		refused = *ctx_rt_generation;
		if (old != NULL)
			old->busy = 0;
		return NULL;
	}
	own->busy = 0;
	return own;
}

/* The calling thread's if it is to be recorded. */
SLOW static struct ctx_rt_calls *get_own(void)
{
	struct ctx_rt_calls *calls = own;

	if (mode() == CTX_RT_CALLS_OFF || ctx_rt_is_paused())
		return NULL;
	if (calls == NULL || (calls->ring.slot == NULL && calls->busy == 0))
		calls = begin_thread(calls);
	return calls != NULL && calls->closed != NULL &&
			       atomic_load_explicit(calls->closed, memory_order_relaxed) == 0
		       ? calls
		       : NULL;
}

/* Where the return address of a CFA is kept, made if needed. NULL: nowhere. */
SLOW static uint64_t *place_for_return(struct ctx_rt_calls *calls, uint64_t cfa)
{
	struct ctx_rt_calls_request request = {.need = CTX_RT_CALLS_CHUNK, .value = cfa};
	uint64_t *at;

	if (cfa % 8 != 0)
		return NULL;
	at = ctx_rt_returns_at(cfa);
	if (at == NULL && calls->busy == 0) {
		calls->busy = 1;
		ctx_rt_calls_heavy(&request);
		calls->busy = 0;
		at = ctx_rt_returns_at(cfa);
	}
	if (at != NULL && calls->busy == 0) {
		calls->busy = 1; /* what interrupts this looks it up */
		fence();
		calls->chunk = cfa >> 16;
		calls->bias = (uint64_t)(uintptr_t)at - cfa;
		fence();
		calls->busy = 0;
	}
	return at;
}

static inline bool returns_here(uint64_t address)
{
#ifdef __x86_64__
	return address == (uint64_t)(uintptr_t)ctx_rt_calls_return;
#else
	(void)address;
	return false;
#endif
}

/* What counters have counted since the thread's last hook is of the innermost open call. */
static inline void count(struct ctx_rt_calls *calls, uint64_t ticks)
{
	if (!LIKELY(ctx_rt_calls_settings.counters == 0))
		ctx_rt_open_count(calls, ticks);
}

/* A page of the ring may have been touched for the first time, which is no fault of the program. */
static inline void count_anew(struct ctx_rt_calls *calls)
{
	struct ctx_rt_calls_request request = {.need = CTX_RT_CALLS_COUNT, .calls = calls};

	if (!LIKELY(ctx_rt_calls_settings.counters == 0) &&
	    (calls->begun.head ^ calls->ring.head) / CTX_RT_PAGE != 0)
		ctx_rt_calls_heavy(&request);
}

/* Whatever is not as usual. False: the call is not recorded, and its return is left alone. */
SLOW static bool enter_slow(uint64_t place, uint64_t function, enum ctx_rt_call_hook hook)
{
	struct ctx_rt_calls *calls = get_own();
	struct ctx_rt_deferred what = {.place = place, .function = function, .hook = hook};
	uint64_t *address = (uint64_t *)(uintptr_t)place, *at = NULL;
	bool is_kept, is_tail;

	if (calls == NULL)
		return false;
	if (hook == CTX_RT_CALL_BY_RETURN) {
		at = place_for_return(calls, place + 8);
		if (at == NULL)
			return false;
	}
	is_tail = at != NULL && returns_here(*address);
	what.ticks = ctx_rt_calls_ticks();
	if (calls->busy != 0) {
		if (is_tail)
			return false;
		is_kept = defer(calls, &what);
	} else {
		begin_slow(calls, place);
		count(calls, what.ticks);
		if (is_tail)
			ctx_rt_open_leave(calls, &what);
		is_kept = ctx_rt_open_enter(calls, &what);
		count_anew(calls);
		end_hook(calls);
	}
	if (is_kept && at != NULL && !is_tail)
		*at = *address;
	return is_kept && !is_tail;
}

SLOW static void leave_slow(uint64_t place, uint64_t function, enum ctx_rt_call_hook hook)
{
	struct ctx_rt_calls *calls = own;
	struct ctx_rt_deferred what = {.place = place, .function = function, .hook = hook, .leaves = true};

	if (calls == NULL || mode() == CTX_RT_CALLS_OFF || ctx_rt_is_paused())
		return;
	if (calls->ring.slot == NULL && calls->busy == 0 && begin_thread(calls) == NULL)
		return;
	what.ticks = ctx_rt_calls_ticks();
	if (calls->busy != 0) {
		(void)defer(calls, &what);
		return;
	}
	begin_slow(calls, place);
	count(calls, what.ticks);
	ctx_rt_open_leave(calls, &what);
	count_anew(calls);
	end_hook(calls);
}

/* The usual way */

/* Whether a call can be added to the tree, or its word, with so many ticks at most, to the ring. */
static inline __attribute__((always_inline)) bool is_usual(const struct ctx_rt_calls *calls, uint64_t ticks,
							   uint64_t most, bool sums)
{
	uint64_t passed = ticks - calls->last;

	if (sums)
		return ticks < calls->border && (int64_t)passed >= 0;
	return calls->lost == 0 && passed <= most && calls->ring.head < calls->limit;
}

/* False: nothing was done. `sums` is a constant, as `hook` is: the call is added to the tree, not written to the ring. */
static inline __attribute__((always_inline)) bool enter_as(uint64_t place, uint64_t function,
							   enum ctx_rt_call_hook hook, bool sums)
{
	struct ctx_rt_calls *calls = own;
	struct ctx_rt_open_call *call;
	uint64_t ticks, passed;
	uint32_t depth;

	if (!LIKELY(calls != NULL && calls->busy == 0))
		return false;
	begin_hook(calls, place);
	depth = calls->depth;
	call = &calls->open[depth];
	ticks = ctx_rt_calls_tsc();
	passed = ticks - calls->last;
	if (!LIKELY(depth < calls->cap && is_usual(calls, ticks, CTX_RT_CALL_TICKS_MAX, sums)) ||
	    !LIKELY(hook == CTX_RT_CALL_BY_HOOK ? call->place >= place : call->place > place) ||
	    (hook == CTX_RT_CALL_BY_RETURN &&
	     !LIKELY((place + 8) >> 16 == calls->chunk && !returns_here(*(uint64_t *)(uintptr_t)place)))) {
		calls->busy = 0;
		return false;
	}
	if (hook == CTX_RT_CALL_BY_RETURN)
		*(uint64_t *)(uintptr_t)(place + 8 + calls->bias) = *(uint64_t *)(uintptr_t)place;
	if (sums)
		ctx_rt_tree_pass(&calls->sums.tree, passed);
	call[1] = (struct ctx_rt_open_call){place, function, ticks,
					    sums ? ctx_rt_tree_enter(&calls->sums.tree, function) : 0};
	calls->depth = depth + 1;
	calls->last = ticks;
	if (!sums) {
		ctx_rt_calls_append(calls, ctx_rt_call_enter(passed, function));
		ctx_rt_calls_publish(calls);
	}
	end_hook(calls);
	return true;
}

static inline __attribute__((always_inline)) bool leave_as(uint64_t place, uint64_t function,
							   enum ctx_rt_call_hook hook, bool sums)
{
	struct ctx_rt_calls *calls = own;
	const struct ctx_rt_open_call *call;
	uint64_t ticks, passed;

	if (!LIKELY(calls != NULL && calls->busy == 0))
		return false;
	begin_hook(calls, place);
	call = &calls->open[calls->depth];
	ticks = ctx_rt_calls_tsc();
	passed = ticks - calls->last;
	if (!LIKELY((hook == CTX_RT_CALL_BY_HOOK ? call->function == function && calls->skipped == 0
						 : call->place == place) &&
		    calls->depth != 0 && is_usual(calls, ticks, CTX_RT_CALL_VALUE_MAX, sums))) {
		calls->busy = 0;
		return false;
	}
	calls->depth--;
	calls->last = ticks;
	if (sums) {
		ctx_rt_tree_pass(&calls->sums.tree, passed);
		ctx_rt_tree_leave(&calls->sums.tree, call->function, ticks - call->ticks, call[-1].node,
				  ticks - call[-1].ticks);
	} else {
		ctx_rt_calls_append(calls, ctx_rt_call_word(CTX_RT_CALL_LEAVE, passed));
		ctx_rt_calls_publish(calls);
	}
	end_hook(calls);
	return true;
}

static inline __attribute__((always_inline)) bool enter_fast(uint64_t place, uint64_t function,
							     enum ctx_rt_call_hook hook)
{
	if (mode() == CTX_RT_CALLS_SUMS)
		return enter_as(place, function, hook, true);
	return LIKELY(mode() == CTX_RT_CALLS_FAST) && enter_as(place, function, hook, false);
}

static inline __attribute__((always_inline)) bool leave_fast(uint64_t place, uint64_t function,
							     enum ctx_rt_call_hook hook)
{
	if (mode() == CTX_RT_CALLS_SUMS)
		return leave_as(place, function, hook, true);
	return LIKELY(mode() == CTX_RT_CALLS_FAST) && leave_as(place, function, hook, false);
}

/* Hooks */

#ifdef __x86_64__
/* 1: the function is to return to ctx_rt_calls_return. */
CTX_RT_KEEPS uint32_t ctx_rt_calls_enter(uint64_t place, uint64_t function)
{
	return enter_fast(place, function, CTX_RT_CALL_BY_RETURN) ||
	       enter_slow(place, function, CTX_RT_CALL_BY_RETURN);
}

CTX_RT_KEEPS void ctx_rt_calls_enter_here(uint64_t place, uint64_t function)
{
	if (ctx_rt_calls_enter(place, function) != 0)
		*(uint64_t *)(uintptr_t)place = (uint64_t)(uintptr_t)ctx_rt_calls_return;
}

CTX_RT_KEEPS void ctx_rt_calls_enter_sled(uint64_t place, uint64_t function)
{
	if (!enter_fast(place, function, CTX_RT_CALL_BY_SLED))
		(void)enter_slow(place, function, CTX_RT_CALL_BY_SLED);
}

CTX_RT_KEEPS void ctx_rt_calls_leave_sled(uint64_t place)
{
	if (!leave_fast(place, 0, CTX_RT_CALL_BY_SLED))
		leave_slow(place, 0, CTX_RT_CALL_BY_SLED);
}

/* Puts the return address back to its place. */
CTX_RT_KEEPS void ctx_rt_calls_leave(uint64_t place)
{
	const struct ctx_rt_calls *calls = own;
	uint64_t cfa = place + 8;
	const uint64_t *at = calls != NULL && LIKELY(cfa >> 16 == calls->chunk && calls->busy == 0)
				     ? (const uint64_t *)(uintptr_t)(cfa + calls->bias)
				     : ctx_rt_returns_at(cfa);

	*(uint64_t *)(uintptr_t)place = *at;
	ctx_rt_calls_leave_sled(place);
}
#endif

#ifdef __x86_64__
_Static_assert(sizeof(ctx_rt_returns) / sizeof(ctx_rt_returns[0]) == 1 << 15, "as in the expression below");

/*
 * The code at ctx_rt_calls_return has call frame information with which unwinders go on from the address kept: exceptions, the
 * end of a thread and debuggers pass through. It says to be a signal's frame, which makes its CFA, that of the function which was called,
 * differ from that of the frame before for GCC's unwinder, and what it says for the return address is one less, as
 * is not subtracted for such frames.
 */
// clang-format off
#define LOCAL(name) ".globl " name "\n.hidden " name "\n.type " name ", @function\n" name ":\n"
#define END(name) ".size " name ", . - " name "\n"
#define PUSH(register) "push %" register "\n.cfi_adjust_cfa_offset 8\n"
#define POP(register) "pop %" register "\n.cfi_adjust_cfa_offset -8\n"

__asm__(".text\n"
	/* Calls the function's body, in place of its caller; its offset of the table is found by the address. */
	".p2align 7\n"
	"9: .long ctx_rt_returns - 9b\n"
	".cfi_startproc\n"
	".cfi_signal_frame\n"
	".cfi_def_cfa %rsp, 0\n"
	/* The return address is this: the look-up of rt_returns.h, less 1. */
	".cfi_escape 0x16, 0x10, 37\n"
	".cfi_escape 0x12, 0x08, 32, 0x25, 0x33, 0x24\n"		   /* CFA >> 32 << 3 */
	".cfi_escape 0x80, 0x00, 0x09, 0x80, 0x1a\n"			   /* the pc & -128 */
	".cfi_escape 0x12, 0x94, 0x04, 0x22, 0x22, 0x06\n"		   /* the table; the middle one */
	".cfi_escape 0x14, 0x40, 0x25, 0x0a, 0xff, 0xff, 0x1a, 0x33, 0x24\n" /* CFA >> 16 & 0xffff << 3 */
	".cfi_escape 0x22, 0x06\n"					   /* the chunk */
	".cfi_escape 0x16, 0x0a, 0xf8, 0xff, 0x1a, 0x22, 0x06\n"	   /* CFA & 0xfff8 */
	".cfi_escape 0x31, 0x1c\n"
	LOCAL("ctx_rt_calls_through")
	"call *-16(%rsp)\n"
	LOCAL("ctx_rt_calls_return")
	"sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
	PUSH("rdi")
	"lea 8(%rsp), %rdi\n"
	"call ctx_rt_calls_leave\n"
	POP("rdi")
	"ret\n"
	".cfi_endproc\n"
	END("ctx_rt_calls_through"));
// clang-format on
#endif

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

__attribute__((visibility("default"))) void __cyg_profile_func_enter(void *function, void *caller)
{
	uint64_t place = (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(uintptr_t);
	uint64_t address = (uintptr_t)function & ((UINT64_C(1) << CTX_RT_CALL_ADDRESS_BITS) - 1);

	(void)caller;
	if (!enter_fast(place, address, CTX_RT_CALL_BY_HOOK))
		(void)enter_slow(place, address, CTX_RT_CALL_BY_HOOK);
}

__attribute__((visibility("default"))) void __cyg_profile_func_exit(void *function, void *caller)
{
	uint64_t place = (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(uintptr_t);
	uint64_t address = (uintptr_t)function & ((UINT64_C(1) << CTX_RT_CALL_ADDRESS_BITS) - 1);

	(void)caller;
	if (!leave_fast(place, address, CTX_RT_CALL_BY_HOOK))
		leave_slow(place, address, CTX_RT_CALL_BY_HOOK);
}

/*
 * A handler has interrupted a hook and does not return to it. What is not published is undone; if it is only a part of what was
 * to be written, the ring goes on anew.
 */
static void abandon(struct ctx_rt_calls *calls)
{
	uint64_t published = atomic_load_explicit(&calls->ring.slot->head, memory_order_relaxed);

	calls->ring.head = published;
	if (published == calls->begun.head) {
		calls->depth = calls->begun.depth;
	} else if (calls->busy == 2) {
		calls->lost = 1;
		calls->lost_from = calls->last;
		calls->told = 0;
		/* They begin in the ring a second time. */
		calls->inherited = calls->begun.told < calls->depth ? calls->begun.told : calls->depth;
	}
	if (ctx_rt_calls_settings.sums)
		ctx_rt_open_abandon_sums(calls);
	calls->busy = 0;
}

void ctx_rt_calls_jump(uint64_t sp)
{
	struct ctx_rt_calls *calls = own;

	if (calls == NULL || mode() == CTX_RT_CALLS_OFF || ctx_rt_is_paused() || calls->ring.slot == NULL)
		return;
	if (calls->busy != 0) {
		if (!ctx_rt_open_is_over(calls, calls->busy_place - 1, sp))
			return;
		abandon(calls);
		if (calls->n_deferred != 0)
			do_deferred(calls);
	}
	begin_slow(calls, sp);
	ctx_rt_open_settle(calls, sp, ctx_rt_calls_ticks());
	end_hook(calls);
}
