/*
 * The reader's own state (what all parts do with it is in exp_reader_state.c), shared by exp_reader.c (the merge), exp_changes.c (changes of state), exp_frames.c (call stacks) and exp_opening.c (opening and closing).
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_READER_STATE_H
#define CTX_FORMATS_EXPERIMENT_EXP_READER_STATE_H

#include "base/compress.h"
#include "formats/experiment/exp_block.h"
#include "formats/experiment/exp_dictionary.h"
#include "formats/experiment/exp_index.h"
#include "formats/experiment/exp_log.h"
#include "model/event_source.h"

struct ctx_exp_open_block {
	uint32_t process; /* row */
	size_t n, at, bytes;
	bool has_changes;		    /* packets are changes of state, not samples */
	struct ctx_exp_packet *packets;	    /* or */
	struct ctx_exp_usage_record *usage; /* its process fields are rows */
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

/* Blocks whose packets are being handed out, a heap by the time of the next one. */
struct ctx_exp_open_blocks {
	struct ctx_exp_heap_item *items;
	size_t n, cap;
	size_t bytes;	/* of memory */
	uint64_t order; /* of the next block */
};

/* Events to be handed out before anything else. */
struct ctx_exp_pending_events {
	struct ctx_exp_pending *items;
	size_t n, at, cap;
	char *shown; /* owned; text of the event handed out last */
};

/* The block of packets that is read, while the frames it needs are handed out. */
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

/* Copies that were recorded: of load objects, of kallsyms, of source files. */
struct ctx_exp_archives {
	struct ctx_strtab names; /* of files in archives/ */
	size_t n;
	char *root;	     /* path of archives/ */
	struct ctx_buf path; /* of the object asked for last */
	char *kallsyms;
	struct ctx_source_text *sources; /* paths are the log's, archives are in source_paths */
	size_t n_sources, sources_cap;
	struct ctx_arena source_paths;
};

struct ctx_exp_reader {
	struct ctx_event_source source;
	char *path;
	int dir;
	struct ctx_exp_log log;
	struct ctx_exp_index index;
	struct ctx_exp_dictionary *dictionaries; /* by process row */
	size_t n_dictionaries, dictionaries_cap;
	struct ctx_exp_open_blocks open;
	size_t next_entry, next_block;
	uint64_t consumed; /* bytes of data files */
	struct ctx_exp_pending_events pending;
	struct ctx_exp_loading loading;
	struct ctx_exp_nodes nodes;
	uint32_t next_process, next_thread;
	struct ctx_exp_block_file file; /* the data file that was read last stays open */
	struct ctx_buf notes;
	struct ctx_exp_archives archive;
	bool thread_damage_told, external_waker_damage_told;
};

/* Puts an event behind those that wait to be handed out. `text` (NULL: none) is what the event points to; it is taken over, also on error. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_push(struct ctx_exp_reader *reader,
						   const struct ctx_event *event, char *text,
						   struct ctx_err *err);

/* The same for a damaged block that was skipped. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_push_damage(struct ctx_exp_reader *reader, uint64_t time_ns,
							  const struct ctx_exp_place *place, const char *why,
							  struct ctx_err *err);

/* Tells of a process before anything of it is told; does nothing the second time. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_announce(struct ctx_exp_reader *reader, uint32_t row,
						       uint64_t time_ns, struct ctx_err *err);

/* Reads a block into reader->payload. CTX_E_FORMAT: damaged. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_read_place(struct ctx_exp_reader *reader,
							 const struct ctx_exp_place *place,
							 struct ctx_exp_block_header *ret,
							 struct ctx_err *err);

/*
 * The epoch of the process whose block is being loaded, made if it is new: then, if no block of the old ones is open, the
 * dictionary restarts. *ret is valid until the next call.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_epoch(struct ctx_exp_reader *reader, struct ctx_exp_epoch **ret,
						    struct ctx_err *err);

/* Adds the next frames block of that epoch, as a pending event (of stacks, or of damage); *ret_some: there was one. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_load_frames(struct ctx_exp_reader *reader,
							  struct ctx_exp_epoch *epoch, bool *ret_some,
							  struct ctx_err *err);

/*
 * Makes a change of a block ready to be handed out: its waker is a row then. *ret_fine is false for one that is to be left
 * out.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_translate_change(struct ctx_exp_reader *reader,
							       uint32_t process,
							       struct ctx_exp_packet *change, bool *ret_fine,
							       struct ctx_err *err);

/* The row of the thread that is named as the waker; CTX_NONE. */
static inline uint32_t ctx_exp_waking_thread(const struct ctx_exp_packet *change)
{
	return change->waker % 2 == 1 ? (uint32_t)(change->waker / 2) : CTX_NONE;
}

/* Its event but for kind, time, process and thread; a thread that is its waker is announced. */
void ctx_exp_reader_fill_change(const struct ctx_exp_reader *reader, const struct ctx_exp_packet *change,
				struct ctx_event *ret);

/* NULL is fine. */
void ctx_exp_open_block_free(struct ctx_exp_open_block *block);

/* What an opened source calls. */
CTX_MUST_CHECK enum ctx_status ctx_exp_reader_next(struct ctx_event_source *source, struct ctx_event *ret,
						   struct ctx_err *err);
uint64_t ctx_exp_reader_progress(const struct ctx_event_source *source);

#endif
