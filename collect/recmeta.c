#include "collect/recmeta.h"

#include "model/heap_sampling.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "collect/machine_topology.h"
#include "model/call_counter.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MAX_STACK_USUAL 127u

static void add(struct ctx_recmeta *meta, const char *key, const char *fmt, ...) CTX_PRINTF(3, 4);

static void add(struct ctx_recmeta *meta, const char *key, const char *fmt, ...)
{
	struct ctx_property *property = &meta->properties[meta->n];
	char value[CTX_ERR_MAX];
	va_list args;

	if (meta->n == CTX_RECMETA_MAX)
		return;
	va_start(args, fmt);
	vsnprintf(value, sizeof(value), fmt, args);
	va_end(args);
	property->key = key;
	property->value = ctx_arena_strdup(&meta->arena, value);
	if (property->value == NULL)
		meta->is_short_of_memory = true;
	else
		meta->n++;
}

/* "service=web" is a property label.service. */
static void add_label(struct ctx_recmeta *meta, const char *label)
{
	static const char prefix[] = "label.";
	const char *value = strchr(label, '=') + 1;
	size_t n = sizeof(prefix) - 1 + (size_t)(value - label);
	char *key = ctx_arena_alloc(&meta->arena, n);
	const char *kept = ctx_arena_strdup(&meta->arena, value);
	size_t at = 0;

	if (key == NULL || kept == NULL) {
		meta->is_short_of_memory = true;
		return;
	}
	snprintf(key, n, "%s%s", prefix, label);
	while (at < meta->n && strcmp(meta->properties[at].key, key) != 0)
		at++;
	if (at == CTX_RECMETA_MAX)
		return;
	meta->properties[at] = (struct ctx_property){.key = key, .value = kept};
	meta->n += at == meta->n;
}

static void set_command(struct ctx_recmeta *meta, char *const *command)
{
	struct ctx_buf words = {0}, line = {0};

	meta->command = "";
	for (; command != NULL && *command != NULL; command++)
		ctx_buf_put(&words, *command, strlen(*command) + 1);
	ctx_quote_arguments((const char *)words.bytes, words.n, &line);
	if (!words.failed && !line.failed)
		meta->command = ctx_arena_strdup(&meta->arena, (const char *)line.bytes);
	if (words.failed || line.failed || meta->command == NULL)
		meta->is_short_of_memory = true;
	ctx_buf_deinit(&words);
	ctx_buf_deinit(&line);
}

static void set_stem(struct ctx_recmeta *meta, const struct ctx_rec_options *options)
{
	char name[64];

	if (options->command != NULL)
		meta->stem = ctx_path_base(options->command[0]);
	else if (options->pids.n > 0 &&
		 ctx_procfs_comm(options->pids.items[0], 0, name, sizeof(name), NULL) == CTX_OK) {
		for (char *at = name; *at != '\0'; at++)
			*at = *at == '/' || (unsigned char)*at < ' ' ? '_' : *at;
		meta->stem = ctx_arena_strdup(&meta->arena, name);
	} else {
		meta->stem = options->system_wide ? "system" : "process";
	}
	if (meta->stem == NULL)
		meta->is_short_of_memory = true;
}

static void add_machine(struct ctx_recmeta *meta)
{
	struct utsname machine;
	char cwd[CTX_ERR_MAX];

	if (uname(&machine) == 0) {
		add(meta, "host", "%s", machine.nodename);
		add(meta, "arch", "%s", machine.machine);
		add(meta, "os", "%s", machine.sysname);
		add(meta, "kernel", "%s", machine.release);
	}
	add(meta, "cpus", "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	add(meta, "page_size", "%ld", sysconf(_SC_PAGESIZE));
	if (getcwd(cwd, sizeof(cwd)) != NULL)
		add(meta, "cwd", "%s", cwd);
	add(meta, "uid", "%lu", (unsigned long)getuid());
}

static void add_topology(struct ctx_recmeta *meta)
{
	struct ctx_topology topology CTX_CLEANUP(ctx_topology_deinit) = {0};
	struct ctx_buf text CTX_AUTO_BUF = {0};
	enum ctx_status status = ctx_machine_topology("/sys", &meta->arena, &topology, NULL);

	for (unsigned part = 0; part < CTX_TOPOLOGY_N && status == CTX_OK && meta->n < CTX_RECMETA_MAX;
	     part++) {
		const char *value;

		ctx_buf_clear(&text);
		status = ctx_topology_write(&topology, (enum ctx_topology_part)part, &text, NULL);
		if (status != CTX_OK || text.n == 0)
			continue;
		value = ctx_arena_strndup(&meta->arena, (const char *)text.bytes, text.n);
		if (value == NULL)
			status = CTX_E_NOMEM;
		else
			meta->properties[meta->n++] = (struct ctx_property){
				.key = ctx_topology_key((enum ctx_topology_part)part), .value = value};
	}
	if (status != CTX_OK)
		meta->is_short_of_memory = true;
}

/*
 * Whether /proc/kallsyms shows this user addresses. All are 0 otherwise; the first few can be 0
 * anyway.
 */
static bool shows_kernel_names(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	bool shows = false;
	char line[256];

	if (file == NULL)
		return false;
	for (int i = 0; i < 256 && !shows && fgets(line, sizeof(line), file) != NULL; i++)
		shows = strspn(line, "0") < strspn(line, "0123456789abcdef");
	fclose(file);
	return shows;
}

void ctx_recmeta_add(struct ctx_recmeta *meta, const char *key, const char *value)
{
	add(meta, key, "%s", value);
}

static void add_settings(struct ctx_recmeta *meta, const struct ctx_rec_options *options,
			 const struct ctx_session *session)
{
	char counters[CTX_CALL_COUNTERS_TEXT_MAX];
	bool no_kernel = options->user_only || session->without_kernel;

	add(meta, "target", "%s",
	    options->system_wide  ? "system"
	    : options->pids.n > 0 ? "processes"
				  : "command");
	add(meta, "modes", "%s", options->kernel_only ? "kernel" : no_kernel ? "user" : "user,kernel");
	if (session->sizes.stack_bytes != 0)
		add(meta, "stacks", "call frame information, %zu bytes of stack", session->sizes.stack_bytes);
	else
		add(meta, "stacks", "%s",
		    options->unwind == CTX_REC_UNWIND_NONE ? "program counter alone" : "frame pointers");
	if (session->states.level != CTX_STATES_NONE)
		add(meta, "states", "%s%s", ctx_states_level_text(&session->states),
		    session->states.level == CTX_STATES_MIN && !shows_kernel_names()
			    ? "; faults, stops and traps are not told apart (kernel.kptr_restrict hides the "
			      "kernel's names)"
			    : "");
	else if (options->waits.states == CTX_REC_STATES_AUTO)
		add(meta, "states", "off: too many threads and CPUs for the limit on open files (ulimit -n)");
	if (options->trace.heap) /* as gprofng says it: a report without operations is empty, not refused */
		add(meta, "heap trace", "on");
	if (options->trace.marks)
		add(meta, "mark trace", "on");
	if (options->trace.omp && options->trace.omp_library != NULL)
		add(meta, "OpenMP trace", "on: %s is among the command's libraries (--openmp=off: not)",
		    options->trace.omp_library);
	else if (options->trace.omp)
		add(meta, "OpenMP trace", "on%s",
		    options->trace.omp_mode == CTX_REC_OMP_LIBOMP ? ", with libomp in place of libgomp" : "");
	if (options->trace.calls)
		add(meta, "call trace", "%s", options->trace.calls_sums ? "summary" : "on");
	if (options->trace.calls_memory != 0)
		add(meta, "calls_memory", "%llu", (unsigned long long)options->trace.calls_memory);
	if (options->trace.has_calls_prune)
		add(meta, "calls_prune", "%u%%", options->trace.calls_prune);
	ctx_call_counters_text(options->trace.calls_counters, counters);
	if (counters[0] != '\0')
		add(meta, "calls_counter", "%s", counters);
	if (options->trace.calls_of != NULL)
		add(meta, "calls_of", "%s", options->trace.calls_of);
	if (options->trace.calls_min_ns != 0)
		add(meta, "calls_min_ns", "%llu", (unsigned long long)options->trace.calls_min_ns);
	if (options->trace.calls_depth != 0)
		add(meta, "calls_depth", "%llu", (unsigned long long)options->trace.calls_depth);
	if (options->trace.sample_bytes != 0)
		add(meta, CTX_HEAP_SAMPLE_PROPERTY, "%llu", (unsigned long long)options->trace.sample_bytes);
	add(meta, "max_stack", "%u", ctx_max_stack());
	add(meta, "ring_bytes", "%zu", session->sizes.ring_bytes);
	add(meta, "follow", "%s", options->no_follow ? "no" : "yes");
	if (options->trace.sync && options->trace.sync_threshold_ns == 0)
		add(meta, "synchronization trace", "all waits, and how long locks are held");
	else if (options->trace.sync)
		add(meta, "synchronization trace", "threshold %g us%s",
		    (double)options->trace.sync_threshold_ns / 1000,
		    options->trace.is_calibrated ? ", calibrated" : "");
}

enum ctx_status ctx_recmeta_init(struct ctx_recmeta *meta, const struct ctx_rec_options *options,
				 const struct ctx_session *session, const struct ctx_priority_attr *priority,
				 struct ctx_err *err)
{
	char text[64];

	*meta = (struct ctx_recmeta){0};
	add(meta, "collector", "ctxrec %s", CTX_VERSION);
	add_machine(meta);
	add_topology(meta);
	set_command(meta, options->command);
	set_stem(meta, options);
	if (options->command != NULL && meta->n < CTX_RECMETA_MAX)
		meta->properties[meta->n++] = (struct ctx_property){.key = "command", .value = meta->command};
	add_settings(meta, options, session);
	ctx_priority_describe(priority, text, sizeof(text));
	add(meta, "priority", "%s", text);
	for (size_t i = 0; i < options->notes.labels.n; i++)
		add_label(meta, options->notes.labels.items[i]);
	return meta->is_short_of_memory ? ctx_err_nomem(err) : CTX_OK;
}

void ctx_recmeta_deinit(struct ctx_recmeta *meta)
{
	ctx_arena_deinit(&meta->arena);
	*meta = (struct ctx_recmeta){0};
}

uint32_t ctx_max_stack(void)
{
	struct ctx_buf buf = {0};
	uint32_t value = MAX_STACK_USUAL;

	if (ctx_file_read("/proc/sys/kernel/perf_event_max_stack", 64, &buf, NULL) == CTX_OK) {
		ctx_buf_put_u8(&buf, 0);
		if (!buf.failed)
			value = (uint32_t)strtoul((const char *)buf.bytes, NULL, 10);
	}
	ctx_buf_deinit(&buf);
	return value != 0 ? value : MAX_STACK_USUAL;
}

static uint64_t bytes_below(int at, const char *name, int depth)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	uint64_t bytes = 0;

	if (dir == NULL) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while ((entry = readdir(dir)) != NULL) {
		struct stat info;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (S_ISREG(info.st_mode))
			bytes += (uint64_t)info.st_size;
		else if (S_ISDIR(info.st_mode) && depth < 8)
			bytes += bytes_below(fd, entry->d_name, depth + 1);
	}
	closedir(dir);
	return bytes;
}

uint64_t ctx_tree_bytes(const char *path)
{
	return bytes_below(AT_FDCWD, path, 0);
}
