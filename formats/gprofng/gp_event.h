/*
 * One event: a record, decoded by the layout that the log describes.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_EVENT_H
#define CTX_FORMATS_GPROFNG_GP_EVENT_H

#include "formats/gprofng/gp_blocks.h"
#include "formats/gprofng/gp_log.h"

/* Kinds of heap records. The numbers are those in the files. */
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

struct ctx_gp_clock_event {
	uint32_t state; /* of the thread; on Linux always the same */
	uint32_t ticks;
	bool is_exact; /* weight_ns says more than ticks */
	uint64_t weight_ns;
};

struct ctx_gp_heap_event {
	uint32_t kind; /* enum ctx_gp_heap_kind, or another value from the file */
	uint64_t size;
	uint64_t address;     /* returned or freed */
	uint64_t old_address; /* of realloc */
};

struct ctx_gp_sync_event {
	int64_t request_ns; /* absolute: when the wait began; it ended at time_ns */
	uint64_t object;
};

struct ctx_gp_io_event {
	uint32_t kind; /* enum ctx_gp_io_kind, the failed ones too */
	int32_t fd, old_fd;
	int64_t bytes;
	int64_t request_ns; /* absolute: when it began */
	uint32_t fs_type;
	const char *file; /* borrowed until the next event, not zero-terminated */
	size_t file_bytes;
};

struct ctx_gp_counter_event {
	uint32_t tag; /* of the counter */
	uint64_t count;
	uint64_t address; /* accessed address; 0 unknown */
};

struct ctx_gp_event {
	uint32_t type;	      /* CTX_GP_CLOCK, ...: which of the structs is set */
	uint32_t owner;	      /* as given with the file */
	int64_t time_ns;      /* absolute, as `run` of the log */
	int64_t lwp, thread;  /* on Linux both are the tid */
	int32_t cpu;	      /* -1 unknown */
	uint64_t stack;	      /* number in data.frameinfo; 0 none */
	uint64_t later_stack; /* that of an event a few places after this one, as a hint; 0 unknown */
	union {
		struct ctx_gp_clock_event clock;
		uint32_t ticks[CTX_GP_OLD_STATES]; /* CTX_GP_STATES_CLOCK: in each state */
		struct ctx_gp_heap_event heap;
		struct ctx_gp_sync_event sync;
		struct ctx_gp_io_event io;
		struct ctx_gp_counter_event hwc;
	};
};

/*
 * Decodes one record by the layout of its type (NULL: the log does not describe the type). False:
 * no layout, too short for its type, or no time.
 */
bool ctx_gp_event_decode(const struct ctx_gp_layout *layout, const struct ctx_gp_record *record,
			 bool big_endian, struct ctx_gp_event *ret);

/* Decodes only its time, absolute. False as above. */
static inline bool ctx_gp_event_time(const struct ctx_gp_layout *layout, const struct ctx_gp_record *record,
				     bool big_endian, int64_t *ret_ns)
{
	if (layout == NULL || record->n < layout->bytes_min || !ctx_gp_layout_has(layout, CTX_GP_TSTAMP))
		return false;
	*ret_ns = (int64_t)ctx_gp_layout_get(layout, CTX_GP_TSTAMP, record->bytes, big_endian);
	return true;
}

#endif
