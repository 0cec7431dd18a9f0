#include "runtime/rt_environment.h"

#include "runtime/shared_layout.h"

#include <string.h>

#define PRELOAD "LD_PRELOAD="
#define VARIABLE CTX_RT_VARIABLE "="

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* The user's own part of a value of LD_PRELOAD; *ret_has: the library is in front. */
static const char *users_part(const struct ctx_rt_words *words, const char *value, bool *ret_has)
{
	size_t n = strlen(words->library);

	*ret_has = strncmp(value, words->library, n) == 0 &&
		   (value[n] == '\0' || value[n] == ':' || value[n] == ' ');
	if (!*ret_has)
		return value;
	return value + n + (value[n] != '\0');
}

struct parts {
	size_t n;	   /* variables that stay as they are */
	const char *users; /* libraries in LD_PRELOAD; "" none */
	bool has_preload, has_library, has_variable;
};

static struct parts look(const struct ctx_rt_words *words, char *const *from)
{
	struct parts parts = {.users = ""};

	for (; *from != NULL; from++) {
		if (begins(*from, PRELOAD) && !parts.has_preload) {
			parts.has_preload = true;
			parts.users = users_part(words, *from + strlen(PRELOAD), &parts.has_library);
		} else if (begins(*from, VARIABLE)) {
			parts.has_variable = strcmp(*from, words->variable) == 0;
		} else {
			parts.n++;
		}
	}
	return parts;
}

size_t ctx_rt_environment_bytes(const struct ctx_rt_words *words, char *const *from, bool with)
{
	struct parts parts = look(words, from);

	if (parts.has_library == with && parts.has_variable == with)
		return 0;
	return (parts.n + 3) * sizeof(char *) + strlen(PRELOAD) + strlen(words->library) + 1 +
	       strlen(parts.users) + 1;
}

char **ctx_rt_environment_make(const struct ctx_rt_words *words, char *const *from, bool with, void *room)
{
	struct parts parts = look(words, from);
	char **out = room, **next = out;
	char *text = (char *)(out + parts.n + 3);
	bool is_put = false;

	for (; *from != NULL; from++) {
		if (begins(*from, VARIABLE) || (begins(*from, PRELOAD) && is_put))
			continue;
		is_put = is_put || begins(*from, PRELOAD);
		if (!begins(*from, PRELOAD))
			*next++ = *from;
	}
	if (with || parts.users[0] != '\0') {
		*next++ = text;
		text = stpcpy(text, PRELOAD);
		if (with)
			text = stpcpy(text, words->library);
		if (with && parts.users[0] != '\0')
			*text++ = ':';
		strcpy(text, parts.users);
	}
	if (with)
		*next++ = (char *)words->variable;
	*next = NULL;
	return out;
}
