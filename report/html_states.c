#include "report/html_states.h"

/* Kinds of rows. */
#define NOWHERE 0u		    /* the thread does not exist */
#define WHOLE(state) (1u + (state)) /* all the time in this state */
#define SHARED (1u + CTX_STATE_N)   /* one bucket, and its states as bits */
#define FULL (1u << CTX_STATE_N)    /* for SHARED: all of it is known, so the last state is the rest */

/* The columns of one thread. */
struct rows {
	struct ctx_buf kinds, lengths, times;
	uint64_t n;
	uint32_t run_kind, run_length; /* the pending run, not yet appended; none if its length is 0 */
};

static void rows_cleanup(struct rows *rows)
{
	ctx_buf_deinit(&rows->kinds);
	ctx_buf_deinit(&rows->lengths);
	ctx_buf_deinit(&rows->times);
}

static void end_run(struct rows *rows)
{
	if (rows->run_length == 0)
		return;
	ctx_buf_put_varint(&rows->kinds, rows->run_kind);
	ctx_buf_put_varint(&rows->lengths, rows->run_length);
	rows->n++;
	rows->run_length = 0;
}

static void add_run(struct rows *rows, uint32_t kind, uint32_t length)
{
	if (kind != rows->run_kind)
		end_run(rows);
	rows->run_kind = kind;
	rows->run_length += length;
}

/* A bucket of `n` states, `length` ns long. */
static void add_bucket(struct rows *rows, const struct ctx_cell_entry *entries, size_t n, uint64_t length)
{
	uint32_t states = 0;
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		states |= CTX_STATE_BIT(entries[i].stack);
		sum += entries[i].weight;
	}
	if (n == 1 && sum == length) {
		add_run(rows, WHOLE(entries[0].stack), 1);
		return;
	}
	end_run(rows);
	rows->n++;
	ctx_buf_put_varint(&rows->kinds, SHARED + states + (sum == length ? FULL : 0));
	for (size_t i = 0; i < n - (sum == length); i++)
		ctx_buf_put_varint(&rows->times, entries[i].weight);
}

static void append(struct ctx_buf *out, const struct ctx_buf *column)
{
	ctx_buf_put(out, column->bytes, column->n);
	out->failed |= column->failed;
}

static void put_thread(const struct ctx_thread_cells *thread, uint64_t end_ns, uint32_t buckets,
		       struct ctx_buf *out)
{
	struct rows rows __attribute__((cleanup(rows_cleanup))) = {0};
	uint32_t next = 0; /* the first bucket that has no row */
	size_t end;

	for (size_t at = 0; at < thread->n; at = end) {
		uint32_t bucket = thread->entries[at].bucket;

		for (end = at + 1; end < thread->n && thread->entries[end].bucket == bucket;)
			end++;
		if (bucket != next)
			add_run(&rows, NOWHERE, bucket - next);
		add_bucket(&rows, &thread->entries[at], end - at,
			   ctx_cells_border(bucket + 1, end_ns, buckets) -
				   ctx_cells_border(bucket, end_ns, buckets));
		next = bucket + 1;
	}
	end_run(&rows);
	ctx_buf_put_varint(out, rows.n);
	append(out, &rows.kinds);
	append(out, &rows.lengths);
	append(out, &rows.times);
}

void ctx_html_states_put(const struct ctx_cells *states, uint64_t end_ns, struct ctx_buf *out)
{
	ctx_buf_put_varint(out, states->buckets);
	for (uint32_t i = 0; i < states->n_threads; i++)
		put_thread(&states->threads[i], end_ns, states->buckets, out);
}
