#include "model/container.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define ID_DIGITS 64u
#define SHOWN_DIGITS 12

/* A part of a path between slashes. */
struct component {
	const char *text;
	size_t n;
};

static bool take(struct component component, size_t skip, size_t leave, char ret[CTX_CONTAINER_NAME])
{
	if (component.n <= skip + leave)
		return false;
	snprintf(ret, CTX_CONTAINER_NAME, "%.*s", (int)(component.n - skip - leave), component.text + skip);
	return true;
}

static bool has_prefix(struct component component, const char *prefix)
{
	return component.n > strlen(prefix) && memcmp(component.text, prefix, strlen(prefix)) == 0;
}

static bool has_suffix(struct component component, const char *suffix)
{
	size_t n = strlen(suffix);

	return component.n > n && memcmp(component.text + component.n - n, suffix, n) == 0;
}

/* A run of exactly 64 hexadecimal digits. */
static bool take_id(struct component component, char ret[CTX_CONTAINER_NAME])
{
	size_t run = 0;

	for (size_t i = 0; i <= component.n; i++) {
		if (i < component.n && isxdigit((unsigned char)component.text[i])) {
			run++;
			continue;
		}
		if (run == ID_DIGITS) {
			snprintf(ret, CTX_CONTAINER_NAME, "%.*s", SHOWN_DIGITS, component.text + i - run);
			return true;
		}
		run = 0;
	}
	return false;
}

static bool take_name(struct component component, struct component above, char ret[CTX_CONTAINER_NAME])
{
	if (take_id(component, ret))
		return true;
	if (has_prefix(component, "lxc.payload."))
		return take(component, strlen("lxc.payload."), 0, ret);
	if (above.n == 3 && memcmp(above.text, "lxc", 3) == 0)
		return take(component, 0, 0, ret);
	return has_prefix(component, "machine-") && has_suffix(component, ".scope") &&
	       take(component, strlen("machine-"), strlen(".scope"), ret);
}

bool ctx_container_of_cgroup(const char *cgroup, char ret[CTX_CONTAINER_NAME])
{
	struct component above = {"", 0};
	bool found = false;
	size_t n;

	ret[0] = '\0';
	for (const char *at = cgroup != NULL ? cgroup : ""; *at != '\0'; at += n) {
		struct component component = {at, n = strcspn(at, "/")};

		found = take_name(component, above, ret) || found;
		above = component;
		n += at[n] == '/';
	}
	return found;
}
