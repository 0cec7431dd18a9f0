#include "collect/uprobes.h"

#include "base/fileio.h"
#include "collect/procfs.h"
#include "collect/tracepoint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "ctxrec_"
#define DEFINITIONS_MAX ((size_t)64 << 20)

static int open_definitions(const struct ctx_uprobes *uprobes)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/uprobe_events", uprobes->tracefs);
	return open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
}

/* One command is one write. False: errno is set. */
static bool give(int fd, const char *command, size_t n)
{
	ssize_t written;

	do
		written = write(fd, command, n);
	while (written < 0 && errno == EINTR);
	return written == (ssize_t)n;
}

void ctx_uprobes_list_stale(const char *definitions, bool (*is_alive)(int64_t pid), struct ctx_buf *out)
{
	char last[64] = "";

	while (*definitions != '\0') {
		size_t n = strcspn(definitions, "\n");
		const char *group = memchr(definitions, ':', n);
		char name[64];
		long long pid;
		unsigned number;

		if (group != NULL && sscanf(group, ":" PREFIX "%lld/i%u ", &pid, &number) == 2 && pid > 0 &&
		    !is_alive(pid)) {
			snprintf(name, sizeof(name), "-:" PREFIX "%lld/i%u\n", pid, number);
			/* The places of an event follow one another. */
			if (strcmp(name, last) != 0)
				ctx_buf_put_text(out, name);
			memcpy(last, name, sizeof(last));
		}
		definitions += n + (definitions[n] == '\n');
	}
}

static void give_each_line(int fd, const char *text, size_t n)
{
	while (n != 0) {
		const char *end = memchr(text, '\n', n);
		size_t line = end != NULL ? (size_t)(end - text) + 1 : n;

		(void)give(fd, text, line);
		text += line;
		n -= line;
	}
}

enum ctx_status ctx_uprobes_begin(struct ctx_uprobes *uprobes, const char *tracefs, struct ctx_err *err)
{
	struct ctx_buf definitions CTX_AUTO_BUF = {0}, stale CTX_AUTO_BUF = {0};
	char path[PATH_MAX];
	int fd CTX_AUTO_CLOSE = -1;
	enum ctx_status status;

	*uprobes = (struct ctx_uprobes){.tracefs = tracefs};
	fd = open_definitions(uprobes);
	if (fd < 0)
		return ctx_err_errno(err, errno == ENOENT ? CTX_E_NOTFOUND : CTX_E_PERM, "%s/uprobe_events",
				     tracefs);
	snprintf(path, sizeof(path), "%s/uprobe_events", tracefs);
	status = ctx_file_read(path, DEFINITIONS_MAX, &definitions, err);
	if (status != CTX_OK)
		return status;
	ctx_buf_put_u8(&definitions, 0);
	if (definitions.failed)
		return ctx_err_nomem(err);
	ctx_uprobes_list_stale((const char *)definitions.bytes, ctx_procfs_exists, &stale);
	if (stale.n != 0)
		give_each_line(fd, (const char *)stale.bytes, stale.n);
	return ctx_buf_check(&stale, err);
}

static enum ctx_status read_id(const struct ctx_uprobes *uprobes, uint64_t *ret, struct ctx_err *err)
{
	char name[64];

	snprintf(name, sizeof(name), PREFIX "%d/i%u", (int)getpid(), uprobes->n);
	return ctx_tracepoint_id(uprobes->tracefs, name, ret, err);
}

static enum ctx_status define_place(const struct ctx_uprobes *uprobes, int fd,
				    const struct ctx_uprobe_place *place, bool is_return, struct ctx_err *err)
{
	int file CTX_AUTO_CLOSE = -1;
	char command[PATH_MAX + 128], name[64];
	const char *path = place->path;
	int n;

	/* The kernel divides a definition at spaces. */
	if (strpbrk(path, " \t\n\\\"'#;") != NULL) {
		file = open(path, O_RDONLY | O_CLOEXEC);
		snprintf(name, sizeof(name), "/proc/%d/fd/%d", (int)getpid(), file);
		path = name;
	}
	n = snprintf(command, sizeof(command), "%c:" PREFIX "%d/i%u %s:0x%" PRIx64 "\n",
		     is_return ? 'r' : 'p', (int)getpid(), uprobes->n, path, place->offset);
	if (n >= (int)sizeof(command))
		return ctx_err_set(err, CTX_E_ARG, "%s: the path is too long", path);
	if (give(fd, command, (size_t)n))
		return CTX_OK;
	return ctx_err_errno(err, errno == EPERM || errno == EACCES ? CTX_E_PERM : CTX_E_ARG,
			     "the kernel does not take a uprobe at %s:0x%" PRIx64, place->path,
			     place->offset);
}

static void remove_definition(int fd, unsigned number)
{
	char command[64];
	int n = snprintf(command, sizeof(command), "-:" PREFIX "%d/i%u\n", (int)getpid(), number);

	(void)give(fd, command, (size_t)n);
}

enum ctx_status ctx_uprobes_define(struct ctx_uprobes *uprobes, const struct ctx_uprobe_event *event,
				   uint64_t *ret_id, struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE = open_definitions(uprobes);
	enum ctx_status status = CTX_OK;

	if (fd < 0)
		return ctx_err_errno(err, CTX_E_PERM, "%s/uprobe_events", uprobes->tracefs);
	for (size_t i = 0; i < event->n && status == CTX_OK; i++)
		status = define_place(uprobes, fd, &event->places[i], event->is_return, err);
	if (status == CTX_OK)
		status = read_id(uprobes, ret_id, err);
	if (status != CTX_OK)
		remove_definition(fd, uprobes->n);
	uprobes->n += status == CTX_OK;
	return status;
}

void ctx_uprobes_end(struct ctx_uprobes *uprobes)
{
	int fd CTX_AUTO_CLOSE = uprobes->n != 0 ? open_definitions(uprobes) : -1;

	for (; uprobes->n != 0; uprobes->n--) {
		if (fd >= 0)
			remove_definition(fd, uprobes->n - 1);
	}
}
