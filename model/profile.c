#include "model/profile.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The first record of a process may be so late. */
#define USAGE_START_NS UINT64_C(10000000)

bool ctx_object_is_kernel(const char *path)
{
	static const char *const user[] = {"[vdso]", "[vsyscall]", "[vvar",    "[heap]",
					   "[stack", "[anon",	   "[uprobes]"};

	for (size_t i = 0; i < CTX_COUNT_OF(user); i++) {
		if (strncmp(path, user[i], strlen(user[i])) == 0)
			return false;
	}
	return *path == '[';
}

void ctx_profile_deinit(struct ctx_profile *profile)
{
	free(profile->properties);
	free(profile->warnings);
	free(profile->functions);
	free(profile->objects);
	free(profile->processes);
	free(profile->threads);
	free(profile->metrics);
	free(profile->vms.items);
	free(profile->external_wakers.items);
	free(profile->files);
	free(profile->usage);
	free(profile->losses.items);
	free(profile->losses.figures);
	ctx_trie_deinit(&profile->cct);
	ctx_arena_deinit(&profile->arena);
	*profile = (struct ctx_profile){0};
}

const char *ctx_profile_property(const struct ctx_profile *profile, const char *key, const char *otherwise)
{
	for (size_t i = 0; i < profile->n_properties; i++) {
		if (strcmp(profile->properties[i].key, key) == 0)
			return profile->properties[i].value;
	}
	return otherwise;
}

bool ctx_usage_is_start(const struct ctx_profile *profile, const struct ctx_usage_info *first)
{
	static const char gprofng[] = "gprofng";
	uint64_t begin_ns = profile->processes[first->process].life.begin_ns;

	return first->time_ns < begin_ns + USAGE_START_NS ||
	       strncmp(ctx_profile_property(profile, "collector", ""), gprofng, sizeof(gprofng) - 1) == 0;
}

/* Equal ignoring case and separators of words. */
static bool same_words(const char *a, const char *b)
{
	for (;;) {
		a += strspn(a, " -_");
		b += strspn(b, " -_");
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return false;
		if (*a == '\0')
			return true;
		a++;
		b++;
	}
}

/* Names of the same metric in other profilers. */
static const char *own_word(const char *name)
{
	static const struct {
		const char *theirs, *ours;
	} words[] = {{"wait", "wait-cpu"},
		     {"ulock", "lock"},
		     {"text", "text-fault"},
		     {"data", "data-fault"},
		     {"owait", "other-wait"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (same_words(name, words[i].theirs))
			return words[i].ours;
	}
	return name;
}

unsigned ctx_profile_metric_states(const struct ctx_profile *profile, uint32_t metric)
{
	const struct ctx_metric_info *info;
	unsigned states = 0;

	if (!profile->has_states || metric >= profile->n_metrics)
		return 0;
	info = &profile->metrics[metric];
	if (info->parts == NULL && metric >= profile->states && metric - profile->states < CTX_STATE_N)
		return CTX_STATE_BIT(metric - profile->states);
	for (uint32_t i = 0; info->parts != NULL && i < info->n_parts; i++) {
		if (info->parts[i] >= profile->states && info->parts[i] - profile->states < CTX_STATE_N)
			states |= CTX_STATE_BIT(info->parts[i] - profile->states);
	}
	return states;
}

/* Ids of parents are smaller, or a damaged file could have a circle. */
static bool continues_parent(const struct ctx_profile *profile, uint32_t image)
{
	const struct ctx_process_info *info = &profile->processes[image];

	return info->parent < image && info->pid > 0 && profile->processes[info->parent].pid == info->pid;
}

uint32_t ctx_profile_first_image(const struct ctx_profile *profile, uint32_t image)
{
	while (continues_parent(profile, image))
		image = profile->processes[image].parent;
	return image;
}

uint32_t ctx_profile_count_processes(const struct ctx_profile *profile)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < profile->n_processes; i++)
		n += !continues_parent(profile, i);
	return n;
}

uint32_t ctx_profile_find_metric(const struct ctx_profile *profile, const char *name)
{
	const char *word = own_word(name);

	for (uint32_t i = 0; i < profile->n_metrics; i++) {
		if (strcmp(profile->metrics[i].name, name) == 0)
			return i;
	}
	/*
	 * Words first: "user" is User CPU, not the state USER. In a recording of gprofng its words
	 * are the metrics' own.
	 */
	for (uint32_t i = 0; i < profile->n_metrics; i++) {
		if (profile->metrics[i].word != NULL && same_words(profile->metrics[i].word, name))
			return i;
	}
	for (uint32_t i = 0; i < profile->n_metrics; i++) {
		if (profile->metrics[i].word != NULL && same_words(profile->metrics[i].word, word))
			return i;
	}
	for (uint32_t i = 0; i < profile->n_metrics; i++) {
		if (same_words(profile->metrics[i].name, name))
			return i;
	}
	return CTX_NONE;
}

const char *ctx_command_program(const char *command, size_t *ret_n)
{
	size_t n = strcspn(command, " ");
	const char *slash = memrchr(command, '/', n);
	const char *name = slash != NULL ? slash + 1 : command;

	*ret_n = n > 0 && command[n] == ' ' && command[n - 1] == ':' ? strlen(name)
								     : n - (size_t)(name - command);
	return name;
}

void ctx_thread_name_pattern(const char *name, struct ctx_buf *out)
{
	for (; *name != '\0'; name++) {
		if (!isdigit((unsigned char)*name))
			ctx_buf_put_u8(out, (uint8_t)*name);
		else if (!isdigit((unsigned char)name[1]))
			ctx_buf_put_u8(out, '*');
	}
}

uint32_t ctx_profile_calls_metric(const struct ctx_profile *profile)
{
	for (uint32_t i = 0; i < profile->n_metrics; i++) {
		if (ctx_metric_has_exact_calls(&profile->metrics[i]))
			return i;
	}
	return CTX_NONE;
}

uint32_t ctx_profile_omp_metric(const struct ctx_profile *profile)
{
	for (uint32_t i = 0; i < profile->n_metrics; i++) {
		if (profile->metrics[i].kind == CTX_METRIC_OMP_SPAN)
			return i;
	}
	return CTX_NONE;
}

uint32_t ctx_profile_elapsed_metric(const struct ctx_profile *profile)
{
	for (uint32_t i = profile->n_metrics; i-- != 0;) {
		if (ctx_metric_has_exact_calls(&profile->metrics[i]))
			return i;
	}
	return CTX_NONE;
}
