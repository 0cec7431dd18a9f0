#include "formats/experiment/exp_numbers.h"

#include "base/mem.h"

#include <string.h>

struct ctx_exp_chunk {
	uint32_t n, n_ended;
	_Alignas(uint64_t) uint8_t rows[];
};

static void free_chunk(struct ctx_exp_numbers *numbers, size_t place, ctx_exp_release_fn *release,
		       void *context)
{
	struct ctx_exp_chunk *chunk = numbers->chunks[place];

	for (uint32_t i = 0; chunk != NULL && release != NULL && i < chunk->n; i++)
		release(context, chunk->rows + i * numbers->row_bytes);
	numbers->chunks[place] = NULL;
	free(chunk);
}

void ctx_exp_numbers_deinit(struct ctx_exp_numbers *numbers, ctx_exp_release_fn *release, void *context)
{
	for (size_t i = 0; i < numbers->n_chunks; i++)
		free_chunk(numbers, i, release, context);
	free(numbers->chunks);
	free(numbers->ended);
	*numbers = (struct ctx_exp_numbers){.row_bytes = numbers->row_bytes};
}

void *ctx_exp_numbers_add(struct ctx_exp_numbers *numbers)
{
	struct ctx_exp_chunk *chunk;

	if (numbers->n / CTX_EXP_CHUNK_ROWS == numbers->n_chunks) {
		if (ctx_grow(&numbers->chunks, &numbers->chunks_cap, numbers->n_chunks + 1, NULL) != CTX_OK)
			return NULL;
		chunk = ctx_calloc(1, sizeof(*chunk) + CTX_EXP_CHUNK_ROWS * numbers->row_bytes);
		if (chunk == NULL)
			return NULL;
		numbers->chunks[numbers->n_chunks++] = chunk;
	}
	chunk = numbers->chunks[numbers->n_chunks - 1];
	numbers->n++;
	return chunk->rows + chunk->n++ * numbers->row_bytes;
}

void *ctx_exp_numbers_get(const struct ctx_exp_numbers *numbers, uint32_t number)
{
	struct ctx_exp_chunk *chunk =
		number < numbers->n ? numbers->chunks[number / CTX_EXP_CHUNK_ROWS] : NULL;

	return chunk != NULL ? chunk->rows + number % CTX_EXP_CHUNK_ROWS * numbers->row_bytes : NULL;
}

void ctx_exp_numbers_end(struct ctx_exp_numbers *numbers, uint32_t number)
{
	struct ctx_exp_chunk *chunk =
		number < numbers->n ? numbers->chunks[number / CTX_EXP_CHUNK_ROWS] : NULL;

	if (chunk == NULL || ++chunk->n_ended != CTX_EXP_CHUNK_ROWS)
		return;
	/* Without memory for the note it stays until the end. */
	if (ctx_grow(&numbers->ended, &numbers->ended_cap, numbers->n_ended + 1, NULL) == CTX_OK)
		numbers->ended[numbers->n_ended++] = number / CTX_EXP_CHUNK_ROWS;
}

void ctx_exp_numbers_sweep(struct ctx_exp_numbers *numbers, ctx_exp_release_fn *release, void *context)
{
	for (size_t i = 0; i < numbers->n_due; i++)
		free_chunk(numbers, numbers->ended[i], release, context);
	if (numbers->n_due != 0)
		memmove(numbers->ended, numbers->ended + numbers->n_due,
			(numbers->n_ended - numbers->n_due) * sizeof(*numbers->ended));
	numbers->n_ended -= numbers->n_due;
	numbers->n_due = numbers->n_ended;
}
