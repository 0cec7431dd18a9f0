#include "model/phase.h"

#include "base/bisect.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX "phase:"
#define NUMBER_DIGITS 6u /* of a phase */

void ctx_phases_deinit(struct ctx_phases *phases)
{
	for (size_t i = 0; i < phases->n_groups; i++) {
		struct ctx_phase_group *group = &phases->groups[i];

		for (size_t j = 0; j < group->n; j++)
			ctx_histogram_deinit(&group->phases[j].histogram);
		free(group->phases);
		free(group->similarity);
	}
	free(phases->groups);
	free(phases->periods);
	*phases = (struct ctx_phases){0};
}

#define ROW(first)                                                                                           \
	first "A", first "B", first "C", first "D", first "E", first "F", first "G", first "H", first "I",   \
		first "J", first "K", first "L", first "M", first "N", first "O", first "P", first "Q",      \
		first "R", first "S", first "T", first "U", first "V", first "W", first "X", first "Y",      \
		first "Z"

const char *ctx_phase_letter(uint32_t letter)
{
	static const char *const letters[CTX_PHASE_LETTERS] = {ROW(""), ROW("A"), ROW("B"), ROW("C")};

	return letter < CTX_PHASE_LETTERS ? letters[letter] : "?";
}

char ctx_phase_mark(const struct ctx_phase *phase)
{
	const char *letter = phase != NULL ? ctx_phase_letter(phase->letter) : " ";

	return letter[1] == '\0' ? letter[0] : '*';
}

const struct ctx_phase *ctx_phase_at(const struct ctx_phase_group *group, uint64_t time_ns)
{
	size_t i = ctx_count_up_to(group->phases, group->n, interval.end_ns, time_ns);

	return i < group->n && ctx_interval_has(group->phases[i].interval, time_ns) ? &group->phases[i]
										    : NULL;
}

bool ctx_phase_text_is(const char *text)
{
	return strncmp(text, PREFIX, strlen(PREFIX)) == 0;
}

/* Behind the process, if there is one: "B". */
static const char *name_in(const char *text)
{
	const char *slash = strrchr(text, '/');

	return slash != NULL ? slash + 1 : text + strlen(PREFIX);
}

bool ctx_phase_text_process(const char *text, struct ctx_buf *out)
{
	const char *from = text + strlen(PREFIX), *name = name_in(text);

	if (name == from)
		return false;
	ctx_buf_put(out, from, (size_t)(name - from - 1));
	ctx_buf_put_u8(out, '\0');
	return true;
}

static enum ctx_status add(struct ctx_interval_list *list, struct ctx_interval interval, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&list->items, &list->cap, list->n + 1, err);

	if (status == CTX_OK)
		list->items[list->n++] = interval;
	return status;
}

static enum ctx_status refuse(const struct ctx_phase_group *group, const char *text, struct ctx_err *err)
{
	if (group->n == 0)
		return ctx_err_set(err, CTX_E_ARG,
				   "interval '%s': the recording has too few samples to tell phases apart",
				   text);
	if (group->n_letters == 1)
		return ctx_err_set(err, CTX_E_ARG, "interval '%s': there is one phase alone, phase:A", text);
	return ctx_err_set(
		err, CTX_E_ARG,
		"interval '%s': there are the phases 1 to %zu, with the letters A to %s (-r phases)", text,
		group->n, ctx_phase_letter(group->n_letters - 1));
}

/* A number from 1 on at *at, which moves behind it; 0: there is none. */
static size_t read_number(const char **at)
{
	size_t digits = strspn(*at, "0123456789"), number = 0;

	if (digits == 0 || digits > NUMBER_DIGITS)
		return 0;
	for (; digits != 0; digits--)
		number = number * 10 + (size_t)(*(*at)++ - '0');
	return number;
}

static enum ctx_status add_numbered(const struct ctx_phase_group *group, const char *text,
				    struct ctx_interval_list *ret, struct ctx_err *err)
{
	const char *at = name_in(text);
	size_t first = read_number(&at), last = first;

	if (strncmp(at, "..", 2) == 0) {
		at += 2;
		last = read_number(&at);
	}
	if (*at != '\0' || first == 0 || last < first || last > group->n)
		return refuse(group, text, err);
	return add(ret,
		   (struct ctx_interval){group->phases[first - 1].interval.begin_ns,
					 group->phases[last - 1].interval.end_ns},
		   err);
}

enum ctx_status ctx_phase_intervals_find(const struct ctx_phase_group *group, const char *text,
					 struct ctx_interval_list *ret, struct ctx_err *err)
{
	const char *word = name_in(text);
	enum ctx_status status = CTX_OK;
	bool some = false;

	if (*word >= '0' && *word <= '9')
		return add_numbered(group, text, ret, err);
	for (size_t i = 0; i < group->n && status == CTX_OK; i++) {
		if (strcasecmp(ctx_phase_letter(group->phases[i].letter), word) != 0)
			continue;
		some = true;
		status = add(ret, group->phases[i].interval, err);
	}
	return status == CTX_OK && !some ? refuse(group, text, err) : status;
}
