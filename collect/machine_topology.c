#include "collect/machine_topology.h"

#include "base/digits.h"
#include "base/fileio.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES 512
#define LIST_MAX (1 << 16)

/* A file of sysfs with a zero at its end; false: it cannot be read. */
static bool read_file(const char *path, struct ctx_buf *out)
{
	ctx_buf_clear(out);
	if (ctx_file_read(path, LIST_MAX, out, NULL) != CTX_OK)
		return false;
	ctx_buf_put_u8(out, 0);
	return !out->failed;
}

/* CTX_TOPOLOGY_UNKNOWN: there is none; some machines say -1. */
static uint32_t read_number(const char *sys, uint64_t cpu, const char *name)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	char path[PATH_BYTES];
	const char *at;
	uint64_t number;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%u/topology/%s", sys, (unsigned)cpu, name);
	if (!read_file(path, &text))
		return CTX_TOPOLOGY_UNKNOWN;
	at = (const char *)text.bytes;
	return ctx_digits_take(&at, 10, &number) && number <= CTX_TOPOLOGY_ID_MAX ? (uint32_t)number
										  : CTX_TOPOLOGY_UNKNOWN;
}

/* What is malformed is left out. */
static enum ctx_status settle(enum ctx_status status)
{
	return status == CTX_E_NOMEM ? status : CTX_OK;
}

/* A directory's entries that begin with `prefix`, and what follows is a number below 2^20. */
static bool take_number(const char *name, const char *prefix, uint64_t *ret)
{
	size_t n = strlen(prefix);
	const char *at = name + n;

	return strncmp(name, prefix, n) == 0 && ctx_digits_take(&at, 10, ret) && *at == '\0' &&
	       *ret <= CTX_TOPOLOGY_ID_MAX;
}

/* One directory's entry. */
typedef enum ctx_status each_fn(const char *sys, const char *name, struct ctx_arena *arena,
				struct ctx_topology *topology, struct ctx_err *err);

static enum ctx_status each_cpu(const char *sys, const char *name, struct ctx_arena *arena,
				struct ctx_topology *topology, struct ctx_err *err)
{
	uint64_t cpu;
	enum ctx_status status;

	(void)arena;
	if (!take_number(name, "cpu", &cpu) || cpu > CTX_TOPOLOGY_CPU_MAX)
		return CTX_OK;
	status = ctx_topology_reach(topology, cpu, err);
	if (status != CTX_OK)
		return settle(status);
	topology->cpus[cpu].socket = read_number(sys, cpu, "physical_package_id");
	topology->cpus[cpu].die = read_number(sys, cpu, "die_id");
	topology->cpus[cpu].core = read_number(sys, cpu, "core_id");
	return CTX_OK;
}

static enum ctx_status each_node(const char *sys, const char *name, struct ctx_arena *arena,
				 struct ctx_topology *topology, struct ctx_err *err)
{
	struct ctx_buf list CTX_AUTO_BUF = {0};
	char path[PATH_BYTES];
	uint64_t node;

	(void)arena;
	snprintf(path, sizeof(path), "%s/devices/system/node/%s/cpulist", sys, name);
	if (!take_number(name, "node", &node) || !read_file(path, &list))
		return CTX_OK;
	return settle(ctx_topology_put_node(topology, (const char *)list.bytes, (uint32_t)node, err));
}

/* PMUs with a file `cpus` count on those alone; uncore ones have `cpumask` instead. */
static enum ctx_status each_pmu(const char *sys, const char *name, struct ctx_arena *arena,
				struct ctx_topology *topology, struct ctx_err *err)
{
	struct ctx_buf list CTX_AUTO_BUF = {0};
	char path[PATH_BYTES];
	const char *kept;

	snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/cpus", sys, name);
	if (name[0] == '.' || !read_file(path, &list))
		return CTX_OK;
	kept = ctx_arena_strdup(arena, name);
	if (kept == NULL)
		return ctx_err_nomem(err);
	return settle(ctx_topology_put_pmu(topology, (const char *)list.bytes, kept, err));
}

enum ctx_status ctx_machine_topology(const char *sys, struct ctx_arena *arena, struct ctx_topology *ret,
				     struct ctx_err *err)
{
	static const struct {
		const char *path;
		each_fn *each;
	} directories[] = {
		{"devices/system/cpu", each_cpu},
		{"devices/system/node", each_node},
		{"bus/event_source/devices", each_pmu},
	};
	enum ctx_status status = CTX_OK;

	*ret = (struct ctx_topology){0};
	for (size_t i = 0; i < CTX_COUNT_OF(directories) && status == CTX_OK; i++) {
		char path[PATH_BYTES];
		const struct dirent *entry;
		DIR *directory;

		snprintf(path, sizeof(path), "%s/%s", sys, directories[i].path);
		directory = opendir(path);
		while (directory != NULL && status == CTX_OK && (entry = readdir(directory)) != NULL)
			status = directories[i].each(sys, entry->d_name, arena, ret, err);
		if (directory != NULL)
			closedir(directory);
	}
	return status;
}
