#include "query/index_values.h"

#include "base/mem.h"
#include "model/code.h"
#include "model/container.h"
#include "model/omp.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static bool is_name(enum ctx_index_entity entity)
{
	return entity == CTX_INDEX_COMMAND || entity == CTX_INDEX_THREAD_NAME ||
	       entity == CTX_INDEX_THREAD_PATTERN || entity == CTX_INDEX_CGROUP ||
	       entity == CTX_INDEX_CONTAINER;
}

static bool is_construct(enum ctx_index_entity entity)
{
	return entity == CTX_INDEX_OMP_REGION || entity == CTX_INDEX_OMP_TASK;
}

static void put_name(const struct ctx_profile *profile, enum ctx_index_entity entity, uint32_t thread,
		     struct ctx_buf *buf)
{
	const struct ctx_thread_info *info = &profile->threads[thread];

	if (entity == CTX_INDEX_THREAD_NAME) {
		ctx_buf_put_text(buf, info->name);
	} else if (entity == CTX_INDEX_THREAD_PATTERN) {
		ctx_thread_name_pattern(info->name, buf);
	} else if (info->process >= profile->n_processes) {
		return;
	} else if (entity == CTX_INDEX_CGROUP) {
		ctx_buf_put_text(buf, profile->processes[info->process].cgroup != NULL
					      ? profile->processes[info->process].cgroup
					      : "");
	} else if (entity == CTX_INDEX_CONTAINER) {
		char container[CTX_CONTAINER_NAME];

		if (ctx_container_of_cgroup(profile->processes[info->process].cgroup, container))
			ctx_buf_put_text(buf, container);
	} else {
		size_t n;
		const char *program = ctx_command_program(profile->processes[info->process].command, &n);

		ctx_buf_put(buf, program, n);
	}
}

/* By thread the number of its name; CTX_NONE: it has none. */
static enum ctx_status name_threads(struct ctx_index_values *values, size_t key, struct ctx_err *err)
{
	const struct ctx_profile *profile = values->profile;
	uint32_t *of_thread = ctx_calloc(profile->n_threads, sizeof(*of_thread));
	struct ctx_buf name CTX_AUTO_BUF = {0};
	enum ctx_status status = CTX_OK;

	if (of_thread == NULL)
		return ctx_err_nomem(err);
	values->of_thread[key] = of_thread;
	for (uint32_t i = 0; i < profile->n_threads && status == CTX_OK; i++) {
		ctx_buf_clear(&name);
		put_name(profile, values->entities[key], i, &name);
		status = ctx_buf_check(&name, err);
		of_thread[i] = CTX_NONE;
		if (status == CTX_OK && name.n != 0)
			status = ctx_strtab_add(&values->names, (const char *)name.bytes, name.n,
						&of_thread[i], err);
	}
	return status;
}

/* ---- constructs of OpenMP ---- */

/* By node of the CCT the innermost one on its stack. */
static enum ctx_status name_constructs(struct ctx_index_values *values, size_t key, struct ctx_err *err)
{
	const struct ctx_profile *profile = values->profile;
	const struct ctx_trie *cct = &profile->cct;
	bool is_region = values->entities[key] == CTX_INDEX_OMP_REGION;
	uint32_t *of_stack = ctx_calloc(cct->n, sizeof(*of_stack));
	enum ctx_status status = CTX_OK;

	if (of_stack == NULL)
		return ctx_err_nomem(err);
	values->of_thread[key] = of_stack;
	of_stack[CTX_TRIE_ROOT] = CTX_NONE;
	for (uint32_t i = 1; i < cct->n && status == CTX_OK; i++) {
		const char *name =
			cct->key[i] < profile->n_functions ? profile->functions[cct->key[i]].name : "";

		of_stack[i] = of_stack[cct->parent[i]];
		if (is_region ? ctx_omp_is_region(name) : ctx_omp_is_task(name))
			status = ctx_strtab_add_text(&values->names, name, &of_stack[i], err);
	}
	return status;
}

/* ---- lines ---- */

/* The line of a raw stack's leaf: of inlined code the innermost one, as the report lines has it. */
static int64_t line_of(const struct ctx_code *code, uint32_t raw)
{
	const struct ctx_trie *stacks = code->raw_stacks;
	const struct ctx_location *location = NULL;
	const struct ctx_site *site;

	for (; location == NULL && raw < stacks->n && raw != CTX_TRIE_ROOT; raw = stacks->parent[raw]) {
		uint32_t key = stacks->key[raw];

		if (key < code->n_locations && !code->locations[key].joins)
			location = &code->locations[key];
	}
	site = location != NULL && location->site < code->n_sites ? &code->sites[location->site] : NULL;
	return site != NULL && site->file < code->n_files && site->line != 0
		       ? CTX_INDEX_LINE_KEY(site->file, site->line)
		       : -1;
}

static enum ctx_status find_lines(struct ctx_index_values *values, const struct ctx_code *code,
				  struct ctx_err *err)
{
	struct ctx_index_raw raw = {.code = code, .n = code->raw_stacks->n};
	enum ctx_status status = CTX_OK;

	if (values->stacks != NULL)
		status = values->stacks->raw(values->stacks->context, &raw, err);
	if (status != CTX_OK)
		return status;
	values->of_raw = ctx_calloc(raw.n, sizeof(*values->of_raw));
	if (values->of_raw == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < raw.n; i++)
		values->of_raw[i] = line_of(raw.code, raw.raw_of != NULL ? raw.raw_of[i] : i);
	values->n_raw = raw.n;
	values->files = raw.code->files;
	return CTX_OK;
}

/* ---- waits ---- */

static enum ctx_status begin_waits(struct ctx_index_values *values, struct ctx_err *err)
{
	if (!values->profile->has_states)
		return ctx_err_set(err, CTX_E_ARG, "--by wait: the recording has no thread states");
	values->kind_of = ctx_calloc(values->profile->cct.n, CTX_STATE_N);
	if (values->kind_of == NULL)
		return ctx_err_nomem(err);
	return ctx_wait_kinds_init(&values->kinds, values->profile, err);
}

/* Of the whole stack, as in the report waits: what hides frames does not change what is waited for. */
static int64_t wait_of(const struct ctx_index_values *values, const struct ctx_sample *sample)
{
	uint32_t state = sample->metric - values->profile->states;
	uint8_t *kind;

	if (sample->metric < values->profile->states || state >= CTX_STATE_N)
		return -1;
	if ((CTX_STATES_ON_CPU & CTX_STATE_BIT(state)) != 0)
		return CTX_INDEX_ON_CPU;
	if (state == CTX_STATE_WAIT_CPU)
		return CTX_INDEX_WAIT_CPU;
	if (state == CTX_STATE_UNKNOWN || sample->stack >= values->profile->cct.n)
		return -1;
	if (state == CTX_STATE_SLEEP && ctx_wait_is_start(values->profile, sample))
		return CTX_WAIT_KIND_START;
	kind = &values->kind_of[(size_t)state * values->profile->cct.n + sample->stack];
	if (*kind == 0) {
		struct ctx_wait_place place =
			ctx_wait_kinds_find(&values->kinds, (enum ctx_thread_state)state, sample->stack);

		*kind = (uint8_t)(place.kind + 1);
	}
	return *kind - 1;
}

/* ---- processors ---- */

/* CTX_TOPOLOGY_N: of another key. */
static enum ctx_topology_part part_of(enum ctx_index_entity entity)
{
	switch (entity) {
	case CTX_INDEX_CORE:
		return CTX_TOPOLOGY_CORE;
	case CTX_INDEX_SOCKET:
		return CTX_TOPOLOGY_SOCKET;
	case CTX_INDEX_NODE:
		return CTX_TOPOLOGY_NODE;
	case CTX_INDEX_PMU:
		return CTX_TOPOLOGY_PMU;
	default:
		return CTX_TOPOLOGY_N;
	}
}

/* Merged recordings have what differs as "KEY (NAME)" (ingest/joint_info.c). */
static bool has_second(const struct ctx_profile *profile, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < profile->n_properties; i++) {
		if (strncmp(profile->properties[i].key, key, n) == 0 &&
		    strncmp(profile->properties[i].key + n, " (", 2) == 0)
			return true;
	}
	return false;
}

/* "cpu_core/cycles/" is counted by cpu_core alone, wherever that was. */
static enum ctx_status find_pmus(struct ctx_index_values *values, struct ctx_err *err)
{
	const struct ctx_profile *profile = values->profile;

	values->pmu_of_metric = ctx_calloc(profile->n_metrics, sizeof(*values->pmu_of_metric));
	if (values->pmu_of_metric == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < profile->n_metrics; i++) {
		const char *name = profile->metrics[i].name;
		const char *end = strchr(name, '/');

		values->pmu_of_metric[i] =
			end != NULL ? ctx_strtab_find(&values->names, name, (size_t)(end - name)) : CTX_NONE;
	}
	return CTX_OK;
}

static enum ctx_status find_groups(struct ctx_index_values *values, enum ctx_topology_part part,
				   struct ctx_err *err)
{
	static const char *const words[] = {"core", "socket", "node", "pmu"};
	const char *key = ctx_topology_key(part);
	const char *text = ctx_profile_property(values->profile, key, NULL);
	enum ctx_status status;

	if (text == NULL)
		return ctx_err_set(err, CTX_E_ARG,
				   "--by %s: the recording does not tell the %s of its processors",
				   words[part], key);
	if (has_second(values->profile, key) || has_second(values->profile, "host"))
		return ctx_err_set(err, CTX_E_ARG, "--by %s: the recordings are of different machines",
				   words[part]);
	status = ctx_topology_read(text, part, &values->names, &values->groups[part], err);
	return status == CTX_OK && part == CTX_TOPOLOGY_PMU ? find_pmus(values, err) : status;
}

/* Whether it is a span of a state in which a thread is on no processor. */
static bool is_off_cpu(const struct ctx_profile *profile, const struct ctx_sample *sample)
{
	uint32_t state = sample->metric - profile->states;

	return profile->has_states && sample->metric >= profile->states && state < CTX_STATE_N &&
	       (CTX_STATES_ON_CPU & CTX_STATE_BIT(state)) == 0;
}

static int64_t group_of(const struct ctx_index_values *values, enum ctx_topology_part part,
			const struct ctx_sample *sample)
{
	const struct ctx_topology_groups *groups = &values->groups[part];

	if (part == CTX_TOPOLOGY_PMU && sample->metric < values->profile->n_metrics &&
	    values->pmu_of_metric[sample->metric] != CTX_NONE)
		return values->pmu_of_metric[sample->metric];
	if (is_off_cpu(values->profile, sample))
		return CTX_NO_CPU;
	return sample->cpu >= 0 && (size_t)sample->cpu < groups->n ? groups->of_cpu[sample->cpu] : -1;
}

/* ---- all keys ---- */

static enum ctx_status bind(struct ctx_index_values *values, size_t key, const char *text,
			    struct ctx_err *err)
{
	struct ctx_expression *expression;
	enum ctx_status status = ctx_expression_parse(text, &expression, NULL, err);

	if (status != CTX_OK)
		return status;
	values->places[values->n_expressions] = key;
	values->expressions[values->n_expressions++] = expression;
	values->asks_operations |= ctx_expression_asks_operations(expression) != CTX_EXPRESSION_NAMES_N;
	return ctx_expression_bind(expression, values->profile, err);
}

enum ctx_status ctx_index_values_init(const struct ctx_index_keys *keys, const struct ctx_index_base *base,
				      struct ctx_index_values *ret, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	*ret = (struct ctx_index_values){.profile = base->profile, .stacks = base->stacks, .n = keys->n};
	for (size_t i = 0; i < keys->n && status == CTX_OK; i++) {
		ret->entities[i] = keys->keys[i].entity;
		if (keys->texts[i] != NULL)
			status = bind(ret, i, keys->texts[i], err);
		else if (is_name(ret->entities[i]))
			status = name_threads(ret, i, err);
		else if (is_construct(ret->entities[i]))
			status = name_constructs(ret, i, err);
		else if (ret->entities[i] == CTX_INDEX_LINE)
			status = find_lines(ret, base->code, err);
		else if (ret->entities[i] == CTX_INDEX_WAIT)
			status = begin_waits(ret, err);
		else if (part_of(ret->entities[i]) != CTX_TOPOLOGY_N)
			status = find_groups(ret, part_of(ret->entities[i]), err);
	}
	return status;
}

void ctx_index_values_deinit(struct ctx_index_values *values)
{
	for (size_t i = 0; i < values->n; i++)
		free(values->of_thread[i]);
	for (size_t i = 0; i < values->n_expressions; i++)
		ctx_expression_destroy(values->expressions[i]);
	ctx_strtab_deinit(&values->names);
	for (size_t i = 0; i < CTX_TOPOLOGY_N; i++)
		ctx_topology_groups_deinit(&values->groups[i]);
	free(values->pmu_of_metric);
	free(values->of_raw);
	free(values->kind_of);
	ctx_wait_kinds_deinit(&values->kinds);
	*values = (struct ctx_index_values){0};
}

/* CTX_NONE: the stack is empty. */
static uint32_t leaf_of(const struct ctx_index_values *values, uint32_t stack)
{
	const struct ctx_index_stacks *stacks = values->stacks;
	const struct ctx_trie *cct = &values->profile->cct;

	if (stacks != NULL) {
		cct = &stacks->profile->cct;
		stack = stack < stacks->n ? stacks->stack_of[stack] : CTX_NONE;
	}
	return stack < cct->n && stack != CTX_TRIE_ROOT ? cct->key[stack] : CTX_NONE;
}

static int64_t id(uint32_t value, uint32_t n)
{
	return value < n ? (int64_t)value : -1;
}

static int64_t object_of(const struct ctx_index_values *values, uint32_t function)
{
	const struct ctx_profile *profile =
		values->stacks != NULL ? values->stacks->profile : values->profile;

	return function < profile->n_functions ? id(profile->functions[function].object, profile->n_objects)
					       : -1;
}

void ctx_index_values_fixed(const struct ctx_index_values *values, const struct ctx_sample *sample,
			    int64_t *ret)
{
	for (size_t i = 0; i < values->n; i++) {
		switch (values->entities[i]) {
		case CTX_INDEX_FUNCTION:
			ret[i] = id(leaf_of(values, sample->stack), CTX_NONE);
			break;
		case CTX_INDEX_OBJECT:
			ret[i] = object_of(values, leaf_of(values, sample->stack));
			break;
		case CTX_INDEX_LINE:
			ret[i] = sample->raw_stack < values->n_raw ? values->of_raw[sample->raw_stack] : -1;
			break;
		case CTX_INDEX_COMMAND:
		case CTX_INDEX_THREAD_NAME:
		case CTX_INDEX_THREAD_PATTERN:
		case CTX_INDEX_CGROUP:
		case CTX_INDEX_CONTAINER:
			ret[i] = sample->thread < values->profile->n_threads
					 ? id(values->of_thread[i][sample->thread], CTX_NONE)
					 : -1;
			break;
		case CTX_INDEX_OMP_REGION:
		case CTX_INDEX_OMP_TASK:
			ret[i] = sample->stack < values->profile->cct.n
					 ? id(values->of_thread[i][sample->stack], CTX_NONE)
					 : -1;
			break;
		case CTX_INDEX_WAIT:
			ret[i] = wait_of(values, sample);
			break;
		case CTX_INDEX_CORE:
		case CTX_INDEX_SOCKET:
		case CTX_INDEX_NODE:
		case CTX_INDEX_PMU:
			ret[i] = group_of(values, part_of(values->entities[i]), sample);
			break;
		default: /* expressions */
			break;
		}
	}
}
