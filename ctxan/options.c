#include "ctxan/options.h"

#include "base/mem.h"
#include "base/near.h"
#include "ctxan/export_kinds.h"
#include "ctxan/gprofng_names.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <string.h>

enum {
	OPT_PROCESS = 256,
	OPT_CPU,
	OPT_FILTER,
	OPT_BY,
	OPT_INDEX,
	OPT_LIMIT,
	OPT_SORT,
	OPT_FORMAT,
	OPT_METRIC,
	OPT_PER_THREAD,
	OPT_FUNCTION,
	OPT_MIN_PERCENT,
	OPT_COVERAGE,
	OPT_EXACT,
	OPT_DB,
	OPT_NO_TAIL,
	OPT_LEAF,
	OPT_FANOUT,
	OPT_PERCENT,
	OPT_PRUNE,
	OPT_REINGEST,
	OPT_NO_INLINES,
	OPT_SYMFS,
	OPT_DEBUG_ROOT,
	OPT_BUILDID_DIR,
	OPT_EXPORT,
	OPT_MAX_SIZE,
	OPT_SQL,
	OPT_SHOW_SQL,
	OPT_EXPLAIN,
	OPT_WIDTH,
	OPT_ASCII,
};

static const struct option long_options[] = {
	{"report", required_argument, NULL, 'r'},
	{"interval", required_argument, NULL, 'i'},
	{"thread", required_argument, NULL, 't'},
	{"process", required_argument, NULL, OPT_PROCESS},
	{"cpu", required_argument, NULL, OPT_CPU},
	{"filter", required_argument, NULL, OPT_FILTER},
	{"filters", required_argument, NULL, OPT_FILTER}, /* gprofng's word */
	{"by", required_argument, NULL, OPT_BY},
	{"index", required_argument, NULL, OPT_INDEX},
	{"limit", required_argument, NULL, OPT_LIMIT},
	{"sort", required_argument, NULL, OPT_SORT},
	{"format", required_argument, NULL, OPT_FORMAT},
	{"metric", required_argument, NULL, OPT_METRIC},
	{"metrics", required_argument, NULL, OPT_METRIC}, /* gprofng's word */
	{"per-thread", no_argument, NULL, OPT_PER_THREAD},
	{"function", required_argument, NULL, OPT_FUNCTION},
	{"min-percent", required_argument, NULL, OPT_MIN_PERCENT},
	{"coverage", required_argument, NULL, OPT_COVERAGE},
	{"exact", no_argument, NULL, OPT_EXACT},
	{"output", required_argument, NULL, 'o'},
	{"db", required_argument, NULL, OPT_DB},
	{"no-tail", no_argument, NULL, OPT_NO_TAIL},
	{"leaf-samples", required_argument, NULL, OPT_LEAF},
	{"fanout", required_argument, NULL, OPT_FANOUT},
	{"percent", required_argument, NULL, OPT_PERCENT},
	{"prune", required_argument, NULL, OPT_PRUNE},
	{"reingest", no_argument, NULL, OPT_REINGEST},
	{"no-inlines", no_argument, NULL, OPT_NO_INLINES},
	{"symfs", required_argument, NULL, OPT_SYMFS},
	{"debug-root", required_argument, NULL, OPT_DEBUG_ROOT},
	{"buildid-dir", required_argument, NULL, OPT_BUILDID_DIR},
	{"export", required_argument, NULL, OPT_EXPORT},
	{"max-size", required_argument, NULL, OPT_MAX_SIZE},
	{"sql", required_argument, NULL, OPT_SQL},
	{"show-sql", no_argument, NULL, OPT_SHOW_SQL},
	{"explain", no_argument, NULL, OPT_EXPLAIN},
	{"width", required_argument, NULL, OPT_WIDTH},
	{"ascii", no_argument, NULL, OPT_ASCII},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

void ctx_options_help(FILE *out)
{
	fputs("Usage: ctxan [EXPERIMENT|PERF.DATA|DATABASE|- ...] [options]\n"
	      "\n"
	      "Reports on recordings made with ctxrec, perf record or gprofng collect app, for the whole\n"
	      "run or any interval of it.\n"
	      "Without an argument: the newest *.er or perf.data in the current directory. - is a perf.data "
	      "on\n"
	      "standard input.\n"
	      "The first use of a recording ingests it into EXPERIMENT/ctxan.db or PERF.DATA.ctxan.db; later "
	      "uses\n"
	      "open that at once.\n"
	      "\n"
	      "What to show:\n"
	      "  -r, --report KIND[,KIND...]  default: header, the ten hottest functions, the hottest "
	      "stacks\n",
	      out);
	for (const struct ctx_report_kind *kind = ctx_report_kinds(); kind->name != NULL; kind++)
		fprintf(out, "        %-18s     %s\n", kind->name, kind->summary);
	fputs("        and by gprofng's names: calltree, csingle=FUNC, heapstat, iostat, sample_detail, "
	      "...\n",
	      out);
	fputs("  -i, --interval BEGIN:END     part of the run; plain numbers are milliseconds; 1.5s, 250us, "
	      "30% and\n"
	      "                               an empty end (300:) work too; may be repeated\n"
	      "  -t, --thread LIST            threads by number (0,2-5), tid (1234 or tid:1234) or name\n"
	      "      --process LIST           processes by number, pid (1234 or pid:1234) or command\n"
	      "      --cpu LIST               samples taken on these processors (0,2-5)\n"
	      "      --filter EXPRESSION      samples that it is true for: 'THRID==2 && TSTAMP>5e8', 'LEAF "
	      "IN "
	      "\"burn\"',\n"
	      "                               'STACK SOME IN \"work_.*\"' (docs/filters.md); may be "
	      "repeated: all of them\n"
	      "      --by KEY                 the report index: weight by thread, process, cpu, second, "
	      "state, metric,\n"
	      "                               a name of --index, or an expression such as DEPTH/10\n"
	      "      --index NAME=EXPRESSION  a name for --by: ms=TSTAMP/1000000; may be repeated\n"
	      "      --metric NAME[,NAME...]  default: the first that has samples; cpu-clock also finds "
	      "cpu-clock:u;\n"
	      "                               thread states: user, system, wait-cpu, lock, text-fault, "
	      "data-fault,\n"
	      "                               other-wait, wall; several stand side by side (functions, "
	      "tree,\n"
	      "                               callers-callees); gprofng's e.totalcpu:i.totalcpu too\n"
	      "      --per-thread             one tree (or list) for each thread instead of one for all\n"
	      "      --function NAME          only stanzas, stacks and subtrees with this function; "
	      "parameters may be left out\n"
	      "      --min-percent P          tree: leave out nodes below P percent (they are summed)\n"
	      "      --limit N                rows at the most; 0: all\n"
	      "      --sort KEY               order by this key (any key of --format json)\n"
	      "      --coverage top|exact     top: read only the heaviest stacks of each node, state what is "
	      "left out\n"
	      "      --exact                  the same as --coverage exact, the default\n"
	      "\n"
	      "How to print it:\n"
	      "      --format text|json|csv\n"
	      "  -o, --output FILE            instead of standard output\n"
	      "      --width N                columns of text; default: the terminal's, or 120\n"
	      "      --ascii                  no Unicode drawing\n"
	      "      --explain                say how the answer was made: nodes visited, blocks and bytes "
	      "read, time\n"
	      "  -q, --quiet                  no progress, no remarks\n"
	      "\n"
	      "Export, for other tools:\n"
	      "      --export FORMAT          write the selection to -o FILE in this format:\n",
	      out);
	for (size_t i = 0; ctx_export_kind_at(i) != NULL; i++)
		fprintf(out, "        %-18s     %s\n", ctx_export_kind_at(i)->name,
			ctx_export_kind_at(i)->summary);
	fputs("        json, csv              the reports of --report, as with --format\n"
	      "      --max-size N             of a page: 5M, 800k\n"
	      "\n"
	      "SQL:\n"
	      "      --sql STATEMENT          run a query on the database (docs/schema.md)\n"
	      "      --show-sql               print the query that gives a report's numbers, instead of the "
	      "report\n"
	      "\n"
	      "Ingest:\n"
	      "      --db FILE                keep the database there\n"
	      "      --reingest               ingest again even if nothing changed\n"
	      "      --leaf-samples M         time tree: a node with fewer samples is a leaf\n"
	      "      --fanout N               time tree: children of a node\n"
	      "      --percent P              time tree: share of the samples that a node's top list covers "
	      "(95)\n"
	      "      --prune residual|cascade time tree: exact (the default), or drop at each node what its "
	      "list leaves out\n"
	      "      --no-tail                keep the top lists only: a smaller database that knows what it "
	      "leaves out\n"
	      "      --no-inlines             inlined functions count as those that they are inlined into\n"
	      "      --symfs DIR              look for load objects and debug files below DIR\n"
	      "      --debug-root DIR         where separate debug files are (/usr/lib/debug)\n"
	      "      --buildid-dir DIR|TAR    load objects by build id, as perf keeps (~/.debug) or packs "
	      "them "
	      "(perf\n"
	      "                               archive); for perf.data FILE, FILE.tar.bz2 and ~/.debug are "
	      "looked at\n"
	      "                               after those given; may be repeated\n"
	      "\n"
	      "  -h, --help   -V, --version\n"
	      "\n"
	      "Examples:\n"
	      "  ctxrec -- ./app                            record into app.1.er\n"
	      "  ctxan app.1.er --report tree               the call tree of the whole run\n"
	      "  ctxan --interval 300:700                   what ran between 300 and 700 ms of the newest "
	      "recording\n"
	      "  perf record -g -- ./app                    record into perf.data\n"
	      "  ctxan perf.data --report tree\n"
	      "  perf record -g -o - -- ./app | ctxan -     without a file\n"
	      "  ctxan app.1.er -r callers-callees --function solve -i 50%:\n"
	      "  ctxan app.1.er -r functions --format json --thread 0,2\n"
	      "  ctxan app.1.er -r states,wakers            what the threads waited for, and who woke them\n"
	      "  ctxan app.1.er -r tree --metric user,lock,wait-cpu,wall\n"
	      "  ctxan app.1.er -r functions --filter 'LEAF IN \"memcpy.*\" && CPUID==0'\n"
	      "  ctxan app.1.er --by TSTAMP/100000000       by tenths of a second\n"
	      "  ctxan app.1.er --sql 'select * from functions limit 5'\n"
	      "\n"
	      "Exit status: 0 ok, 1 wrong input or usage, 2 internal or I/O error.\n",
	      out);
}

static enum ctx_status append(const char ***list, size_t *n, size_t *cap, const char *item,
			      struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(list, cap, *n + 1, err);

	if (status == CTX_OK)
		(*list)[(*n)++] = item;
	return status;
}

static enum ctx_status parse_number(const char *name, const char *text, uint32_t min, uint32_t max,
				    uint32_t *ret, struct ctx_err *err)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || value < min || value > max)
		return ctx_err_set(err, CTX_E_ARG, "--%s '%s': a number from %u to %u is wanted", name, text,
				   min, max);
	*ret = (uint32_t)value;
	return CTX_OK;
}

/* "5M", "800k", "2500000" */
static enum ctx_status parse_size(const char *text, size_t *ret, struct ctx_err *err)
{
	static const char units[] = "kMG";
	char *end;
	unsigned long value;
	const char *unit;

	errno = 0;
	value = strtoul(text, &end, 10);
	unit = *end != '\0' ? strchr(units, *end) : NULL;
	for (ptrdiff_t i = unit != NULL ? unit - units + 1 : 0; i > 0; i--)
		value = value <= SIZE_MAX / 1024 ? value * 1024 : 0;
	if (!isdigit((unsigned char)text[0]) || errno != 0 || value == 0 ||
	    (*end != '\0' && (unit == NULL || end[1] != '\0')))
		return ctx_err_set(err, CTX_E_ARG, "--max-size '%s': a number of bytes like 5M is wanted",
				   text);
	*ret = value;
	return CTX_OK;
}

static enum ctx_status parse_percent(const char *text, double *ret, struct ctx_err *err)
{
	char *end;
	double value = strtod(text, &end);

	if (*end == '%')
		end++;
	if (end == text || *end != '\0' || !(value >= 0 && value <= 100))
		return ctx_err_set(err, CTX_E_ARG, "--min-percent '%s': a number from 0 to 100 is wanted",
				   text);
	*ret = value;
	return CTX_OK;
}

/* One of the words of `choices` (NULL ends them); `*ret` is its position. */
static enum ctx_status parse_choice(const char *name, const char *text, const char *const *choices, int *ret,
				    struct ctx_err *err)
{
	char known[128] = "";

	for (int i = 0; choices[i] != NULL; i++) {
		size_t used = strlen(known);

		if (strcmp(text, choices[i]) == 0) {
			*ret = i;
			return CTX_OK;
		}
		snprintf(known + used, sizeof(known) - used, "%s%s", i != 0 ? ", " : "", choices[i]);
	}
	return ctx_err_set(err, CTX_E_ARG, "--%s '%s' is not known (%s)", name, text, known);
}

/* What stands behind the name of a report: "=SUBJECT" up to the end of the text, for the kinds that have one. */
static enum ctx_status parse_subject(struct ctx_option_report *report, const char *text, bool is_function,
				     struct ctx_err *err)
{
	if (*text != '=')
		return CTX_OK;
	if (!report->kind->takes_subject && !is_function)
		return ctx_err_set(err, CTX_E_ARG, "the report '%s' takes no '%s'", report->kind->name, text);
	if (text[1] == '\0')
		return ctx_err_set(err, CTX_E_ARG, "--report %s= wants a name behind it", report->kind->name);
	*(is_function ? &report->function : &report->subject) = text + 1;
	return CTX_OK;
}

/* "cpus", "indxobj=KEY" */
static enum ctx_status parse_index(struct ctx_option_report *report, const char *name, const char *text,
				   struct ctx_err *err)
{
	if (*report->by != '\0')
		return *text != '='
			       ? CTX_OK
			       : ctx_err_set(err, CTX_E_ARG, "the report '%s' takes no '%s'", name, text);
	if (text[0] != '=' || text[1] == '\0')
		return ctx_err_set(err, CTX_E_ARG, "--report %s=KEY wants what --by does", name);
	report->by = text + 1;
	return CTX_OK;
}

/*
 * "functions,tree", "lines,source=FUNC". A subject goes to the end of the argument, because names of functions have commas
 * ("map<int, int>::at").
 */
static enum ctx_status parse_reports(struct ctx_options *options, const char *text, struct ctx_err *err)
{
	while (*text != '\0') {
		size_t n = strcspn(text, ",=");
		struct ctx_option_report report = {0};
		bool is_function = false;
		char name[64];
		enum ctx_status status;

		if (n < sizeof(name)) {
			memcpy(name, text, n);
			name[n] = '\0';
			report.kind = ctx_report_find(name);
			if (report.kind == NULL)
				report.kind = ctx_report_find_alias(name, &is_function);
		}
		if (report.kind == NULL && n < sizeof(name) && (report.by = ctx_gprofng_index(name)) != NULL)
			report.kind = ctx_report_find("index");
		if (report.kind == NULL)
			return ctx_gprofng_refuse_report(text, n, err);
		status = report.by != NULL ? parse_index(&report, name, text + n, err)
					   : parse_subject(&report, text + n, is_function, err);
		if (status == CTX_OK)
			status = ctx_grow(&options->reports, &options->reports_cap, options->n_reports + 1,
					  err);
		if (status != CTX_OK)
			return status;
		options->reports[options->n_reports++] = report;
		if (report.subject != NULL || report.function != NULL ||
		    (report.by != NULL && text[n] == '='))
			break;
		text += n + (text[n] == ',');
	}
	return options->n_reports != 0 ? CTX_OK : ctx_err_set(err, CTX_E_ARG, "--report wants a name");
}

static enum ctx_status parse_tree_option(struct ctx_options *options, int option, const char *value,
					 struct ctx_err *err)
{
	static const char *const modes[] = {"residual", "cascade", NULL};
	enum ctx_status status = CTX_OK;
	int choice = 0;

	options->tree_given = true;
	switch (option) {
	case OPT_NO_TAIL:
		options->tree.keep_tail = false;
		break;
	case OPT_LEAF:
		status = parse_number("leaf-samples", value, 1, 1u << 24, &options->tree.leaf_samples, err);
		break;
	case OPT_FANOUT:
		status = parse_number("fanout", value, 2, 256, &options->tree.fanout, err);
		break;
	case OPT_PERCENT:
		status = parse_number("percent", value, 1, 100, &options->tree.percent, err);
		break;
	default:
		status = parse_choice("prune", value, modes, &choice, err);
		options->tree.mode = choice == 1 ? CTX_TIMETREE_CASCADE : CTX_TIMETREE_RESIDUAL;
		break;
	}
	return status;
}

static enum ctx_status parse_report_option(struct ctx_options *options, int option, const char *value,
					   struct ctx_err *err)
{
	static const char *const formats[] = {"text", "json", "csv", NULL};
	static const char *const coverages[] = {"exact", "top", NULL};
	struct ctx_report_options *report = &options->report;
	enum ctx_status status = CTX_OK;
	int choice = 0;

	switch (option) {
	case OPT_LIMIT:
		options->limit_given = true;
		status = parse_number("limit", value, 0, UINT32_MAX - 1, &report->limit, err);
		report->whole = report->limit == 0;
		return status;
	case OPT_WIDTH:
		return parse_number("width", value, 40, 10000, &report->width, err);
	case OPT_MIN_PERCENT:
		return parse_percent(value, &report->min_percent, err);
	case OPT_FORMAT:
		status = parse_choice("format", value, formats, &choice, err);
		report->format = (enum ctx_report_format)choice;
		return status;
	case OPT_COVERAGE:
		status = parse_choice("coverage", value, coverages, &choice, err);
		options->top_only = choice == 1;
		return status;
	case OPT_EXACT:
		options->top_only = false;
		return CTX_OK;
	case OPT_SORT:
		report->sort = value;
		return CTX_OK;
	case OPT_FUNCTION:
		report->function = value;
		return CTX_OK;
	default:
		report->ascii = true;
		return CTX_OK;
	}
}

static enum ctx_status parse_option(struct ctx_options *options, int option, const char *value,
				    struct ctx_err *err)
{
	switch (option) {
	case 'r':
		return parse_reports(options, value, err);
	case 'i':
		return append(&options->selection.intervals, &options->selection.n_intervals,
			      &options->selection.intervals_cap, value, err);
	case 't':
		options->selection.threads = value;
		break;
	case OPT_PROCESS:
		options->selection.processes = value;
		break;
	case OPT_CPU:
		options->selection.cpus = value;
		break;
	case OPT_FILTER:
		return append(&options->selection.filters, &options->selection.n_filters,
			      &options->selection.filters_cap, value, err);
	case OPT_INDEX:
		return append(&options->selection.indexes, &options->selection.n_indexes,
			      &options->selection.indexes_cap, value, err);
	case OPT_BY:
		options->selection.by = value;
		break;
	case OPT_METRIC:
		options->selection.metric = value;
		break;
	case OPT_PER_THREAD:
		options->per_thread = options->report.per_thread = true;
		break;
	case 'o':
		options->output = strcmp(value, "-") != 0 ? value : NULL; /* as elsewhere: standard output */
		break;
	case OPT_DB:
		options->db = value;
		break;
	case OPT_REINGEST:
		options->reingest = true;
		break;
	case OPT_NO_INLINES:
		options->no_inlines = true;
		break;
	case OPT_SYMFS:
		options->symfs = value;
		break;
	case OPT_DEBUG_ROOT:
		options->debug_root = value;
		break;
	case OPT_BUILDID_DIR:
		return append(&options->caches, &options->n_caches, &options->caches_cap, value, err);
	case OPT_EXPORT:
		/* Reports have these formats already. */
		if (strcmp(value, "json") == 0 || strcmp(value, "csv") == 0) {
			options->report.format = value[0] == 'j' ? CTX_REPORT_JSON : CTX_REPORT_CSV;
			break;
		}
		options->export = ctx_export_kind_find(value);
		if (options->export == NULL)
			return ctx_err_set(err, CTX_E_ARG, "--export %s: no such format (see --help)", value);
		break;
	case OPT_MAX_SIZE:
		return parse_size(value, &options->max_size, err);
	case OPT_SQL:
		options->sql = value;
		break;
	case OPT_SHOW_SQL:
		options->show_sql = true;
		break;
	case OPT_EXPLAIN:
		options->explain = true;
		break;
	case 'q':
		options->quiet = true;
		break;
	case 'h':
		options->help = true;
		break;
	case 'V':
		options->version = true;
		break;
	case OPT_NO_TAIL:
	case OPT_LEAF:
	case OPT_FANOUT:
	case OPT_PERCENT:
	case OPT_PRUNE:
		return parse_tree_option(options, option, value, err);
	default:
		return parse_report_option(options, option, value, err);
	}
	return CTX_OK;
}

static enum ctx_status refuse_long(const char *word, struct ctx_err *err)
{
	size_t n = strcspn(word, "=");
	struct ctx_near near = {0};

	for (const struct option *option = long_options; option->name != NULL && n > 2; option++)
		ctx_near_consider(&near, option->name, strlen(option->name), word + 2, n - 2);
	return ctx_err_set(err, CTX_E_ARG, "unknown option '%.*s'%s%s (see --help)",
			   (int)(n < CTX_ERR_MAX / 4 ? n : CTX_ERR_MAX / 4), word,
			   near.n != 0 ? ", perhaps --" : "", near.n != 0 ? near.names[0] : "");
}

/* getopt's own messages come in two lines and go to stderr; ours is one line in `err`. */
static enum ctx_status usage_error(int argc, char **argv, int option, struct ctx_err *err)
{
	const char *word = optind > 0 && optind <= argc ? argv[optind - 1] : "";

	if (option == ':')
		return ctx_err_set(err, CTX_E_ARG, "option '%s' needs a value (see --help)", word);
	if (optopt != 0 && optopt < 256)
		return ctx_err_set(err, CTX_E_ARG, "unknown option '-%c' (see --help)", optopt);
	if (optopt != 0)
		return ctx_err_set(err, CTX_E_ARG, "option '%s' takes no value (see --help)", word);
	return refuse_long(word, err);
}

static size_t n_standard_inputs(const struct ctx_options *options)
{
	size_t n = 0;

	for (size_t i = 0; i < options->n_inputs; i++)
		n += strcmp(options->inputs[i], "-") == 0;
	return n;
}

bool ctx_options_has_report(const struct ctx_options *options, const char *name)
{
	for (size_t i = 0; i < options->n_reports; i++) {
		if (strcmp(options->reports[i].kind->name, name) == 0)
			return true;
	}
	return false;
}

/* "out.er", "out.er/" */
static bool is_named_like(const char *path, const char *suffix)
{
	size_t n = path != NULL ? strlen(path) : 0, ending = strlen(suffix);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return n > ending && path[n - ending - 1] != '/' && strncmp(path + n - ending, suffix, ending) == 0;
}

/* What selects, and would be passed over: the answer would be of more than was asked for. */
static enum ctx_status check_selecting(const struct ctx_options *options, struct ctx_err *err)
{
	static const char instead[] = "--filter 'STACK SOME IN \"NAME\"' does it";

	if (options->sql != NULL &&
	    (options->selection.n_intervals != 0 || options->selection.threads != NULL ||
	     options->selection.processes != NULL || options->selection.cpus != NULL ||
	     options->selection.n_filters != 0 || options->selection.metric != NULL ||
	     options->report.function != NULL))
		return ctx_err_set(
			err, CTX_E_ARG,
			"--sql selects by itself: it goes without --interval, --thread, --process, "
			"--cpu, --filter, --metric and --function");
	if (options->export != NULL && options->report.function != NULL)
		return ctx_err_set(err, CTX_E_ARG, "--export %s goes without --function: %s",
				   options->export->name, instead);
	for (size_t i = 0; i < options->n_reports && options->report.function != NULL; i++) {
		if (options->reports[i].kind->any_function)
			return ctx_err_set(err, CTX_E_ARG, "the report '%s' goes without --function: %s",
					   options->reports[i].kind->name, instead);
	}
	return CTX_OK;
}

static enum ctx_status check_export(const struct ctx_options *options, struct ctx_err *err)
{
	const struct ctx_export_kind *kind = options->export;

	if (kind == NULL)
		return options->max_size == 0
			       ? CTX_OK
			       : ctx_err_set(err, CTX_E_ARG, "--max-size goes with --export html");
	if (!kind->whole_run && options->n_reports != 0)
		return ctx_err_set(err, CTX_E_ARG, "--export %s goes without --report", kind->name);
	if (options->sql != NULL || options->show_sql)
		return ctx_err_set(err, CTX_E_ARG, "--export goes without --sql and --show-sql");
	if (kind->write_directory != NULL && !is_named_like(options->output, kind->suffix))
		return ctx_err_set(err, CTX_E_ARG, "--export %s is a directory: -o NAME%s", kind->name,
				   kind->suffix);
	if (options->n_inputs > 1)
		return ctx_err_set(err, CTX_E_ARG, "--export goes with one recording");
	if (options->limit_given || options->per_thread)
		return ctx_err_set(
			err, CTX_E_ARG,
			"--export %s has all rows and threads: it goes without --limit and --per-thread",
			kind->name);
	if (options->max_size != 0 && !kind->whole_run)
		return ctx_err_set(err, CTX_E_ARG, "--max-size goes with --export html, not with %s",
				   kind->name);
	return CTX_OK;
}

/* Options that contradict each other, or mean nothing. */
static enum ctx_status check_together(const struct ctx_options *options, struct ctx_err *err)
{
	enum ctx_status status;

	if (options->db != NULL && options->n_inputs > 1)
		return ctx_err_set(err, CTX_E_ARG, "--db goes with one recording");
	if (n_standard_inputs(options) > 1)
		return ctx_err_set(err, CTX_E_ARG, "'-' is there twice: standard input can be read once");
	if (options->db != NULL && options->db[0] == '\0')
		return ctx_err_set(err, CTX_E_ARG, "--db '' is no file name");
	if (options->output != NULL && options->output[0] == '\0')
		return ctx_err_set(err, CTX_E_ARG, "--output '' is no file name");
	if (options->sql != NULL && strspn(options->sql, " \t\r\n;") == strlen(options->sql))
		return ctx_err_set(err, CTX_E_ARG, "--sql '' has no statement");
	if (options->selection.by != NULL &&
	    (options->export != NULL || options->sql != NULL || options->show_sql))
		return ctx_err_set(err, CTX_E_ARG,
				   "--by goes with the report index, not with --export and SQL");
	if (options->selection.by != NULL && !ctx_options_has_report(options, "index"))
		return ctx_err_set(err, CTX_E_ARG, "--by goes with the report index");
	if (options->sql != NULL && (options->n_reports != 0 || options->show_sql))
		return ctx_err_set(err, CTX_E_ARG, "--sql goes without --report and --show-sql");
	if (options->show_sql && (options->report.function != NULL || options->report.min_percent > 0 ||
				  options->limit_given || options->per_thread || options->top_only))
		return ctx_err_set(
			err, CTX_E_ARG,
			"--show-sql goes without --function, --min-percent, --limit, --per-thread and "
			"--coverage top");
	if (options->report.sort != NULL && options->n_reports == 0)
		return ctx_err_set(err, CTX_E_ARG, "--sort goes with --report");
	status = check_export(options, err);
	return status == CTX_OK ? check_selecting(options, err) : status;
}

enum ctx_status ctx_options_parse(int argc, char **argv, struct ctx_options *ret, struct ctx_err *err)
{
	struct ctx_options options = {.tree = ctx_timetree_default_params(), .symfs = "", .debug_root = ""};
	enum ctx_status status = CTX_OK;
	int option;

	optind = 0;
	status = ctx_gprofng_check_arguments(argc, argv, err);
	while (status == CTX_OK &&
	       (option = getopt_long(argc, argv, ":r:i:t:o:qhV", long_options, NULL)) != -1) {
		if (option == '?' || option == ':')
			status = usage_error(argc, argv, option, err);
		else
			status = parse_option(&options, option, optarg, err);
	}
	while (status == CTX_OK && optind < argc)
		status = append(&options.inputs, &options.n_inputs, &options.inputs_cap, argv[optind++], err);
	if (status == CTX_OK && options.selection.by != NULL && options.n_reports == 0 &&
	    options.export == NULL && options.sql == NULL)
		status = parse_reports(&options, "index", err);
	if (status == CTX_OK)
		status = check_together(&options, err);
	if (status != CTX_OK) {
		ctx_options_deinit(&options);
		return status;
	}
	*ret = options;
	return CTX_OK;
}

void ctx_options_deinit(struct ctx_options *options)
{
	free(options->inputs);
	free(options->reports);
	ctx_selection_spec_deinit(&options->selection);
	free(options->caches);
	*options = (struct ctx_options){0};
}
