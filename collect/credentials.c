#include "collect/credentials.h"

#include "base/fileio.h"
#include "collect/procfs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534u

/* The begin of the values of a line "Key:"; NULL: no such line. */
static const char *values_of(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, key, n) == 0 && at[n] == ':')
			return at + n + 1;
	}
	return NULL;
}

/* The fourth of "real effective saved file-system". */
static bool file_system_id(const char *text, const char *key, uint32_t *ret)
{
	const char *values = values_of(text, key);

	return values != NULL && sscanf(values, " %*u %*u %*u %" SCNu32, ret) == 1;
}

static void parse_groups(const char *at, struct ctx_credentials *credentials)
{
	while (at != NULL && credentials->n_groups < CTX_CREDENTIALS_GROUPS_MAX) {
		char *end;
		unsigned long group;

		at += strspn(at, " \t");
		if (*at < '0' || *at > '9')
			return;
		group = strtoul(at, &end, 10);
		credentials->groups[credentials->n_groups++] = (uint32_t)group;
		at = end;
	}
}

bool ctx_credentials_read(int64_t pid, struct ctx_credentials *ret)
{
	struct ctx_credentials credentials = {0};
	struct ctx_buf text = {0};
	bool is_read = ctx_procfs_text(pid, "status", &text, NULL) == CTX_OK &&
		       file_system_id((const char *)text.bytes, "Uid", &credentials.uid) &&
		       file_system_id((const char *)text.bytes, "Gid", &credentials.gid);
	if (is_read) {
		parse_groups(values_of((const char *)text.bytes, "Groups"), &credentials);
		*ret = credentials;
	}
	ctx_buf_deinit(&text);
	return is_read;
}

struct ctx_credentials ctx_credentials_own(void)
{
	struct ctx_credentials own = {.uid = geteuid(), .gid = getegid()};
	int n = getgroups(0, NULL);
	gid_t *groups = n > 0 ? malloc((size_t)n * sizeof(*groups)) : NULL;

	n = groups != NULL ? getgroups(n, groups) : 0;
	for (int i = 0; i < n && own.n_groups < CTX_CREDENTIALS_GROUPS_MAX; i++)
		own.groups[own.n_groups++] = groups[i];
	free(groups);
	return own;
}

struct ctx_credentials ctx_credentials_nobody(void)
{
	return (struct ctx_credentials){.uid = NOBODY, .gid = NOBODY};
}

bool ctx_credentials_equal(const struct ctx_credentials *a, const struct ctx_credentials *b)
{
	return a->uid == b->uid && a->gid == b->gid && a->n_groups == b->n_groups &&
	       memcmp(a->groups, b->groups, a->n_groups * sizeof(a->groups[0])) == 0;
}

/* System calls, not glibc's setgroups, which would change all threads. */
static bool set(const struct ctx_credentials *user)
{
	if (syscall(SYS_setgroups, user->n_groups, user->groups) != 0)
		return false;
	(void)setfsgid(user->gid);
	(void)setfsuid(user->uid);
	/* Both return the id that was valid before, whether they changed it or not. */
	return (uint32_t)setfsgid((gid_t)-1) == user->gid && (uint32_t)setfsuid((uid_t)-1) == user->uid;
}

bool ctx_credentials_take(const struct ctx_credentials *user, struct ctx_credentials_before *before)
{
	*before = (struct ctx_credentials_before){0};
	if (geteuid() != 0 || user->uid == 0)
		return true;
	before->own = ctx_credentials_own();
	before->is_taken = true;
	before->dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
	return set(user);
}

void ctx_credentials_give_back(const struct ctx_credentials_before *before)
{
	if (!before->is_taken)
		return;
	(void)set(&before->own);
	/* The kernel forbids core dumps and debuggers when a process changes its ids. */
	if (before->dumpable == 1)
		(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

int ctx_credentials_open(const struct ctx_credentials *user, const char *path)
{
	struct ctx_credentials_before before;
	int fd = -1;

	if (ctx_credentials_take(user, &before)) {
		int found CTX_AUTO_CLOSE = open(path, O_PATH | O_CLOEXEC);
		struct stat info;
		char name[64];

		snprintf(name, sizeof(name), "/proc/self/fd/%d", found);
		if (found >= 0 && fstat(found, &info) == 0 && S_ISREG(info.st_mode))
			fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	ctx_credentials_give_back(&before);
	return fd;
}
