/*
 * Runs a command with the kernel's records of forks, execs, names, maps and ends on, and nothing
 * else: no samples, and nobody who reads what is written. What this costs beside the command alone
 * is what the kernel takes for passing an event on to each child and for writing these records.
 *
 *	floor [task | switch | waits | clock | samples | all] COMMAND [ARGUMENT...]
 *
 * switch: with a record of each context switch; waits: besides, for each CPU, a sample of each switch and each wake-up
 * with what recognises a stack, as ctxrec has for programs that switch often (collect/state_events.h); clock: with a
 * clock event beside it that never fires; samples: with one that fires 999 times a second of each thread and notes the
 * call chain along frame pointers, which is perf record -F 999 -g without its reader; all: samples and waits.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define RING_PAGES 64u
#define STACK_BYTES 256u
#if defined(__x86_64__)
#define PC_AND_SP (UINT64_C(3) << 7)
#else
#define PC_AND_SP (UINT64_C(3) << 31)
#endif

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0) {
		perror("floor: perf_event_open");
		exit(2);
	}
	return fd;
}

static uint64_t id_of(const char *tracepoint)
{
	char path[128];
	unsigned long id = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/sched/%s/id", tracepoint);
	file = fopen(path, "re");
	if (file == NULL || fscanf(file, "%lu", &id) != 1) {
		perror(path);
		exit(2);
	}
	fclose(file);
	return id;
}

static void open_brief(const char *tracepoint, const char *filter, int cpu, int ring_fd)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
				       .size = sizeof(attr),
				       .config = id_of(tracepoint),
				       .sample_period = 1,
				       .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						      PERF_SAMPLE_CPU | PERF_SAMPLE_RAW |
						      PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
				       .sample_regs_user = PC_AND_SP,
				       .sample_stack_user = STACK_BYTES};
	int fd;

	attr.sample_id_all = attr.write_backward = 1;
	fd = open_event(&attr, -1, cpu);
	if ((filter != NULL && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) != 0) ||
	    ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd) != 0) {
		perror("floor: ioctl");
		exit(2);
	}
}

#define NEVER ((uint64_t)1 << 60)
#define PERIOD_NS 1001001 /* 999 Hz */

static void open_clock(pid_t pid, int cpu, uint64_t period, int ring_fd)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .sample_period = period,
				       .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						      PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN};
	int fd;

	attr.sample_id_all = attr.disabled = attr.enable_on_exec = attr.inherit = attr.write_backward = 1;
	fd = open_event(&attr, pid, cpu);
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd) != 0) {
		perror("floor: ioctl");
		exit(2);
	}
}

/* Which events each way has. */
static const struct way {
	const char *name;
	bool has_switches, has_waits;
	uint64_t clock_period; /* 0: no clock */
} WAYS[] = {
	{"task", false, false, 0},	{"switch", true, false, 0},	      {"waits", true, true, 0},
	{"clock", false, false, NEVER}, {"samples", false, false, PERIOD_NS}, {"all", true, true, PERIOD_NS}};

/* The ring is writable for the kernel alone: it overwrites what nobody reads. */
static void open_on(pid_t pid, int cpu, const struct way *way)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_DUMMY,
				       .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						      PERF_SAMPLE_CPU};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd;

	attr.sample_id_all = attr.disabled = attr.enable_on_exec = attr.inherit = 1;
	attr.mmap = attr.mmap2 = attr.comm = attr.task = attr.write_backward = 1;
	attr.context_switch = way->has_switches;
	fd = open_event(&attr, pid, cpu);
	if (mmap(NULL, (RING_PAGES + 1) * page, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED) {
		perror("floor: mmap");
		exit(2);
	}
	if (way->has_waits) {
		open_brief("sched_switch", "prev_pid != 0", cpu, fd);
		open_brief("sched_waking", NULL, cpu, fd);
	}
	if (way->clock_period != 0)
		open_clock(pid, cpu, way->clock_period, fd);
}

static const struct way *way_of(const char *name)
{
	for (size_t i = 0; i < sizeof(WAYS) / sizeof(WAYS[0]); i++) {
		if (strcmp(WAYS[i].name, name) == 0)
			return &WAYS[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct way *way = argc > 1 ? way_of(argv[1]) : NULL;
	int gate[2], status;
	char byte = 0;
	pid_t pid;

	if (way != NULL)
		argv++, argc--;
	else
		way = &WAYS[0];
	if (argc < 2 || pipe2(gate, O_CLOEXEC) != 0)
		return 2;
	pid = fork();
	if (pid == 0) {
		close(gate[1]);
		if (read(gate[0], &byte, 1) == 1)
			execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0)
		return 2;
	for (int cpu = 0; cpu < (int)sysconf(_SC_NPROCESSORS_ONLN); cpu++)
		open_on(pid, cpu, way);
	if (write(gate[1], &byte, 1) != 1 || waitpid(pid, &status, 0) != pid)
		return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
