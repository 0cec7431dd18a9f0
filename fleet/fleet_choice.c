#include "fleet/fleet_choice.h"

#include "base/cursor.h"
#include "fleet/where.h"

#include <inttypes.h>

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_DAY (86400 * NS_PER_S)
#define DAYS_MAX 65535u

void ctx_fleet_choice_deinit(struct ctx_fleet_choice *choice)
{
	ctx_buf_deinit(&choice->pushes);
}

static enum ctx_status check(const struct ctx_fleet_choice_spec *spec, struct ctx_err *err)
{
	const struct ctx_interval *interval = &spec->interval;

	if (!spec->has_interval)
		return CTX_OK;
	if (ctx_interval_is_empty(*interval) || interval->end_ns / NS_PER_S > UINT32_MAX)
		return ctx_err_set(err, CTX_E_ARG, "the interval is empty");
	if (interval->begin_ns % NS_PER_S != 0 || interval->end_ns % NS_PER_S != 0)
		return ctx_err_set(
			err, CTX_E_ARG,
			"the interval must begin and end with a second: the fleet has sums of whole seconds");
	return CTX_OK;
}

/* Of the pushes of one recording the smallest is it: chosen before the terms are asked. */
static enum ctx_status put_question(const struct ctx_fleet_choice_spec *spec, struct ctx_buf *sql,
				    struct ctx_err *err)
{
	struct ctx_buf times CTX_AUTO_BUF = {0};
	enum ctx_status status;

	if (spec->has_interval)
		ctx_buf_printf(&times,
			       "begin_ns < %" PRIu64 " AND end_ns > %" PRIu64
			       " AND day <= toDate(%u) AND day + 32 >= "
			       "toDate(%u) AND ",
			       spec->interval.end_ns, spec->interval.begin_ns,
			       (unsigned)(spec->interval.end_ns / NS_PER_DAY),
			       (unsigned)(spec->interval.begin_ns / NS_PER_DAY));
	ctx_buf_put_u8(&times, '\0');
	status = ctx_buf_check(&times, err);
	if (status != CTX_OK)
		return status;
	ctx_buf_printf(sql, "SELECT push, begin_ns, end_ns, day FROM ctx_recording WHERE %s",
		       (const char *)times.bytes);
	status = ctx_where_put(spec->terms, spec->n_terms, sql, err);
	if (status != CTX_OK)
		return status;
	ctx_buf_printf(
		sql,
		" AND push GLOBAL IN (SELECT min(push) FROM ctx_recording WHERE %s1 GROUP BY recording) "
		"ORDER BY begin_ns, push LIMIT %u",
		(const char *)times.bytes, CTX_FLEET_RECORDINGS_MAX + 1);
	ctx_buf_put_u8(sql, '\0');
	return ctx_buf_check(sql, err);
}

static void take(const struct ctx_fleet_choice_spec *spec, struct ctx_cursor *cursor,
		 struct ctx_fleet_choice *choice)
{
	uint64_t push = ctx_cursor_get_u64(cursor);
	struct ctx_interval run;
	uint16_t day;
	bool is_whole;

	run.begin_ns = ctx_cursor_get_u64(cursor);
	run.end_ns = ctx_cursor_get_u64(cursor);
	day = ctx_cursor_get_u16(cursor);
	is_whole = !spec->has_interval || ctx_interval_contains(spec->interval, run);
	ctx_buf_put_u64(&choice->pushes, push);
	ctx_buf_put_u8(&choice->pushes, is_whole);
	choice->n++;
	choice->n_partial += !is_whole;
	if (run.begin_ns < choice->hull.begin_ns)
		choice->hull.begin_ns = run.begin_ns;
	if (run.end_ns > choice->hull.end_ns)
		choice->hull.end_ns = run.end_ns;
	if (day < choice->first_day)
		choice->first_day = day;
	if (day > choice->last_day)
		choice->last_day = day;
}

static enum ctx_status take_all(const struct ctx_fleet_choice_spec *spec, const struct ctx_buf *answer,
				struct ctx_fleet_choice *choice, struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(answer->bytes, answer->n);

	while (ctx_cursor_left(&cursor) != 0 && !cursor.failed)
		take(spec, &cursor, choice);
	if (cursor.failed)
		return ctx_err_set(err, CTX_E_FORMAT, "the list of recordings is cut");
	if (choice->n > CTX_FLEET_RECORDINGS_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "more than %u recordings are chosen",
				   CTX_FLEET_RECORDINGS_MAX);
	if (choice->n == 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no recording is chosen");
	if (spec->has_interval && spec->interval.begin_ns > choice->hull.begin_ns)
		choice->hull.begin_ns = spec->interval.begin_ns;
	if (spec->has_interval && spec->interval.end_ns < choice->hull.end_ns)
		choice->hull.end_ns = spec->interval.end_ns;
	return ctx_buf_check(&choice->pushes, err);
}

enum ctx_status ctx_fleet_choose(const struct ctx_fleet_server *server,
				 const struct ctx_fleet_choice_spec *spec, struct ctx_fleet_choice *ret,
				 struct ctx_err *err)
{
	struct ctx_fleet_choice choice = {.hull = {UINT64_MAX, 0},
					  .first_day = DAYS_MAX,
					  .has_interval = spec->has_interval,
					  .begin_s = (uint32_t)(spec->interval.begin_ns / NS_PER_S),
					  .end_s = (uint32_t)(spec->interval.end_ns / NS_PER_S)};
	struct ctx_buf sql CTX_AUTO_BUF = {0}, answer CTX_AUTO_BUF = {0};
	enum ctx_status status = check(spec, err);

	if (status == CTX_OK)
		status = put_question(spec, &sql, err);
	if (status == CTX_OK)
		status = ctx_fleet_ask(server, (const char *)sql.bytes, &answer, err);
	if (status == CTX_OK)
		status = take_all(spec, &answer, &choice, err);
	if (status != CTX_OK) {
		ctx_fleet_choice_deinit(&choice);
		return status;
	}
	*ret = choice;
	return CTX_OK;
}

struct ctx_fleet_table ctx_fleet_choice_table(const struct ctx_fleet_choice *choice)
{
	return (struct ctx_fleet_table){
		"chosen", "push UInt64, whole UInt8", {choice->pushes.bytes, choice->pushes.n}};
}

/* The cells of a level from a second up to another one. */
static void put_level(struct ctx_buf *sql, unsigned level, uint32_t begin_s, uint32_t end_s)
{
	if (begin_s < end_s)
		ctx_buf_printf(sql, " OR (level = %u AND begin_s >= %" PRIu32 " AND begin_s < %" PRIu32 ")",
			       level, begin_s, end_s);
}

static uint32_t round_up(uint32_t value, uint32_t step)
{
	return (uint32_t)(((uint64_t)value + step - 1) / step * step);
}

/* Whole minutes in the middle, whole tens of seconds around them, seconds outside: disjoint, and all of the interval. */
static void put_levels(struct ctx_buf *sql, uint32_t begin_s, uint32_t end_s)
{
	uint32_t first_10 = round_up(begin_s, 10), last_10 = end_s / 10 * 10;
	uint32_t first_60 = round_up(begin_s, 60), last_60 = end_s / 60 * 60;

	ctx_buf_put_text(sql, "(0");
	if (first_10 >= last_10) {
		put_level(sql, 1, begin_s, end_s);
	} else {
		put_level(sql, 1, begin_s, first_10);
		put_level(sql, 1, last_10, end_s);
		if (first_60 >= last_60) {
			put_level(sql, 10, first_10, last_10);
		} else {
			put_level(sql, 10, first_10, first_60);
			put_level(sql, 60, first_60, last_60);
			put_level(sql, 10, last_60, last_10);
		}
	}
	ctx_buf_put_u8(sql, ')');
}

void ctx_fleet_choice_put_cells(const struct ctx_fleet_choice *choice, struct ctx_buf *sql)
{
	ctx_buf_printf(sql, "day >= toDate(%u) AND day <= toDate(%u) AND ", choice->first_day,
		       choice->last_day);
	if (choice->n_partial == 0) {
		ctx_buf_put_text(sql, "level = 0 AND push GLOBAL IN (SELECT push FROM chosen)");
		return;
	}
	ctx_buf_put_text(sql,
			 "((level = 0 AND push GLOBAL IN (SELECT push FROM chosen WHERE whole = 1)) OR (");
	put_levels(sql, choice->begin_s, choice->end_s);
	ctx_buf_put_text(sql, " AND push GLOBAL IN (SELECT push FROM chosen WHERE whole = 0)))");
}

void ctx_fleet_choice_put_sums(const struct ctx_fleet_choice *choice, struct ctx_buf *sql)
{
	if (choice->n_partial == 0)
		ctx_buf_put_text(sql, "sum(weight), sum(samples), sum(calls)");
	else
		ctx_buf_printf(sql,
			       "sum(weight), sum(toInt64(samples) - if(level != 0 AND begin_s > %" PRIu32
			       ", toInt64(carried), 0)), sum(calls - if(level != 0 AND begin_s > %" PRIu32
			       ", carried_calls, 0))",
			       choice->begin_s, choice->begin_s);
}

enum ctx_status ctx_fleet_choice_ask(const struct ctx_fleet_choice *choice,
				     const struct ctx_fleet_server *server, struct ctx_buf *sql,
				     struct ctx_buf *answer, struct ctx_err *err)
{
	enum ctx_status status;

	ctx_buf_put_u8(sql, '\0');
	status = ctx_buf_check(sql, err);
	if (status != CTX_OK)
		return status;
	return server->ask(server->context,
			   &(struct ctx_fleet_request){.sql = (const char *)sql->bytes,
						       .table = ctx_fleet_choice_table(choice)},
			   answer, err);
}
