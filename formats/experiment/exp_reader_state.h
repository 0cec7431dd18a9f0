/*
 * State of the reader (its common operations are in exp_reader_state.c), shared by exp_reader.c
 * (merge), exp_changes.c (state changes), exp_frames.c (call stacks), exp_opening.c (opening and
 * closing), exp_scan.c (what there is to read) and exp_follow.c (what is new).
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_READER_STATE_H
#define CTX_FORMATS_EXPERIMENT_EXP_READER_STATE_H

#include "base/compress.h"
#include "formats/experiment/exp_block.h"
#include "formats/experiment/exp_callevents.h"
#include "formats/experiment/exp_dictionary.h"
#include "formats/experiment/exp_heap_code.h"
#include "formats/experiment/exp_index.h"
#include "formats/experiment/exp_io_block.h"
#include "formats/experiment/exp_io_names.h"
#include "formats/experiment/exp_log.h"
#include "formats/experiment/exp_text.h"
#include "model/event_source.h"
#include "model/heap_leaks.h"
#include "model/traced_metrics.h"

struct ctx_exp_open_block {
	uint32_t
		kind; /* enum ctx_exp_block_kind: PROFILE, SEEN (also for STATES), HEAP, SYNC, IO, MARKS, OMP, ACCESSES, OVERVIEW, CALL_EVENTS */
	uint32_t process; /* row */
	size_t n, at, bytes;
	struct ctx_exp_packet *packets;		  /* NULL: OVERVIEW, CALL_EVENTS */
	struct ctx_exp_heap_addresses *addresses; /* HEAP: by order of the packets */
	uint64_t first_record;			  /* HEAP */
	struct ctx_exp_sync_rest *rests;	  /* SYNC: by order of the packets */
	struct ctx_exp_io_block *io;		  /* IO, MARKS, ACCESSES; owned with `rest` */
	struct ctx_exp_usage_record *usage;	  /* OVERVIEW: its process fields are rows */
	struct ctx_exp_open_calls *calls;	  /* CALL_EVENTS; owned */
};

struct ctx_exp_heap_item {
	uint64_t time_ns;
	uint64_t order;
	struct ctx_exp_open_block *block;
};

struct ctx_exp_pending {
	struct ctx_event event;
	char *text; /* owned */
};

/* Blocks whose packets are being emitted: a heap by time of the next packet. */
struct ctx_exp_open_blocks {
	struct ctx_exp_heap_item *items;
	size_t n, cap;
	size_t bytes;	/* of memory */
	uint64_t order; /* of the next block */
};

/* Events to be emitted before anything else. */
struct ctx_exp_pending_events {
	struct ctx_exp_pending *items;
	size_t n, at, cap;
	char *shown; /* owned; text of the last event emitted */
};

/* The block of packets being loaded, while its frames are emitted. */
struct ctx_exp_loading {
	struct ctx_exp_open_block *block; /* NULL: none */
	struct ctx_exp_place place;
	uint32_t epoch;
	uint32_t max_stack; /* the largest stack id in it */
};

/* Nodes of one frames block. */
struct ctx_exp_nodes {
	uint32_t *parents;
	uint64_t *addresses;
	size_t n, parents_cap, addresses_cap;
};

/* Archived copies: load objects, kallsyms, source files. */
struct ctx_exp_archives {
	struct ctx_strtab names; /* of files in archives/ */
	size_t n;
	char *root;	     /* path of archives/ */
	struct ctx_buf path; /* of the last object looked up */
	char *kallsyms;
	struct ctx_source_text *sources; /* paths are borrowed from the log, archives are in source_paths */
	size_t n_sources, sources_cap;
	struct ctx_arena source_paths;
};

/* Heap operations of a process. */
struct ctx_exp_heap_process {
	struct ctx_heap_leaks leaks;
	uint64_t n; /* operations */
};

/* Metrics of traced operations of one kind, of all processes (exp_traced.c). */
struct ctx_exp_traced_metrics {
	struct ctx_source_metric *all; /* owned: what the source had before, and its own */
	uint32_t first;		       /* of its own */
	uint64_t weight;	       /* of all samples; limited, so that no sum overflows */
};

/* Heap operations, of all processes (exp_heap.c). */
struct ctx_exp_heaps {
	struct ctx_exp_heap_process *processes; /* by row */
	size_t n, cap;
	uint64_t sample_bytes;		 /* allocations were sampled so many bytes apart; 0: all are there */
	double rests[CTX_HEAP_METRIC_N]; /* of counts: what their samples are less than they should be */
	struct ctx_exp_heap_coder *coder;
	uint64_t n_live; /* blocks of all processes at this place, while leaks are looked for */
};

/* Input and output, of all processes (exp_io.c). */
struct ctx_exp_ios {
	struct ctx_exp_io_descriptors *processes; /* by row */
	size_t n, cap;
	struct ctx_exp_io_names names;
};

/* An interval that was begun. */
struct ctx_exp_open_mark {
	uint64_t begin_ns;
	int64_t number; /* of one that may end in another thread; else 0 */
	uint32_t name;
};

struct ctx_exp_open_marks {
	struct ctx_exp_open_mark *items;
	size_t n, cap;
	uint64_t paused_ns; /* of a process: since when; 0: it is not paused */
};

/* What programs say, of all processes (exp_marks.c). All zero is empty. */
struct ctx_exp_marks {
	struct ctx_exp_open_marks *threads, *processes; /* by row */
	size_t n_threads, threads_cap, n_processes, processes_cap;
	struct ctx_strtab names;
	struct ctx_traced operation; /* of the last event */
};

/* How far the files have been read. */
struct ctx_exp_scan {
	bool grows;			    /* the recording goes on */
	uint64_t horizon_ns;		    /* while it does: events from here on are not returned yet */
	struct ctx_strtab texts;	    /* log.xml and maps, by name */
	struct ctx_exp_lines_place *places; /* by text */
	size_t places_cap;
	int unpacked[CTX_EXP_PACKED_DATA_FILES]; /* files in memory, plus 1; 0: none */
	uint64_t unpacked_excess;		 /* their bytes beyond those of the packed files */
};

struct ctx_exp_reader {
	struct ctx_event_source source;
	char *path;
	int dir;
	struct ctx_exp_log log;
	struct ctx_exp_index index;
	struct ctx_exp_scan scan;
	struct ctx_exp_dictionary *dictionaries; /* by process row */
	size_t n_dictionaries, dictionaries_cap;
	struct ctx_exp_open_blocks open;
	size_t next_entry, next_block;
	uint64_t consumed; /* bytes of data files */
	struct ctx_exp_pending_events pending;
	struct ctx_exp_loading loading;
	struct ctx_exp_nodes nodes;
	uint32_t next_process, next_thread;
	struct ctx_exp_block_file file; /* the last data file read, still open */
	uint64_t n_read[2];		/* packets, nodes of stacks: see ctx_exp_reader_has_room */
	struct ctx_buf notes;
	struct ctx_exp_archives archive;
	struct ctx_exp_traced_metrics traced[CTX_TRACED_N];
	struct ctx_traced operation; /* of the last event of a traced operation */
	struct ctx_exp_heaps heaps;
	struct ctx_exp_ios ios;
	struct ctx_exp_marks marks;
	struct ctx_strtab mapped; /* what accesses to memory were in */
	bool thread_damage_reported, external_waker_damage_reported;
};

/*
 * Whether the files, of this size, can hold so many more packets, or nodes of stacks: zstd packs a
 * gigabyte of zeros into 64 KB. Real recordings have at most 2 of them in a byte. Counts them if so;
 * otherwise CTX_E_FORMAT, with a message.
 */
enum ctx_exp_counted { CTX_EXP_COUNTED_PACKETS, CTX_EXP_COUNTED_NODES };
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_has_room(struct ctx_exp_reader *reader,
						       enum ctx_exp_counted what, uint64_t n,
						       struct ctx_err *err);

/* A loop that allocates and frees takes 200 bytes for 32768 operations: so many of them count as one packet. */
#define CTX_EXP_HEAP_PER_COUNTED 128u

static inline uint64_t ctx_exp_heap_counted(uint32_t n_operations)
{
	return ((uint64_t)n_operations + CTX_EXP_HEAP_PER_COUNTED - 1) / CTX_EXP_HEAP_PER_COUNTED;
}

/* Blocks of memory that may live at a time: a loop that only allocates takes as little as one that frees, too. */
#define CTX_EXP_HEAP_LIVE_ALWAYS UINT64_C(4000000) /* some 200 MB */
#define CTX_EXP_HEAP_LIVE_PER_BYTE 16u		   /* of the data files, besides */

/*
 * Appends a pending event. `text` (NULL: none) is the text it points to; takes ownership, also on
 * failure.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_push(struct ctx_exp_reader *reader,
						   const struct ctx_event *event, char *text,
						   struct ctx_err *err);

/* The same for a skipped damaged block. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_push_damage(struct ctx_exp_reader *reader, uint64_t time_ns,
							  const struct ctx_exp_place *place, const char *why,
							  struct ctx_err *err);

/* Announces a process; call it before any event of the process. Does nothing the second time. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_announce(struct ctx_exp_reader *reader, uint32_t row,
						       uint64_t time_ns, struct ctx_err *err);

/* Reads a block into reader->payload. CTX_E_FORMAT: damaged. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_read_place(struct ctx_exp_reader *reader,
							 const struct ctx_exp_place *place,
							 struct ctx_exp_block_header *ret,
							 struct ctx_err *err);

/*
 * The epoch of the process whose block is being loaded. When it is new, it is added, and the
 * dictionary restarts if no block of an old epoch is open. *ret is valid until the next call.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_epoch(struct ctx_exp_reader *reader, struct ctx_exp_epoch **ret,
						    struct ctx_err *err);

/*
 * Loads the next frames block of that epoch as a pending event (stacks or damage). *ret_some: there
 * was one.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_load_frames(struct ctx_exp_reader *reader,
							  struct ctx_exp_epoch *epoch, bool *ret_some,
							  struct ctx_err *err);

/*
 * Translates a state change: its waker becomes a row. *ret_fine is false if the change has to be
 * dropped.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_translate_change(struct ctx_exp_reader *reader,
							       uint32_t process,
							       struct ctx_exp_packet *change, bool *ret_fine,
							       struct ctx_err *err);

/* The row of the waking thread; CTX_NONE: not a thread. */
static inline uint32_t ctx_exp_waking_thread(const struct ctx_exp_packet *change)
{
	return change->waker % 2 == 1 ? (uint32_t)(change->waker / 2) : CTX_NONE;
}

/*
 * Fills the event of a change except kind, time, process and thread. A waking thread must be
 * announced already.
 */
void ctx_exp_reader_fill_change(const struct ctx_exp_reader *reader, const struct ctx_exp_packet *change,
				struct ctx_event *ret);

/*
 * Reads all heap operations once, for their leaks; nothing without any. Blocks that cannot be read are
 * left out: they are reported when they are reached. CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_find_leaks(struct ctx_exp_reader *reader, struct ctx_err *err);
void ctx_exp_heaps_deinit(struct ctx_exp_heaps *heaps);

/* Allocates and decodes the operations of the block that was read. CTX_E_FORMAT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_decode_heap(struct ctx_exp_reader *reader,
							  const struct ctx_exp_block_header *header,
							  struct ctx_exp_open_block *block,
							  struct ctx_err *err);

/* Whether the operation can be used. */
static inline bool ctx_exp_heap_is_fine(const struct ctx_exp_packet *packet)
{
	return packet->operation < CTX_HEAP_N && packet->size <= CTX_TRACED_WEIGHT_MAX;
}

/*
 * Fills the event of an operation except time, process and thread, and queues the samples of its metrics;
 * those have the event's time, process and thread. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_fill_heap(struct ctx_exp_reader *reader,
							const struct ctx_exp_open_block *block,
							struct ctx_event *event, struct ctx_err *err);

/* Notes how allocations were sampled, and makes their metrics, which were announced, fit. */
void ctx_exp_reader_note_sampling(struct ctx_exp_reader *reader);

/* Adds the metrics of a kind to the source's info, if there are such operations. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_add_traced_metrics(struct ctx_exp_reader *reader,
								 enum ctx_traced_kind kind,
								 struct ctx_err *err);
void ctx_exp_traced_deinit(struct ctx_exp_traced_metrics traced[CTX_TRACED_N]);

/*
 * Queues a sample of a metric of the operation's kind (enum ctx_heap_metric, ...): behind the operation's event, with
 * its time, process, thread and stack. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_push_traced(struct ctx_exp_reader *reader,
							  const struct ctx_event *event, uint32_t metric,
							  uint64_t weight, struct ctx_err *err);

/* An access to memory in the reader (exp_accesses.c); whether its kind and the number of its name are known. */
bool ctx_exp_access_is_fine(const struct ctx_exp_open_block *block, const struct ctx_exp_packet *packet);
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_fill_access(struct ctx_exp_reader *reader,
							  const struct ctx_exp_open_block *block,
							  struct ctx_event *event, struct ctx_err *err);

/* The same for synchronisation. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_decode_sync(struct ctx_exp_reader *reader,
							  const struct ctx_exp_block_header *header,
							  struct ctx_exp_open_block *block,
							  struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_fill_sync(struct ctx_exp_reader *reader,
							const struct ctx_exp_open_block *block,
							struct ctx_event *event, struct ctx_err *err);

/* The other thread of an operation becomes a row. *ret_fine is false if it has to be dropped. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_translate_sync(struct ctx_exp_reader *reader,
							     const struct ctx_exp_open_block *block,
							     const struct ctx_exp_packet *packet,
							     bool *ret_fine, struct ctx_err *err);

/* That row; CTX_NONE: none. It must be announced before the event. */
uint32_t ctx_exp_sync_thread(const struct ctx_exp_open_block *block, const struct ctx_exp_packet *packet);

void ctx_exp_ios_deinit(struct ctx_exp_ios *ios);

/* Allocates and decodes the operations of the block that was read. CTX_E_FORMAT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_decode_io(struct ctx_exp_reader *reader, uint64_t first_ns,
							struct ctx_exp_open_block *block,
							struct ctx_err *err);

/* Whether the operation can be used. */
bool ctx_exp_io_is_fine(const struct ctx_exp_open_block *block, const struct ctx_exp_packet *packet);

/*
 * Fills the event of an operation except time, process and thread, and queues the samples of its metrics;
 * *ret_some: there is an event. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_fill_io(struct ctx_exp_reader *reader,
						      const struct ctx_exp_open_block *block,
						      struct ctx_event *event, bool *ret_some,
						      struct ctx_err *err);

void ctx_exp_marks_deinit(struct ctx_exp_marks *marks);

/* Whether the mark of a block can be used. */
bool ctx_exp_mark_is_fine(const struct ctx_exp_open_block *block, const struct ctx_exp_packet *packet);

/*
 * Fills the event of a mark except time, process and thread. One that ends something gets the time since it began.
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_fill_mark(struct ctx_exp_reader *reader,
							const struct ctx_exp_open_block *block,
							struct ctx_event *event, struct ctx_err *err);

/* Takes the block that was read, once through. CTX_E_FORMAT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_decode_calls(struct ctx_exp_reader *reader,
							   const struct ctx_exp_block_header *header,
							   struct ctx_exp_open_block *block,
							   struct ctx_err *err);

/* Fills the event of the next call, and goes on to the one behind it. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_fill_call(struct ctx_exp_reader *reader,
							struct ctx_exp_open_block *block,
							struct ctx_event *event, struct ctx_err *err);

/* NULL is allowed. */
void ctx_exp_open_block_free(struct ctx_exp_open_block *block);

/* Opens an experiment and reads what is there; see ctx_exp_open. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_open(const char *path, bool grows, struct ctx_exp_reader **ret,
						   struct ctx_err *err);

/* Takes what is new in the experiment into the log and the index, and sorts them. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_scan(struct ctx_exp_reader *reader, struct ctx_err *err);

/* Sets what the source says of itself. */
void ctx_exp_reader_fill_info(struct ctx_exp_reader *reader);

/*
 * Opens a data file, plain or packed; the caller closes it. -1, with errno: it cannot be opened, or
 * unpacked. `*damage` says what of it is damaged; "" nothing.
 */
int ctx_exp_reader_open_data(struct ctx_exp_reader *reader, const char *name, struct ctx_err *damage);

/* Adds the names in the directory `below`; none if it cannot be read. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_list(int dir, const char *below, struct ctx_strtab *names,
						   struct ctx_err *err);

/* Callbacks of an opened source. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_next(struct ctx_event_source *source, struct ctx_event *ret,
						   struct ctx_err *err);
uint64_t ctx_exp_reader_progress(const struct ctx_event_source *source);

#endif
