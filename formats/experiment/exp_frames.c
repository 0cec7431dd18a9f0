/*
 * Reads call stacks and translates their ids.
 *
 *	process row --> dictionary --> epochs --> ranges (ids of the file -> emitted ids)
 *
 * Ids in the files restart in each epoch; `ranges` maps them to emitted ids, which have no gaps
 * even when frames were lost.
 */
#include "base/bisect.h"
#include "base/mem.h"
#include "formats/experiment/exp_calls.h"
#include "formats/experiment/exp_packed_frames.h"
#include "formats/experiment/exp_reader_state.h"

#include <string.h>

static struct ctx_exp_dictionary *get_dictionary(struct ctx_exp_reader *reader, uint32_t row,
						 struct ctx_err *err)
{
	if (ctx_grow(&reader->dictionaries, &reader->dictionaries_cap, (size_t)row + 1, err) != CTX_OK)
		return NULL;
	while (reader->n_dictionaries <= row)
		reader->dictionaries[reader->n_dictionaries++] = (struct ctx_exp_dictionary){0};
	return &reader->dictionaries[row];
}

/* The first frames block of a process (by key). */
static size_t first_frames(const struct ctx_exp_index *index, uint32_t process)
{
	return ctx_count_below(index->frames, index->n_frames, process, process);
}

enum ctx_status ctx_exp_reader_epoch(struct ctx_exp_reader *reader, struct ctx_exp_epoch **ret,
				     struct ctx_err *err)
{
	uint32_t row = reader->loading.block->process, epoch = reader->loading.epoch;
	uint64_t time_ns = reader->loading.place.first_ns;
	struct ctx_exp_dictionary *dictionary = get_dictionary(reader, row, err);
	struct ctx_event event = {.kind = CTX_EV_STACKS_RESET, .time_ns = time_ns};
	enum ctx_status status;

	if (dictionary == NULL)
		return CTX_E_NOMEM;
	for (size_t i = 0; i < dictionary->n_epochs; i++) {
		if (dictionary->epochs[i].epoch == epoch) {
			*ret = &dictionary->epochs[i];
			return CTX_OK;
		}
	}
	status = ctx_exp_reader_announce(reader, row, time_ns, err);
	if (status == CTX_OK && dictionary->n_epochs != 0 && dictionary->n_open == 0) {
		ctx_exp_dictionary_clear(dictionary);
		event.process = reader->log.processes[row].number;
		status = ctx_exp_reader_push(reader, &event, NULL, err);
	}
	if (status == CTX_OK)
		status =
			ctx_grow(&dictionary->epochs, &dictionary->epochs_cap, dictionary->n_epochs + 1, err);
	if (status != CTX_OK)
		return status;
	*ret = &dictionary->epochs[dictionary->n_epochs++];
	**ret = (struct ctx_exp_epoch){.epoch = epoch};
	return CTX_OK;
}

static enum ctx_status add_node(struct ctx_exp_reader *reader, uint32_t parent, uint64_t address,
				struct ctx_err *err)
{
	enum ctx_status status =
		ctx_grow(&reader->nodes.parents, &reader->nodes.parents_cap, reader->nodes.n + 1, err);

	if (status == CTX_OK)
		status = ctx_grow(&reader->nodes.addresses, &reader->nodes.addresses_cap, reader->nodes.n + 1,
				  err);
	if (status != CTX_OK)
		return status;
	reader->nodes.parents[reader->nodes.n] = parent;
	reader->nodes.addresses[reader->nodes.n++] = address;
	return CTX_OK;
}

/* Decodes a frames payload with ids of the file. CTX_E_FORMAT leaves the epoch unchanged. */
static enum ctx_status decode_frames(struct ctx_exp_reader *reader, const struct ctx_exp_epoch *epoch,
				     uint32_t *ret_first, struct ctx_err *err)
{
	struct ctx_exp_frames_in in;
	enum ctx_status status =
		ctx_exp_frames_begin(reader->file.payload.bytes, reader->file.payload.n, &in, err);
	uint32_t id, parent;
	uint64_t address;

	if (status != CTX_OK)
		return status;
	*ret_first = in.next_id;
	if (*ret_first <= epoch->highest)
		return ctx_err_set(err, CTX_E_FORMAT, "call stacks that are there already");
	reader->nodes.n = 0;
	while ((status = ctx_exp_frames_next(&in, &id, &parent, &address, err)) == CTX_OK) {
		status = add_node(reader, parent, address, err);
		if (status != CTX_OK)
			return status;
	}
	return status == CTX_END
		       ? ctx_exp_reader_has_room(reader, CTX_EXP_COUNTED_NODES, reader->nodes.n, err)
		       : status;
}

/*
 * Translates the parents of the decoded nodes to emitted ids. Lost parents are replaced by a
 * <Truncated-stack> node, one per epoch, which is inserted at the front.
 */
static enum ctx_status adopt_frames(struct ctx_exp_reader *reader, uint32_t row, struct ctx_exp_epoch *epoch,
				    uint32_t first, struct ctx_err *err)
{
	struct ctx_exp_dictionary *dictionary = &reader->dictionaries[row];
	uint32_t n = (uint32_t)reader->nodes.n;
	bool missing = false;
	uint32_t out, shift;
	enum ctx_status status;

	for (uint32_t i = 0; i < n && !missing; i++)
		missing = reader->nodes.parents[i] < first &&
			  !ctx_exp_epoch_translate(epoch, reader->nodes.parents[i], &out);
	if (n > UINT32_MAX - 2 - dictionary->n_ids)
		return ctx_err_set(err, CTX_E_FORMAT, "too many call stacks");
	shift = missing && epoch->truncated == 0;
	if (shift != 0) {
		status = add_node(reader, 0, 0, err);
		if (status != CTX_OK)
			return status;
		memmove(reader->nodes.parents + 1, reader->nodes.parents, n * sizeof(*reader->nodes.parents));
		memmove(reader->nodes.addresses + 1, reader->nodes.addresses,
			n * sizeof(*reader->nodes.addresses));
		reader->nodes.parents[0] = 0;
		reader->nodes.addresses[0] = CTX_FRAME_TRUNCATED;
		epoch->truncated = dictionary->n_ids + 1;
	}
	status = ctx_grow(&epoch->ranges, &epoch->ranges_cap, epoch->n_ranges + 1, err);
	if (status != CTX_OK)
		return status;
	out = dictionary->n_ids + 1 + shift;
	for (uint32_t i = shift; i < n + shift; i++) {
		uint32_t *parent = &reader->nodes.parents[i];

		if (*parent >= first)
			*parent = out + (*parent - first);
		else if (!ctx_exp_epoch_translate(epoch, *parent, parent))
			*parent = epoch->truncated;
	}
	epoch->ranges[epoch->n_ranges++] = (struct ctx_exp_range){first, n, out};
	epoch->highest = first + n - 1;
	return CTX_OK;
}

/* The next frames block of an epoch of a process (by key); NULL: there is none (yet). */
static const struct ctx_exp_place *next_frames(const struct ctx_exp_reader *reader, uint32_t process,
					       struct ctx_exp_epoch *epoch)
{
	const struct ctx_exp_index *index = &reader->index;
	size_t at = first_frames(index, process) + epoch->next;

	for (; at < index->n_frames && index->frames[at].process == process; at++) {
		epoch->next++;
		if (index->frames[at].epoch == epoch->epoch)
			return &index->frames[at];
	}
	return NULL;
}

/* The payload as that of an unpacked block. */
static enum ctx_status unpack(struct ctx_exp_block_file *file, uint32_t kind, struct ctx_err *err)
{
	struct ctx_buf packed = file->payload;
	struct ctx_bytes bytes = {packed.bytes, packed.n};
	enum ctx_status status;

	file->payload = file->scratch;
	file->scratch = packed;
	ctx_buf_clear(&file->payload);
	status = kind == CTX_EXP_BLOCK_CALLS ? ctx_exp_unpack_calls(bytes, &file->payload, err)
					     : ctx_exp_unpack_frames(bytes, &file->payload, err);
	file->payload.failed = false;
	return status;
}

enum ctx_status ctx_exp_reader_load_frames(struct ctx_exp_reader *reader, struct ctx_exp_epoch *epoch,
					   bool *ret_some, struct ctx_err *err)
{
	uint32_t row = reader->loading.block->process;
	uint64_t time_ns = reader->loading.place.first_ns;
	uint32_t key = reader->log.processes[row].key;
	struct ctx_event event = {.kind = CTX_EV_STACKS, .time_ns = time_ns};
	struct ctx_exp_dictionary *dictionary = &reader->dictionaries[row];
	const struct ctx_exp_place *place;
	struct ctx_exp_block_header header;
	struct ctx_err local = {0};
	enum ctx_status status;
	uint32_t first;

	place = next_frames(reader, key, epoch);
	*ret_some = place != NULL;
	if (!*ret_some)
		return CTX_OK;
	status = ctx_exp_reader_read_place(reader, place, &header, &local);
	if (status == CTX_OK && header.kind != CTX_EXP_BLOCK_FRAMES)
		status = unpack(&reader->file, header.kind, &local);
	if (status == CTX_OK)
		status = decode_frames(reader, epoch, &first, &local);
	if (status == CTX_OK && reader->nodes.n == 0)
		return CTX_OK;
	if (status == CTX_OK)
		status = adopt_frames(reader, row, epoch, first, &local);
	if (status == CTX_E_FORMAT)
		return ctx_exp_reader_push_damage(reader, time_ns, place, local.msg, err);
	if (status != CTX_OK)
		return ctx_err_set(err, status, "%s", local.msg);
	event.process = reader->log.processes[row].number;
	event.stacks.first = dictionary->n_ids + 1;
	event.stacks.n = (uint32_t)reader->nodes.n;
	event.stacks.parents = reader->nodes.parents;
	event.stacks.addresses = reader->nodes.addresses;
	dictionary->n_ids += (uint32_t)reader->nodes.n;
	return ctx_exp_reader_push(reader, &event, NULL, err);
}
