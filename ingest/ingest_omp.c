/*
 *	OMP, its raw stack --> stacks as the program's text has them --> omp_threads.c --> spans --> samples of the OMP metrics --> trees
 *	                                                                     `--> regions and tasks that ended --> blocks
 *
 * The stack of a region is that of its construct, and below it a function of its own, "f -- OMP parallel region from line 12"; that of a
 * task the same, below the region in which it runs. What a thread of the team waits for hangs below these, with the
 * functions that the outlined one has called, and a function that names the state. Frames of the runtime are left out.
 */
#include "ingest/ingest_omp.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "ingest/resolver_place.h"

#include <string.h>

#define MODULE "<OpenMP>"

enum construct { REGION, TASK };

#define GRAFT_NAME "<OMP-team>"

void ctx_ingest_omp_deinit(struct ctx_ingest_omp *omp)
{
	if (omp == NULL)
		return;
	ctx_omp_threads_destroy(omp->threads);
	ctx_map64_deinit(&omp->constructs);
	ctx_map64_deinit(&omp->functions);
	ctx_map64_deinit(&omp->containers);
	ctx_map64_deinit(&omp->is_runtime);
	ctx_map64_deinit(&omp->outlined);
	ctx_map64_deinit(&omp->marked);
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

/* That of a construct at a place in the source. */
static enum ctx_status make_construct(struct ingest *in, const char *text,
				      const struct ctx_resolver_place *place, uint32_t *ret,
				      struct ctx_err *err)
{
	const struct ctx_event_function function = {.name = text,
						    .file = place->file,
						    .line = place->line,
						    .positions = CTX_POSITION_LINE,
						    .code_kind = CTX_CODE_OMP_OUTLINED};

	return make_function(in, function, ret, err);
}

/* The same once for each text and file: a construct that was inlined in several places is one. */
static enum ctx_status make_once(struct ingest *in, const char *text, const struct ctx_resolver_place *place,
				 uint32_t *ret, struct ctx_err *err)
{
	struct ctx_ingest_omp *omp = in->omp;
	struct ctx_buf key = {0};
	enum ctx_status status;
	uint32_t number, *known;

	ctx_buf_printf(&key, "%s\n%s", text, place->file != NULL ? place->file : place->object);
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
		status = make_construct(in, text, place, &number, err);
		*known = status == CTX_OK ? number : 0;
	}
	*ret = *known;
	return status;
}

/* Length of the name of the function that an outlined one was a part of; 0: its name does not say. */
static size_t container_length(const char *function)
{
	static const char *const parts[] = {" (inlined)", " [clone ", "._omp_fn.", ".omp_outlined",
					    ".omp_task_entry"};
	size_t n = strlen(function);

	for (size_t i = 0; i < CTX_COUNT_OF(parts); i++) {
		const char *part = strstr(function, parts[i]);

		if (part != NULL && (size_t)(part - function) < n)
			n = (size_t)(part - function);
	}
	return n;
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
	uint32_t base; /* the stack of what it was begun in */
};

static enum ctx_status name_construct(struct ingest *in, const struct named *named, uint32_t *ret,
				      struct ctx_err *err)
{
	static const char *const words[] = {[REGION] = CTX_OMP_REGION_NAME, [TASK] = CTX_OMP_TASK_NAME};
	struct ctx_ingest_omp *omp = in->omp;
	struct ctx_resolver_place place = ctx_resolver_place(in->resolver, named->at);
	size_t n = container_length(place.function);
	struct ctx_buf text = {0};
	uint32_t *container, number;
	enum ctx_status status;

	ctx_buf_printf(&text, "%.*s", (int)n, place.function);
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
			       words[named->construct]);
		if (place.line != 0)
			ctx_buf_printf(&text, " from line %u", place.line);
		ctx_buf_put_u8(&text, 0);
		status = ctx_buf_check(&text, err);
	}
	if (status == CTX_OK)
		status = make_once(in, (const char *)text.bytes, &place, ret, err);
	ctx_buf_deinit(&text);
	if (status != CTX_OK)
		return status;
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

/* Whether the runtime has called anything on the stack. */
static enum ctx_status is_in_outlined(struct ingest *in, uint32_t raw, bool *ret, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	*ret = false;
	for (; raw != CTX_TRIE_ROOT && status == CTX_OK && !*ret; raw = in->stacks.raw.parent[raw])
		status = ctx_ingest_omp_is_runtime(in, raw, ret, err);
	return status;
}

/* A stack to be put together: what `own` has below the outlined function that the thread runs, the innermost that the runtime has called. */
struct joined {
	uint32_t base; /* before it */
	uint32_t own;
	uint32_t last; /* a location behind it; CTX_NONE none */
};

static enum ctx_status append_own(struct ingest *in, const struct joined *joined, uint32_t *ret,
				  struct ctx_err *err)
{
	struct ctx_ingest_omp *omp = in->omp;
	uint32_t own = joined->own, at = own, n = 0;
	bool is = false;
	enum ctx_status status = CTX_OK;

	for (; at != CTX_TRIE_ROOT && n < CTX_OMP_PATH_MOST; at = in->stacks.raw.parent[at]) {
		status = ctx_ingest_omp_is_runtime(in, at, &is, err);
		if (status != CTX_OK || is)
			break;
		n++;
	}
	/* No runtime on it: it is not known where it begins. Else the last one is the outlined function. */
	n = is && n != 0 ? n - 1 : 0;
	for (uint32_t i = n; i-- != 0; own = in->stacks.raw.parent[own])
		omp->path[i] = in->stacks.raw.key[own];
	if (joined->last != CTX_NONE)
		omp->path[n++] = joined->last;
	*ret = joined->base;
	if (status != CTX_OK || n == 0)
		return status;
	status = ctx_stack_forest_add(&in->stacks, joined->base, (struct ctx_trie_keys){omp->path, n},
				      omp->nodes, err);
	*ret = omp->nodes[n - 1];
	return status;
}

static enum ctx_status append(struct ingest *in, uint32_t base, uint32_t location, uint32_t *ret,
			      struct ctx_err *err)
{
	return ctx_stack_forest_add(&in->stacks, base, (struct ctx_trie_keys){&location, 1}, ret, err);
}

/* --- events --- */

/* What the stack of a construct says. */
struct construct_stack {
	uint32_t
		at; /* location that names it: of the function that it runs, or of the construct; CTX_NONE unknown */
	uint32_t raw; /* of the construct; of a thread in a region its own frames below that */
};

static enum ctx_status place_construct(struct ingest *in, const struct ctx_event *event, uint32_t raw_stack,
				       struct construct_stack *ret, struct ctx_err *err)
{
	uint32_t base = ctx_omp_threads_base(in->omp->threads, event->thread);
	enum ctx_status status;
	bool is_there;

	ret->at = in->stacks.raw.key[raw_stack];
	if (event->omp.has_body && raw_stack != CTX_TRIE_ROOT)
		raw_stack = in->stacks.raw.parent[raw_stack];
	status = without_runtime(in, raw_stack, &ret->raw, err);
	if (!event->omp.has_body)
		ret->at = in->stacks.raw.key[ret->raw];
	if (status != CTX_OK || base == CTX_TRIE_ROOT)
		return status;
	/* An outlined function that ends with the construct has called it by a jump, and is not there. */
	if (!event->omp.has_body) {
		status = is_in_outlined(in, ret->raw, &is_there, err);
		ret->at = is_there ? ret->at : CTX_NONE;
	}
	if (status != CTX_OK)
		return status;
	return append_own(in, &(struct joined){base, ret->raw, CTX_NONE}, &ret->raw, err);
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
	uint32_t base = ctx_omp_threads_base(in->omp->threads, input->thread), function;
	struct construct_stack stack;
	enum ctx_status status = place_construct(in, event, raw_stack, &stack, err);

	if (status == CTX_OK)
		status = function_of(in, &(struct named){REGION, stack.at, base}, &function, err);
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
	uint32_t base = ctx_omp_threads_base(in->omp->threads, input->thread);
	struct construct_stack stack;
	enum ctx_status status = place_construct(in, event, raw_stack, &stack, err);

	if (status == CTX_OK)
		status = function_of(in, &(struct named){TASK, stack.at, base}, &input->work, err);
	if (status == CTX_OK && event->omp.has_body)
		status = note_body(in, stack.at, input->work, err);
	input->raw_stack = stack.raw;
	return status == CTX_OK ? append(in, stack.raw, input->work, &input->raw_stack, err) : status;
}

static enum ctx_status place_wait(struct ingest *in, uint32_t raw_stack, struct ctx_omp_input *input,
				  struct ctx_err *err)
{
	uint32_t base = ctx_omp_threads_base(in->omp->threads, input->thread), leaf;
	enum ctx_status status = without_runtime(in, raw_stack, &leaf, err);

	return status == CTX_OK && base != CTX_TRIE_ROOT
		       ? append_own(in, &(struct joined){base, leaf, in->omp->states[input->value]},
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
	else if (input.event == CTX_OMP_TASK_CREATE || input.event == CTX_OMP_TASKS_CREATE)
		status = place_task(in, event, raw_stack, &input, err);
	else if (input.event == CTX_OMP_TASK_BEGIN)
		status = place_work(in, &input, err);
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
	struct ctx_omp_options options = {.sink = {in, put_span, put_operation},
					  .last_ns = profile->run.end_ns - 1};
	enum ctx_status status;

	if (!in->source->info.has_omp)
		return CTX_OK;
	in->omp = ctx_calloc(1, sizeof(*in->omp));
	if (in->omp == NULL)
		return ctx_err_nomem(err);
	in->omp->next_function = UINT32_MAX;
	in->omp->first_metric = ctx_profile_omp_metric(profile);
	status = make_states(in, err);
	if (status == CTX_OK)
		status = append(in, CTX_TRIE_ROOT, in->omp->states[CTX_OMP_SERIAL], &options.serial_raw, err);
	if (status == CTX_OK)
		status = append(in, CTX_TRIE_ROOT, in->omp->states[CTX_OMP_IDLE], &options.idle_raw, err);
	return status == CTX_OK ? ctx_omp_threads_create(&options, &in->omp->threads, err) : status;
}
