/*
 * The events of all data files, decoded, in order of time.
 *
 *	file --blocks--> runs (about a block each, one flow's) --merged by time--> events
 *
 * A block belongs to one flow of threads, and blocks of different flows interleave. So each file is read twice: once for the
 * first time in each block, and once for the events, when only the blocks around the present time are in memory.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_EVENTS_H
#define CTX_FORMATS_GPROFNG_GP_EVENTS_H

#include "formats/gprofng/gp_blocks.h"
#include "formats/gprofng/gp_log.h"

/* What a heap record tells of. The numbers are in the files. */
enum ctx_gp_heap_kind {
	CTX_GP_HEAP_MALLOC = 0, /* and calloc, memalign, ... */
	CTX_GP_HEAP_FREE = 1,
	CTX_GP_HEAP_REALLOC = 2,
	CTX_GP_HEAP_MMAP = 3,
	CTX_GP_HEAP_MUNMAP = 4,
};

enum ctx_gp_io_kind {
	CTX_GP_IO_READ = 0,
	CTX_GP_IO_WRITE = 1,
	CTX_GP_IO_OPEN = 2,
	CTX_GP_IO_CLOSE = 3,
	CTX_GP_IO_OTHER = 4,
	CTX_GP_IO_KINDS = 5, /* kind + this: it failed */
};

struct ctx_gp_event {
	uint32_t type;	      /* CTX_GP_CLOCK, ...: which of the structs is set */
	uint32_t owner;	      /* as given with the file */
	int64_t time_ns;      /* absolute, as `run` of the log */
	int64_t lwp, thread;  /* on Linux both the tid */
	int32_t cpu;	      /* -1 not known */
	uint64_t stack;	      /* number in data.frameinfo; 0 none */
	uint64_t later_stack; /* that of an event some places behind this one, as a hint; 0 not known */
	union {
		struct {
			uint32_t state; /* of the thread; on Linux always the same */
			uint32_t ticks;
			bool is_exact; /* weight_ns says more than ticks */
			uint64_t weight_ns;
		} clock;
		uint32_t ticks[CTX_GP_OLD_STATES]; /* CTX_GP_STATES_CLOCK: in each state */
		struct {
			uint32_t kind; /* enum ctx_gp_heap_kind, or what the file has */
			uint64_t size;
			uint64_t address;     /* that was returned, or freed */
			uint64_t old_address; /* of realloc */
		} heap;
		struct {
			int64_t request_ns; /* absolute: when the wait began; it ended at time_ns */
			uint64_t object;
		} sync;
		struct {
			uint32_t kind; /* enum ctx_gp_io_kind, the failed ones too */
			int32_t fd, old_fd;
			int64_t bytes;
			int64_t request_ns; /* absolute: when it began */
			uint32_t fs_type;
			const char *file; /* borrowed until the next event, not zero-terminated */
			size_t file_bytes;
		} io;
		struct {
			uint32_t tag; /* of the counter */
			uint64_t count;
			uint64_t address; /* that was accessed; 0 not known */
		} hwc;
	};
};

struct ctx_gp_events;

/* An empty merger of events; destroy it with ctx_gp_events_destroy (NULL is fine). CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_events_create(struct ctx_gp_events **ret, struct ctx_err *err);
void ctx_gp_events_destroy(struct ctx_gp_events *events);

/* What the first reading of a file found. */
struct ctx_gp_events_found {
	uint64_t n; /* events */
	uint64_t bytes;
	int64_t first_ns, last_ns; /* absolute; 0 without events */
	uint64_t
		invalid; /* places where no record could be followed, and records that are too short for their type */
	uint64_t invalid_at; /* offset of the first one */
	uint64_t impossible; /* records whose time cannot be; they are left out */
};

/*
 * Adds a data file: `path` is copied, `log` is borrowed and must stay. `file` is its number in the log. Events get
 * time_ns - run_ns + shift_ns for their order. Those before the run, or later than `latest_ns` (absolute), cannot be. CTX_E_NOTFOUND, CTX_E_IO,
 * CTX_E_FORMAT (no plain file), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_events_add(struct ctx_gp_events *events, const char *path,
						 const struct ctx_gp_log *log, size_t file, uint32_t owner,
						 int64_t shift_ns, int64_t latest_ns,
						 struct ctx_gp_events_found *ret, struct ctx_err *err);

/* The relative time of the next event. CTX_END, CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_events_peek(struct ctx_gp_events *events, int64_t *ret_time_ns,
						  struct ctx_err *err);

/* The next event. Pointers in it are valid until the next call. Failures as above. */
CTX_MUST_CHECK enum ctx_status ctx_gp_events_next(struct ctx_gp_events *events, struct ctx_gp_event *ret,
						  struct ctx_err *err);

/* Bytes of blocks that were read for their events. */
uint64_t ctx_gp_events_progress(const struct ctx_gp_events *events);

/*
 * Decodes one record by the layout of its type; NULL: the log does not describe it. False: it is not described, is too short for
 * its type, or has no time.
 */
bool ctx_gp_event_decode(const struct ctx_gp_layout *layout, const struct ctx_gp_record *record,
			 bool big_endian, struct ctx_gp_event *ret);

/* Its time alone, absolute. False as above. */
static inline bool ctx_gp_event_time(const struct ctx_gp_layout *layout, const struct ctx_gp_record *record,
				     bool big_endian, int64_t *ret_ns)
{
	if (layout == NULL || record->n < layout->bytes_min || !ctx_gp_layout_has(layout, CTX_GP_TSTAMP))
		return false;
	*ret_ns = (int64_t)ctx_gp_layout_get(layout, CTX_GP_TSTAMP, record->bytes, big_endian);
	return true;
}

#endif
