/*
 * The reports as SQL. The statements use :begin_ns, :end_ns, :metric and :threads (a text like
 * '0,3', or NULL for all).
 */
#include "store/store.h"

#include "base/buf.h"
#include "base/mem.h"

#include <inttypes.h>
#include <string.h>

#define ARGUMENTS "(:begin_ns, :end_ns, :metric, :threads)"
#define THREAD_IS_SELECTED "(:threads IS NULL OR instr(',' || :threads || ',', ',' || t.id || ',') > 0)"
/* The metric, or the parts of a sum; of durations only the part inside the interval. */
#define IS_PART                                                                                              \
	"instr((SELECT ',' || coalesce(parts, id) || ',' FROM metric WHERE id = :metric), ',' || m.id || "   \
	"',') > 0"
#define SUMS_OF_THREAD                                                                                       \
	"LEFT JOIN (SELECT thread, count(*) AS n, sum(weight) AS weight FROM (\n"                            \
	"  SELECT s.thread, s.weight FROM metric AS m CROSS JOIN samples AS s ON s.metric = m.id "           \
	"AND s.time_ns >= :begin_ns AND s.time_ns < :end_ns WHERE NOT m.spans AND " IS_PART "\n"             \
	"  UNION ALL SELECT s.thread, min(s.time_ns + 1, :end_ns) - max(s.time_ns + 1 - s.weight, "          \
	":begin_ns) FROM metric AS m CROSS JOIN samples AS s ON s.metric = m.id AND s.time_ns >= :begin_ns " \
	"AND s.time_ns + 1 - s.weight < :end_ns WHERE m.spans AND " IS_PART ") GROUP BY thread) AS s "       \
	"ON s.thread = t.id"

static const struct {
	const char *report, *sql;
} texts[] = {
	{"functions",
	 "SELECT function, object, exclusive, inclusive, exclusive_samples, inclusive_samples FROM (\n"
	 "  SELECT -1 AS id, function, object, cum AS exclusive, cum AS inclusive, cum_samples AS "
	 "exclusive_samples, "
	 "cum_samples AS inclusive_samples FROM call_tree" ARGUMENTS " WHERE parent IS NULL\n"
	 "  UNION ALL SELECT id, function, object, exclusive, inclusive, exclusive_samples, "
	 "inclusive_samples "
	 "FROM functions" ARGUMENTS ")\n"
	 "ORDER BY id >= 0, exclusive DESC, inclusive DESC, id;"},
	{"tree",
	 "SELECT level, recursion_level, function, object, calls, base, cum, base_samples, cum_samples\n"
	 "FROM call_tree" ARGUMENTS " ORDER BY rowid;"},
	{"stacks",
	 "SELECT c.base AS exclusive, c.base_samples AS samples, (\n"
	 "  WITH RECURSIVE up(id, depth, function) AS (SELECT id, depth, function FROM stack WHERE id = "
	 "c.id\n"
	 "    UNION ALL SELECT k.id, k.depth, k.function FROM up JOIN stack AS child ON child.id = up.id "
	 "JOIN stack AS k ON k.id = child.parent)\n"
	 "  SELECT group_concat(name, ';') FROM (SELECT f.name FROM up JOIN function AS f ON f.id = "
	 "up.function "
	 "ORDER BY up.depth)) AS frames\n"
	 "FROM call_tree" ARGUMENTS " AS c WHERE c.base_samples > 0 ORDER BY c.base DESC, c.id;"},
	{"threads",
	 "SELECT p.pid AS process, t.tid AS thread, t.name, t.begin_ns AS \"begin\", t.end_ns AS \"end\", "
	 "coalesce(s.n, 0) AS samples, coalesce(s.weight, 0) AS weight\n"
	 "FROM thread AS t JOIN process AS p ON p.id = t.process " SUMS_OF_THREAD "\n"
	 "WHERE " THREAD_IS_SELECTED " ORDER BY t.id;"},
	{"processes",
	 "SELECT p.pid AS process, parent.pid AS parent, p.command, p.begin_ns AS \"begin\", p.end_ns AS "
	 "\"end\", "
	 "p.exit_status, coalesce(sum(s.n), 0) AS samples, coalesce(sum(s.weight), 0) AS weight\n"
	 "FROM process AS p LEFT JOIN process AS parent ON parent.id = p.parent LEFT JOIN thread AS t "
	 "ON t.process = p.id AND " THREAD_IS_SELECTED " " SUMS_OF_THREAD "\nGROUP BY p.id ORDER BY p.id;"},
	{"overview", "SELECT p.pid, u.* FROM usage AS u JOIN process AS p ON p.id = u.process\n"
		     "WHERE u.time_ns >= :begin_ns AND u.time_ns < :end_ns ORDER BY u.id;"},
	{"header", "SELECT key, value FROM (SELECT 0 AS part, id, key, value FROM property\n"
		   "  UNION ALL SELECT 1, 0, key, value FROM experiment) ORDER BY part, id, key;"},
};

static const char *report_sql(const char *report)
{
	for (size_t i = 0; i < CTX_COUNT_OF(texts); i++) {
		if (strcmp(texts[i].report, report) == 0)
			return texts[i].sql;
	}
	return NULL;
}

/* Times beyond SQL's largest integer are clamped to it. */
static uint64_t in_sql(uint64_t time_ns)
{
	return time_ns < INT64_MAX ? time_ns : INT64_MAX;
}

static void put_threads(struct ctx_buf *out, const uint32_t *threads, size_t n)
{
	if (threads == NULL) {
		ctx_buf_put_text(out, "NULL");
		return;
	}
	for (size_t i = 0; i < n; i++)
		ctx_buf_printf(out, "%c%" PRIu32, i == 0 ? '\'' : ',', threads[i]);
	ctx_buf_put_text(out, n == 0 ? "''" : "'");
}

char *ctx_store_show_sql(const char *report, const struct ctx_sql_arguments *arguments)
{
	const char *sql = report_sql(report);
	struct ctx_buf out = {0};

	if (sql == NULL)
		return NULL;
	while (*sql != '\0') {
		size_t n = *sql == ':' ? 1 + strspn(sql + 1, "abcdefghijklmnopqrstuvwxyz_") : 1;

		if (n == 1)
			ctx_buf_put(&out, sql, 1);
		else if (strncmp(sql, ":begin_ns", n) == 0)
			ctx_buf_printf(&out, "%" PRIu64, in_sql(arguments->interval.begin_ns));
		else if (strncmp(sql, ":end_ns", n) == 0)
			ctx_buf_printf(&out, "%" PRIu64, in_sql(arguments->interval.end_ns));
		else if (strncmp(sql, ":metric", n) == 0)
			ctx_buf_printf(&out, "%" PRIu32, arguments->metric);
		else
			put_threads(&out, arguments->threads, arguments->n_threads);
		sql += n;
	}
	ctx_buf_put_u8(&out, 0);
	if (ctx_buf_check(&out, NULL) == CTX_OK)
		return (char *)out.bytes;
	ctx_buf_deinit(&out);
	return NULL;
}
