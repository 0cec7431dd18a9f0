/*
 * The reader of perf.data: its state, and what its parts do with it.
 *
 *	perfdata.c      records in order -> samples, tasks; the event source
 *	pd_maps.c       MMAP, MMAP2, KSYMBOL, jitdump -> maps
 *	pd_states.c     samples and SWITCH -> what threads do
 *	pd_info.c       header, events, facts -> what the source tells of itself
 *	pd_ending.c     what was counted on the way -> notes and properties
 */
#ifndef CTX_FORMATS_PERFDATA_PD_READER_H
#define CTX_FORMATS_PERFDATA_PD_READER_H

#include "formats/perfdata/pd_chain.h"
#include "formats/perfdata/pd_file.h"
#include "formats/perfdata/pd_jitdump.h"
#include "formats/perfdata/pd_queue.h"
#include "formats/perfdata/pd_tasks.h"
#include "formats/perfevent/pe_wire.h"
#include "model/event_source.h"

struct ctx_pd_jit { /* a dump whose functions come as time goes on */
	struct ctx_pd_jitdump dump;
	size_t at;
	uint32_t path; /* id among the names */
	int64_t pid; /* as the kernel calls the process; in a container the dump has another number for it */
};

struct ctx_pd_counts {
	uint64_t lost, lost_samples; /* records that the kernel dropped; samples, as it says at the end */
	uint64_t unknown_ids, guests, branches, copied_stacks, without_time, outside, longer;
	uint64_t types[CTX_PD_TYPE_END]; /* records that are not used, by type */
};

/* What pd_states.c knows. */
struct ctx_pd_states { /* all zero is a valid one that gives nothing */
	bool on;
	bool has_waking; /* samples of sched_waking, which come before those of sched_wakeup */
	uint8_t *roles;	 /* owned; what the samples of an event are of, by its index */
};

struct ctx_pd_reader {
	struct ctx_event_source source;
	struct ctx_pd_file file;
	char *format;		     /* owned */
	struct ctx_pd_queue *queues; /* owned; one for each part */
	size_t n_queues, n_ready;    /* n_ready: queues that are initialised */
	size_t current;		     /* queue that the last record came from */
	struct ctx_pd_tasks tasks;
	struct ctx_pd_outbox out;
	struct ctx_pd_chain chain;
	struct ctx_pd_states states;
	struct ctx_pd_jit *jits;     /* owned; of dumps that can be used */
	struct ctx_strtab jit_paths; /* of all dumps, so that each is looked at once */
	size_t n_jits, jits_cap;
	size_t damage_at; /* lines of file.damage that were told */
	bool monotonic;	  /* the file's clock is CLOCK_MONOTONIC */
	bool other_host;  /* recorded on a machine with another name: its /tmp is not ours */
	bool ended;
	struct ctx_map64 count_of_id; /* id of a counter -> index of its last value */
	uint64_t *last_counts;	      /* owned */
	size_t n_counts, counts_cap;
	uint64_t weight; /* of all samples so far */
	struct ctx_pd_counts counts;
	char text[1200]; /* of the event in hand */
};

/* Appends an event to those that come next. Fails with CTX_E_NOMEM. */
static inline enum ctx_status ctx_pd_reader_put(struct ctx_pd_reader *reader, const struct ctx_event *event,
						struct ctx_err *err)
{
	return ctx_pd_outbox_put(&reader->out, event, err);
}

/*
 * The number of a text among the names, which live as long as the reader. Fails with CTX_E_NOMEM.
 */
static inline enum ctx_status ctx_pd_reader_name(struct ctx_pd_reader *reader, const char *text,
						 uint32_t *ret, struct ctx_err *err)
{
	return ctx_strtab_add_text(&reader->tasks.names, text, ret, err);
}

/*
 * The time of a record from the start of the experiment; what is outside of it is moved to its
 * ends.
 */
static inline uint64_t ctx_pd_reader_relative(const struct ctx_pd_reader *reader, uint64_t time)
{
	const struct ctx_pd_file *file = &reader->file;

	if (time <= file->first_sample)
		return 0;
	return (time < file->last_sample ? time : file->last_sample) - file->first_sample;
}

/* Tells of a record that cannot be used; at most one for each record (the text is the reader's). */
CTX_MUST_CHECK enum ctx_status ctx_pd_reader_damage(struct ctx_pd_reader *reader, uint64_t offset,
						    const char *what, struct ctx_err *err);

/* MMAP and MMAP2. Fails with CTX_E_NOMEM, as all below. */
CTX_MUST_CHECK enum ctx_status ctx_pd_maps_mmap(struct ctx_pd_reader *reader,
						const struct ctx_pd_queued *item, struct ctx_err *err);

/* KSYMBOL */
CTX_MUST_CHECK enum ctx_status ctx_pd_maps_ksymbol(struct ctx_pd_reader *reader,
						   const struct ctx_pd_queued *item, struct ctx_err *err);

/* The JIT functions that existed by `time`, on the file's clock. */
CTX_MUST_CHECK enum ctx_status ctx_pd_maps_jitted(struct ctx_pd_reader *reader, uint64_t time,
						  struct ctx_err *err);

/* Fills in the info of the source. */
CTX_MUST_CHECK enum ctx_status ctx_pd_info_fill(struct ctx_pd_reader *reader, struct ctx_err *err);

/* Tells what was counted, when all records are read. */
CTX_MUST_CHECK enum ctx_status ctx_pd_ending_put(struct ctx_pd_reader *reader, struct ctx_err *err);

#endif
