/*
 * Reads a source of calls to its end and prints what that costs, without any ingest:
 *
 *	read_calls uftrace DIRECTORY
 *	read_calls trace FILE
 */
#include "formats/traceevent/traceevent.h"
#include "formats/uftrace/uftrace.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static double cpu_seconds(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	bool is_uftrace = argc == 3 && strcmp(argv[1], "uftrace") == 0;
	struct ctx_event_source *source;
	struct ctx_err err = {0};
	struct ctx_event event;
	struct rusage usage;
	enum ctx_status status;
	uint64_t calls = 0;

	if (argc != 3)
		return 2;
	status = is_uftrace ? ctx_uftrace_open(argv[2], &source, &err)
			    : ctx_traceevent_open(argv[2], &source, &err);
	if (status != CTX_OK) {
		fprintf(stderr, "read_calls: %s\n", err.msg);
		return 1;
	}
	while ((status = source->next(source, &event, &err)) == CTX_OK)
		calls += event.kind == CTX_EV_CALL;
	source->close(source);
	getrusage(RUSAGE_SELF, &usage);
	printf("%llu events of calls, %.2f s of CPU, %.2f M events per CPU second, peak %ld MB\n",
	       (unsigned long long)calls, cpu_seconds(&usage), (double)calls / cpu_seconds(&usage) / 1e6,
	       usage.ru_maxrss / 1024);
	return status == CTX_END ? 0 : 1;
}
