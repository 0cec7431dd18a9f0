#include "query/id_lists.h"

#include "base/mem.h"
#include "model/container.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define TERM_MAX 256

/* "7" or "2-5"; false: not a number or range. */
static bool parse_range(const char *term, uint32_t *ret_first, uint32_t *ret_last)
{
	unsigned long first, last;
	char *end;

	if (!isdigit((unsigned char)term[0]))
		return false;
	errno = 0;
	first = last = strtoul(term, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		last = strtoul(end + 1, &end, 10);
	if (*end != '\0' || errno != 0 || last > INT32_MAX || first > last)
		return false;
	*ret_first = (uint32_t)first;
	*ret_last = (uint32_t)last;
	return true;
}

/* The set that a list selects from: threads or processes. */
struct entities {
	const char *what;      /* "thread" */
	const char *id_prefix; /* "tid:" */
	uint32_t n;
	int64_t (*id)(const struct ctx_profile *profile, uint32_t i);
	const char *(*name)(const struct ctx_profile *profile, uint32_t i);
};

static int64_t thread_tid(const struct ctx_profile *profile, uint32_t i)
{
	return profile->threads[i].tid;
}

static const char *thread_name(const struct ctx_profile *profile, uint32_t i)
{
	return profile->threads[i].name;
}

static int64_t process_pid(const struct ctx_profile *profile, uint32_t i)
{
	return profile->processes[i].pid;
}

static const char *process_name(const struct ctx_profile *profile, uint32_t i)
{
	return profile->processes[i].command;
}

static bool is_program(const char *command, const char *term)
{
	size_t n;
	const char *name = ctx_command_program(command, &n);

	return strlen(term) == n && strncmp(name, term, n) == 0;
}

/* A pattern of the path, or the container's name or short id. */
static bool is_in_cgroup(const struct ctx_process_info *process, const char *term)
{
	char container[CTX_CONTAINER_NAME];

	if (process->cgroup == NULL || process->cgroup[0] == '\0')
		return false;
	return fnmatch(term, process->cgroup, 0) == 0 ||
	       (ctx_container_of_cgroup(process->cgroup, container) && strcmp(term, container) == 0);
}

static bool matches(const struct entities *entities, const struct ctx_profile *profile, uint32_t i,
		    const char *term)
{
	uint32_t first, last;
	size_t prefix = strlen(entities->id_prefix);

	/*
	 * A number is an id from the report's first column; a larger one is probably meant as a tid
	 * or pid.
	 */
	if (parse_range(term, &first, &last) && (first != last || first < entities->n))
		return first <= i && i <= last;
	if (parse_range(term, &first, &last))
		return (int64_t)first == entities->id(profile, i);
	if (strncmp(term, entities->id_prefix, prefix) == 0)
		return strtoll(term + prefix, NULL, 10) == entities->id(profile, i);
	if (entities->name == process_name && strncmp(term, "cgroup:", 7) == 0)
		return is_in_cgroup(&profile->processes[i], term + 7);
	return strcmp(term, entities->name(profile, i)) == 0 ||
	       fnmatch(term, entities->name(profile, i), 0) == 0 ||
	       (entities->name == process_name && is_program(process_name(profile, i), term));
}

/* Where no thread has that name: the first one of each process. */
static bool choose_main_threads(const struct ctx_profile *profile, bool *chosen)
{
	bool found = false;

	for (uint32_t i = 0; i < profile->n_threads; i++) {
		uint32_t process = ctx_profile_process_of(profile, i);

		if (process < profile->n_processes &&
		    profile->threads[i].tid == profile->processes[process].pid)
			chosen[i] = found = true;
	}
	return found;
}

/* Marks in `chosen` the items of a comma-separated list; each term must match something. */
static enum ctx_status choose(const struct entities *entities, const struct ctx_profile *profile,
			      const char *list, bool *chosen, struct ctx_err *err)
{
	for (const char *at = list;; at++) {
		size_t n = strcspn(at, ",");
		char term[TERM_MAX];
		uint32_t first, last;
		bool found = false;

		if (n == 0 || n >= sizeof(term))
			return ctx_err_set(err, CTX_E_ARG, "--%s '%s': an empty or overlong word in the list",
					   entities->what, list);
		memcpy(term, at, n);
		term[n] = '\0';
		if (isdigit((unsigned char)term[0]) && strspn(term, "0123456789-") == n &&
		    !parse_range(term, &first, &last))
			return ctx_err_set(err, CTX_E_ARG, "--%s '%s' is not a range (FIRST-LAST)",
					   entities->what, term);
		for (uint32_t i = 0; i < entities->n; i++) {
			if (matches(entities, profile, i, term))
				chosen[i] = found = true;
		}
		if (!found && entities->name == thread_name && strcmp(term, "main") == 0)
			found = choose_main_threads(profile, chosen);
		if (!found || (parse_range(term, &first, &last) && first != last && last >= entities->n))
			return ctx_err_set(err, CTX_E_NOTFOUND,
					   "no %s '%s' (the last one is %u: see --report %s%s)",
					   entities->what, term, entities->n - 1, entities->what,
					   entities->what[0] == 'p' ? "es" : "s");
		at += n;
		if (*at == '\0')
			return CTX_OK;
	}
}

static enum ctx_status check_lineage(const struct ctx_profile *profile, const char *lineage,
				     struct ctx_err *err)
{
	for (uint32_t i = 0; i < profile->n_processes; i++) {
		if (strcmp(profile->processes[i].lineage, lineage) == 0)
			return CTX_OK;
	}
	return ctx_err_set(err, CTX_E_NOTFOUND, "no process %s.er in the recording: see --report processes",
			   lineage);
}

enum ctx_status ctx_thread_list_read(const struct ctx_selection_spec *spec, const struct ctx_profile *profile,
				     uint32_t **ret, size_t *ret_n, struct ctx_err *err)
{
	struct entities threads = {"thread", "tid:", profile->n_threads, thread_tid, thread_name};
	struct entities processes = {"process", "pid:", profile->n_processes, process_pid, process_name};
	bool *thread_chosen CTX_AUTO_FREE = NULL, *process_chosen CTX_AUTO_FREE = NULL;
	uint32_t *chosen CTX_AUTO_FREE = NULL;
	enum ctx_status status = CTX_OK;
	size_t n = 0;

	*ret = NULL;
	*ret_n = 0;
	if (spec->threads == NULL && spec->processes == NULL && spec->lineage == NULL)
		return CTX_OK;
	thread_chosen = ctx_calloc(profile->n_threads, sizeof(bool));
	process_chosen = ctx_calloc(profile->n_processes, sizeof(bool));
	chosen = ctx_calloc(profile->n_threads, sizeof(*chosen));
	if (thread_chosen == NULL || process_chosen == NULL || chosen == NULL)
		return ctx_err_nomem(err);
	if (spec->threads != NULL)
		status = choose(&threads, profile, spec->threads, thread_chosen, err);
	if (status == CTX_OK && spec->processes != NULL)
		status = choose(&processes, profile, spec->processes, process_chosen, err);
	if (status == CTX_OK && spec->lineage != NULL)
		status = check_lineage(profile, spec->lineage, err);
	if (status != CTX_OK)
		return status;
	for (uint32_t i = 0; i < profile->n_threads; i++) {
		const struct ctx_process_info *process = &profile->processes[profile->threads[i].process];

		if (spec->lineage != NULL && strcmp(spec->lineage, process->lineage) != 0)
			continue;
		if ((spec->threads == NULL || thread_chosen[i]) &&
		    (spec->processes == NULL || process_chosen[profile->threads[i].process]))
			chosen[n++] = i;
	}
	*ret = chosen;
	*ret_n = n;
	chosen = NULL;
	return CTX_OK;
}

static enum ctx_status read_range(const char *list, const char *term, uint32_t n_cpus,
				  struct ctx_cpu_range *ret, struct ctx_err *err)
{
	uint32_t first, last;

	if (!parse_range(term, &first, &last))
		return ctx_err_set(err, CTX_E_ARG, "--cpu '%s': expected numbers and ranges such as 0,2-5",
				   list);
	if (first >= n_cpus)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no cpu %u (the recorded machine had %u)", first,
				   n_cpus);
	*ret = (struct ctx_cpu_range){(int32_t)first, (int32_t)last};
	return CTX_OK;
}

enum ctx_status ctx_cpu_list_read(const char *list, const struct ctx_profile *profile,
				  struct ctx_cpu_range **ret, size_t *ret_n, struct ctx_err *err)
{
	uint32_t n_cpus = (uint32_t)strtoul(ctx_profile_property(profile, "cpus", "0"), NULL, 10);
	struct ctx_cpu_range *cpus CTX_AUTO_FREE = NULL;
	size_t n_ranges = 0, cap = 0;

	if (n_cpus == 0)
		n_cpus = UINT32_MAX; /* not recorded */
	for (const char *at = list;; at++) {
		size_t n = strcspn(at, ",");
		char term[TERM_MAX] = "";
		enum ctx_status status = ctx_grow(&cpus, &cap, n_ranges + 1, err);

		if (n < sizeof(term))
			memcpy(term, at, n);
		if (status == CTX_OK)
			status = read_range(list, term, n_cpus, &cpus[n_ranges], err);
		if (status != CTX_OK)
			return status;
		n_ranges++;
		at += n;
		if (*at == '\0')
			break;
	}
	*ret = cpus;
	*ret_n = n_ranges;
	cpus = NULL;
	return CTX_OK;
}
