/*
 * The parts of the reader of uftrace directories, for its own files.
 *
 *	info, task.txt, *.map --uf_scan--> images, lives, moments
 *	TID.dat, perf-cpuN.dat --uf_scan--> ends of lives, hints
 *	moments, TID.dat, perf-cpuN.dat by time --uftrace.c--> events; entries and exits by uf_calls.c
 */
#ifndef CTX_FORMATS_UFTRACE_UF_READER_H
#define CTX_FORMATS_UFTRACE_UF_READER_H

#include "formats/uftrace/uf_info.h"
#include "formats/uftrace/uf_perf.h"
#include "formats/uftrace/uf_record.h"
#include "formats/uftrace/uf_symbols.h"
#include "formats/uftrace/uf_tasks.h"
#include "model/traced.h"

/*
 * The function of a call that began before the records of its segment, known from its exit. A segment is a part of a
 * thread's records without a gap: from a begin of a life, behind lost records, or behind bytes that are none.
 */
struct ctx_uf_hint {
	uint64_t address;
	uint32_t segment;
	uint16_t depth;
};

struct ctx_uf_task { /* a file of a thread */
	struct ctx_uf_records records;
	int64_t tid;
	const uint32_t *lives;	   /* of the tid, by time; borrowed from the reader */
	size_t n_lives, life;	   /* index of the present one */
	struct ctx_uf_record next; /* that has been read ahead */
	uint64_t last_ns;
	uint64_t n_breaks; /* of records, that have been seen */
	uint32_t segment;
	bool begins_segment;	   /* no call of the segment has been seen */
	struct ctx_uf_hint *hints; /* owned; by segment */
	size_t n_hints, hints_cap, hint;
	uint64_t *open; /* owned; addresses of open calls, from the root */
	size_t n_open, open_cap;
	uint64_t *inherited; /* owned; those of the parent when it forked */
	size_t n_inherited;
};

enum ctx_uf_moment_kind { /* in their order at equal times; records come before the ends */
			  CTX_UF_IMAGE_BEGINS,
			  CTX_UF_LIFE_BEGINS,
			  CTX_UF_LIBRARY_OPENS,
			  CTX_UF_LIFE_ENDS,
			  CTX_UF_IMAGE_ENDS,
};

struct ctx_uf_moment {
	uint64_t time_ns;
	uint32_t index; /* of the image, life, library */
	enum ctx_uf_moment_kind kind;
};

struct ctx_uf_moments {
	struct ctx_uf_moment *items; /* owned; by time */
	size_t n, cap, at;
};

struct ctx_uf_turn { /* the next record of a file */
	uint64_t time_ns;
	uint32_t index; /* of the task, or of the processor's file behind the tasks */
};

struct ctx_uf_later {		 /* events to be returned before anything else is read */
	struct ctx_event *items; /* owned */
	size_t n, cap, at;
};

struct ctx_uf_sums {
	uint64_t mended;  /* calls whose end or begin is missing */
	uint64_t open;	  /* that the end of a thread or an exec ended */
	uint64_t unknown; /* calls whose function is not known */
	uint64_t events;  /* that are not read */
	uint64_t late;	  /* records with a time before that of the one before */
};

struct ctx_uf_reader {
	struct ctx_event_source source;
	char *directory; /* owned */
	struct ctx_uf_info info;
	struct ctx_source_notes notes;
	struct ctx_uf_tasks tasks;
	struct ctx_uf_symbols symbols;
	struct ctx_uf_task *files; /* owned; of threads */
	size_t n_files, files_cap;
	struct ctx_uf_perf *perfs;	     /* owned */
	struct ctx_uf_perf_event *perf_next; /* owned; read ahead */
	size_t n_perfs, perfs_cap;
	uint32_t *lives_by_tid;	   /* owned; lives by tid, then by begin */
	struct ctx_map64 lives_at; /* by tid: the first of them */
	struct ctx_map64 file_of;  /* by tid */
	struct ctx_uf_moments moments;
	struct ctx_uf_turn *turns; /* owned; a heap */
	size_t n_turns;
	struct ctx_uf_later later;
	uint32_t *process_of, *thread_of; /* owned; by image and life: the source's numbers */
	uint32_t n_processes, n_threads;
	uint32_t unknown; /* the function without a name; CTX_NONE: not announced */
	uint64_t begin_ns, end_ns;
	struct ctx_uf_sums sums;
	struct ctx_traced mark;
	bool ended;
};

/* Opens the directory's files and reads through them: all but the symbols. */
CTX_MUST_CHECK enum ctx_status ctx_uf_scan(struct ctx_uf_reader *reader, struct ctx_err *err);

/* Goes to the life of the time, which may begin a segment. */
void ctx_uf_task_live(struct ctx_uf_reader *reader, struct ctx_uf_task *task, uint64_t time_ns);

/* An event to be returned later; its fields are to be set. NULL: out of memory. */
struct ctx_event *ctx_uf_later_add(struct ctx_uf_later *later);

/* Adds the events of an entry or exit. CTX_E_IO, CTX_E_LIMIT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_uf_calls_take(struct ctx_uf_reader *reader, struct ctx_uf_task *task,
						 const struct ctx_uf_record *record, struct ctx_err *err);

/* A new process has inherited the open calls of its parent. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_uf_calls_inherit(struct ctx_uf_reader *reader, uint32_t image,
						    struct ctx_err *err);

#endif
