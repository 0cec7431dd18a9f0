/*
 *	OMP, its raw stack --> stacks as the program's text has them --> omp_threads.c --> spans --> samples of the OMP metrics --> trees
 *	                                                                     `--> regions and tasks that ended --> blocks
 *
 * The stack of a region is that of its construct, and below it a function of its own, "f -- OMP parallel region from line 12"; that of a
 * task the same, below the region in which it runs. What a thread of the team waits for hangs below these, with the
 * functions that the outlined one has called, and a function that names the state. Frames of the runtime are left out. A work-sharing
 * construct is a function in the one of its region, "f -- OMP loop from line 14". Where a wait has the thread's own stack, the function of the construct that it is in
 * has the line of that, not that of the construct.
 */
#include "ingest/ingest_omp.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "ingest/omp_outlined.h"
#include "ingest/omp_source.h"
#include "ingest/resolver_place.h"

#include <string.h>

#define MODULE "<OpenMP>"

enum construct { REGION, TASK, SHARE /* and enum ctx_omp_share */ };

#define GRAFT_NAME "<OMP-team>"

void ctx_ingest_omp_deinit(struct ctx_ingest_omp *omp)
{
	if (omp == NULL)
		return;
	ctx_omp_threads_destroy(omp->threads);
	ctx_map64_deinit(&omp->constructs);
	ctx_map64_deinit(&omp->ids);
	ctx_map64_deinit(&omp->functions);
	ctx_map64_deinit(&omp->containers);
	ctx_map64_deinit(&omp->is_runtime);
	ctx_map64_deinit(&omp->barriers);
	ctx_map64_deinit(&omp->outlined);
	ctx_map64_deinit(&omp->marked);
	ctx_map64_deinit(&omp->shared);
	ctx_map64_deinit(&omp->insides);
	ctx_map64_deinit(&omp->inside);
	ctx_map64_deinit(&omp->inside_of);
	ctx_map64_deinit(&omp->grafted);
	ctx_strtab_deinit(&omp->names);
	ctx_strtab_deinit(&omp->texts);
	free(omp);
}

/* --- functions --- */

/* The location of a function that is none of the program's: `function` has its name, kind and place. */
static enum ctx_status make_function(struct ingest *in, struct ctx_event_function function, uint32_t *ret,
				     struct ctx_err *err)
{
	enum ctx_status status;

	function.id = in->omp->next_function--;
	function.module = MODULE;
	status = ctx_resolver_add_named(in->resolver, &function, err);
	return status == CTX_OK ? ctx_resolver_named(in->resolver,
						     ctx_frame_named(function.id, function.line), ret, err)
				: status;
}

static enum ctx_status make_mark(struct ingest *in, const char *text, enum ctx_code_kind kind, uint32_t *ret,
				 struct ctx_err *err)
{
	return make_function(in, (struct ctx_event_function){.name = text, .code_kind = kind}, ret, err);
}

/* The name of a construct's function. */
struct construct_name {
	const char *text;
	enum construct construct;
};

/* That of a construct at a place in the source. */
static enum ctx_status make_construct(struct ingest *in, const struct construct_name *name,
				      const struct ctx_resolver_place *place, uint32_t *ret,
				      struct ctx_err *err)
{
	uint32_t id = in->omp->next_function, *known;
	enum ctx_status status;
	const struct ctx_event_function function = {
		.name = name->text,
		.file = place->file,
		.line = place->line,
		.positions = CTX_POSITION_LINE,
		.code_kind = name->construct >= SHARE ? CTX_CODE_OMP_SHARE : CTX_CODE_OMP_OUTLINED};

	status = make_function(in, function, ret, err);
	if (status != CTX_OK)
		return status;
	known = ctx_map64_place(&in->omp->ids, *ret);
	if (known == NULL)
		return ctx_err_nomem(err);
	*known = id;
	return CTX_OK;
}

/* The location of a construct's function with another line. */
static enum ctx_status with_line(struct ingest *in, uint32_t construct, uint32_t line, uint32_t *ret,
				 struct ctx_err *err)
{
	uint32_t id = ctx_map64_get(&in->omp->ids, construct);

	*ret = construct;
	return id != CTX_MAP64_NONE && line != 0
		       ? ctx_resolver_named(in->resolver, ctx_frame_named(id, line), ret, err)
		       : CTX_OK;
}

/* The same once for each text and file: a construct that was inlined in several places is one. */
static enum ctx_status make_once(struct ingest *in, const struct construct_name *name,
				 const struct ctx_resolver_place *place, uint32_t *ret, struct ctx_err *err)
{
	struct ctx_ingest_omp *omp = in->omp;
	struct ctx_buf key = {0};
	enum ctx_status status;
	uint32_t number, *known;

	ctx_buf_printf(&key, "%s\n%s", name->text, place->file != NULL ? place->file : place->object);
	ctx_buf_put_u8(&key, 0);
	status = ctx_buf_check(&key, err);
	if (status == CTX_OK)
		status = ctx_strtab_add_text(&omp->texts, (const char *)key.bytes, &number, err);
	ctx_buf_deinit(&key);
	if (status != CTX_OK)
		return status;
	known = ctx_map64_place(&omp->functions, number);
	if (known == NULL)
		return ctx_err_nomem(err);
	if (*known == CTX_MAP64_NONE) {
		status = make_construct(in, name, place, &number, err);
		*known = status == CTX_OK ? number : 0;
	}
	*ret = *known;
	return status;
}

/* The function by name around `base`, a stack of a region or task: clang's outlined functions do not tell. "" none. */
static const char *container_of(const struct ingest *in, uint32_t base)
{
	uint32_t index = base != CTX_TRIE_ROOT ? ctx_map64_get(&in->omp->containers, in->stacks.raw.key[base])
					       : CTX_MAP64_NONE;

	return index != CTX_MAP64_NONE ? in->omp->names.strings[index] : "";
}

/* A construct, and where it is. */
struct named {
	enum construct construct;
	uint32_t
		at; /* location that names it: of the function that it runs, or of the construct; CTX_NONE unknown */
	uint32_t base;	/* the stack of what it was begun in */
	bool is_before; /* the line is that of a statement before: of a call by gcc */
};

/* The words that directives of the construct have. */
static const char *words_of(enum construct construct)
{
	static const char *const words[CTX_OMP_SHARE_N] = {
		[CTX_OMP_SHARE_LOOP] = "for do loop",	   [CTX_OMP_SHARE_SECTIONS] = "sections",
		[CTX_OMP_SHARE_SINGLE] = "single",	   [CTX_OMP_SHARE_WORKSHARE] = "workshare",
		[CTX_OMP_SHARE_DISTRIBUTE] = "distribute",
	};

	return construct == REGION ? "parallel"
	       : construct == TASK ? "task taskloop"
				   : words[construct - SHARE];
}

/*
 * gcc gives the call at the begin of loops and sections no line of its own: it has that of a statement before, perhaps one of a function that is
 * inlined there. The innermost function that has such a directive behind that line is the construct's.
 */
static struct ctx_resolver_place place_of(const struct ingest *in, const struct named *named)
{
	struct ctx_resolver_place place = ctx_resolver_place(in->resolver, named->at), around;
	uint32_t site;

	if (!named->is_before)
		return place;
	for (site = ctx_resolver_site(in->resolver, named->at); site != CTX_NONE;) {
		uint32_t line;

		around = ctx_resolver_site_place(in->resolver, &site);
		line = ctx_omp_source_find(around.file, around.line, words_of(named->construct));
		if (line != 0) {
			around.object = place.object;
			around.line = line;
			return around;
		}
	}
	place.line = 0;
	return place;
}

static enum ctx_status name_construct(struct ingest *in, const struct named *named, uint32_t *ret,
				      struct ctx_err *err)
{
	const char *word = named->construct == REGION ? CTX_OMP_REGION_NAME
			   : named->construct == TASK ? CTX_OMP_TASK_NAME
						      : ctx_omp_share_name(named->construct - SHARE);
	struct ctx_ingest_omp *omp = in->omp;
	struct ctx_resolver_place place = place_of(in, named);
	size_t n;
	const char *around = ctx_omp_container(place.function, &n);
	struct ctx_buf text = {0};
	uint32_t *container, number;
	enum ctx_status status;

	ctx_buf_printf(&text, "%.*s", (int)n, around);
	if (n == 0)
		ctx_buf_put_text(&text, container_of(in, named->base));
	ctx_buf_put_u8(&text, 0);
	status = ctx_buf_check(&text, err);
	if (status == CTX_OK)
		status = ctx_strtab_add_text(&omp->names, (const char *)text.bytes, &number, err);
	ctx_buf_clear(&text);
	if (status == CTX_OK) {
		ctx_buf_printf(&text, "%s%s",
			       *omp->names.strings[number] != '\0' ? omp->names.strings[number] : "<Unknown>",
			       word);
		if (place.line != 0)
			ctx_buf_printf(&text, " from line %u", place.line);
		ctx_buf_put_u8(&text, 0);
		status = ctx_buf_check(&text, err);
	}
	if (status == CTX_OK)
		status = make_once(in, &(struct construct_name){(const char *)text.bytes, named->construct},
				   &place, ret, err);
	ctx_buf_deinit(&text);
	if (status != CTX_OK)
		return status;
	ctx_resolver_join_object(in->resolver, *ret, named->at);
	container = ctx_map64_place(&omp->containers, *ret);
	if (container == NULL)
		return ctx_err_nomem(err);
	*container = number;
	return CTX_OK;
}

/* The location of its function. */
static enum ctx_status function_of(struct ingest *in, const struct named *named, uint32_t *ret,
				   struct ctx_err *err)
{
	uint32_t *known = ctx_map64_place(&in->omp->constructs, (uint64_t)named->construct << 32 | named->at);
	uint32_t made = 0;
	enum ctx_status status = CTX_OK;

	if (known == NULL)
		return ctx_err_nomem(err);
	if (*known == CTX_MAP64_NONE) {
		status = name_construct(in, named, &made, err);
		*known = made;
	}
	*ret = *known;
	return status;
}

/* --- stacks --- */

static bool is_runtimes(const char *object)
{
	static const char *const names[] = {"libgomp.so", "libomp.so", "libomp5.so", "libiomp5.so",
					    "libctxrt.so"};
	const char *base = ctx_path_base(object);

	for (size_t i = 0; i < CTX_COUNT_OF(names); i++) {
		if (strncmp(base, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

enum ctx_status ctx_ingest_omp_is_runtime(struct ingest *in, uint32_t raw, bool *ret, struct ctx_err *err)
{
	uint32_t location = in->stacks.raw.key[raw];
	uint32_t *known = ctx_map64_place(&in->omp->is_runtime, location);

	if (known == NULL)
		return ctx_err_nomem(err);
	if (*known == CTX_MAP64_NONE)
		*known = is_runtimes(ctx_resolver_place(in->resolver, location).object);
	*ret = *known != 0;
	return CTX_OK;
}

/* Without the runtime's frames at its leaf. */
static enum ctx_status without_runtime(struct ingest *in, uint32_t raw, uint32_t *ret, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	bool is = true;

	while (raw != CTX_TRIE_ROOT && status == CTX_OK && is) {
		status = ctx_ingest_omp_is_runtime(in, raw, &is, err);
		if (is)
			raw = in->stacks.raw.parent[raw];
	}
	*ret = raw;
	return status;
}

/* Whether `leaf` has called the runtime by a function of libgomp, which LLVM's has, too; `raw` is the whole stack. */
static bool is_call_of_gcc(const struct ingest *in, uint32_t raw, uint32_t leaf)
{
	const struct ctx_trie *trie = &in->stacks.raw;

	while (raw != CTX_TRIE_ROOT && raw != leaf && trie->parent[raw] != leaf)
		raw = trie->parent[raw];
	return raw != CTX_TRIE_ROOT && raw != leaf &&
	       strncmp(ctx_resolver_place(in->resolver, trie->key[raw]).function, "GOMP_", 5) == 0;
}

/* Whether the runtime has called anything on the stack. */
static enum ctx_status is_in_outlined(struct ingest *in, uint32_t raw, bool *ret, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	*ret = false;
	for (; raw != CTX_TRIE_ROOT && status == CTX_OK && !*ret; raw = in->stacks.raw.parent[raw])
		status = ctx_ingest_omp_is_runtime(in, raw, ret, err);
	return status;
}

static enum ctx_status append(struct ingest *in, uint32_t base, uint32_t location, uint32_t *ret,
			      struct ctx_err *err)
{
	return ctx_stack_forest_add(&in->stacks, base, (struct ctx_trie_keys){&location, 1}, ret, err);
}

/* A stack to be put together: what `own` has below the outlined function that the thread runs, the innermost that the runtime has called. */
struct joined {
	struct ctx_omp_base base; /* before it */
	uint32_t own;
	uint32_t last; /* a location behind it; CTX_NONE none */
	bool has_line; /* the construct at the base has the line of the thread in it */
};

/* The base, with the line at which a frame of the thread is in its construct. */
static enum ctx_status with_line_of(struct ingest *in, const struct joined *joined, uint32_t frame,
				    uint32_t *ret, struct ctx_err *err)
{
	uint32_t base = joined->base.raw, at = in->stacks.raw.key[base], located = at;
	enum ctx_status status = CTX_OK;

	*ret = base;
	if (joined->has_line)
		status = with_line(in, at, ctx_resolver_place(in->resolver, frame).line, &located, err);
	return status == CTX_OK && located != at ? append(in, in->stacks.raw.parent[base], located, ret, err)
						 : status;
}

/* How many frames of the thread are below the outlined function, and that, counted from the leaf; 0: there is none. */
static enum ctx_status count_own(struct ingest *in, uint32_t own, uint32_t *ret, struct ctx_err *err)
{
	uint32_t n = 0;
	bool is = false;
	enum ctx_status status = CTX_OK;

	for (; own != CTX_TRIE_ROOT && n < CTX_OMP_PATH_MOST && status == CTX_OK;
	     own = in->stacks.raw.parent[own]) {
		status = ctx_ingest_omp_is_runtime(in, own, &is, err);
		if (is)
			break;
		n++;
	}
	/* No runtime on it: it is not known where it begins. */
	*ret = is ? n : 0;
	return status;
}

static enum ctx_status append_own(struct ingest *in, const struct joined *joined, uint32_t *ret,
				  struct ctx_err *err)
{
	struct ctx_ingest_omp *omp = in->omp;
	uint32_t own = joined->own, n;
	enum ctx_status status = count_own(in, own, &n, err);

	*ret = joined->base.raw;
	if (status != CTX_OK)
		return status;
	/* The outlined function, and what the base has of those below it. */
	n = n > joined->base.skip ? n - joined->base.skip - 1 : 0;
	for (uint32_t i = n; i-- != 0; own = in->stacks.raw.parent[own])
		omp->path[i] = in->stacks.raw.key[own];
	if (own != CTX_TRIE_ROOT)
		status = with_line_of(in, joined, in->stacks.raw.key[own], ret, err);
	if (joined->last != CTX_NONE)
		omp->path[n++] = joined->last;
	if (status != CTX_OK || n == 0)
		return status;
	status = ctx_stack_forest_add(&in->stacks, *ret, (struct ctx_trie_keys){omp->path, n}, omp->nodes,
				      err);
	*ret = omp->nodes[n - 1];
	return status;
}

/* --- events --- */

/* What the stack of a construct says. */
struct construct_stack {
	uint32_t
		at; /* location that names it: of the function that it runs, or of the construct; CTX_NONE unknown */
	uint32_t raw;	/* of the construct; of a thread in a region its own frames below that */
	bool is_before; /* struct named */
};

static enum ctx_status place_construct(struct ingest *in, const struct ctx_event *event, uint32_t raw_stack,
				       struct construct_stack *ret, struct ctx_err *err)
{
	struct ctx_omp_base base =
		ctx_omp_threads_base(in->omp->threads, event->thread, CTX_OMP_BASE_OF_CREATED);
	enum ctx_status status;
	bool is_there;

	ret->at = in->stacks.raw.key[raw_stack];
	if (event->omp.has_body && raw_stack != CTX_TRIE_ROOT)
		raw_stack = in->stacks.raw.parent[raw_stack];
	status = without_runtime(in, raw_stack, &ret->raw, err);
	ret->is_before = !event->omp.has_body && is_call_of_gcc(in, raw_stack, ret->raw);
	if (!event->omp.has_body)
		ret->at = in->stacks.raw.key[ret->raw];
	if (status != CTX_OK || base.raw == CTX_TRIE_ROOT)
		return status;
	/* An outlined function that ends with the construct has called it by a jump, and is not there. */
	if (!event->omp.has_body) {
		status = is_in_outlined(in, ret->raw, &is_there, err);
		ret->at = is_there ? ret->at : CTX_NONE;
	}
	if (status != CTX_OK)
		return status;
	return append_own(in, &(struct joined){base, ret->raw, CTX_NONE, false}, &ret->raw, err);
}

/* The container's stack is that of the innermost region, task or work-sharing construct. */
static uint32_t container(const struct ingest *in, uint32_t thread)
{
	return ctx_omp_threads_base(in->omp->threads, thread, CTX_OMP_BASE_OF_WAIT).raw;
}

/* The function at a location is what compilers have made of the construct with that function. */
static enum ctx_status note_body(struct ingest *in, uint32_t at, uint32_t construct, struct ctx_err *err)
{
	uint32_t function = ctx_resolver_location_function(in->resolver, at);
	uint32_t *place = function != CTX_NONE ? ctx_map64_place(&in->omp->outlined, function) : &construct;

	if (place == NULL)
		return ctx_err_nomem(err);
	*place = construct;
	return CTX_OK;
}

static enum ctx_status place_region(struct ingest *in, const struct ctx_event *event, uint32_t raw_stack,
				    struct ctx_omp_input *input, struct ctx_err *err)
{
	uint32_t base = container(in, input->thread), function;
	struct construct_stack stack;
	enum ctx_status status = place_construct(in, event, raw_stack, &stack, err);

	if (status == CTX_OK)
		status = function_of(in, &(struct named){REGION, stack.at, base, stack.is_before}, &function,
				     err);
	in->omp->is_gccs |= event->omp.has_body;
	if (status == CTX_OK && event->omp.has_body)
		status = note_body(in, stack.at, function, err);
	input->caller_raw = stack.raw;
	if (status == CTX_OK)
		status = append(in, stack.raw, function, &input->raw_stack, err);
	if (status == CTX_OK)
		status = append(in, input->raw_stack, in->omp->states[CTX_OMP_OVERHEAD], &input->overhead_raw,
				err);
	return status;
}

static enum ctx_status place_task(struct ingest *in, const struct ctx_event *event, uint32_t raw_stack,
				  struct ctx_omp_input *input, struct ctx_err *err)
{
	uint32_t base = container(in, input->thread);
	struct construct_stack stack;
	enum ctx_status status = place_construct(in, event, raw_stack, &stack, err);

	if (status == CTX_OK)
		status = function_of(in, &(struct named){TASK, stack.at, base, stack.is_before}, &input->work,
				     err);
	if (status == CTX_OK && event->omp.has_body)
		status = note_body(in, stack.at, input->work, err);
	input->raw_stack = stack.raw;
	if (status == CTX_OK)
		status = append(in, stack.raw, in->omp->states[CTX_OMP_TASK_DISPATCH], &input->overhead_raw,
				err);
	return status == CTX_OK ? append(in, stack.raw, input->work, &input->raw_stack, err) : status;
}

/* The location that stands for a construct in stacks of samples: inside the functions of the next one, which are `n` at its begin. */
static enum ctx_status make_inside(struct ingest *in, uint32_t construct, uint32_t n, uint32_t *ret,
				   struct ctx_err *err)
{
	struct ctx_ingest_omp *omp = in->omp;
	uint32_t *known = ctx_map64_place(&omp->insides, (uint64_t)construct << 32 | n), *place;
	const struct ctx_resolver_place at = ctx_resolver_place(in->resolver, construct);
	enum ctx_status status = CTX_OK;

	if (known == NULL)
		return ctx_err_nomem(err);
	if (*known == CTX_MAP64_NONE) {
		uint32_t made = 0;

		status = make_function(in,
				       (struct ctx_event_function){.name = at.function,
								   .file = at.file,
								   .line = at.line,
								   .positions = CTX_POSITION_LINE,
								   .code_kind = CTX_CODE_OMP_SHARE},
				       &made, err);
		if (status == CTX_OK)
			ctx_resolver_join_object(in->resolver, made, construct);
		*known = made;
		place = status == CTX_OK ? ctx_map64_place(&omp->inside, made) : &made;
		if (place == NULL)
			return ctx_err_nomem(err);
		*place = n;
	}
	*ret = *known;
	return status;
}

/* The stack of the construct has it, for those of samples. */
static enum ctx_status note_inside(struct ingest *in, uint32_t raw, uint32_t function, uint32_t leaf,
				   struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(&in->omp->inside_of, raw), made = 0;
	bool is_part;
	size_t n = leaf != CTX_TRIE_ROOT
			   ? ctx_resolver_function_count(in->resolver, in->stacks.raw.key[leaf], &is_part)
			   : 1;
	enum ctx_status status;

	if (place == NULL)
		return ctx_err_nomem(err);
	status = *place == CTX_MAP64_NONE ? make_inside(in, function, (uint32_t)n, &made, err) : CTX_OK;
	if (*place == CTX_MAP64_NONE && status == CTX_OK)
		*place = made;
	return status;
}

static enum ctx_status place_share(struct ingest *in, uint32_t raw_stack, struct ctx_omp_input *input,
				   struct ctx_err *err)
{
	struct ctx_omp_base base =
		ctx_omp_threads_base(in->omp->threads, input->thread, CTX_OMP_BASE_OF_WAIT);
	uint32_t leaf, function = CTX_NONE, n = 0;
	enum ctx_status status = without_runtime(in, raw_stack, &leaf, err);

	if (status != CTX_OK || base.raw == CTX_TRIE_ROOT)
		return status;
	status = function_of(in,
			     &(struct named){SHARE + ctx_omp_share_of(input->value),
					     leaf != CTX_TRIE_ROOT ? in->stacks.raw.key[leaf] : CTX_NONE,
					     base.raw,
					     in->omp->is_gccs || is_call_of_gcc(in, raw_stack, leaf)},
			     &function, err);
	if (status == CTX_OK)
		status = count_own(in, leaf, &n, err);
	input->skip = n != 0 ? n - 1 : 0;
	if (status == CTX_OK)
		status =
			append_own(in, &(struct joined){base, leaf, function, false}, &input->raw_stack, err);
	return status == CTX_OK ? note_inside(in, input->raw_stack, function, leaf, err) : status;
}

/*
 * gcc calls GOMP_barrier for a barrier of the program, and at the end of a single construct and of a loop with a static schedule. Which
 * it is the source says; without that it is the program's.
 */
static enum ctx_status find_barrier(struct ingest *in, uint32_t leaf, uint32_t *state, struct ctx_err *err)
{
	uint32_t location = in->stacks.raw.key[leaf];
	uint32_t *known = ctx_map64_place(&in->omp->barriers, location);

	if (known == NULL)
		return ctx_err_nomem(err);
	if (*known == CTX_MAP64_NONE) {
		const struct ctx_resolver_place place = ctx_resolver_place(in->resolver, location);

		*known = ctx_omp_source_names_barrier(place.file, place.line) ? CTX_OMP_EXPLICIT_BARRIER
									      : CTX_OMP_IMPLICIT_BARRIER;
	}
	*state = *known;
	return CTX_OK;
}

static enum ctx_status place_wait(struct ingest *in, uint32_t raw_stack, struct ctx_omp_input *input,
				  struct ctx_err *err)
{
	struct ctx_omp_base base;
	uint32_t leaf;
	enum ctx_status status = without_runtime(in, raw_stack, &leaf, err);

	input->is_called = input->value == CTX_OMP_EXPLICIT_BARRIER;
	if (status == CTX_OK && input->is_called && leaf != CTX_TRIE_ROOT &&
	    (in->omp->is_gccs || is_call_of_gcc(in, raw_stack, leaf)))
		status = find_barrier(in, leaf, &input->value, err);
	base = ctx_omp_threads_base(in->omp->threads, input->thread,
				    input->value == CTX_OMP_IMPLICIT_BARRIER && !input->is_called
					    ? CTX_OMP_BASE_OF_BARRIER
					    : CTX_OMP_BASE_OF_WAIT);
	return status == CTX_OK && base.raw != CTX_TRIE_ROOT
		       ? append_own(in, &(struct joined){base, leaf, in->omp->states[input->value], true},
				    &input->raw_stack, err)
		       : status;
}

static enum ctx_status place_work(struct ingest *in, struct ctx_omp_input *input, struct ctx_err *err)
{
	uint32_t region = ctx_omp_threads_region(in->omp->threads, input->thread);
	uint32_t work = ctx_omp_threads_task_work(in->omp->threads, input->process, input->value);

	input->raw_stack = region;
	return work != 0 ? append(in, region, work, &input->raw_stack, err) : CTX_OK;
}

enum ctx_status ctx_ingest_omp(struct ingest *in, const struct ctx_event *event, uint32_t raw_stack,
			       struct ctx_err *err)
{
	struct ctx_omp_input input = {.time_ns = event->time_ns,
				      .process = event->process,
				      .thread = event->thread,
				      .event = event->omp.event,
				      .value = event->omp.value};
	enum ctx_status status = CTX_OK;

	if ((unsigned)input.event >= CTX_OMP_EVENT_N || !ctx_omp_is_value(input.event, input.value))
		return ctx_err_set(err, CTX_E_FORMAT, "event %u of OpenMP with value %u",
				   (unsigned)input.event, input.value);
	input.born_ns = in->entities.profile.threads[event->thread].life.begin_ns;
	if (input.event == CTX_OMP_REGION_BEGIN)
		status = place_region(in, event, raw_stack, &input, err);
	else if (input.event == CTX_OMP_TASK_CREATE || input.event == CTX_OMP_TASKS_CREATE ||
		 input.event == CTX_OMP_TASK_DISPATCHED || input.event == CTX_OMP_TASKS_DISPATCHED)
		status = place_task(in, event, raw_stack, &input, err);
	else if (input.event == CTX_OMP_TASK_BEGIN)
		status = place_work(in, &input, err);
	else if (input.event == CTX_OMP_SHARE_BEGIN)
		status = place_share(in, raw_stack, &input, err);
	else if (input.event == CTX_OMP_ENTER)
		status = place_wait(in, raw_stack, &input, err);
	return status == CTX_OK ? ctx_omp_threads_event(in->omp->threads, &input, err) : status;
}

enum ctx_status ctx_ingest_end_omp(struct ingest *in, const struct ctx_event *event, struct ctx_err *err)
{
	const struct ctx_profile *profile = &in->entities.profile;
	enum ctx_status status = CTX_OK;

	if (in->omp == NULL)
		return CTX_OK;
	if (event == NULL)
		return ctx_omp_threads_finish(in->omp->threads, err);
	if (event->kind == CTX_EV_THREAD_EXIT)
		return ctx_omp_threads_end(in->omp->threads, event->thread, event->time_ns, err);
	for (uint32_t i = 0; i < profile->n_threads && status == CTX_OK; i++) {
		if (profile->threads[i].process == event->process &&
		    profile->threads[i].life.end_ns == UINT64_MAX)
			status = ctx_omp_threads_end(in->omp->threads, i, event->time_ns, err);
	}
	return status;
}

/* --- results --- */

static enum ctx_status put_span(void *context, const struct ctx_omp_span *span, struct ctx_err *err)
{
	struct ingest *in = context;
	struct ctx_sample sample = {.time_ns = span->end_ns - 1,
				    .weight = span->end_ns - span->begin_ns,
				    .thread = span->thread,
				    .cpu = -1,
				    .metric = in->omp->first_metric + ctx_omp_metric_of(span->state),
				    .raw_stack = span->raw_stack};

	in->stats.spans++;
	return ctx_ingest_put_at_stack(in, &sample, UINT32_MAX, err);
}

static enum ctx_status put_operation(void *context, const struct ctx_traced *operation, struct ctx_err *err)
{
	struct ingest *in = context;
	struct ctx_traced placed = *operation;

	placed.stack = in->stacks.raw_to_stack[placed.raw_stack];
	return ctx_ingest_put_traced(in, &placed, err);
}

static enum ctx_status put_text(void *context, const char *text, uint32_t *ret, struct ctx_err *err)
{
	struct ingest *in = context;

	return ctx_strtab_add_text(&in->files, text, ret, err);
}

static enum ctx_status make_states(struct ingest *in, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (unsigned i = 0; i < CTX_OMP_STATE_N && status == CTX_OK; i++) {
		const char *name = ctx_omp_state_function((enum ctx_omp_state)i);

		in->omp->states[i] = CTX_NONE;
		in->omp->marks[i] = CTX_NONE;
		if (name != NULL)
			status = make_mark(in, name, CTX_CODE_OMP_SPAN, &in->omp->states[i], err);
		if (name != NULL && status == CTX_OK)
			status = make_mark(in, name, CTX_CODE_OMP_STATE, &in->omp->marks[i], err);
	}
	return status == CTX_OK ? make_mark(in, GRAFT_NAME, CTX_CODE_GRAFT, &in->omp->graft, err) : status;
}

enum ctx_status ctx_ingest_begin_omp(struct ingest *in, struct ctx_err *err)
{
	const struct ctx_profile *profile = &in->entities.profile;
	struct ctx_omp_options options = {.sink = {in, put_span, put_operation, put_text},
					  .last_ns = profile->run.end_ns - 1};
	enum ctx_status status;

	if (!in->source->info.has_omp)
		return CTX_OK;
	in->omp = ctx_calloc(1, sizeof(*in->omp));
	if (in->omp == NULL)
		return ctx_err_nomem(err);
	in->omp->next_function = UINT32_MAX;
	in->stacks.inside = &in->omp->inside;
	in->omp->first_metric = ctx_profile_omp_metric(profile);
	status = make_states(in, err);
	if (status == CTX_OK)
		status = append(in, CTX_TRIE_ROOT, in->omp->states[CTX_OMP_SERIAL], &options.serial_raw, err);
	if (status == CTX_OK)
		status = append(in, CTX_TRIE_ROOT, in->omp->states[CTX_OMP_IDLE], &options.idle_raw, err);
	return status == CTX_OK ? ctx_omp_threads_create(&options, &in->omp->threads, err) : status;
}
