#include "formats/gprofng/gp_labels.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define LABELS_MAX 1000u
#define TIME_MAX ((int64_t)1 << 60)

void ctx_gp_intervals_deinit(struct ctx_gp_intervals *intervals)
{
	ctx_arena_deinit(&intervals->arena);
	free(intervals->items);
	*intervals = (struct ctx_gp_intervals){0};
}

/* The interval of a name; a new one is added. NULL: no memory, or too many. */
static struct ctx_gp_interval *find(struct ctx_gp_intervals *intervals, const char *name)
{
	for (size_t i = 0; i < intervals->n; i++) {
		if (strcmp(intervals->items[i].name, name) == 0)
			return &intervals->items[i];
	}
	if (intervals->n == LABELS_MAX ||
	    ctx_grow(&intervals->items, &intervals->cap, intervals->n + 1, NULL) != CTX_OK)
		return NULL;
	name = ctx_arena_strdup(&intervals->arena, name);
	if (name == NULL)
		return NULL;
	intervals->items[intervals->n] = (struct ctx_gp_interval){.name = name, .comment = ""};
	return &intervals->items[intervals->n++];
}

/*
 * The time of a mark: as given (relative 0), or relative to the beginning of another experiment. On
 * the same host the monotonic clocks are compared, otherwise the wall clocks. False: unknown.
 */
static bool take_time(const struct ctx_gp_tag *tag, const struct ctx_gp_log *log, int64_t *ret)
{
	const char *host = ctx_gp_tag_text(tag, "hostname");
	uint64_t relative = 0, seconds = 0;
	int64_t mark = 0, start = 0;

	ctx_gp_tag_number(tag, "relative", &relative);
	if (!ctx_gp_tag_time(tag, "lbl_ts", &mark) || mark > TIME_MAX || mark < -TIME_MAX)
		return false;
	*ret = mark;
	if (relative == 0)
		return true;
	if (!ctx_gp_tag_time(tag, "tstamp", &start) || start > TIME_MAX || start < 0)
		return false;
	if (host != NULL && strcmp(host, log->machine.host) == 0)
		*ret = mark + (start - log->times.run_ns);
	else if (ctx_gp_tag_number(tag, "time", &seconds) && seconds <= INT32_MAX)
		*ret = mark + ((int64_t)seconds - log->times.run_unix) * 1000000000;
	if (*ret < 0)
		*ret = 0;
	return true;
}

/* The first start counts, and the last stop after it. */
static void take_mark(struct ctx_gp_interval *interval, const char *command, int64_t time)
{
	if (strncmp(command, "start", 5) == 0) {
		if (!interval->has_begin)
			interval->begin_ns = time;
		interval->has_begin = true;
	} else if (interval->has_begin) {
		interval->end_ns = time;
		interval->has_end = true;
	}
}

static enum ctx_status on_label(struct ctx_gp_intervals *intervals, const struct ctx_gp_tag *tag,
				const struct ctx_gp_log *log, struct ctx_err *err)
{
	const char *name = ctx_gp_tag_text(tag, "name"), *command = ctx_gp_tag_text(tag, "cmd"),
		   *comment = ctx_gp_tag_text(tag, "comment");
	struct ctx_gp_interval *interval;
	int64_t time = 0;

	if (name == NULL || ctx_gp_tag_text(tag, "hostname") == NULL ||
	    (command == NULL && comment == NULL) || (command != NULL && !take_time(tag, log, &time))) {
		intervals->damaged++;
		return CTX_OK;
	}
	interval = find(intervals, name);
	if (interval == NULL && intervals->n == LABELS_MAX) {
		intervals->damaged++;
		return CTX_OK;
	}
	if (interval == NULL)
		return ctx_err_nomem(err);
	if (command != NULL)
		take_mark(interval, command, time);
	if (comment != NULL && interval->comment[0] == '\0')
		interval->comment = ctx_arena_strdup(&intervals->arena, comment);
	return interval->comment != NULL ? CTX_OK : ctx_err_nomem(err);
}

enum ctx_status ctx_gp_intervals_parse(struct ctx_gp_intervals *intervals, struct ctx_gp_xml *xml,
				       const struct ctx_gp_log *log, struct ctx_err *err)
{
	struct ctx_gp_tag tag = {0};
	struct ctx_err why = {0};
	enum ctx_status status;

	while ((status = ctx_gp_xml_next(xml, &tag, &why)) != CTX_END) {
		if (status == CTX_E_FORMAT) {
			intervals->damaged++;
			continue;
		}
		if (status < 0)
			return ctx_err_set(err, status, "%s", why.msg);
		if (tag.closes || strcmp(tag.name, "id") != 0)
			continue;
		status = on_label(intervals, &tag, log, err);
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}
