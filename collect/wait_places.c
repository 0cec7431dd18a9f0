/*
 * A hash table of sets: a place is in one of the ITEMS_OF_SET items of its set, whose tags are one line
 * of a cache. An item owns its frames.
 *
 *	frames: kernel ... | leaf of the user part, confirmed callers ... | other callers
 *	shown:  kernel ... | leaf of the user part, confirmed callers ... | mark | other callers
 */
#include "collect/wait_places.h"

#include "base/map64.h"
#include "base/mem.h"
#include "model/chainwalk.h"

#include <string.h>

#define ITEMS_OF_SET 8u
#define SETS (CTX_WAIT_PLACES / ITEMS_OF_SET)
#define WITNESSES 2u
#define OF_PROCESS 0x100u /* in `what`: of any thread of the process */

struct word { /* a return address */
	uint64_t value;
	uint16_t at; /* bytes above the stack pointer */
};

struct key {
	uint32_t thread; /* or process */
	uint32_t what;
	uint64_t pc, sp;
};

struct ctx_wait_place {
	struct key key;
	struct word words[CTX_WAIT_PLACE_WORDS];
	uint64_t used;	  /* 0: a free item */
	uint64_t *frames; /* owned */
	uint64_t *shown;  /* for a sample that was not copied; owned */
	uint32_t n, cap;
	uint32_t n_shown, shown_cap;	  /* 0: to be made from the frames */
	struct ctx_exp_known_stack known; /* of what is shown */
	uint32_t n_kernel;
	uint8_t n_words;
	uint8_t witnesses; /* whole samples that agreed, up to WITNESSES */
	bool differs;	   /* whole samples differed: `frames` is what they have in common */
};

enum ctx_status ctx_wait_places_begin(struct ctx_wait_places *places, struct ctx_err *err)
{
	if (places->items != NULL)
		return CTX_OK;
	places->tags = ctx_calloc(CTX_WAIT_PLACES, sizeof(*places->tags));
	if (places->tags != NULL)
		places->items = ctx_calloc(CTX_WAIT_PLACES, sizeof(*places->items));
	return places->items != NULL ? CTX_OK : ctx_err_nomem(err);
}

void ctx_wait_places_deinit(struct ctx_wait_places *places)
{
	for (size_t i = 0; places->items != NULL && i < CTX_WAIT_PLACES; i++) {
		free(places->items[i].frames);
		free(places->items[i].shown);
	}
	free(places->items);
	free(places->tags);
	places->items = NULL;
	places->tags = NULL;
}

static bool is_kernel(uint64_t frame)
{
	return frame >= CTX_KERNEL_START && !ctx_frame_is_mark(frame);
}

static uint64_t reg(const struct ctx_user_regs *regs, unsigned number)
{
	return regs->machine != CTX_MACHINE_UNKNOWN && (regs->valid >> number & 1) != 0 ? regs->value[number]
											: 0;
}

struct ctx_wait_point ctx_wait_point_of(const struct ctx_user_state *state)
{
	const struct ctx_user_regs *regs = &state->regs;

	return (struct ctx_wait_point){.pc = reg(regs, ctx_machine_pc(regs->machine)),
				       .sp = reg(regs, ctx_machine_sp(regs->machine)),
				       .stack = state->stack,
				       .stack_bytes = state->stack_bytes};
}

static struct key key_of(const struct ctx_wait_at *at)
{
	return (struct key){.thread = at->thread, .what = at->what, .pc = at->point.pc, .sp = at->point.sp};
}

static struct key key_of_process(const struct ctx_wait_at *at)
{
	return (struct key){.thread = at->process, .what = at->what | OF_PROCESS, .pc = at->point.pc};
}

static bool is_same_key(const struct key *a, const struct key *b)
{
	return a->pc == b->pc && a->sp == b->sp && a->thread == b->thread && a->what == b->what;
}

static uint64_t hash_of(const struct key *key)
{
	uint64_t who = (uint64_t)key->thread << 32 | key->what;

	return ctx_hash64(key->pc ^ key->sp * UINT64_C(0xff51afd7ed558ccd) ^
			  who * UINT64_C(0xc4ceb9fe1a85ec53));
}

/* The number of its first item. */
static size_t set_of(uint64_t hash)
{
	return (size_t)(hash >> 32) % SETS * ITEMS_OF_SET;
}

static uint32_t tag_of(uint64_t hash)
{
	return (uint32_t)hash;
}

static bool has_word(const struct ctx_wait_point *point, size_t at, uint64_t *ret)
{
	if (point->stack == NULL || at + sizeof(*ret) > point->stack_bytes ||
	    at + sizeof(*ret) > CTX_WAIT_PLACE_BYTES)
		return false;
	memcpy(ret, point->stack + at, sizeof(*ret));
	return true;
}

/* The return addresses in the first bytes of the stack. A caller's address is one less. */
static unsigned find_words(const struct ctx_wait_at *at, uint64_t sp, const struct ctx_unwind_frame *user,
			   size_t n_user, struct word words[CTX_WAIT_PLACE_WORDS])
{
	unsigned n = 0;

	for (size_t i = 0; i + 1 < n_user && n < CTX_WAIT_PLACE_WORDS; i++) {
		uint64_t place = user[i].cfa - sp - sizeof(uint64_t), value;

		if (user[i].cfa < sp + sizeof(uint64_t) || place >= CTX_WAIT_PLACE_BYTES ||
		    !has_word(&at->point, (size_t)place, &value) || value - 1 != user[i + 1].address)
			break;
		words[n++] = (struct word){.value = value, .at = (uint16_t)place};
	}
	return n;
}

static bool has_words(const struct ctx_wait_place *place, const struct ctx_wait_point *point)
{
	for (unsigned i = 0; i < place->n_words; i++) {
		uint64_t value;

		if (!has_word(point, place->words[i].at, &value) || value != place->words[i].value)
			return false;
	}
	return true;
}

static bool is_same_words(const struct ctx_wait_place *place, const struct word *words, unsigned n)
{
	for (unsigned i = 0; i < n && n == place->n_words; i++) {
		if (words[i].at != place->words[i].at || words[i].value != place->words[i].value)
			return false;
	}
	return n == place->n_words;
}

static uint32_t count_kernel(struct ctx_wait_stack stack)
{
	uint32_t n = 0;

	while (n < stack.n && is_kernel(stack.frames[n]))
		n++;
	return n;
}

static void set_frames(struct ctx_wait_place *place, struct ctx_wait_stack stack)
{
	size_t n = stack.n < CTX_WAIT_PLACE_FRAMES ? stack.n : CTX_WAIT_PLACE_FRAMES, cap = place->cap;

	if (n > cap) {
		if (ctx_grow(&place->frames, &cap, n, NULL) != CTX_OK) {
			place->used = 0;
			return;
		}
		place->cap = (uint32_t)cap;
	}
	if (n != 0)
		memmove(place->frames, stack.frames, n * sizeof(*stack.frames));
	if (n < stack.n)
		place->frames[n - 1] = ctx_frame_truncated(CTX_TRUNCATED_DEPTH);
	place->n = (uint32_t)n;
	place->n_kernel = count_kernel((struct ctx_wait_stack){.frames = place->frames, .n = n});
}

static bool is_same_part(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b)
{
	return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * sizeof(*a)) == 0);
}

/*
 * Where the user parts agree, the kernel's frames next to them that are the same; otherwise the
 * frames up to the first caller that differs.
 */
static void keep_common(struct ctx_wait_place *place, struct ctx_wait_stack other)
{
	uint64_t *frames = place->frames;
	uint32_t other_kernel = count_kernel(other), n = 0;

	place->differs = true;
	if (is_same_part(frames + place->n_kernel, place->n - place->n_kernel, other.frames + other_kernel,
			 other.n - other_kernel)) {
		while (n < place->n_kernel && n < other_kernel &&
		       frames[place->n_kernel - 1 - n] == other.frames[other_kernel - 1 - n])
			n++;
		set_frames(place, (struct ctx_wait_stack){.frames = frames + place->n_kernel - n,
							  .n = place->n - place->n_kernel + n});
		return;
	}
	while (n < place->n && n < other.n && frames[n] == other.frames[n])
		n++;
	if (n == place->n)
		return;
	if (n != 0 && frames[n - 1] == CTX_FRAME_JOINED)
		n--;
	frames[n] = ctx_frame_truncated(CTX_TRUNCATED_BUDGET);
	place->n = n + 1;
	place->n_kernel = count_kernel((struct ctx_wait_stack){.frames = frames, .n = place->n});
}

/* What `other` says of a place whose differences are known already is in it, or changes it. */
static void add_witness(struct ctx_wait_place *place, struct ctx_wait_stack other)
{
	if (place->differs) {
		keep_common(place, other);
		return;
	}
	if (is_same_part(place->frames, place->n, other.frames, other.n))
		place->witnesses = WITNESSES;
	else
		keep_common(place, other);
}

static struct ctx_wait_place *oldest(struct ctx_wait_place *set)
{
	struct ctx_wait_place *found = set;

	for (unsigned i = 1; i < ITEMS_OF_SET; i++) {
		if (set[i].used < found->used)
			found = &set[i];
	}
	return found;
}

static struct ctx_wait_place *find_same(struct ctx_wait_places *places, const struct key *key,
					const struct word *words, unsigned n_words)
{
	uint64_t hash = hash_of(key);
	size_t set = set_of(hash);

	for (size_t i = set; i < set + ITEMS_OF_SET; i++) {
		struct ctx_wait_place *place = &places->items[i];

		if (places->tags[i] == tag_of(hash) && place->used != 0 && is_same_key(&place->key, key) &&
		    is_same_words(place, words, n_words))
			return place;
	}
	return NULL;
}

static void learn(struct ctx_wait_places *places, const struct key *key, struct ctx_wait_stack stack,
		  const struct word *words, unsigned n_words)
{
	struct ctx_wait_place *place;
	uint64_t hash = hash_of(key);

	if (stack.n == 0)
		return;
	if (stack.n > CTX_WAIT_PLACE_FRAMES)
		stack.n = CTX_WAIT_PLACE_FRAMES;
	place = find_same(places, key, words, n_words);
	if (place != NULL) {
		place->used = ++places->clock;
		place->n_shown = 0;
		place->known = (struct ctx_exp_known_stack){0};
		add_witness(place, stack);
		return;
	}
	place = oldest(&places->items[set_of(hash)]);
	places->tags[place - places->items] = tag_of(hash);
	*place = (struct ctx_wait_place){.key = *key,
					 .used = ++places->clock,
					 .frames = place->frames,
					 .cap = place->cap,
					 .shown = place->shown,
					 .shown_cap = place->shown_cap,
					 .n_words = (uint8_t)n_words,
					 .witnesses = 1};
	if (n_words != 0)
		memcpy(place->words, words, n_words * sizeof(*words));
	set_frames(place, stack);
}

void ctx_wait_places_learn(struct ctx_wait_places *places, const struct ctx_wait_at *at,
			   struct ctx_wait_stack stack, const struct ctx_unwind_frame *user, size_t n_user)
{
	struct key key = key_of(at), of_process = key_of_process(at);
	struct word words[CTX_WAIT_PLACE_WORDS];
	struct ctx_wait_stack short_stack = {.frames = places->frames};

	if (places->items == NULL)
		return;
	places->counts.copied++;
	learn(places, &key, stack, words, find_words(at, key.sp, user, n_user, words));
	while (short_stack.n < stack.n && short_stack.n < CTX_WAIT_PLACE_FRAMES &&
	       is_kernel(stack.frames[short_stack.n])) {
		places->frames[short_stack.n] = stack.frames[short_stack.n];
		short_stack.n++;
	}
	if (key.pc != 0) {
		places->frames[short_stack.n++] = key.pc;
		places->frames[short_stack.n++] = ctx_frame_truncated(CTX_TRUNCATED_BUDGET);
	}
	learn(places, &of_process, short_stack, NULL, 0);
}

static struct ctx_wait_place *find(struct ctx_wait_places *places, const struct key *key,
				   const struct ctx_wait_point *point)
{
	struct ctx_wait_place *found = NULL;
	uint64_t hash = hash_of(key);
	size_t set = set_of(hash);

	for (size_t i = set; i < set + ITEMS_OF_SET; i++) {
		struct ctx_wait_place *place = &places->items[i];

		if (places->tags[i] == tag_of(hash) && place->used != 0 && is_same_key(&place->key, key) &&
		    has_words(place, point) && (found == NULL || place->n_words > found->n_words))
			found = place;
	}
	if (found != NULL)
		found->used = ++places->clock;
	return found;
}

/* The frames of a place for a sample that was not copied. */
static struct ctx_wait_stack copy(struct ctx_wait_places *places, const struct ctx_wait_place *place)
{
	struct ctx_wait_stack ret = {.frames = places->frames};
	size_t n_sure = place->n_kernel + 1 + place->n_words;

	if (n_sure > place->n)
		n_sure = place->n;
	memcpy(places->frames, place->frames, n_sure * sizeof(*place->frames));
	ret.n = n_sure;
	if (n_sure == place->n)
		return ret;
	if (place->witnesses < WITNESSES && !place->differs) {
		places->frames[ret.n++] = ctx_frame_truncated(CTX_TRUNCATED_BUDGET);
		return ret;
	}
	for (size_t i = n_sure; i < place->n; i++) {
		uint64_t frame = place->frames[i];

		if (i == n_sure && ctx_frame_truncation(frame) == CTX_TRUNCATED_NOT)
			places->frames[ret.n++] = CTX_FRAME_JOINED;
		/* One mark is enough. */
		if (frame != CTX_FRAME_JOINED)
			places->frames[ret.n++] = frame;
	}
	return ret;
}

/* The same, made once for all samples until the place is learned again. */
static struct ctx_wait_stack show(struct ctx_wait_places *places, struct ctx_wait_place *place)
{
	size_t cap = place->shown_cap;
	struct ctx_wait_stack made;

	if (place->n_shown == 0) {
		made = copy(places, place);
		/* Without memory it is made again next time. */
		if (made.n == 0 || ctx_grow(&place->shown, &cap, made.n, NULL) != CTX_OK)
			return made;
		memcpy(place->shown, made.frames, made.n * sizeof(*made.frames));
		place->shown_cap = (uint32_t)cap;
		place->n_shown = (uint32_t)made.n;
	}
	return (struct ctx_wait_stack){.frames = place->shown, .n = place->n_shown, .known = &place->known};
}

static bool is_whole(struct ctx_wait_stack stack)
{
	return stack.n != 0 && stack.frames[stack.n - 1] != ctx_frame_truncated(CTX_TRUNCATED_BUDGET);
}

static struct ctx_wait_stack find_by_process(struct ctx_wait_places *places, const struct ctx_wait_at *at)
{
	struct key key = key_of_process(at);
	struct ctx_wait_place *place = find(places, &key, &at->point);

	return place != NULL ? (struct ctx_wait_stack){.frames = place->frames,
						       .n = place->n,
						       .known = &place->known}
			     : (struct ctx_wait_stack){0};
}

struct ctx_wait_stack ctx_wait_places_find(struct ctx_wait_places *places, const struct ctx_wait_at *at)
{
	struct key key = key_of(at);
	struct ctx_wait_stack ret = {.frames = places->frames};
	struct ctx_wait_place *place = places->items != NULL ? find(places, &key, &at->point) : NULL;

	if (place != NULL) {
		ret = show(places, place);
		if (is_whole(ret) && !place->differs)
			places->counts.known++;
		else
			places->counts.partly++;
		places->counts.strange += place->witnesses < WITNESSES && !place->differs && !is_whole(ret);
		return ret;
	}
	places->counts.strange++;
	if (places->items != NULL) {
		ret = find_by_process(places, at);
		if (ret.n != 0) {
			places->counts.partly++;
			return ret;
		}
	}
	places->counts.unknown++;
	ret = (struct ctx_wait_stack){.frames = places->frames};
	if (key.pc != 0)
		places->frames[ret.n++] = key.pc;
	places->frames[ret.n++] = ctx_frame_truncated(CTX_TRUNCATED_BUDGET);
	return ret;
}
