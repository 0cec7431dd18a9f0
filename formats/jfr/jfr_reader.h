/* State of the reader of JFR recordings, for jfr.c, jfr_opening.c and jfr_emit.c. */
#ifndef CTX_FORMATS_JFR_JFR_READER_H
#define CTX_FORMATS_JFR_JFR_READER_H

#include "formats/jfr/jfr_files.h"
#include "formats/jfr/jfr_records.h"

struct ctx_jfr_vm {
	int64_t pid;
	uint32_t lane;		 /* thread of the names */
	char *command;		 /* owned */
	struct ctx_vm_info info; /* texts are those of the facts */
	bool is_announced;
};

struct ctx_jfr_part { /* a chunk */
	struct ctx_jfr_facts facts;
	uint32_t vm;
	bool is_used; /* it has metadata */
};

/* A thread of the names, while events are handed out. */
struct ctx_jfr_life {
	uint32_t lives;	 /* that have ended before the last one */
	uint32_t number; /* of the source, of the last one */
	bool has_ended;	 /* the last one */
};

struct ctx_jfr_reader {
	struct ctx_named named; /* first */
	struct ctx_jfr_files files;
	struct ctx_jfr_part *parts; /* owned; as files.places */
	struct ctx_jfr_vm *vms;	    /* owned */
	size_t n_vms, vms_cap;
	struct ctx_strtab vm_keys; /* pid and start; id = number of the VM */
	struct ctx_jfr_names names;
	struct ctx_jfr_records records; /* in order of time; `at` of them are handed out */
	size_t at, next_place;
	struct ctx_jfr_life *lives; /* owned; by thread of the names */
	size_t n_lives, lives_cap;
	uint32_t metrics[CTX_JFR_METRIC_N];  /* numbers of the source */
	uint32_t first_traced[CTX_TRACED_N]; /* the first of the metrics of a kind */
	uint64_t begin_ns;		     /* since 1970: time 0 */
	uint64_t weight;		     /* of all samples */
	uint64_t impossible;		     /* samples left out because of it */
	uint64_t bytes;			     /* of chunks that are read */
	size_t note_at;			     /* of files.notes */
	bool is_ended;
};

/* Finds the chunks and what they say of themselves, and sets the source's info. */
CTX_MUST_CHECK enum ctx_status ctx_jfr_reader_open(struct ctx_jfr_reader *reader, const char *path,
						   struct ctx_err *err);

/* Hands out a record: adds its events to `named`. */
CTX_MUST_CHECK enum ctx_status ctx_jfr_reader_emit(struct ctx_jfr_reader *reader,
						   const struct ctx_jfr_record *record, struct ctx_err *err);

#endif
