#include "ctxan/fleet_command.h"

#include "base/clock.h"
#include "ctxan/fleet_answer.h"
#include "ctxan/fleet_login.h"
#include "fleet/fleet_check.h"
#include "fleet/fleet_schema.h"
#include "fleet/push.h"
#include "query/store_source.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- init ---- */

/* On every server of the command line. */
static enum ctx_status init(const struct ctx_options *options, struct ctx_err *err)
{
	const struct ctx_fleet_init facts = {.cluster = options->fleet.cluster,
					     .retain_days = options->fleet.retain_days};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < options->n_inputs && status == CTX_OK; i++) {
		struct ctx_http_client *client;
		struct ctx_fleet_server server;

		status = ctx_fleet_login(options->inputs[i], options->fleet.credentials, &client, err);
		if (status != CTX_OK)
			return status;
		server = ctx_http_client_server(client);
		status = ctx_fleet_schema_init(&server, &facts, err);
		if (status == CTX_OK)
			fprintf(options->report.out, "%s: a fleet, version %u of its tables%s\n",
				ctx_http_client_name(client), CTX_FLEET_SCHEMA_VERSION,
				facts.retain_days != 0 ? "; old recordings go with ctxan fleet --check" : "");
		ctx_http_client_close(client);
	}
	return status;
}

/* ---- check ---- */

static void tell(const struct ctx_fleet_check *check, const char *name, FILE *out)
{
	fprintf(out, "%s: %" PRIu64 " recordings", name, check->recordings);
	if (check->repeated != 0)
		fprintf(out, "; %" PRIu64 " more pushes of them, which nobody sees", check->repeated);
	if (check->removed != 0)
		fprintf(out, "; removed %" PRIu64 " unfinished pushes (%" PRIu64 " cells)", check->removed,
			check->removed_cells);
	if (check->young != 0)
		fprintf(out, "; %" PRIu64 " pushes are unfinished, or go on", check->young);
	if (check->days != 0)
		fprintf(out, "; removed %" PRIu64 " partitions that were too old", check->days);
	fputc('\n', out);
	for (size_t i = 0; i < check->n_damaged; i++)
		fprintf(out,
			"%s: damaged: push %" PRIu64 " has %" PRIu64 " of %" PRIu64 " cells, or others\n",
			name, check->damaged[i].push, check->damaged[i].found, check->damaged[i].cells);
}

/* On every server of the command line. */
static enum ctx_status check_servers(struct ctx_options *options, struct ctx_err *err)
{
	size_t n_damaged = 0;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < options->n_inputs && status == CTX_OK; i++) {
		struct ctx_fleet_check check;
		struct ctx_http_client *client;
		struct ctx_fleet_server server;

		status = ctx_fleet_login(options->inputs[i], options->fleet.credentials, &client, err);
		if (status != CTX_OK)
			return status;
		server = ctx_http_client_server(client);
		status = ctx_fleet_check_run(&server, &check, err);
		if (status == CTX_OK) {
			tell(&check, ctx_http_client_name(client), options->report.out);
			n_damaged += check.n_damaged;
			ctx_fleet_check_deinit(&check);
		}
		ctx_http_client_close(client);
	}
	if (status == CTX_OK && n_damaged != 0) {
		fflush(options->report.out);
		fprintf(stderr, "ctxan: %zu recordings are damaged\n", n_damaged);
		options->baseline.failed = true;
	}
	return status;
}

/* ---- push ---- */

/* The labels of the command line; the last one of a key counts. Keys are cut out of `texts`. */
static enum ctx_status read_labels(const struct ctx_options *options, struct ctx_push_label **ret,
				   char **ret_texts, struct ctx_err *err)
{
	size_t n = options->fleet.n_labels, bytes = 1;
	struct ctx_push_label *labels = ctx_calloc(n + 1, sizeof(*labels));
	char *texts, *at;

	for (size_t i = 0; i < n; i++)
		bytes += strlen(options->fleet.labels[i]) + 1;
	texts = at = ctx_calloc(1, bytes);
	if (labels == NULL || texts == NULL) {
		free(labels);
		free(texts);
		return ctx_err_nomem(err);
	}
	for (size_t i = 0; i < n; i++) {
		char *end = stpcpy(at, options->fleet.labels[i]), *value = strchr(at, '=');

		*value++ = '\0';
		labels[i] = (struct ctx_push_label){at, value};
		at = end + 1;
	}
	*ret = labels;
	*ret_texts = texts;
	return CTX_OK;
}

static void say(const struct ctx_options *options, const char *input, const struct ctx_push_result *result,
		double cpu_s)
{
	const uint64_t halves[] = {result->recording.low, result->recording.high};
	FILE *out = options->report.out;

	ctx_report_put_name(out, input);
	fputs(": ", out);
	for (unsigned i = 0; i < CTX_PATH_HASH_BYTES; i++)
		fprintf(out, "%02x", (unsigned)(halves[i / 8] >> (8 * (i % 8)) & 0xff));
	if (result->was_there)
		fputs(": is there already\n", out);
	else
		fprintf(out, ": %" PRIu64 " samples, %" PRIu64 " cells, %" PRIu64 " call stacks\n",
			result->samples, result->cells, result->stacks);
	if (options->explain)
		fprintf(stderr, "explain push: %" PRIu64 " bytes of rows, %.3f s CPU\n", result->bytes,
			cpu_s);
}

static enum ctx_status push_source(struct ctx_push_spec *spec, struct ctx_push_result *ret,
				   struct ctx_err *err)
{
	uint32_t number;

	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return ctx_err_errno(err, CTX_E_IO, "random numbers");
	spec->push = ctx_clock_ns(CLOCK_REALTIME) / UINT64_C(1000000000) << 32 | number;
	return ctx_push_recording(spec, ret, err);
}

static enum ctx_status push_store(struct ctx_store *store, struct ctx_push_spec *spec,
				  struct ctx_push_result *ret, struct ctx_err *err)
{
	const struct ctx_selection_spec words = {0};
	struct ctx_selection selection;
	struct ctx_query_source_spec query = {
		.store = store, .selection = &selection, .words = &words, .path = "", .options = ""};
	enum ctx_status status = ctx_selection_make(&words, ctx_store_profile(store), &selection, err);

	if (status != CTX_OK)
		return status;
	status = ctx_query_source_open(&query, &spec->source, err);
	if (status == CTX_OK) {
		status = push_source(spec, ret, err);
		ctx_query_source_close(spec->source);
	}
	ctx_selection_deinit(&selection);
	return status;
}

static enum ctx_status push_input(const char *input, const struct ctx_options *options,
				  struct ctx_push_spec *spec, struct ctx_err *err)
{
	struct ctx_push_result result = {0};
	struct ctx_store *store;
	uint64_t before = ctx_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	enum ctx_status status = ctx_opening_open(input, &options->opening, &store, err);

	if (status != CTX_OK)
		return status;
	status = push_store(store, spec, &result, err);
	ctx_store_close(store);
	if (status != CTX_OK)
		return ctx_err_prefix(err, status, "%s", input);
	say(options, input, &result, (double)(ctx_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before) / 1e9);
	return CTX_OK;
}

static enum ctx_status push(const struct ctx_options *options, struct ctx_err *err)
{
	struct ctx_http_client *client;
	struct ctx_push_label *labels = NULL;
	char *texts = NULL;
	struct ctx_fleet_server server;
	struct ctx_fleet_state state;
	enum ctx_status status = ctx_fleet_login(options->fleet.to, options->fleet.credentials, &client, err);

	if (status != CTX_OK)
		return status;
	server = ctx_http_client_server(client);
	status = ctx_fleet_schema_check(&server, &state, err);
	if (status == CTX_OK)
		status = read_labels(options, &labels, &texts, err);
	for (size_t i = 0; i < options->n_inputs && status == CTX_OK; i++) {
		struct ctx_push_spec spec = {
			.server = &server, .labels = labels, .n_labels = options->fleet.n_labels};

		status = push_input(options->inputs[i], options, &spec, err);
	}
	free(labels);
	free(texts);
	ctx_http_client_close(client);
	return status;
}

enum ctx_status ctx_fleet_command(struct ctx_options *options, struct ctx_err *err)
{
	if (options->fleet.command == CTX_FLEET_PUSH)
		return push(options, err);
	if (options->fleet.check)
		return check_servers(options, err);
	return options->fleet.init ? init(options, err) : ctx_fleet_answer(options, err);
}
