/*
 * The memory that a traced process shares with the recorder: the layout, for the writer in the target
 * (runtime/) and the reader in the recorder (collect/trace_rings.h).
 *
 *	segment (a memory file):
 *	  page 0          struct ctx_rt_header
 *	  page 1          struct ctx_rt_slot [slots]
 *	  then            a ring of ring_bytes for each slot
 *
 * A process connects to the recorder's socket and sends one byte: how many segments it has. The recorder makes
 * the file, as large as what is left of its memory allows, and answers with one byte and the descriptor, or without
 * a descriptor: there is no memory left. A process that could not use it connects once more and reports that, by an enum
 * ctx_rt_untraced in the place of the number, which is not answered. Either side closes the descriptor: from then on both have the memory
 * alone. The file is sealed against shrinking and growing, so neither side can be killed by the other's truncating it.
 * A thread owns one slot at a time and is the only one that writes to its ring; when
 * it has ended, another thread of the process goes on in the same ring.
 *
 * The rings outlive the target: what a thread had written when it was killed is read by the recorder.
 * When the recorder is gone, rings fill up, and the target goes on without writing.
 *
 * Positions count bytes from the beginning of time; the place in the ring is the position modulo its
 * size. head is written by the target alone, tail by the recorder alone. Records are whole words of 8
 * bytes and lie in one piece: at the end of the ring a CTX_RT_PAD takes the rest.
 *
 *	word 0          words << 48 | kind << 40 | end << 32 | kept << 16 | n_new
 *	then            the words of the kind, see enum ctx_rt_kind
 *	then            of kinds with text: the text, with zero bytes behind it up to a whole word
 *	then            n_new frames, from the root's side to the leaf's
 *
 * The call stack of a record is the first `kept` frames (counted from the root) of the ring's last
 * record with a stack, and the new ones. Frames are as in model/event_source.h: callers are return
 * address - 1. `end` is an enum ctx_truncation: why there is nothing beyond the root-most frame.
 *
 * Calls of a thread (rt_calls.h) have a ring of their own. Each begin or end is one word there whose highest bit is set,
 * which no word 0 has: see enum ctx_rt_call. Their times are differences of ticks to the word before; CTX_RT_CALLS
 * has whole ones and comes first, and again where words are missing.
 */
#ifndef CTX_RUNTIME_SHARED_LAYOUT_H
#define CTX_RUNTIME_SHARED_LAYOUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_RT_MAGIC UINT64_C(0x31305254584354ff)
#define CTX_RT_VERSION 6u /* of the layout; the runtime and the recorder are installed together */
#define CTX_RT_SLOTS 16u  /* of a segment at most */
#define CTX_RT_RING_BYTES_MIN (UINT64_C(64) << 10)
#define CTX_RT_RING_BYTES_MAX (UINT64_C(4) << 20)
#define CTX_RT_PAGE 4096u
#define CTX_RT_APART_NAME_MAX 256u
#define CTX_RT_SEGMENTS_MAX 128u /* of one process: some 2000 threads at a time */
#define CTX_RT_FRAMES_MAX 1024u	 /* of one stack; frames nearer to the root are cut */

/*
 * The environment variable that switches the runtime on: "SOCKET:LETTERS", an abstract socket's name, which is also
 * that of a socket in the directory CTX_RT_SOCKETS (for processes in another network namespace), and a letter for each thing: e which instructions are executed at all (once_layout.h), h heap, i input and output, k executions are counted (count_layout.h), m marks, o OpenMP, q a tool of the program's own is asked before that, s synchronisation, t ticks of the processor are times of OpenMP and of calls, w wait where a ring is full, b the runtime is
 * installed for both, 32 and 64 bits. Behind h stands
 * how many bytes apart allocations are sampled, 0: all are recorded. Behind s stands the shortest wait that is
 * recorded, in ns; 0: all waits, and how long each lock was held. Calls are c, behind which stands the shortest one that is recorded, in ticks; then d and how
 * deep they are recorded; n and a set of counters that are read (model/call_counter.h); S, with how many bytes a process has for sums of calls, and R, with the share of CTX_RT_SHARE_ONE below
 * which nodes are pruned: calls are summed (rt_calls_sums.h); and p, with a pattern of names, two letters from A to P for each byte.
 */
#define CTX_RT_VARIABLE "CTXREC_RUNTIME"
#define CTX_RT_SOCKETS "/tmp"

/* A tool for OpenMP that the program has itself. */
enum ctx_rt_omp_tool {
	CTX_RT_OMP_TOOL_NONE,
	CTX_RT_OMP_TOOL_KEPT,	  /* it runs, and OpenMP is not recorded */
	CTX_RT_OMP_TOOL_REPLACED, /* those of OMP_TOOL_LIBRARIES were not started */
};

struct ctx_rt_header {
	/* Of the recorder, before the target has it. */
	uint64_t magic;
	uint32_t version;
	uint32_t slots;	     /* 1 to CTX_RT_SLOTS */
	uint64_t ring_bytes; /* a power of two, from CTX_RT_RING_BYTES_MIN to CTX_RT_RING_BYTES_MAX */
	/* Of the target. */
	_Atomic uint32_t pid;	   /* as the target sees it; 0: not yet */
	_Atomic uint64_t unplaced; /* operations of threads that found no slot */
	_Atomic uint64_t unfit;	   /* programs that were executed without the runtime: they cannot have it */
	_Atomic uint64_t closes;   /* descriptors that were closed, or may have been; in the first segment */
	_Atomic uint64_t own_allocators; /* 1: the program has a malloc of its own, which is not seen */
	_Atomic uint64_t
		restricted; /* 1: it forbids itself system calls that the runtime needs (rt_filter.h) */
	/* Libraries that were opened with symbols of their own first, and the first one's name, as it was given. */
	_Atomic uint64_t apart;
	char apart_name[CTX_RT_APART_NAME_MAX];
	/* Of the recorder. */
	_Atomic uint32_t closed; /* nothing is read any more */
	_Atomic uint32_t beat;	 /* counts up while it reads */
	/* Of the target: places of functions that have been made calls of hooks, and those that could not be. */
	_Atomic uint64_t patched, unpatched;
	/* Of the recorder, before the target has it: with sums of calls, when the recording began, and ticks of a second. */
	uint64_t start_ns, second_ticks;
	_Atomic uint64_t omp_tool; /* of the target: enum ctx_rt_omp_tool; in the first segment */
};

struct ctx_rt_slot {
	_Alignas(64) _Atomic uint64_t head;
	_Atomic uint64_t dropped;     /* operations that found no room */
	_Atomic uint64_t interrupted; /* those in a signal handler that interrupted the writing of another */
	_Atomic uint64_t left_out;    /* calls that were too short to be recorded */
	_Atomic uint64_t unwritten;   /* sums of calls are not written from this time on; 0: all are */
	/* Words of calls that found no room and are not reported in the ring yet; ticks of the first, 0: none. */
	_Atomic uint64_t lost, lost_from;
	_Alignas(64) _Atomic uint64_t tail;
};

static inline struct ctx_rt_slot *ctx_rt_slot_of(uint8_t *segment, uint32_t number)
{
	return (struct ctx_rt_slot *)(segment + CTX_RT_PAGE) + number;
}

static inline uint64_t *ctx_rt_words_of(uint8_t *segment, uint32_t number, uint64_t ring_bytes)
{
	return (uint64_t *)(segment + 2 * CTX_RT_PAGE + number * ring_bytes);
}

static inline uint64_t ctx_rt_segment_bytes(uint32_t slots, uint64_t ring_bytes)
{
	return 2 * CTX_RT_PAGE + slots * ring_bytes;
}

/* In the place of a number of segments, which is CTX_RT_SEGMENTS_MAX at most: why a process goes on without what it asked for. */
enum ctx_rt_untraced {
	CTX_RT_UNTRACED_FIRST = 0xf0,
	CTX_RT_UNTRACED_UNMAPPED =
		CTX_RT_UNTRACED_FIRST, /* it could not map the file, or not within its limits */
	CTX_RT_UNTRACED_LEFT,	       /* it did not wait for the answer any more */
	CTX_RT_UNTRACED_END,
};

/* Whether a segment can be so. */
static inline bool ctx_rt_is_shape(uint32_t slots, uint64_t ring_bytes)
{
	return slots >= 1 && slots <= CTX_RT_SLOTS && ring_bytes >= CTX_RT_RING_BYTES_MIN &&
	       ring_bytes <= CTX_RT_RING_BYTES_MAX && (ring_bytes & (ring_bytes - 1)) == 0;
}

/* Programs of 32 and of 64 bits have the same. */
_Static_assert(offsetof(struct ctx_rt_header, unplaced) == 32 &&
		       offsetof(struct ctx_rt_header, closed) == 336,
	       "the same places");
_Static_assert(offsetof(struct ctx_rt_slot, interrupted) == 16 && offsetof(struct ctx_rt_slot, tail) == 64 &&
		       sizeof(struct ctx_rt_slot) == 128,
	       "a cache line for each side");
_Static_assert(sizeof(struct ctx_rt_slot) * CTX_RT_SLOTS <= CTX_RT_PAGE, "one page");
_Static_assert(sizeof(struct ctx_rt_header) <= CTX_RT_PAGE, "one page");

enum ctx_rt_kind {
	CTX_RT_PAD = 1, /* to the end of the ring; `words` is all that counts */
	CTX_RT_THREAD,	/* time, tid: the ring belongs to this thread from here on; its last stack is empty */
	CTX_RT_ALLOCATE,   /* time, size, address, and a stack. The time is after the allocation */
	CTX_RT_FREE,	   /* time, address. The time is before it. No stack */
	CTX_RT_REALLOCATE, /* time, size, address, old address, and a stack */
	/*
	 * time, size, address, operation (enum ctx_heap_operation, those of mappings), and a stack. What
	 * unmaps is written before it, what maps after.
	 */
	CTX_RT_MAPPING,
	/* time, why (enum ctx_program), and as text the file: a program is executed without the runtime */
	CTX_RT_UNFIT,
	/* 16 to 31: synchronisation */
	CTX_RT_SYNC_FIRST = 16,
	/* time when it was over, duration, object, what (ctx_rt_pack_wait), where its holder took it; a stack */
	CTX_RT_WAIT = CTX_RT_SYNC_FIRST,
	CTX_RT_HOLD, /* time of the release, how long it was held, object, what; the stack of the release */
	CTX_RT_ORDER, /* time, an object that the thread holds, the one that it takes besides, modes; a stack */
	CTX_RT_SYNC_END = 32,
	/* Input or output: time at its end, duration, bytes, ctx_rt_io_pack, and a stack. */
	CTX_RT_IO = CTX_RT_SYNC_END,
	CTX_RT_IO_NAMED, /* the same, with text: the file's name */
	/* What the program says: time, enum ctx_mark_operation, value, a stack, with text: the name. */
	CTX_RT_MARK,
	/*
	 * Words of calls follow: ticks, how many open calls go on, how many words found no room, ticks of the first of these (0: none). The next words are
	 * the other open calls, as if they began now. The last argument: of them so many (the lower half) have been in a ring
	 * before, that of the process that forked this one or this one; else so many (the upper half) have begun where words are missing.
	 */
	CTX_RT_CALLS,
	/* OpenMP: time, of the processor's clock where letter t says so, value << 8 | enum ctx_omp_event, and perhaps a stack */
	CTX_RT_OMP,
	CTX_RT_OMP_BODY, /* the same, address of the function that the construct runs */
	CTX_RT_RAISED, /* time, number of the site (count_layout.h) whose threshold was reached, and a stack */
	CTX_RT_KIND_N = 64,
};

/* Words of a kind between word 0 and text or frames; CTX_RT_PAD has any number. 0: there is no such kind. */
static inline unsigned ctx_rt_words(enum ctx_rt_kind kind)
{
	static const uint8_t words[CTX_RT_KIND_N] = {
		[CTX_RT_THREAD] = 2,   [CTX_RT_ALLOCATE] = 3, [CTX_RT_FREE] = 2,     [CTX_RT_REALLOCATE] = 4,
		[CTX_RT_WAIT] = 5,     [CTX_RT_HOLD] = 4,     [CTX_RT_ORDER] = 4,    [CTX_RT_IO] = 4,
		[CTX_RT_IO_NAMED] = 4, [CTX_RT_MAPPING] = 4,  [CTX_RT_MARK] = 3,     [CTX_RT_UNFIT] = 2,
		[CTX_RT_CALLS] = 5,    [CTX_RT_OMP] = 2,      [CTX_RT_OMP_BODY] = 3, [CTX_RT_RAISED] = 2,
	};

	return words[kind];
}

static inline int ctx_rt_has_text(enum ctx_rt_kind kind)
{
	return kind == CTX_RT_IO_NAMED || kind == CTX_RT_MARK || kind == CTX_RT_UNFIT;
}

/* What an input or output was, as a word. */
struct ctx_rt_io_what {
	int32_t descriptor; /* -1: none */
	uint16_t error;	    /* errno; 0: it succeeded; see CTX_RT_IO_NAMELESS */
	uint8_t call;	    /* enum ctx_io_call */
	uint8_t flags;	    /* enum ctx_rt_io_flag */
};

enum ctx_rt_io_flag {
	/*
	 * Nobody has told the name of the descriptor: the recorder looks for it. It succeeded, and `error` is
	 * the lower part of `closes` in the header: where that has changed, the descriptor may be another.
	 */
	CTX_RT_IO_NAMELESS = 1,
	/* By a child of vfork, on descriptors of its own: what it opens and closes stays as it is here. */
	CTX_RT_IO_FOREIGN = 2,
};

static inline uint64_t ctx_rt_io_pack(const struct ctx_rt_io_what *what)
{
	return (uint64_t)(uint32_t)what->descriptor << 32 | (uint64_t)what->error << 16 |
	       (uint64_t)what->flags << 8 | what->call;
}

static inline struct ctx_rt_io_what ctx_rt_io_unpack(uint64_t word)
{
	return (struct ctx_rt_io_what){.descriptor = (int32_t)(uint32_t)(word >> 32),
				       .error = (uint16_t)(word >> 16),
				       .flags = (uint8_t)(word >> 8),
				       .call = (uint8_t)word};
}

/*
 * A word of a call. Bits 60 to 63 say what it is; where only the highest is looked at, the rest is as said.
 *
 *	ENTER		bits 47 to 61 ticks, bits 0 to 46 an address in the function
 *	LEAVE		ticks: the innermost call ends
 *	ADVANCE		ticks: time goes on
 *	UNWIND		calls: so many end without having returned
 */
enum ctx_rt_call {
	CTX_RT_CALL_ENTER = 8, /* to 11 */
	CTX_RT_CALL_LEAVE = 12,
	CTX_RT_CALL_ADVANCE,
	CTX_RT_CALL_UNWIND,
	CTX_RT_CALL_SUM, /* bits 57 to 59 an enum ctx_rt_sum, bits 0 to 56 its value */
};

/*
 * Sums of calls (rt_calls_sums.h): BEGIN, TICKS, END, then the words of a walk through the tree, durations, and DONE. In the
 * walk an ENTER stands for all calls of that path.
 */
enum ctx_rt_sum {
	CTX_RT_SUM_BEGIN,    /* ns: a period begins; the ticks are those of CTX_RT_CALLS */
	CTX_RT_SUM_TICKS,    /* how long it is */
	CTX_RT_SUM_END,	     /* ns */
	CTX_RT_SUM_CALLS,    /* the next ENTER or TOOK stands for so many calls; 0: for none, it was open */
	CTX_RT_SUM_DONE,     /* what is open ends */
	CTX_RT_SUM_FUNCTION, /* durations of it follow */
	CTX_RT_SUM_TOOK,     /* ticks */
	/*
	 * Of no sum: bits 48 to 56 a counter (enum ctx_call_counter), bits 0 to 47 what it counted for the innermost call
	 * since the word before.
	 */
	CTX_RT_SUM_COUNT,
};
#define CTX_RT_SUM_VALUE_MAX ((UINT64_C(1) << 57) - 1)
#define CTX_RT_COUNT_MAX ((UINT64_C(1) << 48) - 1)

#define CTX_RT_CALL_ADDRESS_BITS 47u
#define CTX_RT_CALL_TICKS_MAX ((UINT64_C(1) << 15) - 1) /* of ENTER */
#define CTX_RT_CALL_VALUE_MAX ((UINT64_C(1) << 60) - 1) /* of all others */

static inline bool ctx_rt_is_call(uint64_t word)
{
	return word >> 63 != 0;
}

static inline uint64_t ctx_rt_call_enter(uint64_t ticks, uint64_t function)
{
	return UINT64_C(1) << 63 | ticks << CTX_RT_CALL_ADDRESS_BITS | function;
}

static inline uint64_t ctx_rt_call_word(enum ctx_rt_call call, uint64_t value)
{
	return (uint64_t)call << 60 | value;
}

static inline uint64_t ctx_rt_sum_word(enum ctx_rt_sum sum, uint64_t value)
{
	return ctx_rt_call_word(CTX_RT_CALL_SUM, (uint64_t)sum << 57 | (value & CTX_RT_SUM_VALUE_MAX));
}

static inline enum ctx_rt_call ctx_rt_call_of(uint64_t word)
{
	return (word >> 62 & 1) == 0 ? CTX_RT_CALL_ENTER : (enum ctx_rt_call)(word >> 60);
}

#define CTX_RT_MARK_NAME_MAX 127u /* bytes; longer names are cut */
#define CTX_RT_ARGUMENTS_MAX 5u
#define CTX_RT_TEXT_MAX 4096u /* bytes; longer texts are left out */
#define CTX_RT_RECORD_WORDS_MAX (1 + CTX_RT_ARGUMENTS_MAX + CTX_RT_TEXT_MAX / 8 + CTX_RT_FRAMES_MAX)

struct ctx_rt_word0 {
	uint32_t words; /* of the record, this one included */
	uint32_t kind, end, kept, n_new;
};

static inline uint64_t ctx_rt_pack(const struct ctx_rt_word0 *word)
{
	return (uint64_t)word->words << 48 | (uint64_t)word->kind << 40 | (uint64_t)word->end << 32 |
	       (uint64_t)word->kept << 16 | word->n_new;
}

/* What was waited for or held. */
struct ctx_rt_wait {
	uint32_t operation; /* enum ctx_sync_operation */
	int32_t holder;	    /* tid of who had it when it was asked for; 0 unknown */
	bool failed;	    /* it was not got: the time was up */
};

static inline uint64_t ctx_rt_pack_wait(struct ctx_rt_wait wait)
{
	return (uint64_t)(uint32_t)wait.holder << 32 | (uint64_t)wait.failed << 8 | wait.operation;
}

static inline struct ctx_rt_wait ctx_rt_unpack_wait(uint64_t word)
{
	return (struct ctx_rt_wait){.operation = (uint32_t)word & 0xff,
				    .holder = (int32_t)(word >> 32),
				    .failed = (word >> 8 & 1) != 0};
}

static inline struct ctx_rt_word0 ctx_rt_unpack(uint64_t word)
{
	return (struct ctx_rt_word0){.words = (uint32_t)(word >> 48),
				     .kind = (uint32_t)(word >> 40) & 0xff,
				     .end = (uint32_t)(word >> 32) & 0xff,
				     .kept = (uint32_t)(word >> 16) & 0xffff,
				     .n_new = (uint32_t)word & 0xffff};
}

#endif
