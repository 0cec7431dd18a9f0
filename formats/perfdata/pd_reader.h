/*
 * The reader of perf.data: its state, shared by the files that implement it.
 *
 *	perfdata.c      records in order -> samples, tasks; the event source
 *	pd_maps.c       MMAP, MMAP2, KSYMBOL, jitdump -> maps
 *	pd_states.c     samples and SWITCH -> thread state changes
 *	pd_operations.c branches and accesses to memory -> traced operations
 *	pd_losses.c     LOST, LOST_SAMPLES -> losses
 *	pd_info.c       header, events, facts -> info of the source
 *	pd_ending.c     counters -> notes and properties
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

struct ctx_pd_jit { /* a dump whose functions are mapped as time advances */
	struct ctx_pd_jitdump dump;
	size_t at;
	uint32_t path; /* id among the names */
	int64_t pid;   /* as seen by the host; in a container the dump has another one */
};

struct ctx_pd_counts {
	uint64_t unknown_ids, guests, copied_stacks, without_time, outside, longer;
	uint64_t types[CTX_PD_TYPE_END]; /* unused records, by type */
};

/* State of pd_losses.c. */
struct ctx_pd_losses {	       /* all zero is valid */
	uint64_t *last_of_cpu; /* time of its last record, on the file's clock; 0 none; owned */
	size_t n, cap;
	uint64_t located, totals; /* records in LOST, and in LOST_SAMPLES */
};

/* State of pd_states.c. */
struct ctx_pd_states { /* all zero is valid: off */
	bool on;
	bool has_waking;	/* sched_waking is sampled, which precedes sched_wakeup */
	uint64_t map_bits;	/* of addresses and sizes of maps: zero below the size of a page */
	bool namespaced;	/* samples have thread ids of a pid namespace, tracepoints the kernel's */
	struct ctx_map64 ids;	/* the kernel's id -> that of samples, if namespaced */
	uint64_t n_unknown_ids; /* that a tracepoint named */
	uint8_t *roles;		/* owned; tracepoint or fault that an event samples, by index of the event */
};

/* State of pd_operations.c. */
struct ctx_pd_operations {	   /* all zero is valid: none */
	uint32_t branches, memory; /* the first of their metrics, where an event has them */
	struct ctx_traced *items;  /* owned; of the current sample */
	size_t cap;
	uint64_t *frames; /* owned; of its branches: two each */
	size_t frames_cap;
};

struct ctx_pd_reader {
	struct ctx_event_source source;
	struct ctx_pd_file file;
	char *format;		     /* owned */
	struct ctx_pd_queue *queues; /* owned; one per part */
	size_t n_queues, n_ready;    /* n_ready: initialised queues */
	size_t current;		     /* queue of the last record */
	struct ctx_pd_tasks tasks;
	struct ctx_pd_outbox out;
	struct ctx_pd_chain chain;
	struct ctx_pd_states states;
	struct ctx_pd_jit *jits;     /* owned; usable dumps */
	struct ctx_strtab jit_paths; /* of all dumps seen, so that each is read once */
	size_t n_jits, jits_cap;
	size_t damage_at; /* lines of file.damage already emitted */
	bool monotonic;	  /* the file's clock is CLOCK_MONOTONIC */
	bool other_host;  /* recorded on a host with another name: local files in /tmp are not its files */
	bool ended;
	struct ctx_map64 count_of_id; /* id of a counter -> index of its last value */
	uint64_t *last_counts;	      /* owned */
	size_t n_counts, counts_cap;
	struct ctx_map64
		ksymbols; /* address of code that the kernel generated -> 1 + id of its name; 0 released */
	struct ctx_map64 bpf_loads; /* id of a BPF program -> how often it was loaded and unloaded, in turn */
	uint64_t weight;	    /* of all samples so far */
	struct ctx_pd_counts counts;
	struct ctx_pd_losses losses;
	struct ctx_pd_operations operations;
	char text[1200]; /* of the current event */
};

/* Appends an event to the outbox. Fails with CTX_E_NOMEM. */
static inline enum ctx_status ctx_pd_reader_put(struct ctx_pd_reader *reader, const struct ctx_event *event,
						struct ctx_err *err)
{
	return ctx_pd_outbox_put(&reader->out, event, err);
}

/*
 * Interns a text in the table of names, which lives as long as the reader. Fails with CTX_E_NOMEM.
 */
static inline enum ctx_status ctx_pd_reader_name(struct ctx_pd_reader *reader, const char *text,
						 uint32_t *ret, struct ctx_err *err)
{
	return ctx_strtab_add_text(&reader->tasks.names, text, ret, err);
}

/* The time of a record since the first sample, clamped to the last sample. */
static inline uint64_t ctx_pd_reader_relative(const struct ctx_pd_reader *reader, uint64_t time)
{
	const struct ctx_pd_file *file = &reader->file;

	if (time <= file->first_sample)
		return 0;
	return (time < file->last_sample ? time : file->last_sample) - file->first_sample;
}

/* Emits damage for an unusable record; at most once per record (the text is in the reader). */
CTX_MUST_CHECK enum ctx_status ctx_pd_reader_damage(struct ctx_pd_reader *reader, uint64_t offset,
						    const char *what, struct ctx_err *err);

/* MMAP and MMAP2. Fails with CTX_E_NOMEM, like all functions below. */
CTX_MUST_CHECK enum ctx_status ctx_pd_maps_mmap(struct ctx_pd_reader *reader,
						const struct ctx_pd_queued *item, struct ctx_err *err);

/* KSYMBOL: code that the kernel generated (BPF programs) or released. */
CTX_MUST_CHECK enum ctx_status ctx_pd_maps_ksymbol(struct ctx_pd_reader *reader,
						   const struct ctx_pd_queued *item, struct ctx_err *err);

/*
 * BPF_EVENT: the functions of a program get their instructions and lines when it is loaded, a few times at most: work is
 * in proportion to the records and the programs of the file.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_maps_bpf(struct ctx_pd_reader *reader, const struct ctx_pd_queued *item,
					       struct ctx_err *err);

/* Maps the JIT functions compiled up to `time`, which is on the file's clock. */
CTX_MUST_CHECK enum ctx_status ctx_pd_maps_jitted(struct ctx_pd_reader *reader, uint64_t time,
						  struct ctx_err *err);

/* Fills in the info of the source. */
CTX_MUST_CHECK enum ctx_status ctx_pd_info_fill(struct ctx_pd_reader *reader, struct ctx_err *err);

/* Emits the counters, after the last record. */
CTX_MUST_CHECK enum ctx_status ctx_pd_ending_put(struct ctx_pd_reader *reader, struct ctx_err *err);

#endif
