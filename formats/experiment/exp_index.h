/*
 * Index of the blocks in an experiment's data files. It is built from block headers only, so that a
 * block is read when the merge by time reaches it.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_INDEX_H
#define CTX_FORMATS_EXPERIMENT_EXP_INDEX_H

#include "base/compress.h"
#include "base/strtab.h"
#include "formats/experiment/exp_block.h"
#include "formats/experiment/exp_log.h"
#include "model/traced.h"

struct ctx_exp_place {
	uint64_t first_ns;
	uint64_t offset;
	uint32_t file;
	uint32_t process; /* key */
	uint32_t epoch;
	uint32_t n_records;
	bool is_heap;	       /* heap operations */
	uint64_t first_record; /* of them: its number among those of the process (exp_heap.c) */
};

/* A data file, and how far its blocks are in the index. */
struct ctx_exp_data_file {
	uint64_t size, real_size; /* when it was read last; real: without holes */
	uint64_t offset;	  /* of the next block */
	bool lost;		  /* there is damage before `offset`, reported already */
	bool refused;		  /* of a newer version */
};

struct ctx_exp_index {
	/*
	 * The recording goes on: what looks like a block beyond the end of a file is being written. It is
	 * no damage, and the next call of ctx_exp_index_add for the file begins there.
	 */
	bool grows;
	bool is_followed;	 /* it grew at the beginning: has_traced stays as it was then */
	struct ctx_strtab names; /* by file, relative to the experiment: "_f1.er/profile" */
	struct ctx_exp_data_file *files;
	size_t files_cap;
	struct ctx_exp_place *blocks; /* samples, state changes, traced and overview, by first time */
	size_t n_blocks, blocks_cap;
	struct ctx_exp_place *frames; /* by process, then in file order */
	size_t n_frames, frames_cap;
	struct ctx_exp_place *kept; /* kept stacks, by first time */
	size_t n_kept, kept_cap;
	uint64_t bytes;		       /* of all data files */
	uint64_t real_bytes;	       /* the same without holes */
	uint64_t last_ns;	       /* the largest last time */
	bool has_states;	       /* there is a block of state changes */
	bool has_calls;		       /* there is one of calls */
	bool has_traced[CTX_TRACED_N]; /* of operations of the kind */
};

void ctx_exp_index_deinit(struct ctx_exp_index *index);

/*
 * Adds the blocks of the file `fd`, or those that were appended since the last call for this name;
 * damage is added to the log.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_index_add(struct ctx_exp_index *index, int fd, const char *name,
						 struct ctx_exp_log *log, struct ctx_err *err);
void ctx_exp_index_sort(struct ctx_exp_index *index);

/* Drops the first `n` of `blocks`, which must be sorted: they were read. */
void ctx_exp_index_drop(struct ctx_exp_index *index, size_t n);

/* Reads blocks, one at a time. Valid with `fd` set and the rest zero. */
struct ctx_exp_block_file {
	int fd;		 /* of the current file; -1: none */
	uint32_t number; /* of the file, in the index */
	struct ctx_compressor compressor;
	struct ctx_buf scratch;
	struct ctx_buf payload; /* of the last block read */
};

/* Reads and decompresses a block of the current file into `payload`. CTX_E_FORMAT: damaged. */
CTX_MUST_CHECK enum ctx_status ctx_exp_read_block(struct ctx_exp_block_file *file, const char *name,
						  uint64_t offset, struct ctx_exp_block_header *ret,
						  struct ctx_err *err);

#endif
