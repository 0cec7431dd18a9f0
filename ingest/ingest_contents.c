/*
 *	states, trees finished -> remarks on the recording -> profile, stacks, code, sources -> store
 */
#include "ingest/ingest_impl.h"

#include "base/buf.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "ingest/stack_roots.h"

#include <stdio.h>
#include <string.h>

#define MISSING_ROOTS_LEAST                                                                                  \
	0.01		/* a share of the samples: fewer are stacks of a function's first instructions */
#define SHORT_TICKS 10u /* a thread that spends less on CPUs is short: half a tick is lost with each */
#define SHORT_LEAST 10u
#define UNSEEN_LEAST_NS UINT64_C(100000000) /* below this time on CPUs few samples are normal */

/*
 * Threads that were not seen again after a loss have ended there, and with its last thread a process
 * whose exit is not known.
 */
static enum ctx_status end_lives(struct ingest *in, struct ctx_err *err)
{
	struct ctx_profile *profile = &in->entities.profile;
	uint64_t *last CTX_AUTO_FREE = ctx_calloc(profile->n_processes, sizeof(*last));
	uint64_t n = 0;

	if (last == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < profile->n_threads; i++) {
		struct ctx_thread_info *thread = &profile->threads[i];
		uint64_t known_ns = ctx_state_feed_known_until(in->states, i);

		if (thread->life.end_ns == UINT64_MAX && known_ns != UINT64_MAX) {
			thread->life.end_ns = known_ns;
			n++;
		}
		if (last[thread->process] < thread->life.end_ns)
			last[thread->process] = thread->life.end_ns;
	}
	for (uint32_t i = 0; i < profile->n_processes && n != 0; i++) {
		if (profile->processes[i].life.end_ns == UINT64_MAX && last[i] != 0)
			profile->processes[i].life.end_ns = last[i];
	}
	return n != 0 ? ctx_profile_builder_warn(&in->entities, err,
						 "%llu thread%s not seen again after records were lost: "
						 "%s time ends there",
						 (unsigned long long)n, n == 1 ? " was" : "s were",
						 n == 1 ? "its" : "their")
		      : CTX_OK;
}

static enum ctx_status finish_states(struct ingest *in, struct ctx_err *err)
{
	struct ctx_profile *profile = &in->entities.profile;
	enum ctx_status status;

	if (in->calls != NULL) {
		status = ctx_calls_finish(in->calls, err);
		if (status != CTX_OK)
			return status;
		in->stats.moved = ctx_calls_late(in->calls);
	}
	status = ctx_ingest_end_omp(in, NULL, err);
	if (status != CTX_OK)
		return status;
	if (in->states == NULL)
		return CTX_OK;
	status = ctx_state_feed_finish(in->states, profile->run.end_ns, err);
	if (status == CTX_OK)
		status = end_lives(in, err);
	return status == CTX_OK ? ctx_state_feed_external_wakers(in->states, &profile->arena,
								 &profile->external_wakers.items,
								 &profile->external_wakers.n, err)
				: status;
}

/* Moves the names of the files into the profile. */
static enum ctx_status name_files(struct ingest *in, struct ctx_err *err)
{
	struct ctx_profile *profile = &in->entities.profile;

	profile->files = ctx_calloc(in->files.n, sizeof(*profile->files));
	if (profile->files == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < in->files.n; i++) {
		profile->files[i] = ctx_arena_strdup(&profile->arena, ctx_strtab_get(&in->files, i));
		if (profile->files[i] == NULL)
			return ctx_err_nomem(err);
	}
	profile->n_files = (uint32_t)in->files.n;
	return CTX_OK;
}

/* A line for the header: how far copied stacks could be unwound. */
static enum ctx_status add_unwinding(struct ingest *in, struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_PROPERTY};
	struct ctx_unwinding_counts counts;
	char text[512];
	int n;

	if (in->unwinding == NULL)
		return CTX_OK;
	counts = ctx_unwinding_counts(in->unwinding);
	n = snprintf(text, sizeof(text), "%llu samples from copies of the stack; %.1f %% reach the root",
		     (unsigned long long)counts.samples,
		     100.0 * (double)counts.ends[CTX_TRUNCATED_NOT] / (double)counts.samples);
	for (int i = 1; i < CTX_TRUNCATED_N; i++) {
		if (counts.ends[i] != 0)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "; %s: %llu",
				      ctx_truncation_text((enum ctx_truncation)i),
				      (unsigned long long)counts.ends[i]);
	}
	event.property = (struct ctx_property){.key = "unwinding", .value = text};
	return ctx_profile_builder_event(&in->entities, &event, err);
}

/*
 * A line for the header: the metrics whose calls are counted. All others are estimated from
 * samples.
 */
static enum ctx_status add_exact_calls(struct ingest *in, struct ctx_err *err)
{
	const struct ctx_source_info *info = &in->source->info;
	struct ctx_event event = {.kind = CTX_EV_PROPERTY};
	struct ctx_buf text = {0};
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < info->n_metrics; i++) {
		if (info->metrics[i].exact_calls)
			ctx_buf_printf(&text, "%s%s", text.n == 0 ? "counted: " : ", ",
				       info->metrics[i].name);
	}
	if (text.n != 0) {
		ctx_buf_put_u8(&text, 0);
		event.property = (struct ctx_property){.key = "calls", .value = (const char *)text.bytes};
		status = ctx_buf_check(&text, err);
	}
	if (status == CTX_OK && text.n != 0)
		status = ctx_profile_builder_event(&in->entities, &event, err);
	ctx_buf_deinit(&text);
	return status;
}

/* Warns of object files that may differ from those that ran. */
static enum ctx_status warn_of_changed_objects(struct ingest *in, int64_t recorded_s, struct ctx_err *err)
{
	const char *path = "";
	uint32_t n = ctx_resolver_count_changed(in->resolver, recorded_s, &path);

	if (n == 0)
		return CTX_OK;
	return ctx_profile_builder_warn(&in->entities, err,
					"%u load object%s changed since the recording (%.200s%s), and there "
					"is neither a copy nor a build id: names may be of other code",
					n, n == 1 ? "" : "s", ctx_path_base(path), n == 1 ? "" : ", ...");
}

/* Whether the source took no callers; then no stack has any. */
static bool has_no_callers(const struct ingest *in)
{
	for (uint32_t i = 0; i < in->stacks.raw.n; i++) {
		if (in->stacks.raw.depth[i] > 1)
			return false;
	}
	return in->source->info.no_call_stacks;
}

/*
 * Selects the instructions and source files for the database; the array is owned by the caller
 * (free()).
 */
static enum ctx_status list_code(struct ingest *in, const struct ctx_ingest_options *options,
				 struct ctx_source_file **ret_files, size_t *ret_n, struct ctx_err *err)
{
	struct ctx_source_list sources = {0};
	enum ctx_status status = ctx_ingest_grow_leaf_samples(in, err);

	if (status == CTX_OK && in->window == NULL)
		status = ctx_resolver_list_code(in->resolver, &in->stacks.raw, in->leaf_samples.items,
						&in->code, err);
	if (status == CTX_OK)
		status =
			ctx_resolver_list_sources(in->resolver, in->window == NULL ? &in->source->info : NULL,
						  options->recorded_s, &sources, err);
	*ret_files = sources.files;
	*ret_n = sources.n;
	if (status == CTX_OK)
		status = warn_of_changed_objects(in, options->recorded_s, err);
	if (status == CTX_OK && sources.newer != 0)
		status = ctx_profile_builder_warn(
			&in->entities, err,
			"%u source file%s changed since the recording: lines may stand beside other text",
			sources.newer, sources.newer == 1 ? "" : "s");
	return status;
}

/*
 * A clock of each thread begins with a whole tick: threads that live for less have no samples. The
 * states give the time that is missing, and what threads of a few ticks have of it.
 */
static enum ctx_status warn_of_unseen_time(struct ingest *in, struct ctx_err *err)
{
	const struct ctx_profile *profile = &in->entities.profile;
	const char *modes = ctx_profile_property(profile, "modes", "user,kernel");
	uint32_t clock = ctx_ingest_clock(&in->source->info);
	const struct ctx_metric_info *metric = clock != CTX_NONE ? &profile->metrics[clock] : NULL;
	struct ctx_clock_share_sum threads;
	uint64_t on_cpu_ns = 0;

	if (in->states == NULL || metric == NULL || in->source->info.user_clock_ns != 0 ||
	    profile->losses.samples != 0 || strcmp(modes, "user,kernel") != 0)
		return CTX_OK;
	for (unsigned state = CTX_STATE_USER; state <= CTX_STATE_TRAP; state++)
		on_cpu_ns += profile->metrics[profile->states + state].weight;
	threads = ctx_clock_share_below(&in->clock_share,
					metric->samples != 0 ? SHORT_TICKS * metric->weight / metric->samples
							     : UINT64_MAX);
	if (threads.threads >= SHORT_LEAST && threads.on_cpu_ns >= UNSEEN_LEAST_NS &&
	    threads.on_cpu_ns >= on_cpu_ns / 50 && threads.seen_ns / 3 <= threads.on_cpu_ns / 4)
		return ctx_profile_builder_warn(
			&in->entities, err,
			"%s saw %llu %% of the time on CPUs of %llu short threads, which is %llu %% of all: "
			"their ticks begin anew with each. ctxrec -a ticks by processor and sees them; "
			"--metric user,system has all of it",
			metric->name, (unsigned long long)(threads.seen_ns / (threads.on_cpu_ns / 100)),
			(unsigned long long)threads.threads,
			(unsigned long long)(threads.on_cpu_ns / (on_cpu_ns / 100)));
	if (on_cpu_ns < UNSEEN_LEAST_NS || metric->weight / 3 > on_cpu_ns / 4)
		return CTX_OK;
	return ctx_profile_builder_warn(&in->entities, err,
					"%s saw %llu %% of the time on CPUs: threads that live for "
					"less than its tick have no samples; "
					"--metric user,system has all of it",
					metric->name,
					(unsigned long long)(metric->weight / (on_cpu_ns / 100)));
}

/* Code without frame pointers ends stacks early, and nothing marks them. */
static enum ctx_status warn_of_missing_roots(struct ingest *in, struct ctx_err *err)
{
	struct ctx_stack_roots roots;
	enum ctx_status status;

	if (strcmp(ctx_profile_property(&in->entities.profile, "stacks", ""), "frame pointers") != 0)
		return CTX_OK;
	status = ctx_ingest_grow_leaf_samples(in, err);
	if (status == CTX_OK)
		status = ctx_stack_roots_count(in->resolver, &in->stacks.raw, in->leaf_samples.items, &roots,
					       err);
	if (status != CTX_OK || roots.missing == 0 ||
	    (double)roots.missing < MISSING_ROOTS_LEAST * (double)(roots.missing + roots.reached))
		return status;
	return ctx_profile_builder_warn(&in->entities, err,
					"%.1f %% of the stacks do not reach their root: code without frame "
					"pointers (ctxrec --unwind cfi, or gcc -fno-omit-frame-pointer)",
					100.0 * (double)roots.missing /
						(double)(roots.missing + roots.reached));
}

/* What a live ingest has kept. */
static enum ctx_status put_window(struct ingest *in, struct ctx_err *err)
{
	const struct ctx_window *window = in->window;
	uint64_t *n = in->entities.profile.traced;
	enum ctx_status status = ctx_window_put(window, in->trees, err);

	for (size_t i = window->first_traced; i < window->n_traced; i++)
		n[window->traced[i].kind]++;
	if (status == CTX_OK && n[CTX_TRACED_HEAP] != 0)
		status = ctx_profile_builder_warn(
			&in->entities, err,
			"leaks are not known yet: what is never freed shows at the end of the recording");
	if (status == CTX_OK && window->n_dropped != 0)
		status = ctx_profile_builder_warn(&in->entities, err,
						  "%llu traced operations at the beginning of the interval "
						  "are left out of reports of operations: "
						  "there are too many",
						  (unsigned long long)window->n_dropped);
	return status;
}

/* All samples have been added: finishes the trees and adds remarks on them. */
static enum ctx_status finish_trees(struct ingest *in, const struct ctx_ingest_options *options,
				    struct ctx_err *err)
{
	enum ctx_status status = in->worker != NULL ? ctx_tree_worker_finish(in->worker, err) : CTX_OK;
	uint64_t late = 0, moved = 0;

	if (in->window != NULL)
		status = put_window(in, err);
	if (status == CTX_OK)
		status = ctx_tree_forest_finish(in->trees, &in->stats.trees, &moved, &late, err);
	in->stats.moved += moved;
	if (status == CTX_OK && in->stats.moved != 0)
		status = ctx_profile_builder_warn(&in->entities, err,
						  "%llu samples came out of order and were moved in time",
						  (unsigned long long)in->stats.moved);
	if (status == CTX_OK && late != 0)
		status = ctx_profile_builder_warn(
			&in->entities, err,
			"%llu samples came after the exit of their thread: they are in no thread's "
			"tree, but in the whole",
			(unsigned long long)late);
	if (status == CTX_OK && options->tree.mode == CTX_TIMETREE_CASCADE)
		status = ctx_profile_builder_warn(
			&in->entities, err,
			"the time tree was pruned in cascade mode: an interval lacks what the "
			"lists of larger ones left out");
	return status;
}

enum ctx_status ctx_ingest_put_contents(struct ingest *in, const struct ctx_ingest_options *options,
					struct ctx_err *err)
{
	struct ctx_store_contents contents = {
		.profile = &in->entities.profile,
		.raw_stacks = &in->stacks.raw,
		.raw_to_stack = in->stacks.raw_to_stack,
		.mappings = in->mappings,
		.n_mappings = in->n_mappings,
		.fingerprint = options->fingerprint,
	};
	enum ctx_status status = finish_states(in, err);

	if (status == CTX_OK)
		status = finish_trees(in, options, err);
	if (status == CTX_OK)
		status = add_unwinding(in, err);
	if (status == CTX_OK)
		status = add_exact_calls(in, err);
	if (status == CTX_OK)
		status = ctx_profile_builder_finish(&in->entities, err);
	in->entities.profile.losses.call_stacks = has_no_callers(in);
	in->entities.profile.losses.call_log = in->source->info.call_sums;
	if (status == CTX_OK)
		status = warn_of_unseen_time(in, err);
	if (status == CTX_OK)
		status = warn_of_missing_roots(in, err);
	if (status == CTX_OK)
		status = name_files(in, err);
	if (status == CTX_OK)
		status = list_code(in, options, &in->source_files, &contents.n_files, err);
	if (status == CTX_OK)
		status = ctx_resolver_tell_apart(in->resolver, err);
	ctx_ingest_omp_name(in);
	if (status == CTX_OK)
		status = ctx_resolver_take(in->resolver, &in->entities.profile, err);
	if (status != CTX_OK)
		return status;
	ctx_trie_freeze(&in->stacks.cct);
	ctx_trie_freeze(&in->stacks.raw);
	in->entities.profile.cct = in->stacks.cct;
	in->stacks.cct = (struct ctx_trie){0};
	contents.locations = ctx_resolver_locations(in->resolver, &contents.n_locations);
	contents.sites = ctx_resolver_sites(in->resolver, &contents.n_sites);
	contents.files = in->source_files;
	in->stats.stacks = in->entities.profile.cct.n;
	in->stats.raw_stacks = in->stacks.raw.n;
	in->stats.locations = (uint32_t)contents.n_locations;
	in->stats.functions = in->entities.profile.n_functions;
	in->stats.objects = in->entities.profile.n_objects;
	in->stats.threads = in->entities.profile.n_threads;
	if (in->window != NULL)
		return ctx_store_lend(in->store, &contents, err);
	status = ctx_store_put_contents(in->store, &contents, err);
	if (status == CTX_OK)
		status = ctx_resolver_put_code(in->resolver, &in->code, in->store, err);
	if (status == CTX_OK)
		status = ctx_resolver_put_texts(&in->source->info, in->source_files, contents.n_files,
						in->store, err);
	return status;
}
