#include "collect/vm_perfdata.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "collect/namespaces.h"
#include "collect/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "\xca\xfe\xc0\xc0"
#define LITTLE_ENDIAN_MARK 1u
#define MAJOR 2u
#define AT_BYTE_ORDER 4u
#define AT_MAJOR 5u
#define AT_ENTRIES 24u
#define AT_N_ENTRIES 28u
#define PROLOGUE_BYTES 32u

/* Of an entry. */
#define AT_LENGTH 0u
#define AT_NAME 4u
#define AT_VECTOR 8u
#define AT_TYPE 12u
#define AT_DATA 16u
#define ENTRY_BYTES 20u
#define NAME_BYTES_MAX 128u
#define LONG_TYPE 'J'
#define FOLDER_PREFIX "hsperfdata_"

enum counter {
	HEAP_USED,
	CLASSES,
	CLASS_TICKS,
	COMPILES,
	COMPILE_TICKS,
	GC_COUNT,
	GC_TICKS,
	SAFEPOINTS,
	SAFEPOINT_TICKS,
	SYNC_TICKS,
	RUNNING_TICKS,
	FREQUENCY,
	COUNTER_N,
};

/* "?" stands for a digit: values of several entries are added up. */
static const struct {
	const char *name;
	enum counter counter;
} known[] = {
	{"sun.gc.generation.?.space.?.used", HEAP_USED},
	{"java.cls.loadedClasses", CLASSES},
	{"java.cls.sharedLoadedClasses", CLASSES},
	{"sun.cls.time", CLASS_TICKS},
	{"sun.ci.totalCompiles", COMPILES},
	{"java.ci.totalTime", COMPILE_TICKS},
	{"sun.gc.collector.?.invocations", GC_COUNT},
	{"sun.gc.collector.?.time", GC_TICKS},
	{"sun.rt.safepoints", SAFEPOINTS},
	{"sun.rt.safepointTime", SAFEPOINT_TICKS},
	{"sun.rt.safepointSyncTime", SYNC_TICKS},
	{"sun.rt.applicationTime", RUNNING_TICKS},
	{"sun.os.hrt.frequency", FREQUENCY},
};

static uint32_t u32_at(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static bool matches(const char *name, size_t n, const char *pattern)
{
	if (strlen(pattern) != n)
		return false;
	for (size_t i = 0; i < n; i++) {
		bool is_digit = name[i] >= '0' && name[i] <= '9';

		if (pattern[i] == '?' ? !is_digit : name[i] != pattern[i])
			return false;
	}
	return true;
}

static void take(const char *name, size_t n, uint64_t value, uint64_t sums[COUNTER_N], bool has[COUNTER_N])
{
	for (size_t i = 0; i < CTX_COUNT_OF(known); i++) {
		if (!matches(name, n, known[i].name))
			continue;
		has[known[i].counter] = true;
		if (value <= INT64_MAX - sums[known[i].counter])
			sums[known[i].counter] += value;
		return;
	}
}

/* An entry whose length is known to be in the bytes. */
static void take_entry(const uint8_t *entry, uint32_t length, uint64_t sums[COUNTER_N], bool has[COUNTER_N])
{
	uint32_t name = u32_at(entry + AT_NAME), data = u32_at(entry + AT_DATA);
	uint64_t value;
	size_t n;

	if (name >= length || entry[AT_TYPE] != LONG_TYPE || u32_at(entry + AT_VECTOR) != 0 ||
	    length < sizeof(value) || data > length - sizeof(value))
		return;
	n = strnlen((const char *)entry + name, length - name);
	memcpy(&value, entry + data, sizeof(value));
	if (n < NAME_BYTES_MAX && value <= INT64_MAX)
		take((const char *)entry + name, n, value, sums, has);
}

static bool add_up(const uint8_t *bytes, size_t n, uint64_t sums[COUNTER_N], bool has[COUNTER_N])
{
	size_t at;
	uint32_t left;

	if (n < PROLOGUE_BYTES || memcmp(bytes, MAGIC, 4) != 0 ||
	    bytes[AT_BYTE_ORDER] != LITTLE_ENDIAN_MARK || bytes[AT_MAJOR] != MAJOR)
		return false;
	at = u32_at(bytes + AT_ENTRIES);
	left = u32_at(bytes + AT_N_ENTRIES);
	for (; left != 0; left--) {
		uint32_t length;

		if (at > n || n - at < ENTRY_BYTES)
			return false;
		length = u32_at(bytes + at + AT_LENGTH);
		if (length < ENTRY_BYTES || length > n - at)
			return false;
		take_entry(bytes + at, length, sums, has);
		at += length;
	}
	return true;
}

bool ctx_vm_perfdata_parse(const uint8_t *bytes, size_t n, struct ctx_vm_counters *ret)
{
	static const struct {
		enum counter counter;
		enum ctx_vm_figure figure;
		bool is_time;
	} of[] = {{HEAP_USED, CTX_VM_HEAP_USED, false},
		  {CLASSES, CTX_VM_CLASSES, false},
		  {CLASS_TICKS, CTX_VM_CLASS_LOAD_NS, true},
		  {COMPILES, CTX_VM_COMPILATIONS, false},
		  {COMPILE_TICKS, CTX_VM_COMPILE_NS, true},
		  {GC_COUNT, CTX_VM_GC_COUNT, false},
		  {GC_TICKS, CTX_VM_GC_NS, true},
		  {SAFEPOINTS, CTX_VM_SAFEPOINTS, false},
		  {SAFEPOINT_TICKS, CTX_VM_SAFEPOINT_NS, true},
		  {SYNC_TICKS, CTX_VM_SAFEPOINT_SYNC_NS, true}};
	uint64_t sums[COUNTER_N] = {0};
	bool has[COUNTER_N] = {false}, has_times;

	ret->running_ns = CTX_VM_UNKNOWN;
	for (size_t i = 0; i < CTX_VM_FIGURE_N; i++)
		ret->figures[i] = CTX_VM_UNKNOWN;
	if (!add_up(bytes, n, sums, has))
		return false;
	/* Ticks are ns in all versions that are known. */
	has_times = has[FREQUENCY] && sums[FREQUENCY] == 1000000000u;
	for (size_t i = 0; i < CTX_COUNT_OF(of); i++) {
		if (has[of[i].counter] && (has_times || !of[i].is_time))
			ret->figures[of[i].figure] = sums[of[i].counter];
	}
	if (has[RUNNING_TICKS] && has_times)
		ret->running_ns = sums[RUNNING_TICKS];
	return true;
}

/* The file NAME in one of the folders hsperfdata_USER of a folder. */
static int open_in(const char *folder, const char *name)
{
	char path[PATH_MAX];
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	uint64_t size;
	int fd = -1;

	while (dir != NULL && fd < 0 && (entry = readdir(dir)) != NULL) {
		if (strncmp(entry->d_name, FOLDER_PREFIX, strlen(FOLDER_PREFIX)) != 0)
			continue;
		if ((size_t)snprintf(path, sizeof(path), "%s/%s/%s", folder, entry->d_name, name) <
		    sizeof(path))
			fd = ctx_file_open_plain(path, &size);
	}
	if (dir != NULL)
		closedir(dir);
	return fd;
}

int ctx_vm_perfdata_open(int64_t pid)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	char path[64], name[32];
	int64_t inner = 0;

	if (ctx_procfs_text(pid, "status", &text, NULL) == CTX_OK)
		inner = ctx_namespaces_parse_inner((const char *)text.bytes);
	snprintf(name, sizeof(name), "%lld", (long long)(inner != 0 ? inner : pid));
	snprintf(path, sizeof(path), "/proc/%lld/root/tmp", (long long)pid);
	return open_in(path, name);
}

bool ctx_vm_perfdata_read(int fd, struct ctx_buf *scratch, struct ctx_vm_counters *ret)
{
	struct stat info;
	ssize_t got;
	size_t n;

	if (fstat(fd, &info) != 0 || info.st_size <= 0)
		return false;
	n = (uint64_t)info.st_size < CTX_VM_PERFDATA_MAX ? (size_t)info.st_size : CTX_VM_PERFDATA_MAX;
	ctx_buf_clear(scratch);
	if (ctx_buf_reserve(scratch, n) == NULL)
		return false;
	got = pread(fd, scratch->bytes, n, 0);
	return got > 0 && ctx_vm_perfdata_parse(scratch->bytes, (size_t)got, ret);
}

bool ctx_vm_safepoints_update(struct ctx_vm_safepoints *safepoints, const struct ctx_vm_counters *counters,
			      uint64_t now_ns, struct ctx_vm_safepoint *ret)
{
	const struct ctx_vm_safepoints before = *safepoints;
	uint64_t safepoint_ns = counters->figures[CTX_VM_SAFEPOINT_NS];
	uint64_t sync_ns = counters->figures[CTX_VM_SAFEPOINT_SYNC_NS], length_ns;

	if (counters->running_ns == CTX_VM_UNKNOWN || safepoint_ns == CTX_VM_UNKNOWN ||
	    sync_ns == CTX_VM_UNKNOWN || counters->running_ns > INT64_MAX - safepoint_ns ||
	    counters->running_ns + safepoint_ns > now_ns)
		return false;
	safepoints->is_known = true;
	safepoints->safepoint_ns = safepoint_ns;
	safepoints->sync_ns = sync_ns;
	safepoints->origin_ns = now_ns - counters->running_ns - safepoint_ns;
	if (!before.is_known)
		return false;
	if (before.origin_ns < safepoints->origin_ns)
		safepoints->origin_ns = before.origin_ns;
	if (safepoint_ns <= before.safepoint_ns)
		return false;
	length_ns = safepoint_ns - before.safepoint_ns;
	ret->end_ns = safepoints->origin_ns + counters->running_ns + safepoint_ns;
	ret->begin_ns = ret->end_ns - (length_ns < ret->end_ns ? length_ns : ret->end_ns);
	ret->sync_ns = sync_ns > before.sync_ns ? sync_ns - before.sync_ns : 0;
	if (ret->sync_ns > length_ns)
		ret->sync_ns = length_ns;
	return true;
}
