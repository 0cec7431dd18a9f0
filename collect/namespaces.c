#include "collect/namespaces.h"

#include "base/buf.h"
#include "base/mem.h"
#include "collect/procfs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 64
#define CGROUP_BYTES 1024u /* longer paths are cut */

void ctx_namespaces_deinit(struct ctx_namespaces *namespaces)
{
	free(namespaces->cgroup);
	*namespaces = (struct ctx_namespaces){0};
}

const char *ctx_namespaces_parse_cgroup(char *text)
{
	static const char REMOVED[] = " (deleted)";
	const char *unified = NULL, *other = NULL;
	char *line;

	while ((line = strsep(&text, "\n")) != NULL) {
		char *controllers = strchr(line, ':');
		char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
		size_t n;

		if (path == NULL || path[1] != '/')
			continue;
		path++;
		n = strlen(path);
		if (n > strlen(REMOVED) && strcmp(path + n - strlen(REMOVED), REMOVED) == 0)
			path[n - strlen(REMOVED)] = '\0';
		if (strncmp(line, "0::", 3) == 0)
			unified = path;
		else if (other == NULL && path[1] != '\0')
			other = path;
	}
	return unified != NULL && (unified[1] != '\0' || other == NULL) ? unified : other;
}

int64_t ctx_namespaces_parse_inner(const char *status)
{
	static const char KEY[] = "\nNSpid:";
	const char *at = strstr(status, KEY);
	int64_t id = 0;
	unsigned n = 0;
	char *end;

	for (at = at != NULL ? at + strlen(KEY) : ""; *at == '\t' || *at == ' '; at = end, n++) {
		id = strtoll(at, &end, 10);
		if (end == at)
			break;
	}
	return n > 1 && id > 0 && id <= INT32_MAX ? id : 0;
}

/* Whether it is certain that a process is in the recorder's pid namespace. */
static bool is_own(uint64_t pid_namespace, const struct ctx_namespaces *known)
{
	if (pid_namespace == 0)
		return false;
	if (known->pid_namespace == pid_namespace)
		return !known->is_inner;
	return pid_namespace == ctx_procfs_namespace(0, "pid");
}

static int64_t inner_id(int64_t pid, const char *file)
{
	struct ctx_buf buf = {0};
	int64_t id = 0;

	if (ctx_procfs_text(pid, file, &buf, NULL) == CTX_OK)
		id = ctx_namespaces_parse_inner((const char *)buf.bytes);
	ctx_buf_deinit(&buf);
	return id;
}

/* Mostly it is where the `known` ones are: of the parent, or of the image before. */
static void look_for_inner_pid(int64_t pid, const struct ctx_namespaces *known,
			       struct ctx_namespaces *namespaces)
{
	uint64_t pid_namespace = ctx_procfs_namespace(pid, "pid");
	int64_t id;

	if (pid_namespace == 0 && (errno == ENOENT || errno == ESRCH)) /* it has ended */
		return;
	id = is_own(pid_namespace, known) ? 0 : inner_id(pid, "status");
	namespaces->pid_namespace = pid_namespace;
	if (id != 0) {
		namespaces->inner_pid = id;
		namespaces->is_inner = true;
	}
}

/* `path` NULL: unknown, what was known stays. */
static enum ctx_status set_cgroup(struct ctx_namespaces *namespaces, const char *path, bool *ret_moved,
				  struct ctx_err *err)
{
	size_t n = path != NULL ? strnlen(path, CGROUP_BYTES) : 0;
	char *copy;

	*ret_moved = n > 0 && (namespaces->cgroup == NULL || strlen(namespaces->cgroup) != n ||
			       memcmp(namespaces->cgroup, path, n) != 0);
	if (!*ret_moved)
		return CTX_OK;
	copy = ctx_memdup0(path, n);
	if (copy == NULL)
		return ctx_err_nomem(err);
	free(namespaces->cgroup);
	namespaces->cgroup = copy;
	return CTX_OK;
}

enum ctx_status ctx_namespaces_look(int64_t pid, struct ctx_namespaces *namespaces, bool *ret_moved,
				    struct ctx_err *err)
{
	struct ctx_buf buf = {0};
	const char *path = NULL;
	enum ctx_status status;

	*ret_moved = false;
	if (!ctx_procfs_exists(pid))
		return CTX_OK;
	if (ctx_procfs_text(pid, "cgroup", &buf, NULL) == CTX_OK)
		path = ctx_namespaces_parse_cgroup((char *)buf.bytes);
	status = set_cgroup(namespaces, path, ret_moved, err);
	ctx_buf_deinit(&buf);
	if (status == CTX_OK)
		look_for_inner_pid(pid, namespaces, namespaces);
	return status;
}

enum ctx_status ctx_namespaces_fork(const struct ctx_namespaces *parent, int64_t pid,
				    struct ctx_namespaces *ret, struct ctx_err *err)
{
	struct ctx_namespaces child = {.is_inner = parent->is_inner};

	if (parent->cgroup != NULL) {
		child.cgroup = ctx_memdup0(parent->cgroup, strlen(parent->cgroup));
		if (child.cgroup == NULL)
			return ctx_err_nomem(err);
	}
	if (ctx_procfs_exists(pid))
		look_for_inner_pid(pid, parent, &child);
	*ret = child;
	return CTX_OK;
}

int64_t ctx_namespaces_inner_tid(const struct ctx_namespaces *process, int64_t pid, int64_t tid)
{
	char file[PATH_BYTES];

	if (!process->is_inner)
		return 0;
	if (tid == pid)
		return process->inner_pid;
	snprintf(file, sizeof(file), "task/%" PRId64 "/status", tid);
	return inner_id(pid, file);
}
