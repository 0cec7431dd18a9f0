/*
 * Traces of Chrome's DevTools with CPU profiles in pieces:
 *
 *	{"name": "Profile", "id", "pid", "tid", "args": {"data": {"startTime": us}}}
 *	{"name": "ProfileChunk", "id", "pid", "args": {"data": {"cpuProfile": {"nodes": [{"id", "parent", "callFrame"}], "samples": [id]},
 *		"timeDeltas": [us], "endTime": us}}}
 *	{"name": "thread_name" or "process_name", "ph": "M", "pid", "tid", "args": {"name"}}
 *
 * in "traceEvents", or in an array. Each profile is a thread. Pieces follow each other as in the file.
 */
#include "formats/jsonprofile/jp_forms.h"
#include "formats/jsonprofile/jp_v8.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROFILES_MAX 65536u

struct profile {
	struct ctx_jp_v8 v8;
	const char *id; /* borrowed */
	int64_t pid;
	double at_us; /* of its last sample */
};

struct reading {
	struct ctx_jp_model *model;
	yajl_val events;
	struct profile *profiles;
	size_t n, cap;
	double begin_us; /* of the first profile */
};

static const char *name_of(yajl_val event)
{
	return ctx_jp_text(ctx_jp_member(event, "name"));
}

static yajl_val data_of(yajl_val event)
{
	return ctx_jp_member(ctx_jp_member(event, "args"), "data");
}

static int64_t id_of(yajl_val event, const char *key)
{
	return ctx_jp_id(ctx_jp_member(event, key), 0);
}

/* A name that the trace gives a process, or a thread of it; "". */
static const char *named(const struct reading *reading, const char *what, int64_t pid, int64_t tid)
{
	for (size_t i = 0; i < ctx_jp_length(reading->events); i++) {
		yajl_val event = ctx_jp_item(reading->events, i);

		if (strcmp(name_of(event), what) == 0 && id_of(event, "pid") == pid &&
		    (tid == 0 || id_of(event, "tid") == tid))
			return ctx_jp_text(ctx_jp_member(ctx_jp_member(event, "args"), "name"));
	}
	return "";
}

static double start_of(yajl_val event)
{
	return ctx_jp_number(ctx_jp_member(data_of(event), "startTime"),
			     ctx_jp_number(ctx_jp_member(event, "ts"), NAN));
}

static enum ctx_status begin_profile(struct reading *reading, yajl_val event, struct ctx_err *err)
{
	struct ctx_jp_thread thread = {.pid = id_of(event, "pid"), .tid = id_of(event, "tid")};
	struct profile *profile;
	enum ctx_status status;

	if (isnan(start_of(event)) || reading->n == PROFILES_MAX) {
		reading->model->n_damaged++;
		return CTX_OK;
	}
	thread.name = named(reading, "thread_name", thread.pid, thread.tid);
	thread.process = named(reading, "process_name", thread.pid, 0);
	status = ctx_grow(&reading->profiles, &reading->cap, reading->n + 1, err);
	if (status != CTX_OK)
		return status;
	profile = &reading->profiles[reading->n++];
	*profile = (struct profile){.id = ctx_jp_text(ctx_jp_member(event, "id")), .pid = thread.pid};
	status = ctx_jp_v8_init(&profile->v8, reading->model, &thread, err);
	profile->at_us = profile->v8.before_us = start_of(event);
	return status;
}

static struct profile *find_profile(const struct reading *reading, yajl_val event)
{
	const char *id = ctx_jp_text(ctx_jp_member(event, "id"));
	int64_t pid = id_of(event, "pid");

	for (size_t i = reading->n; i-- > 0;) {
		if (reading->profiles[i].pid == pid && strcmp(reading->profiles[i].id, id) == 0)
			return &reading->profiles[i];
	}
	return NULL;
}

/* A parent comes before its children, or in the same piece before them: so there are no circles. */
static enum ctx_status add_nodes(struct profile *profile, yajl_val nodes, struct ctx_err *err)
{
	struct ctx_jp_v8 *v8 = &profile->v8;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < ctx_jp_length(nodes) && status == CTX_OK; i++) {
		yajl_val node = ctx_jp_item(nodes, i), parent_id = ctx_jp_member(node, "parent");
		uint32_t parent = parent_id != NULL ? ctx_jp_v8_node(v8, parent_id) : CTX_JP_ROOT, id;

		if (parent == CTX_MAP64_NONE && parent_id != NULL) {
			v8->model->n_damaged++;
			continue;
		}
		status = ctx_jp_v8_add_node(v8, node,
					    parent != CTX_JP_ROOT ? ctx_jp_v8_below(v8, parent) : CTX_JP_ROOT,
					    &id, err);
	}
	return status;
}

static enum ctx_status add_piece(struct reading *reading, yajl_val event, struct ctx_err *err)
{
	struct profile *profile = find_profile(reading, event);
	yajl_val data = data_of(event), piece = ctx_jp_member(data, "cpuProfile");
	yajl_val samples = ctx_jp_member(piece, "samples"), deltas = ctx_jp_member(data, "timeDeltas");
	yajl_val end = ctx_jp_member(data, "endTime");
	enum ctx_status status;

	if (profile == NULL) { /* cut at its begin */
		reading->model->n_damaged++;
		return CTX_OK;
	}
	if (deltas == NULL)
		deltas = ctx_jp_member(piece, "timeDeltas");
	status = add_nodes(profile, ctx_jp_member(piece, "nodes"), err);
	for (size_t i = 0; i < ctx_jp_length(samples) && status == CTX_OK; i++) {
		double delta = ctx_jp_number(ctx_jp_item(deltas, i), NAN);

		profile->at_us += isnan(delta) ? 0 : delta;
		status = ctx_jp_v8_sample(&profile->v8, isnan(delta) ? NAN : profile->at_us,
					  ctx_jp_item(samples, i), err);
	}
	return status == CTX_OK && end != NULL
		       ? ctx_jp_v8_sample(&profile->v8, ctx_jp_number(end, NAN), NULL, err)
		       : status;
}

static enum ctx_status read_events(struct reading *reading, struct ctx_err *err)
{
	size_t n = ctx_jp_length(reading->events);
	enum ctx_status status = CTX_OK;

	reading->begin_us = INFINITY;
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		yajl_val event = ctx_jp_item(reading->events, i);

		if (strcmp(name_of(event), "Profile") != 0)
			continue;
		status = begin_profile(reading, event, err);
		if (start_of(event) < reading->begin_us)
			reading->begin_us = start_of(event);
	}
	for (size_t i = 0; i < reading->n; i++)
		reading->profiles[i].v8.begin_us = reading->begin_us;
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		yajl_val event = ctx_jp_item(reading->events, i);

		if (strcmp(name_of(event), "ProfileChunk") == 0)
			status = add_piece(reading, event, err);
	}
	return status;
}

/* Slices and moments beside the profile: they have a phase, and neither a profile nor names. */
static uint64_t count_others(yajl_val events)
{
	uint64_t n = 0;

	for (size_t i = 0; i < ctx_jp_length(events); i++) {
		const char *phase = ctx_jp_text(ctx_jp_member(ctx_jp_item(events, i), "ph"));

		n += phase[0] != '\0' && strchr("XBEbeinIRC", phase[0]) != NULL;
	}
	return n;
}

enum ctx_status ctx_jp_devtools(yajl_val root, struct ctx_jp_model *model, struct ctx_err *err)
{
	yajl_val events = ctx_jp_member(root, "traceEvents");
	struct reading reading = {.model = model, .events = events != NULL ? events : root};
	enum ctx_status status;

	model->format = "DevTools trace";
	status = read_events(&reading, err);
	model->n_left_out = count_others(reading.events);
	if (status == CTX_OK && reading.n == 0)
		status = ctx_err_set(err, CTX_E_FORMAT, "no CPU profile begins in the trace");
	for (size_t i = 0; i < reading.n; i++)
		ctx_jp_v8_deinit(&reading.profiles[i].v8);
	free(reading.profiles);
	return status;
}
