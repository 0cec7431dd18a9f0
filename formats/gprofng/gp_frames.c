#include "formats/gprofng/gp_frames.h"

#include "base/mem.h"
#include "formats/gprofng/gp_wire.h"

#include <stdlib.h>

#define TYPE_FRAME 11u
#define TYPE_UID 17u
#define HEAD_BYTES 16u /* of a FRAME record, an info, a UID record */
#define INFO_COMPRESSED 0x80000000u
#define INFO_NATIVE 1u
#define INFO_JAVA 2u
#define UID_LINKED 0x80000000u
#define LINK_BYTES 8u
#define R_INVERSE 92251691606677u /* of 801425552975190205, modulo 2^64 */

void ctx_gp_frames_deinit(struct ctx_gp_frames *frames)
{
	free(frames->frames);
	free(frames->nodes);
	free(frames->stacks);
	free(frames->suffixes);
	ctx_map64_deinit(&frames->node_of_uid);
	ctx_map64_deinit(&frames->stack_of_uid);
	ctx_map64_deinit(&frames->suffix_of_uid);
	*frames = (struct ctx_gp_frames){0};
}

struct reading {
	struct ctx_gp_frames *frames;
	size_t address_bytes;
	bool big_endian;
	struct ctx_err *err;
};

/* Stores `value` for `key`; replaces an existing value if `again`. */
static enum ctx_status put(struct ctx_map64 *map, uint64_t key, size_t value, bool again, struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(map, key);

	if (place == NULL)
		return ctx_err_nomem(err);
	if (value >= CTX_MAP64_NONE)
		return ctx_err_set(err, CTX_E_LIMIT, "data.frameinfo: more than 4 G stacks");
	if (*place == CTX_MAP64_NONE || again)
		*place = (uint32_t)value;
	return CTX_OK;
}

/*
 * Frames are kept in the form that the numbers are computed from, so that numbers of root sides can
 * be computed: 32-bit frames are sign-extended. Java frames are pairs (bytecode index, method).
 */
static enum ctx_status add_frames(struct reading *reading, const uint8_t *bytes, size_t n)
{
	struct ctx_gp_frames *frames = reading->frames;
	size_t width = reading->address_bytes;
	size_t count = n / width;
	enum ctx_status status =
		ctx_grow(&frames->frames, &frames->frames_cap, frames->n_frames + count, reading->err);

	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < count; i++) {
		const uint8_t *at = bytes + i * width;

		frames->frames[frames->n_frames++] =
			width == 8 ? ctx_gp_u64(at, reading->big_endian)
				   : (uint64_t)(int64_t)(int32_t)ctx_gp_u32(at, reading->big_endian);
	}
	return CTX_OK;
}

/*
 * A node from the body of an info or a UID record: frames, then a link. Of two nodes with the same
 * number the one with more frames wins: the shorter one may link to frames that only the longer one
 * has.
 */
static enum ctx_status add_node(struct reading *reading, uint64_t uid, const uint8_t *body, size_t n,
				bool linked)
{
	struct ctx_gp_frames *frames = reading->frames;
	struct ctx_gp_stack_node node = {.uid = uid, .first = frames->n_frames};
	uint32_t known = ctx_map64_get(&frames->node_of_uid, uid);
	enum ctx_status status;

	if (linked && n < LINK_BYTES) /* only a number: the node is known already or comes later */
		return CTX_OK;
	if (linked) {
		n -= LINK_BYTES;
		node.link = ctx_gp_u64(body + n, false);
	}
	if (known != CTX_MAP64_NONE && frames->nodes[known].n >= n / reading->address_bytes)
		return CTX_OK;
	status = add_frames(reading, body, n);
	if (status == CTX_OK)
		status = ctx_grow(&frames->nodes, &frames->nodes_cap, frames->n_nodes + 1, reading->err);
	if (status == CTX_OK)
		status = put(&frames->node_of_uid, uid, frames->n_nodes, true, reading->err);
	if (status != CTX_OK)
		return status;
	node.n = (uint32_t)(frames->n_frames - node.first);
	frames->nodes[frames->n_nodes++] = node;
	return CTX_OK;
}

static enum ctx_status on_frame(struct reading *reading, const struct ctx_gp_record *record)
{
	struct ctx_gp_frames *frames = reading->frames;
	bool big = reading->big_endian;
	struct ctx_gp_stack stack = {0};
	uint64_t uid;
	enum ctx_status status = CTX_OK;
	size_t at;

	if (record->n < HEAD_BYTES)
		goto damaged;
	at = ctx_gp_u32(record->bytes + 4, big);
	uid = ctx_gp_u64(record->bytes + 8, big);
	if (at < HEAD_BYTES || at > record->n)
		goto damaged;
	while (record->n - at >= HEAD_BYTES && status == CTX_OK) {
		const uint8_t *info = record->bytes + at;
		uint32_t n = ctx_gp_u32(info, big), kind = ctx_gp_u32(info + 4, big);
		uint64_t own = ctx_gp_u64(info + 8, big);
		bool linked = (kind & INFO_COMPRESSED) != 0;

		kind &= ~INFO_COMPRESSED;
		if (n < HEAD_BYTES || n > record->n - at)
			goto damaged;
		if (kind == INFO_NATIVE || kind == INFO_JAVA)
			status = add_node(reading, own, info + HEAD_BYTES, n - HEAD_BYTES, linked);
		if (kind == INFO_NATIVE)
			stack.native = own;
		else if (kind == INFO_JAVA)
			stack.java = own;
		at += n;
	}
	if (status == CTX_OK)
		status = ctx_grow(&frames->stacks, &frames->stacks_cap, frames->n_stacks + 1, reading->err);
	if (status == CTX_OK)
		status = put(&frames->stack_of_uid, uid, frames->n_stacks, false, reading->err);
	if (status == CTX_OK)
		frames->stacks[frames->n_stacks++] = stack;
	return status;
damaged:
	frames->damaged++;
	return CTX_OK;
}

static enum ctx_status on_uid(struct reading *reading, const struct ctx_gp_record *record)
{
	bool linked;

	if (record->n < HEAD_BYTES) {
		reading->frames->damaged++;
		return CTX_OK;
	}
	linked = (ctx_gp_u32(record->bytes + 4, reading->big_endian) & UID_LINKED) != 0;
	return add_node(reading, ctx_gp_u64(record->bytes + 8, reading->big_endian),
			record->bytes + HEAD_BYTES, record->n - HEAD_BYTES, linked);
}

/* Adds a number to suffix_of_uid, without a suffix yet, unless it belongs to a node. */
static enum ctx_status want(struct ctx_gp_frames *frames, uint64_t uid, struct ctx_err *err)
{
	enum ctx_status status;

	if (uid == 0 || ctx_map64_get(&frames->node_of_uid, uid) != CTX_MAP64_NONE ||
	    ctx_map64_get(&frames->suffix_of_uid, uid) != CTX_MAP64_NONE)
		return CTX_OK;
	status = ctx_grow(&frames->suffixes, &frames->suffixes_cap, frames->n_suffixes + 1, err);
	if (status == CTX_OK)
		status = put(&frames->suffix_of_uid, uid, frames->n_suffixes, false, err);
	if (status == CTX_OK)
		frames->suffixes[frames->n_suffixes++] = (struct ctx_gp_suffix){.node = UINT32_MAX};
	return status;
}

/* The numbers that links name, and stacks of which only the number is stored. */
static enum ctx_status find_wanted(struct ctx_gp_frames *frames, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < frames->n_nodes && status == CTX_OK; i++)
		status = want(frames, frames->nodes[i].link, err);
	for (size_t i = 0; i < frames->n_stacks && status == CTX_OK; i++) {
		status = want(frames, frames->stacks[i].native, err);
		if (status == CTX_OK)
			status = want(frames, frames->stacks[i].java, err);
	}
	return status;
}

/*
 * Walks every stack and computes the numbers of its root sides; those that links refer to are kept.
 * A partly stored stack has no root sides of its own at its end, only its link.
 */
static void find_suffixes(struct ctx_gp_frames *frames)
{
	for (size_t i = 0; i < frames->n_nodes; i++) {
		const struct ctx_gp_stack_node *node = &frames->nodes[i];
		uint64_t uid = node->uid;

		for (uint32_t k = 0; k + (node->link != 0) < node->n; k++) {
			uint32_t wanted;

			uid = uid * R_INVERSE - frames->frames[node->first + k];
			wanted = ctx_map64_get(&frames->suffix_of_uid, uid);
			if (wanted != CTX_MAP64_NONE && frames->suffixes[wanted].node == UINT32_MAX)
				frames->suffixes[wanted] =
					(struct ctx_gp_suffix){.node = (uint32_t)i, .skip = k + 1};
		}
	}
}

enum ctx_status ctx_gp_frames_read(struct ctx_gp_frames *frames, struct ctx_gp_blocks *blocks, bool is_32bit,
				   struct ctx_err *err)
{
	struct reading reading = {.frames = frames,
				  .address_bytes = is_32bit ? 4 : 8,
				  .big_endian = blocks->big_endian,
				  .err = err};
	struct ctx_gp_record record;
	enum ctx_status status;

	frames->is_32bit = is_32bit;
	frames->big_endian = blocks->big_endian;
	while ((status = ctx_gp_blocks_next(blocks, &record, err)) == CTX_OK) {
		if (record.type == TYPE_FRAME)
			status = on_frame(&reading, &record);
		else if (record.type == TYPE_UID)
			status = on_uid(&reading, &record);
		if (status != CTX_OK)
			return status;
	}
	if (status != CTX_END)
		return status;
	status = find_wanted(frames, err);
	if (status == CTX_OK && frames->n_suffixes != 0)
		find_suffixes(frames);
	return status;
}

/* Finds where the frames of a number begin. */
static bool find(const struct ctx_gp_frames *frames, uint64_t uid, struct ctx_gp_suffix *ret)
{
	uint32_t node = ctx_map64_get(&frames->node_of_uid, uid), suffix;

	if (node != CTX_MAP64_NONE) {
		*ret = (struct ctx_gp_suffix){.node = node};
		return true;
	}
	suffix = ctx_map64_get(&frames->suffix_of_uid, uid);
	if (suffix == CTX_MAP64_NONE || frames->suffixes[suffix].node == UINT32_MAX)
		return false;
	*ret = frames->suffixes[suffix];
	return true;
}

/* The frames of an info, in the stored form. */
static enum ctx_gp_stack_state collect(const struct ctx_gp_frames *frames, uint64_t uid, uint64_t *out,
				       size_t max, size_t *ret_n)
{
	struct ctx_gp_suffix at;
	uint32_t seen = UINT32_MAX;
	size_t steps = 0, look_again = 1, seen_n = 0;

	*ret_n = 0;
	if (!find(frames, uid, &at))
		return CTX_GP_STACK_MISSING;
	/*
	 * Cycle detection: links that form a cycle return to a node remembered at a power of two.
	 */
	while (*ret_n < max && at.node != seen) {
		const struct ctx_gp_stack_node *node = &frames->nodes[at.node];

		if (++steps == look_again) {
			seen = at.node;
			seen_n = *ret_n;
			look_again *= 2;
		}
		for (uint32_t k = at.skip; k < node->n && *ret_n < max; k++)
			out[(*ret_n)++] = frames->frames[node->first + k];
		if (node->link == 0)
			return CTX_GP_STACK_WHOLE;
		if (!find(frames, node->link, &at))
			return CTX_GP_STACK_CUT;
	}
	if (at.node == seen)
		*ret_n = seen_n;
	return CTX_GP_STACK_CUT;
}

enum ctx_gp_stack_state ctx_gp_frames_get(const struct ctx_gp_frames *frames, uint64_t uid, uint64_t *out,
					  size_t max, size_t *ret_n)
{
	uint32_t record = ctx_map64_get(&frames->stack_of_uid, uid);
	enum ctx_gp_stack_state state = collect(
		frames, record != CTX_MAP64_NONE ? frames->stacks[record].native : uid, out, max, ret_n);

	for (size_t i = 0; i < *ret_n && frames->is_32bit; i++) {
		if (out[i] < (uint64_t)-3) /* marks are -1, -2, -3 */
			out[i] &= UINT32_MAX;
	}
	return state;
}

bool ctx_gp_frames_have_java(const struct ctx_gp_frames *frames, uint64_t uid)
{
	uint32_t record = ctx_map64_get(&frames->stack_of_uid, uid);

	return record != CTX_MAP64_NONE && frames->stacks[record].java != 0;
}

/* The index takes the first 32 bits; the rest is garbage. */
static int32_t index_of(const struct ctx_gp_frames *frames, uint64_t value)
{
	return (int32_t)(uint32_t)(frames->big_endian && !frames->is_32bit ? value >> 32 : value);
}

enum ctx_gp_stack_state ctx_gp_frames_get_java(const struct ctx_gp_frames *frames, uint64_t uid,
					       struct ctx_gp_java_stack *stack)
{
	uint32_t record = ctx_map64_get(&frames->stack_of_uid, uid);
	const uint64_t *work = stack->work;
	enum ctx_gp_stack_state state;
	size_t n;

	stack->n = 0;
	if (record == CTX_MAP64_NONE || frames->stacks[record].java == 0)
		return CTX_GP_STACK_WHOLE;
	state = collect(frames, frames->stacks[record].java, stack->work, 2 * stack->max, &n);
	for (size_t i = 0; i < n / 2; i++) {
		uint64_t method = work[2 * i + 1];

		if (frames->is_32bit && method != CTX_GP_JAVA_TRUNCATED)
			method &= UINT32_MAX;
		stack->frames[i] =
			(struct ctx_gp_java_frame){.method = method, .index = index_of(frames, work[2 * i])};
	}
	stack->n = n / 2;
	return state;
}
