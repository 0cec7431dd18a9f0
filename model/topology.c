/*
 *	cpus --sort by group--> "NAME: list; NAME: list" --read--> group by cpu
 */
#include "model/topology.h"

#include "base/digits.h"
#include "base/mem.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define UNKNOWN                                                                                              \
	((struct ctx_topology_cpu){CTX_TOPOLOGY_UNKNOWN, CTX_TOPOLOGY_UNKNOWN, CTX_TOPOLOGY_UNKNOWN,         \
				   CTX_TOPOLOGY_UNKNOWN, NULL})

const char *ctx_topology_key(enum ctx_topology_part part)
{
	static const char *const keys[] = {"cores", "sockets", "nodes", "pmus"};

	return keys[part];
}

/* ---- collecting ---- */

void ctx_topology_deinit(struct ctx_topology *topology)
{
	free(topology->cpus);
	*topology = (struct ctx_topology){0};
}

enum ctx_status ctx_topology_reach(struct ctx_topology *topology, uint64_t cpu, struct ctx_err *err)
{
	enum ctx_status status;

	if (cpu > CTX_TOPOLOGY_CPU_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "a processor of number %" PRIu64, cpu);
	status = ctx_grow(&topology->cpus, &topology->cap, (size_t)cpu + 1, err);
	if (status != CTX_OK)
		return status;
	for (; topology->n <= cpu; topology->n++)
		topology->cpus[topology->n] = UNKNOWN;
	return CTX_OK;
}

enum ctx_status ctx_topology_take(struct ctx_topology *topology, const struct ctx_topology *from,
				  enum ctx_topology_part part, struct ctx_err *err)
{
	enum ctx_status status = from->n != 0 ? ctx_topology_reach(topology, from->n - 1, err) : CTX_OK;

	for (size_t i = 0; i < topology->n && status == CTX_OK; i++) {
		struct ctx_topology_cpu *cpu = &topology->cpus[i];
		struct ctx_topology_cpu taken = i < from->n ? from->cpus[i] : UNKNOWN;

		if (part == CTX_TOPOLOGY_PMU) {
			cpu->pmu = taken.pmu;
		} else if (part == CTX_TOPOLOGY_NODE) {
			cpu->node = taken.node;
		} else {
			cpu->socket = taken.socket;
			cpu->die = taken.die;
			cpu->core = taken.core;
		}
	}
	return status;
}

/* Each processor once, so that the work is bounded however long lists are. */
static enum ctx_status put_cpu(struct ctx_topology_cpu *cpu, const struct ctx_topology_cpu *place,
			       struct ctx_err *err)
{
	if (place->pmu != NULL ? cpu->pmu != NULL : cpu->node != CTX_TOPOLOGY_UNKNOWN)
		return ctx_err_set(err, CTX_E_FORMAT, "a processor that is listed twice");
	if (place->pmu != NULL)
		cpu->pmu = place->pmu;
	else
		cpu->node = place->node;
	return CTX_OK;
}

static enum ctx_status put_list(struct ctx_topology *topology, const char *list,
				const struct ctx_topology_cpu *place, struct ctx_err *err)
{
	const char *at = list;
	enum ctx_status status = CTX_OK;
	bool more = *at != '\0' && *at != '\n';

	while (more && status == CTX_OK) {
		uint64_t first, last;

		if (!ctx_digits_take_range(&at, CTX_TOPOLOGY_CPU_MAX, &first, &last) ||
		    (*at != ',' && *at != '\n' && *at != '\0'))
			return ctx_err_set(err, CTX_E_FORMAT, "a list of processors that is malformed");
		status = ctx_topology_reach(topology, last, err);
		for (; first <= last && status == CTX_OK; first++)
			status = put_cpu(&topology->cpus[first], place, err);
		more = *at++ == ',';
	}
	return status;
}

enum ctx_status ctx_topology_put_node(struct ctx_topology *topology, const char *list, uint32_t node,
				      struct ctx_err *err)
{
	return put_list(topology, list, &(struct ctx_topology_cpu){.node = node}, err);
}

static bool is_in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static size_t name_length(const char *text)
{
	size_t n = 0;

	while (is_in_name(text[n]))
		n++;
	return n;
}

enum ctx_status ctx_topology_put_pmu(struct ctx_topology *topology, const char *list, const char *pmu,
				     struct ctx_err *err)
{
	if (*pmu == '\0' || pmu[name_length(pmu)] != '\0')
		return ctx_err_set(err, CTX_E_FORMAT, "a name of a PMU that is none");
	return put_list(topology, list, &(struct ctx_topology_cpu){.pmu = pmu}, err);
}

/* ---- writing ---- */

struct member {
	uint32_t keys[3]; /* of its group */
	const char *name; /* of its group, with a PMU */
	uint32_t cpu;
};

/* False: the processor is in no group. */
static bool member_of(const struct ctx_topology_cpu *place, enum ctx_topology_part part, struct member *ret)
{
	switch (part) {
	case CTX_TOPOLOGY_CORE:
		ret->keys[0] = place->socket;
		ret->keys[1] = place->die <= CTX_TOPOLOGY_ID_MAX ? place->die : 0;
		ret->keys[2] = place->core;
		break;
	case CTX_TOPOLOGY_SOCKET:
		ret->keys[0] = place->socket;
		break;
	case CTX_TOPOLOGY_NODE:
		ret->keys[0] = place->node;
		break;
	case CTX_TOPOLOGY_PMU:
		ret->name = place->pmu;
		return place->pmu != NULL;
	default:
		return false;
	}
	return ret->keys[0] <= CTX_TOPOLOGY_ID_MAX && ret->keys[2] <= CTX_TOPOLOGY_ID_MAX;
}

static int compare_groups(const struct member *a, const struct member *b)
{
	for (size_t i = 0; i < CTX_COUNT_OF(a->keys); i++) {
		if (a->keys[i] != b->keys[i])
			return a->keys[i] < b->keys[i] ? -1 : 1;
	}
	return a->name != NULL && b->name != NULL ? strcmp(a->name, b->name) : 0;
}

static int compare_members(const void *left, const void *right)
{
	const struct member *a = left, *b = right;
	int order = compare_groups(a, b);

	return order != 0 ? order : (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

static void write_name(const struct member *member, enum ctx_topology_part part, struct ctx_buf *out)
{
	if (part == CTX_TOPOLOGY_PMU)
		ctx_buf_put_text(out, member->name);
	else if (part == CTX_TOPOLOGY_CORE)
		ctx_buf_printf(out, "S%" PRIu32 "-D%" PRIu32 "-C%" PRIu32, member->keys[0], member->keys[1],
			       member->keys[2]);
	else
		ctx_buf_printf(out, "%" PRIu32, member->keys[0]);
}

/* The members of one group, with their processors in runs. */
static void write_group(const struct member *members, size_t n, enum ctx_topology_part part,
			struct ctx_buf *out)
{
	write_name(members, part, out);
	for (size_t i = 0, last; i < n; i = last + 1) {
		last = i;
		while (last + 1 < n && members[last + 1].cpu == members[last].cpu + 1)
			last++;
		ctx_buf_printf(out, "%s%" PRIu32, i == 0 ? ": " : ",", members[i].cpu);
		if (last != i)
			ctx_buf_printf(out, "-%" PRIu32, members[last].cpu);
	}
}

enum ctx_status ctx_topology_write(const struct ctx_topology *topology, enum ctx_topology_part part,
				   struct ctx_buf *out, struct ctx_err *err)
{
	struct member *members CTX_AUTO_FREE = ctx_calloc(topology->n, sizeof(*members));
	size_t n = 0;

	if (members == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < topology->n; i++) {
		members[n] = (struct member){.cpu = i};
		n += member_of(&topology->cpus[i], part, &members[n]);
	}
	qsort(members, n, sizeof(*members), compare_members);
	for (size_t i = 0, end; i < n; i = end) {
		end = i + 1;
		while (end < n && compare_groups(&members[i], &members[end]) == 0)
			end++;
		if (i != 0)
			ctx_buf_put_text(out, "; ");
		write_group(&members[i], end - i, part, out);
	}
	return ctx_buf_check(out, err);
}

/* ---- reading ---- */

void ctx_topology_groups_deinit(struct ctx_topology_groups *groups)
{
	free(groups->of_cpu);
	*groups = (struct ctx_topology_groups){0};
}

static enum ctx_status malformed(enum ctx_topology_part part, struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_FORMAT, "the property '%s' is malformed", ctx_topology_key(part));
}

/* Moves *at behind the group's name. */
static enum ctx_status read_name(const char **at, enum ctx_topology_part part, struct ctx_strtab *names,
				 int64_t *ret, struct ctx_err *err)
{
	size_t n = name_length(*at);
	uint64_t number;
	uint32_t id = 0;
	enum ctx_status status;

	if (n == 0)
		return malformed(part, err);
	if (part == CTX_TOPOLOGY_SOCKET || part == CTX_TOPOLOGY_NODE) {
		if (!ctx_digits_take(at, 10, &number) || number > CTX_TOPOLOGY_ID_MAX)
			return malformed(part, err);
		*ret = (int64_t)number;
		return CTX_OK;
	}
	status = ctx_strtab_add(names, *at, n, &id, err);
	*at += n;
	*ret = id;
	return status;
}

/* One "first-last" of the group. */
static enum ctx_status read_range(const char **at, int64_t group, struct ctx_topology_groups *groups,
				  struct ctx_err *err)
{
	uint64_t first, last;
	enum ctx_status status;

	if (!ctx_digits_take_range(at, CTX_TOPOLOGY_CPU_MAX, &first, &last))
		return ctx_err_set(err, CTX_E_FORMAT, "malformed");
	status = ctx_grow(&groups->of_cpu, &groups->cap, (size_t)last + 1, err);
	if (status != CTX_OK)
		return status;
	while (groups->n <= last)
		groups->of_cpu[groups->n++] = -1;
	for (; first <= last; first++) {
		if (groups->of_cpu[first] != -1)
			return ctx_err_set(err, CTX_E_FORMAT, "listed twice");
		groups->of_cpu[first] = group;
	}
	return CTX_OK;
}

static enum ctx_status read_group(const char **at, enum ctx_topology_part part, struct ctx_strtab *names,
				  struct ctx_topology_groups *groups, struct ctx_err *err)
{
	int64_t group = -1;
	enum ctx_status status = read_name(at, part, names, &group, err);

	if (status != CTX_OK)
		return status;
	if ((*at)[0] != ':' || (*at)[1] != ' ')
		return malformed(part, err);
	for (*at += 2; status == CTX_OK; (*at)++) {
		status = read_range(at, group, groups, err);
		if (status == CTX_E_FORMAT)
			return malformed(part, err);
		if (**at != ',')
			break;
	}
	return status;
}

enum ctx_status ctx_topology_read(const char *text, enum ctx_topology_part part, struct ctx_strtab *names,
				  struct ctx_topology_groups *ret, struct ctx_err *err)
{
	struct ctx_topology_groups groups CTX_CLEANUP(ctx_topology_groups_deinit) = {0};
	const char *at = text;
	enum ctx_status status = read_group(&at, part, names, &groups, err);

	while (status == CTX_OK && at[0] == ';' && at[1] == ' ') {
		at += 2;
		status = read_group(&at, part, names, &groups, err);
	}
	if (status == CTX_OK && *at != '\0')
		status = malformed(part, err);
	if (status != CTX_OK)
		return status;
	*ret = groups;
	groups = (struct ctx_topology_groups){0};
	return CTX_OK;
}
