/*
 *	blocks by first time --> open blocks, each at one record --> the earliest record
 */
#include "formats/experiment/exp_kept.h"

#include "base/mem.h"
#include "formats/experiment/exp_keep.h"
#include "formats/experiment/exp_reader_state.h"

#include <string.h>

struct block {
	uint8_t *payload; /* owned */
	struct ctx_cursor cursor;
	struct ctx_exp_kept_record record; /* the current one */
	uint32_t process;		   /* key */
};

struct ctx_exp_kept {
	struct ctx_exp_reader *reader; /* borrowed */
	struct block *open;
	size_t n_open, open_cap;
	size_t next_place;
	size_t given; /* index in open: block whose record the caller holds; SIZE_MAX none */
	uint64_t damaged;
};

enum ctx_status ctx_exp_kept_open(struct ctx_event_source *source, struct ctx_exp_kept **ret,
				  struct ctx_err *err)
{
	struct ctx_exp_kept *kept;

	if (source->next != ctx_exp_reader_next)
		return ctx_err_set(err, CTX_E_ARG, "not an experiment: only experiments have kept stacks");
	kept = ctx_calloc(1, sizeof(*kept));
	if (kept == NULL)
		return ctx_err_nomem(err);
	kept->reader = source->impl;
	kept->given = SIZE_MAX;
	*ret = kept;
	return CTX_OK;
}

void ctx_exp_kept_close(struct ctx_exp_kept *kept)
{
	if (kept == NULL)
		return;
	for (size_t i = 0; i < kept->n_open; i++)
		free(kept->open[i].payload);
	free(kept->open);
	free(kept);
}

uint64_t ctx_exp_kept_damaged(const struct ctx_exp_kept *kept)
{
	return kept->damaged;
}

/* Advances to the next record of a block, or closes the block. */
static void step(struct ctx_exp_kept *kept, size_t i)
{
	struct block *block = &kept->open[i];
	enum ctx_status status =
		ctx_exp_get_kept(&block->cursor, block->record.time_ns, &block->record, NULL);

	if (status == CTX_OK)
		return;
	kept->damaged += status != CTX_END;
	free(block->payload);
	*block = kept->open[--kept->n_open];
}

static enum ctx_status open_block(struct ctx_exp_kept *kept, const struct ctx_exp_place *place,
				  struct ctx_err *err)
{
	struct ctx_exp_reader *reader = kept->reader;
	struct ctx_exp_block_header header;
	struct ctx_err local = {0};
	struct block block = {.process = place->process};
	enum ctx_status status = ctx_exp_reader_read_place(reader, place, &header, &local);

	if (status == CTX_E_FORMAT) {
		kept->damaged++;
		return CTX_OK;
	}
	if (status != CTX_OK)
		return ctx_err_set(err, status, "%s", local.msg);
	status = ctx_grow(&kept->open, &kept->open_cap, kept->n_open + 1, err);
	if (status != CTX_OK)
		return status;
	block.payload = (uint8_t *)ctx_memdup0(reader->file.payload.bytes, reader->file.payload.n);
	if (block.payload == NULL)
		return ctx_err_nomem(err);
	block.cursor = ctx_cursor_make(block.payload, reader->file.payload.n);
	kept->open[kept->n_open++] = block;
	step(kept, kept->n_open - 1);
	return CTX_OK;
}

/* The open block with the earliest record; SIZE_MAX: none is open. */
static size_t earliest(const struct ctx_exp_kept *kept)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < kept->n_open; i++) {
		if (best == SIZE_MAX || kept->open[i].record.time_ns < kept->open[best].record.time_ns)
			best = i;
	}
	return best;
}

static void fill(const struct ctx_exp_kept *kept, const struct block *block, struct ctx_exp_kept_sample *ret)
{
	const struct ctx_exp_log *log = &kept->reader->log;
	uint32_t process = ctx_map64_get(&log->process_of_key, block->process);
	uint32_t thread = ctx_map64_get(&log->thread_of_key, block->record.thread);

	*ret = (struct ctx_exp_kept_sample){.time_ns = block->record.time_ns,
					    .pid = -1,
					    .tid = -1,
					    .process = CTX_NONE,
					    .thread = CTX_NONE,
					    .state = block->record.state};
	if (process != CTX_MAP64_NONE) {
		ret->process = log->processes[process].number;
		ret->pid = log->processes[process].pid;
	}
	if (thread != CTX_MAP64_NONE) {
		ret->thread = log->threads[thread].number;
		ret->tid = log->threads[thread].tid;
	}
}

enum ctx_status ctx_exp_kept_next(struct ctx_exp_kept *kept, struct ctx_exp_kept_sample *ret,
				  struct ctx_err *err)
{
	const struct ctx_exp_index *index = &kept->reader->index;
	size_t best;

	if (kept->given != SIZE_MAX)
		step(kept, kept->given);
	kept->given = SIZE_MAX;
	best = earliest(kept);
	while (kept->next_place < index->n_kept &&
	       (best == SIZE_MAX ||
		index->kept[kept->next_place].first_ns <= kept->open[best].record.time_ns)) {
		enum ctx_status status = open_block(kept, &index->kept[kept->next_place], err);

		if (status != CTX_OK)
			return status;
		kept->next_place++;
		best = earliest(kept);
	}
	if (best == SIZE_MAX)
		return CTX_END;
	kept->given = best;
	fill(kept, &kept->open[best], ret);
	return CTX_OK;
}
