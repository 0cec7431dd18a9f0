#include "formats/jsonprofile/jp_forms.h"

#include "base/map64.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	struct ctx_jp_model *model;
	struct ctx_map64 nodes; /* parent << 32 | function -> node */
	uint32_t thread, metric;
	double factor; /* of the unit, to ns; 0: no time */
	double begin;  /* of the first profile, in its unit */
};

static const struct unit {
	const char *name;
	double factor;
	enum ctx_unit unit;
} units[] = {{"nanoseconds", 1, CTX_UNIT_NS},	 {"microseconds", 1e3, CTX_UNIT_NS},
	     {"milliseconds", 1e6, CTX_UNIT_NS}, {"seconds", 1e9, CTX_UNIT_NS},
	     {"bytes", 0, CTX_UNIT_BYTES},	 {"none", 0, CTX_UNIT_EVENTS}};

static const struct unit *unit_of(yajl_val profile)
{
	const char *name = ctx_jp_text(ctx_jp_member(profile, "unit"));

	for (size_t i = 0; i < CTX_COUNT_OF(units); i++) {
		if (strcmp(units[i].name, name) == 0)
			return &units[i];
	}
	return &units[CTX_COUNT_OF(units) - 1];
}

static enum ctx_status add_frames(yajl_val root, struct ctx_jp_model *model, struct ctx_err *err)
{
	yajl_val frames = ctx_jp_member(ctx_jp_member(root, "shared"), "frames");
	enum ctx_status status = CTX_OK;
	uint32_t id;

	for (size_t i = 0; i < ctx_jp_length(frames) && status == CTX_OK; i++) {
		yajl_val frame = ctx_jp_item(frames, i);

		status = ctx_jp_function(
			model,
			&(struct ctx_jp_function){
				.name = ctx_jp_text(ctx_jp_member(frame, "name")),
				.module = "",
				.file = ctx_jp_text(ctx_jp_member(frame, "file")),
				.line = (uint32_t)ctx_jp_index(ctx_jp_member(frame, "line"), UINT32_MAX, 0)},
			&id, err);
	}
	return status;
}

/* The callee's node below a node. */
static enum ctx_status enter(struct reading *reading, uint32_t parent, uint32_t function, uint32_t *ret,
			     struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(&reading->nodes, (uint64_t)parent << 32 | function);
	struct ctx_jp_node node = {.parent = parent, .function = function};
	enum ctx_status status = CTX_OK;

	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		node.line = reading->model->functions[function].line;
		status = ctx_jp_node(reading->model, &node, ret, err);
		if (status == CTX_OK)
			*place = *ret;
	}
	*ret = *place;
	return status;
}

/* Time since the begin, in ns; false: none that can be. */
static bool time_of(const struct reading *reading, double at, uint64_t *ret)
{
	double ns = (at - reading->begin) * reading->factor;

	if (!(ns >= 0 && ns < CTX_JP_MOST))
		return false;
	*ret = (uint64_t)llround(ns);
	return true;
}

static enum ctx_status put(struct reading *reading, uint64_t time_ns, uint64_t weight, uint32_t node,
			   struct ctx_err *err)
{
	struct ctx_jp_model *model = reading->model;
	struct ctx_jp_sample sample = {.time_ns = time_ns,
				       .weight = weight,
				       .thread = reading->thread,
				       .node = node,
				       .metric = reading->metric};

	if (weight == 0 || node == CTX_JP_ROOT) /* between stacks nothing is known to run */
		return CTX_OK;
	if (reading->factor != 0 && time_ns + weight > model->duration_ns)
		model->duration_ns = time_ns + weight;
	return ctx_jp_sample(model, &sample, err);
}

static enum ctx_status stack_of(struct reading *reading, yajl_val stack, uint32_t *ret, bool *ret_whole,
				struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	*ret = CTX_JP_ROOT;
	*ret_whole = true;
	for (size_t i = 0; i < ctx_jp_length(stack) && status == CTX_OK; i++) {
		uint64_t function = ctx_jp_index(ctx_jp_item(stack, i), UINT32_MAX, UINT64_MAX);

		if (function >= reading->model->n_functions)
			*ret_whole = false;
		else
			status = enter(reading, *ret, (uint32_t)function, ret, err);
	}
	return status;
}

/* Samples from the root; the weights are the times from one to the next. */
static enum ctx_status read_sampled(struct reading *reading, yajl_val profile, struct ctx_err *err)
{
	yajl_val samples = ctx_jp_member(profile, "samples"), weights = ctx_jp_member(profile, "weights");
	double at = ctx_jp_number(ctx_jp_member(profile, "startValue"), 0);
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < ctx_jp_length(samples) && status == CTX_OK; i++) {
		double weight = ctx_jp_number(ctx_jp_item(weights, i), -1);
		uint64_t time_ns = 0, end_ns;
		uint32_t node;
		bool is_whole;

		status = stack_of(reading, ctx_jp_item(samples, i), &node, &is_whole, err);
		if (status != CTX_OK)
			break;
		reading->model->n_damaged += !is_whole;
		if (!(weight >= 0 && weight < CTX_JP_MOST) ||
		    (reading->factor != 0 &&
		     (!time_of(reading, at, &time_ns) || !time_of(reading, at + weight, &end_ns)))) {
			reading->model->n_damaged++;
			continue;
		}
		status = put(reading, time_ns,
			     reading->factor != 0 ? end_ns - time_ns : (uint64_t)llround(weight), node, err);
		at += weight;
	}
	return status;
}

struct open_frames {
	uint32_t *nodes; /* owned; from the root */
	size_t n, cap;
};

/* Opens and closes; a close of another frame than the last one closes what is above it. */
static enum ctx_status step(struct reading *reading, yajl_val event, struct open_frames *open,
			    struct ctx_err *err)
{
	const char *type = ctx_jp_text(ctx_jp_member(event, "type"));
	uint64_t function = ctx_jp_index(ctx_jp_member(event, "frame"), UINT32_MAX, UINT64_MAX);
	const struct ctx_jp_model *model = reading->model;
	size_t n = open->n;
	enum ctx_status status;

	if (function >= model->n_functions || (strcmp(type, "O") != 0 && strcmp(type, "C") != 0)) {
		reading->model->n_damaged++;
		return CTX_OK;
	}
	if (type[0] == 'O') {
		status = ctx_grow(&open->nodes, &open->cap, open->n + 1, err);
		if (status == CTX_OK)
			status = enter(reading, n != 0 ? open->nodes[n - 1] : CTX_JP_ROOT, (uint32_t)function,
				       &open->nodes[n], err);
		open->n += status == CTX_OK;
		return status;
	}
	while (n != 0 && model->nodes[open->nodes[n - 1]].function != function)
		n--;
	if (n != open->n)
		reading->model->n_damaged++;
	if (n != 0)
		open->n = n - 1;
	return CTX_OK;
}

static enum ctx_status read_evented(struct reading *reading, yajl_val profile, struct ctx_err *err)
{
	yajl_val events = ctx_jp_member(profile, "events");
	struct open_frames open = {0};
	enum ctx_status status = CTX_OK;
	uint64_t before_ns = 0, end_ns;

	for (size_t i = 0; i < ctx_jp_length(events) && status == CTX_OK; i++) {
		yajl_val event = ctx_jp_item(events, i);
		double at = ctx_jp_number(ctx_jp_member(event, "at"), NAN);
		uint64_t now_ns;

		if (reading->factor == 0 || !time_of(reading, at, &now_ns) || now_ns < before_ns) {
			reading->model->n_damaged++;
			continue;
		}
		if (open.n != 0)
			status = put(reading, before_ns, now_ns - before_ns, open.nodes[open.n - 1], err);
		before_ns = now_ns;
		if (status == CTX_OK)
			status = step(reading, event, &open, err);
	}
	/* What is open then ends with the profile. */
	if (status == CTX_OK && open.n != 0 && reading->factor != 0 &&
	    time_of(reading, ctx_jp_number(ctx_jp_member(profile, "endValue"), NAN), &end_ns) &&
	    end_ns > before_ns)
		status = put(reading, before_ns, end_ns - before_ns, open.nodes[open.n - 1], err);
	free(open.nodes);
	return status;
}

static enum ctx_status read_profile(struct reading *reading, yajl_val profile, size_t i, struct ctx_err *err)
{
	const struct unit *unit = unit_of(profile);
	const char *name = ctx_jp_text(ctx_jp_member(profile, "name"));
	struct ctx_jp_thread thread = {.name = name[0] != '\0' ? name : "profile",
				       .process = "speedscope",
				       .pid = 1,
				       .tid = (int64_t)i + 1};
	struct ctx_jp_metric metric = {.name = unit->unit == CTX_UNIT_NS      ? "time"
					       : unit->unit == CTX_UNIT_BYTES ? "bytes"
									      : "count",
				       .unit = unit->unit,
				       .kind = unit->unit == CTX_UNIT_NS ? CTX_METRIC_THREAD_TIME
									 : CTX_METRIC_BY_UNIT};
	enum ctx_status status = ctx_jp_metric(reading->model, &metric, &reading->metric, err);

	reading->factor = unit->factor;
	if (status == CTX_OK)
		status = ctx_jp_thread(reading->model, &thread, &reading->thread, err);
	if (status != CTX_OK)
		return status;
	return strcmp(ctx_jp_text(ctx_jp_member(profile, "type")), "evented") == 0
		       ? read_evented(reading, profile, err)
		       : read_sampled(reading, profile, err);
}

enum ctx_status ctx_jp_speedscope(yajl_val root, struct ctx_jp_model *model, struct ctx_err *err)
{
	yajl_val profiles = ctx_jp_member(root, "profiles");
	struct reading reading = {.model = model, .begin = INFINITY};
	enum ctx_status status = add_frames(root, model, err);

	model->format = "speedscope";
	model->exporter = ctx_jp_text(ctx_jp_member(root, "exporter"));
	model->without_times = true;
	for (size_t i = 0; i < ctx_jp_length(profiles); i++) {
		yajl_val profile = ctx_jp_item(profiles, i);
		double begin = ctx_jp_number(ctx_jp_member(profile, "startValue"), 0);

		if (unit_of(profile)->factor != 0) {
			model->without_times = false;
			if (begin <
			    reading.begin) /* one clock and one unit for all, as exporters write them */
				reading.begin = begin;
		}
	}
	for (size_t i = 0; i < ctx_jp_length(profiles) && status == CTX_OK; i++)
		status = read_profile(&reading, ctx_jp_item(profiles, i), i, err);
	ctx_map64_deinit(&reading.nodes);
	if (status == CTX_OK && model->n_threads == 0)
		return ctx_err_set(err, CTX_E_FORMAT, "no profile in it");
	return status;
}
