#include "collect/trace_texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long number;

static const char *operations_of(const struct ctx_rec_trace *trace)
{
	if (trace->heap + trace->sync + trace->io + trace->omp > 1)
		return "traced operations";
	return trace->heap    ? "heap operations"
	       : trace->sync  ? "waits"
	       : trace->io    ? "inputs and outputs"
	       : trace->omp   ? "events of OpenMP"
	       : trace->calls ? "begins and ends of calls"
			      : "marks";
}

static const char *topic_of(const struct ctx_rec_trace *trace)
{
	if (trace->heap && trace->sync)
		return trace->io ? "heap, synchronisation, input and output" : "heap and synchronisation";
	if (trace->io)
		return trace->heap   ? "heap, input and output"
		       : trace->sync ? "synchronisation, input and output"
				     : "input and output";
	return trace->heap			? "the heap"
	       : trace->sync			? "synchronisation"
	       : trace->omp			? "OpenMP"
	       : trace->calls			? "calls"
	       : trace->once && !trace->marks	? "coverage"
	       : trace->counts && !trace->marks ? "what indicators count"
						: "what the program says of itself";
}

/* Without anything else that is recorded in the program. */
static bool is_omp_alone(const struct ctx_rec_trace *trace)
{
	return trace->omp && !trace->heap && !trace->sync && !trace->io && !trace->calls;
}

/* What OMP_TOOL has that forbids tools, "disabled" or what libomp does not know; NULL: nothing. */
static const char *forbids_tools(void)
{
	const char *tool = getenv("OMP_TOOL");

	return tool != NULL && *tool != '\0' && strcmp(tool, "enabled") != 0 ? tool : NULL;
}

/* Of what records itself where a runtime is: a program that begins no region is no news. */
static bool is_omp_missed(const struct ctx_rec_trace *trace)
{
	return trace->omp_library == NULL || trace->omp_has_tool ||
	       (strcmp(trace->omp_library, "libgomp.so") != 0 && forbids_tools() != NULL);
}

static void put_no_omp(const struct ctx_rec_trace *trace, char *text, size_t size)
{
	const char *forbidden = forbids_tools();

	if (forbidden != NULL)
		snprintf(text, size,
			 "no region of OpenMP was recorded: OMP_TOOL=%.32s forbids libomp to be observed",
			 forbidden);
	else if (trace->omp_has_tool)
		snprintf(text, size,
			 "no region of OpenMP was recorded: the program has a tool for OpenMP of its own "
			 "(ompt_start_tool), which keeps its place");
	else
		snprintf(text, size,
			 "no region of OpenMP was recorded: no runtime of OpenMP was seen (libgomp or libomp "
			 "as a shared library; one that is linked statically, has no interface for tools, or "
			 "is in a process that ran before ctxrec (-p) is not)");
}

/* The runtime is loaded for coverage or counters, which say by themselves what is missing. */
static bool is_shared_alone(const struct ctx_rec_trace *trace)
{
	return (trace->once || trace->counts) && !trace->heap && !trace->sync && !trace->io && !trace->omp &&
	       !trace->marks && !trace->calls;
}

static void put_nothing(const struct ctx_rec_trace *trace, char *text, size_t size)
{
	if (is_omp_alone(trace))
		put_no_omp(trace, text, size);
	else if (trace->heap)
		snprintf(text, size,
			 "no heap operation was recorded: no process has allocated by the C library's "
			 "functions (an allocator may be part of the program)");
	else if (trace->io)
		snprintf(text, size,
			 "no input or output was recorded: no process has done any by the C library's "
			 "functions");
	else if (trace->calls && !trace->sync)
		snprintf(text, size, "no call was recorded: no process has loaded the recorder's library");
	else if (!trace->sync)
		snprintf(text, size, "no mark was recorded: no process has called a function of ctx_trace.h");
	else
		snprintf(text, size,
			 "no wait was recorded: no process has used locks of the C library (some use the "
			 "futex system call on their own)");
}

static void put_dropped(const struct ctx_trace_counts *counts, const struct ctx_rec_trace *trace, char *text,
			size_t size)
{
	const char *full =
		trace->waits ? "the recorder could not keep up"
			     : "the recorder could not keep up (--trace-full wait makes the program wait)";

	snprintf(text, size, "%llu %s were not recorded, since %s%s%s: sums are too small%s",
		 (number)counts->dropped + counts->interrupted, operations_of(trace),
		 counts->dropped != 0 ? full : "",
		 counts->dropped != 0 && counts->interrupted != 0 ? " or " : "",
		 counts->interrupted != 0
			 ? "they are of signal handlers that interrupted the recording of others"
			 : "",
		 trace->heap ? ", and what such operations freed counts as leaked" : "");
}

static void put_ringless(const struct ctx_trace_counts *counts, const struct ctx_rec_trace *trace, char *text,
			 size_t size)
{
	snprintf(text, size,
		 "%llu %s of threads, and all of %llu %s, were not recorded, since they got no memory to "
		 "write to: "
		 "%llu of %llu KB are used (--memory allows more)",
		 (number)counts->unplaced, operations_of(trace), (number)counts->ringless,
		 counts->ringless == 1 ? "process" : "processes", (number)counts->rings_bytes >> 10,
		 (number)counts->rings_limit_bytes >> 10);
}

/* `times`: of processes, or of their threads, which ask for more. */
static void put_without(uint64_t times, const char *why, const struct ctx_rec_trace *trace, char *text)
{
	snprintf(text, CTX_TRACE_TEXT_MAX,
		 "%s of a process, or of some of its threads, is not recorded (%llu time%s): %s",
		 topic_of(trace), (number)times, times == 1 ? "" : "s", why);
}

static void put_hookless(const struct ctx_trace_counts *counts, char *text, size_t size)
{
	if (counts->calls.patched != 0)
		snprintf(text, size,
			 "no call was recorded: none of the functions that were patched was called");
	else if (counts->calls.is_late)
		snprintf(text, size,
			 "no call was recorded: hooks of -fpatchable-function-entry, -mnop-mcount and "
			 "-fxray-instrument are patched only when a program starts (without -p), and the "
			 "process has called no "
			 "others (-finstrument-functions, -pg, -pg -mfentry)");
	else
		snprintf(text, size,
			 "no call was recorded: the program has no hooks; compile it with "
			 "-finstrument-functions, -pg, -pg -mfentry, -fpatchable-function-entry=5 or (clang) "
			 "-fxray-instrument");
}

/* Since the begin; 0: before it. Times are of words in the target's memory, and may be anything. */
static double seconds_at(const struct ctx_trace_counts *counts, uint64_t time_ns)
{
	return time_ns > counts->start_ns ? (double)(time_ns - counts->start_ns) / 1e9 : 0;
}

static void put_lost_calls(const struct ctx_trace_counts *counts, const struct ctx_rec_trace *trace,
			   char *text, size_t size)
{
	const struct ctx_trace_calls_lost *lost = &counts->calls.lost;

	snprintf(text, size,
		 "%llu begins and ends of calls were not recorded, in %llu intervals between %.6f and %.6f "
		 "s, since "
		 "the recorder could not keep up%s: counts are too small",
		 (number)lost->words, (number)lost->intervals, seconds_at(counts, lost->first_ns),
		 seconds_at(counts, lost->last_ns),
		 trace->waits ? "" : " (--trace-full wait makes the program wait)");
}

bool ctx_trace_text(const struct ctx_trace_counts *counts, const struct ctx_rec_trace *trace, unsigned which,
		    char text[CTX_TRACE_TEXT_MAX])
{
	const size_t size = CTX_TRACE_TEXT_MAX;

	switch (which) {
	case 0:
		put_nothing(trace, text, size);
		return counts->processes == 0 && trace->sample_bytes == 0 && !is_shared_alone(trace) &&
		       (!is_omp_alone(trace) || is_omp_missed(trace));
	case 1:
		put_dropped(counts, trace, text, size);
		return counts->dropped + counts->interrupted != 0;
	case 2:
		snprintf(text, size,
			 "%s of %llu more %s is not recorded: statically linked, setuid, made for another C "
			 "library, or built with a sanitizer",
			 topic_of(trace), (number)counts->unfit, counts->unfit == 1 ? "program" : "programs");
		return counts->unfit != 0;
	case 3:
		snprintf(text, size,
			 "the allocations of %llu %s are not recorded, but mappings are: the allocator "
			 "(malloc) is a part of the program",
			 (number)counts->own, counts->own == 1 ? "program" : "programs");
		return counts->own != 0 && trace->heap;
	case 4:
		snprintf(text, size,
			 "%s of %llu %s opened with RTLD_DEEPBIND or in a namespace of their own is not "
			 "recorded (the first is %s)",
			 topic_of(trace), (number)counts->apart, counts->apart == 1 ? "library" : "libraries",
			 counts->apart_name);
		return counts->apart != 0;
	case 5:
		snprintf(text, size,
			 "%llu %s forbidden themselves system calls that tracing needs (seccomp): from then "
			 "on what "
			 "they start is not recorded, and of their threads at most 16%s",
			 (number)counts->restricted,
			 counts->restricted == 1 ? "program has" : "programs have",
			 trace->calls ? "; calls of threads that had made none by then, and calls much "
					"deeper than those before, are not"
				      : "");
		return counts->restricted != 0;
	case 6:
		put_ringless(counts, trace, text, size);
		return counts->unplaced + counts->ringless != 0;
	case 7:
		snprintf(text, size,
			 "the program has paused the recording of %s %llu time%s (ctx_trace_pause): what it "
			 "did "
			 "meanwhile is not there",
			 topic_of(trace), (number)counts->pauses, counts->pauses == 1 ? "" : "s");
		return counts->pauses != 0 && (trace->heap || trace->sync || trace->io);
	case 8:
		put_hookless(counts, text, size);
		return trace->calls && counts->calls.events == 0 && counts->processes != 0 &&
		       counts->calls.unwritten.threads == 0;
	case 9:
		snprintf(text, size, "%llu functions were patched to record their calls",
			 (number)counts->calls.patched);
		return counts->calls.patched != 0;
	case 10:
		snprintf(text, size,
			 "%llu functions could not be patched: there is room for less than 5 bytes at their "
			 "begin (-fpatchable-function-entry=5), or threads ran already",
			 (number)counts->calls.unpatched);
		return counts->calls.unpatched != 0;
	case 11:
		put_lost_calls(counts, trace, text, size);
		return counts->calls.lost.words != 0;
	case 12:
		snprintf(text, size, "%llu calls are not recorded, since they were shorter than --calls-min",
			 (number)counts->calls.left_out);
		return counts->calls.left_out != 0;
	case 13:
		snprintf(text, size,
			 "the last calls of %llu thread%s are not recorded, from %.6f s on or later: sums of "
			 "calls are "
			 "written once a second, and %s killed, or went on when the recording ended",
			 (number)counts->calls.unwritten.threads,
			 counts->calls.unwritten.threads == 1 ? "" : "s",
			 seconds_at(counts, counts->calls.unwritten.first_ns),
			 counts->calls.unwritten.threads == 1 ? "it was" : "they were");
		return trace->calls_sums && counts->calls.unwritten.threads != 0;
	case 14:
		snprintf(text, size,
			 "--calls-of has chosen nothing: it is for functions that are patched, and the "
			 "program "
			 "calls its hooks by itself (-finstrument-functions, -pg): all its calls are "
			 "recorded");
		return trace->calls && trace->calls_of != NULL && counts->calls.events != 0 &&
		       counts->calls.patched == 0;
	case 15:
		put_without(counts->unmapped,
			    "a limit on its memory (ulimit -v) leaves no room for the recorder's", trace,
			    text);
		return counts->unmapped != 0;
	case 16:
		put_without(counts->left,
			    "the recorder was stopped when it began, or did not answer for 30 s", trace,
			    text);
		return counts->left != 0;
	case 17:
		put_no_omp(trace, text, size);
		return trace->omp && counts->omp == 0 && counts->omp_kept == 0 && is_omp_missed(trace) &&
		       !(is_omp_alone(trace) && counts->processes == 0);
	case 18:
		snprintf(text, size,
			 "OpenMP of %llu %s is not recorded: a tool for OpenMP of the program's own runs "
			 "(--openmp: ctxrec takes its place)",
			 (number)counts->omp_kept, counts->omp_kept == 1 ? "process" : "processes");
		return counts->omp_kept != 0;
	case 19:
		snprintf(text, size,
			 "the tools of OMP_TOOL_LIBRARIES were not started: ctxrec has taken their place "
			 "(--openmp)");
		return counts->omp_replaced != 0;
	default:
		snprintf(text, size,
			 "%s are missing: %llu places in the memory of traced processes were damaged, %llu "
			 "parts of it could not be assigned to a process",
			 operations_of(trace), (number)counts->damaged, (number)counts->nobodys);
		return counts->damaged + counts->nobodys != 0;
	}
}

void ctx_trace_attached_text(const struct ctx_rec_trace *trace, int64_t pid, uint64_t stopped_ns,
			     char text[CTX_TRACE_TEXT_MAX])
{
	snprintf(text, CTX_TRACE_TEXT_MAX,
		 "process %lld is traced since ctxrec attached to it%s (one thread stood still for %.1f ms)",
		 (long long)pid,
		 trace->heap ? ": blocks that it had before, and their release, are not recorded" : "",
		 (double)stopped_ns / 1e6);
}

void ctx_trace_unfit_line(const struct ctx_trace_unfit_program *program, const struct ctx_rec_trace *trace,
			  char text[CTX_TRACE_TEXT_MAX])
{
	char times[32] = "";

	if (program->times > 1)
		snprintf(times, sizeof(times), " (%llu times)", (number)program->times);
	snprintf(text, CTX_TRACE_TEXT_MAX, "%s of %s is not recorded: %s%s", topic_of(trace), program->name,
		 ctx_program_reason(program->why), times);
}
