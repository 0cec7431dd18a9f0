#include "fleet/push_manifest.h"

#include "base/strtab.h"
#include "model/container.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

/* ---- labels ---- */

static enum ctx_status set_label(struct ctx_push_label *labels, size_t *n, struct ctx_push_label label,
				 struct ctx_err *err)
{
	size_t at = 0;

	if (label.key[0] == '\0')
		return ctx_err_set(err, CTX_E_ARG, "a label without a key");
	while (at < *n && strcmp(labels[at].key, label.key) != 0)
		at++;
	labels[at] = label;
	*n += at == *n;
	return CTX_OK;
}

enum ctx_status ctx_push_labels(const struct ctx_push_spec *spec, struct ctx_push_label **ret, size_t *ret_n,
				struct ctx_err *err)
{
	const struct ctx_profile *profile = spec->source->selection.profile;
	size_t begin = strlen(CTX_PUSH_LABEL_PROPERTY), n = 0;
	struct ctx_push_label *labels =
		ctx_calloc(profile->n_properties + spec->n_labels + 1, sizeof(*labels));
	enum ctx_status status = CTX_OK;

	if (labels == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < profile->n_properties && status == CTX_OK; i++) {
		const struct ctx_property *property = &profile->properties[i];

		if (strncmp(property->key, CTX_PUSH_LABEL_PROPERTY, begin) == 0)
			status = set_label(labels, &n,
					   (struct ctx_push_label){property->key + begin, property->value},
					   err);
	}
	for (size_t i = 0; i < spec->n_labels && status == CTX_OK; i++)
		status = set_label(labels, &n, spec->labels[i], err);
	if (status != CTX_OK) {
		free(labels);
		return status;
	}
	*ret = labels;
	*ret_n = n;
	return CTX_OK;
}

static const char *label_of(const struct ctx_push_label *labels, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(labels[i].key, key) == 0)
			return labels[i].value;
	}
	return "";
}

/* ---- groups of threads ---- */

/* Threads whose names differ in numbers alone are a group: worker-*. */
static enum ctx_status group_threads(struct ctx_push *push, struct ctx_strtab *names, struct ctx_err *err)
{
	struct ctx_buf name CTX_AUTO_BUF = {0};
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < push->profile->n_threads && status == CTX_OK; i++) {
		ctx_buf_clear(&name);
		ctx_thread_name_pattern(push->profile->threads[i].name, &name);
		status = ctx_buf_check(&name, err);
		if (status == CTX_OK)
			status = ctx_strtab_add(names, (const char *)name.bytes, name.n,
						&push->threads.group_of[i], err);
		if (status == CTX_OK)
			push->threads.counts[push->threads.group_of[i]]++;
	}
	for (uint32_t i = 0; i < names->n && status == CTX_OK; i++) {
		push->threads.names[i] = strdup(names->strings[i]);
		if (push->threads.names[i] == NULL)
			return ctx_err_nomem(err);
		push->threads.keys[i] = ctx_path_thread(names->strings[i]);
		push->threads.n++;
	}
	return status;
}

enum ctx_status ctx_push_manifest_prepare(struct ctx_push *push, struct ctx_err *err)
{
	uint32_t n = push->profile->n_threads + 1;
	struct ctx_strtab names = {0};
	enum ctx_status status;

	push->metrics = ctx_calloc(push->profile->n_metrics + 1u, sizeof(*push->metrics));
	push->threads.group_of = ctx_calloc(n, sizeof(*push->threads.group_of));
	push->threads.keys = ctx_calloc(n, sizeof(*push->threads.keys));
	push->threads.counts = ctx_calloc(n, sizeof(*push->threads.counts));
	push->threads.names = ctx_calloc(n, sizeof(*push->threads.names));
	if (push->metrics == NULL || push->threads.group_of == NULL || push->threads.keys == NULL ||
	    push->threads.counts == NULL || push->threads.names == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < push->profile->n_metrics; i++)
		push->metrics[i] = ctx_path_metric(&push->profile->metrics[i]);
	status = group_threads(push, &names, err);
	ctx_strtab_deinit(&names);
	return status;
}

void ctx_push_manifest_deinit(struct ctx_push *push)
{
	for (uint32_t i = 0; i < push->threads.n; i++)
		free(push->threads.names[i]);
	free(push->threads.names);
	free(push->threads.group_of);
	free(push->threads.keys);
	free(push->threads.counts);
	free(push->metrics);
}

/* ---- the row ---- */

/* That of the first process that is in one. */
static void find_container(const struct ctx_profile *profile, char ret[CTX_CONTAINER_NAME])
{
	ret[0] = '\0';
	for (uint32_t i = 0; i < profile->n_processes; i++) {
		if (ctx_container_of_cgroup(profile->processes[i].cgroup, ret))
			return;
	}
}

static void put_who(const struct ctx_push *push, const struct ctx_push_label *labels, size_t n,
		    struct ctx_buf *row)
{
	const struct ctx_profile *profile = push->profile;
	const char *command = ctx_profile_property(profile, "command", ""), *container;
	char found[CTX_CONTAINER_NAME];
	size_t length;
	const char *program = ctx_command_program(command, &length);

	find_container(profile, found);
	container = label_of(labels, n, "container");
	ctx_buf_put_string(row, profile->name);
	ctx_buf_put_string(row, ctx_profile_property(profile, "host", ""));
	ctx_buf_put_string(row, label_of(labels, n, "service"));
	ctx_buf_put_string(row, label_of(labels, n, "version"));
	ctx_buf_put_string(row, container[0] != '\0' ? container : found);
	ctx_buf_put_string(row, command);
	ctx_buf_put_varint(row, length);
	ctx_buf_put(row, program, length);
	ctx_buf_put_string(row, ctx_profile_property(profile, "kernel", ""));
	ctx_buf_put_string(row, ctx_profile_property(profile, "arch", ""));
	ctx_buf_put_varint(row, n);
	for (size_t i = 0; i < n; i++)
		ctx_buf_put_string(row, labels[i].key);
	ctx_buf_put_varint(row, n);
	for (size_t i = 0; i < n; i++)
		ctx_buf_put_string(row, labels[i].value);
	ctx_buf_put_varint(row, profile->n_objects);
	for (uint32_t i = 0; i < profile->n_objects; i++)
		ctx_buf_put_string(row, profile->objects[i].path);
	ctx_buf_put_varint(row, profile->n_objects);
	for (uint32_t i = 0; i < profile->n_objects; i++)
		ctx_buf_put_string(row, profile->objects[i].build_id);
}

static void put_metrics(const struct ctx_push *push, struct ctx_buf *row)
{
	const struct ctx_profile *profile = push->profile;
	uint32_t n = profile->n_metrics;

	ctx_buf_put_varint(row, n);
	for (uint32_t i = 0; i < n; i++)
		ctx_buf_put_u32(row, push->metrics[i]);
	ctx_buf_put_varint(row, n);
	for (uint32_t i = 0; i < n; i++)
		ctx_buf_put_string(row, profile->metrics[i].name);
	ctx_buf_put_varint(row, n);
	for (uint32_t i = 0; i < n; i++)
		ctx_buf_put_string(row, profile->metrics[i].word != NULL ? profile->metrics[i].word : "");
	ctx_buf_put_varint(row, n);
	for (uint32_t i = 0; i < n; i++)
		ctx_buf_put_u8(row, (uint8_t)profile->metrics[i].kind);
	ctx_buf_put_varint(row, n);
	for (uint32_t i = 0; i < n; i++)
		ctx_buf_put_u8(row, (uint8_t)profile->metrics[i].unit);
	ctx_buf_put_varint(row, n);
	for (uint32_t i = 0; i < n; i++) {
		ctx_buf_put_varint(row, profile->metrics[i].n_parts);
		for (uint32_t k = 0; k < profile->metrics[i].n_parts; k++)
			ctx_buf_put_u32(row, push->metrics[profile->metrics[i].parts[k]]);
	}
	ctx_buf_put_varint(row, n);
	for (uint32_t i = 0; i < n; i++)
		ctx_buf_put_u64(row, profile->metrics[i].samples);
	ctx_buf_put_varint(row, n);
	for (uint32_t i = 0; i < n; i++)
		ctx_buf_put_u64(row, profile->metrics[i].weight);
	ctx_buf_put_u32(row, profile->has_states ? profile->states : CTX_NONE);
}

static void put_threads(const struct ctx_push *push, struct ctx_buf *row)
{
	uint32_t n = push->threads.n;

	ctx_buf_put_varint(row, n);
	for (uint32_t i = 0; i < n; i++)
		ctx_buf_put_u32(row, push->threads.keys[i]);
	ctx_buf_put_varint(row, n);
	for (uint32_t i = 0; i < n; i++)
		ctx_buf_put_string(row, push->threads.names[i]);
	ctx_buf_put_varint(row, n);
	for (uint32_t i = 0; i < n; i++)
		ctx_buf_put_u32(row, push->threads.counts[i]);
}

/* Columns in the order of ctx_recording (fleet/fleet_schema.c). */
enum ctx_status ctx_push_manifest_put(const struct ctx_push *push, struct ctx_buf *row, struct ctx_err *err)
{
	const struct ctx_profile *profile = push->profile;
	struct ctx_push_label *labels;
	size_t n;
	enum ctx_status status = ctx_push_labels(push->spec, &labels, &n, err);

	if (status != CTX_OK)
		return status;
	ctx_buf_put_u16(row, push->day);
	ctx_buf_put_u64(row, push->result.recording.low);
	ctx_buf_put_u64(row, push->result.recording.high);
	ctx_buf_put_u64(row, push->spec->push);
	ctx_buf_put_u32(row, (uint32_t)time(NULL));
	ctx_buf_put_u64(row, push->wall_ns);
	ctx_buf_put_u64(row, push->wall_ns + profile->run.end_ns);
	put_who(push, labels, n, row);
	put_metrics(push, row);
	put_threads(push, row);
	ctx_buf_put_u8(row, profile->closed);
	ctx_buf_put_u8(row, !profile->losses.call_stacks);
	ctx_buf_put_u64(row, profile->losses.samples);
	ctx_buf_put_u64(row, profile->losses.throttled);
	ctx_buf_put_u64(row, profile->losses.damaged);
	ctx_buf_put_u64(row, push->result.stacks);
	ctx_buf_put_u64(row, push->result.cells);
	ctx_buf_put_u64(row, push->checksum);
	ctx_buf_put_string(row, "ctxan " CTX_VERSION);
	free(labels);
	return ctx_buf_check(row, err);
}
