#include "collect/recargs.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STEM_MAX 200
#define FREQUENCY_MAX 1000000u
#define STACK_BYTES_MAX 65528u /* records have 16 bits for their size; the kernel's limit too */

const char ctx_rec_help[] =
	"Usage: ctxrec [OPTIONS] [--] COMMAND [ARGUMENT...]\n"
	"       ctxrec [OPTIONS] -p PID[,PID...]\n"
	"       ctxrec [OPTIONS] -a [[--] COMMAND [ARGUMENT...]]\n"
	"\n"
	"Records where a command and all its descendants spend their time, with call stacks, into an\n"
	"experiment: a directory NAME.er that ctxan reads.\n"
	"\n"
	"What to record\n"
	"  -p, --pid PID          processes that run already, with all their threads; can be repeated\n"
	"  -a, --system           everything that runs, until COMMAND (if any) ends\n"
	"  -F, --frequency HZ     samples per second of each thread's running time (default 999)\n"
	"  -c, --period N         a sample every N events (nanoseconds for clocks) instead\n"
	"  -e, --event EVENT      what to sample by; can be repeated or a list separated by commas.\n"
	"                         Default: cycles, or cpu-clock where there is no such counter.\n"
	"                           cpu-clock task-clock page-faults context-switches cpu-migrations ...\n"
	"                           cycles instructions cache-misses branch-misses ref-cycles ...\n"
	"                           L1-dcache-load-misses LLC-loads dTLB-store-misses ...\n"
	"                           rNNN (raw, hexadecimal)   pmu/event=0x3c,umask=0/   sched:sched_switch\n"
	"                         With :u or :k behind it only in user or kernel mode, :p more precise.\n"
	"                         Tracepoints take every hit unless -F or -c says otherwise.\n"
	"      --unwind HOW       how callers are found: cfi (call frame information, from a copy of the\n"
	"                         stack), fp (frame pointers), none, or auto: cfi where it works (default)\n"
	"      --stack-size SIZE  how much of the stack is looked at by cfi (default 32k, at most 65528)\n"
	"      --keep-stacks      store these copies too: 100 times larger; for tests of unwinders\n"
	"      --states WHAT      what threads wait for: full (switches, wake-ups and who caused them,\n"
	"                         faults; tracepoints: root or CAP_PERFMON), min (switches, faults), off,\n"
	"                         syscalls (full, and system calls: user and system time are exact, 1.5 us\n"
	"                         a call), or auto: full or less, as is allowed (default)\n"
	"      --user             only samples in user mode\n"
	"      --kernel           only samples in kernel mode\n"
	"      --no-follow        not the processes that the command starts\n"
	"  -d, --duration SECONDS stop recording after so long (the command goes on)\n"
	"      --wait-descendants record until all descendants have ended, not only the command\n"
	"\n"
	"Where to put it\n"
	"  -o, --output NAME.er   default: COMMAND.N.er in the current directory, N counting up\n"
	"  -O, --overwrite        replace an experiment that is there\n"
	"  -C, --comment TEXT     a note, shown at the head of reports\n"
	"      --no-archive       do not copy the programs and libraries into the experiment: it can\n"
	"                         then be analysed only here, and only while they do not change\n"
	"      --archive-sources  copy the source files that samples are in too (text of up to 4M each,\n"
	"                         64M in all), for annotated source on another machine\n"
	"      --max-size SIZE    no more than SIZE (k, M, G) of samples on disk; what comes after is "
	"counted\n"
	"      --memory SIZE      for the recorder's own tables (default 64M)\n"
	"  -m, --ring PAGES|SIZE  ring buffer per CPU: a number of pages, or a size with k or M (default "
	"16M,\n"
	"                         without cfi 4M; less with many CPUs)\n"
	"\n"
	"  -q, --quiet            no summary at the end\n"
	"  -h, --help             this text\n"
	"  -V, --version          versions of this program and of the libraries that it uses\n"
	"\n"
	"Exit status: that of COMMAND, 128 + N when signal N ended it; 127 not found, 126 not executable;\n"
	"1 nothing could be recorded and COMMAND was not run (wrong usage, not permitted, no place to "
	"write);\n"
	"2 recording failed on the way although COMMAND did not.\n"
	"Interrupting ctxrec (Ctrl-C, SIGTERM, SIGHUP) ends the recording in order and is passed on to\n"
	"COMMAND; a second time, ctxrec no longer waits for it.\n"
	"\n"
	"Examples\n"
	"  ctxrec -- ./app input.txt            record ./app into app.1.er, then: ctxan app.1.er\n"
	"  ctxrec -F 9999 -o fast.er -O -- make ten times finer; fast.er is replaced if it is there\n"
	"  ctxrec -p 1234 -d 10                 ten seconds of a server that runs already\n"
	"  ctxrec -a -d 5                       five seconds of the whole machine (needs privileges)\n"
	"  ctxrec -e page-faults -c 1 -- ./app  every page fault with its call stack\n"
	"  ctxrec -e cycles:u,cache-misses:u -- ./app\n";

bool ctx_size_parse(const char *text, uint64_t *ret_bytes)
{
	static const char units[] = "kMG";
	unsigned shift = 0;
	unsigned long long value;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (*end != '\0') {
		const char *unit = strchr(units, *end == 'K'   ? 'k'
						 : *end == 'm' ? 'M'
						 : *end == 'g' ? 'G'
							       : *end);

		if (unit == NULL || end[1] != '\0')
			return false;
		shift = 10 * (unsigned)(unit - units + 1);
	}
	if (errno != 0 || value > UINT64_MAX >> shift)
		return false;
	*ret_bytes = (uint64_t)value << shift;
	return true;
}

static bool parse_count(const char *text, uint64_t *ret)
{
	char *end;
	unsigned long long value;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	*ret = value;
	return errno == 0 && *end == '\0' && value > 0;
}

static enum ctx_status add_pids(struct ctx_rec_options *options, const char *list, struct ctx_err *err)
{
	const char *at = list;

	for (;;) {
		char *end;
		long pid;
		enum ctx_status status;

		errno = 0;
		pid = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : 0;
		if (pid <= 0 || pid > INT32_MAX || errno != 0 || (*end != ',' && *end != '\0'))
			return ctx_err_set(err, CTX_E_ARG, "-p: \"%s\" is not a process id or a list of them",
					   list);
		status = ctx_ids_add(&options->pids, pid, err);
		if (status != CTX_OK || *end == '\0')
			return status;
		at = end + 1;
	}
}

static enum ctx_status set_duration(struct ctx_rec_options *options, const char *text, struct ctx_err *err)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end != '\0' || !isfinite(seconds) || seconds <= 0 || seconds > 1e9)
		return ctx_err_set(err, CTX_E_ARG, "-d: \"%s\" is not a number of seconds", text);
	options->duration_ns = (uint64_t)(seconds * 1e9);
	return CTX_OK;
}

static enum ctx_status set_size(uint64_t *size, const char *option, const char *text, struct ctx_err *err)
{
	if (!ctx_size_parse(text, size) || *size == 0)
		return ctx_err_set(err, CTX_E_ARG, "%s: \"%s\" is not a size (for example 64k, 100M, 2G)",
				   option, text);
	return CTX_OK;
}

/* Without a unit it is pages. */
static enum ctx_status set_ring(struct ctx_rec_options *options, const char *text, struct ctx_err *err)
{
	enum ctx_status status = set_size(&options->ring_bytes, "-m", text, err);

	if (status == CTX_OK && strspn(text, "0123456789") == strlen(text)) {
		if (options->ring_bytes > UINT32_MAX)
			return ctx_err_set(err, CTX_E_ARG, "-m: %s pages are too many", text);
		options->ring_bytes *= (uint64_t)sysconf(_SC_PAGESIZE);
	}
	if (status == CTX_OK && options->ring_bytes > (uint64_t)1 << 30)
		return ctx_err_set(err, CTX_E_ARG, "-m: a ring buffer can have 1G at most");
	return status;
}

static enum ctx_status set_unwind(struct ctx_rec_options *options, const char *text, struct ctx_err *err)
{
	static const char *const names[] = {[CTX_REC_UNWIND_AUTO] = "auto",
					    [CTX_REC_UNWIND_FP] = "fp",
					    [CTX_REC_UNWIND_CFI] = "cfi",
					    [CTX_REC_UNWIND_NONE] = "none"};

	for (size_t i = 0; i < CTX_COUNT_OF(names); i++) {
		if (strcmp(text, names[i]) == 0) {
			options->unwind = (enum ctx_rec_unwind)i;
			return CTX_OK;
		}
	}
	return ctx_err_set(err, CTX_E_ARG, "--unwind: \"%s\" is none of auto, fp, cfi, none", text);
}

static enum ctx_status set_states(struct ctx_rec_options *options, const char *text, struct ctx_err *err)
{
	static const char *const names[] = {[CTX_REC_STATES_AUTO] = "auto",
					    [CTX_REC_STATES_FULL] = "full",
					    [CTX_REC_STATES_MIN] = "min",
					    [CTX_REC_STATES_OFF] = "off",
					    [CTX_REC_STATES_SYSCALLS] = "syscalls"};

	for (size_t i = 0; i < CTX_COUNT_OF(names); i++) {
		if (strcmp(text, names[i]) == 0) {
			options->states = (enum ctx_rec_states)i;
			return CTX_OK;
		}
	}
	return ctx_err_set(err, CTX_E_ARG, "--states: \"%s\" is none of auto, full, min, off, syscalls",
			   text);
}

static enum ctx_status set_stack_size(struct ctx_rec_options *options, const char *text, struct ctx_err *err)
{
	enum ctx_status status = set_size(&options->stack_bytes, "--stack-size", text, err);

	/* 64k is what everybody tries first; records take 8 bytes less. */
	if (options->stack_bytes == STACK_BYTES_MAX + 8)
		options->stack_bytes = STACK_BYTES_MAX;
	if (status == CTX_OK && (options->stack_bytes % 8 != 0 || options->stack_bytes > STACK_BYTES_MAX))
		return ctx_err_set(err, CTX_E_ARG,
				   "--stack-size: \"%s\" is not a multiple of 8 that is at most %u", text,
				   STACK_BYTES_MAX);
	return status;
}

static enum ctx_status set_rate(uint64_t *rate, const char *option, const char *text, uint64_t max,
				struct ctx_err *err)
{
	if (!parse_count(text, rate) || *rate > max)
		return ctx_err_set(err, CTX_E_ARG, "%s: \"%s\" is not a number from 1 to %llu", option, text,
				   (unsigned long long)max);
	return CTX_OK;
}

static enum ctx_status add_event(struct ctx_rec_options *options, const char *name, struct ctx_err *err)
{
	if (options->events.n > 0)
		options->events.bytes[options->events.n - 1] = ',';
	ctx_buf_put(&options->events, name, strlen(name) + 1);
	return ctx_buf_check(&options->events, err);
}

enum long_option {
	OPT_USER = 256,
	OPT_KERNEL,
	OPT_NO_FOLLOW,
	OPT_WAIT_DESCENDANTS,
	OPT_NO_ARCHIVE,
	OPT_ARCHIVE_SOURCES,
	OPT_MAX_SIZE,
	OPT_MEMORY,
	OPT_UNWIND,
	OPT_STACK_SIZE,
	OPT_KEEP_STACKS,
	OPT_STATES,
};

static const struct option long_options[] = {
	{"pid", required_argument, NULL, 'p'},
	{"system", no_argument, NULL, 'a'},
	{"frequency", required_argument, NULL, 'F'},
	{"period", required_argument, NULL, 'c'},
	{"event", required_argument, NULL, 'e'},
	{"unwind", required_argument, NULL, OPT_UNWIND},
	{"stack-size", required_argument, NULL, OPT_STACK_SIZE},
	{"keep-stacks", no_argument, NULL, OPT_KEEP_STACKS},
	{"states", required_argument, NULL, OPT_STATES},
	{"user", no_argument, NULL, OPT_USER},
	{"kernel", no_argument, NULL, OPT_KERNEL},
	{"no-follow", no_argument, NULL, OPT_NO_FOLLOW},
	{"duration", required_argument, NULL, 'd'},
	{"wait-descendants", no_argument, NULL, OPT_WAIT_DESCENDANTS},
	{"output", required_argument, NULL, 'o'},
	{"overwrite", no_argument, NULL, 'O'},
	{"comment", required_argument, NULL, 'C'},
	{"no-archive", no_argument, NULL, OPT_NO_ARCHIVE},
	{"archive-sources", no_argument, NULL, OPT_ARCHIVE_SOURCES},
	{"max-size", required_argument, NULL, OPT_MAX_SIZE},
	{"memory", required_argument, NULL, OPT_MEMORY},
	{"ring", required_argument, NULL, 'm'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

static enum ctx_status apply_option(struct ctx_rec_options *options, int option, struct ctx_err *err)
{
	switch (option) {
	case 'p':
		return add_pids(options, optarg, err);
	case 'a':
		options->system_wide = true;
		return CTX_OK;
	case 'F':
		return set_rate(&options->frequency_hz, "-F", optarg, FREQUENCY_MAX, err);
	case 'c':
		return set_rate(&options->period, "-c", optarg, INT64_MAX, err);
	case 'e':
		return add_event(options, optarg, err);
	case OPT_UNWIND:
		return set_unwind(options, optarg, err);
	case OPT_STACK_SIZE:
		return set_stack_size(options, optarg, err);
	case OPT_KEEP_STACKS:
		options->keep_stacks = true;
		return CTX_OK;
	case OPT_STATES:
		return set_states(options, optarg, err);
	case OPT_USER:
		options->user_only = true;
		return CTX_OK;
	case OPT_KERNEL:
		options->kernel_only = true;
		return CTX_OK;
	case OPT_NO_FOLLOW:
		options->no_follow = true;
		return CTX_OK;
	case 'd':
		return set_duration(options, optarg, err);
	case OPT_WAIT_DESCENDANTS:
		options->wait_descendants = true;
		return CTX_OK;
	case 'o':
		options->output = optarg;
		return CTX_OK;
	case 'O':
		options->overwrite = true;
		return CTX_OK;
	case 'C':
		options->comment = optarg;
		return CTX_OK;
	case OPT_NO_ARCHIVE:
		options->no_archive = true;
		return CTX_OK;
	case OPT_ARCHIVE_SOURCES:
		options->archive_sources = true;
		return CTX_OK;
	case OPT_MAX_SIZE:
		return set_size(&options->max_bytes, "--max-size", optarg, err);
	case OPT_MEMORY:
		return set_size(&options->memory_bytes, "--memory", optarg, err);
	case 'm':
		return set_ring(options, optarg, err);
	case 'q':
		options->quiet = true;
		return CTX_OK;
	case 'h':
		options->help = true;
		return CTX_OK;
	default:
		options->version = true;
		return CTX_OK;
	}
}

static enum ctx_status check_together(const struct ctx_rec_options *options, struct ctx_err *err)
{
	if (options->pids.n > 0 && options->system_wide)
		return ctx_err_set(err, CTX_E_ARG, "-a and -p exclude each other");
	if (options->pids.n > 0 && options->command != NULL)
		return ctx_err_set(err, CTX_E_ARG, "-p and a command (\"%s\") exclude each other",
				   options->command[0]);
	if (options->pids.n == 0 && !options->system_wide && options->command == NULL)
		return ctx_err_set(err, CTX_E_ARG,
				   "nothing to record: give a command, -p PID or -a (see ctxrec --help)");
	if (options->frequency_hz != 0 && options->period != 0)
		return ctx_err_set(err, CTX_E_ARG, "-F and -c exclude each other");
	if (options->user_only && options->kernel_only)
		return ctx_err_set(err, CTX_E_ARG, "--user and --kernel exclude each other");
	if ((options->keep_stacks || options->stack_bytes != 0) &&
	    (options->unwind == CTX_REC_UNWIND_FP || options->unwind == CTX_REC_UNWIND_NONE))
		return ctx_err_set(err, CTX_E_ARG, "%s needs --unwind cfi",
				   options->keep_stacks ? "--keep-stacks" : "--stack-size");
	if (options->no_archive && options->archive_sources)
		return ctx_err_set(err, CTX_E_ARG, "--no-archive and --archive-sources exclude each other");
	if (options->output != NULL && options->output[0] == '\0')
		return ctx_err_set(err, CTX_E_ARG, "-o: the name is empty");
	return CTX_OK;
}

enum ctx_status ctx_rec_options_parse(int argc, char **argv, struct ctx_rec_options *ret, struct ctx_err *err)
{
	int option;

	*ret = (struct ctx_rec_options){.comment = ""};
	optind = 0; /* glibc: begin anew */
	opterr = 0;
	for (;;) {
		int at = optind > 0 ? optind : 1;
		enum ctx_status status;

		option = getopt_long(argc, argv, "+:p:aF:c:e:d:o:OC:m:qhV", long_options, NULL);
		if (option == -1)
			break;
		if (option == ':')
			return ctx_err_set(err, CTX_E_ARG, "option \"%s\" needs a value", argv[at]);
		if (option == '?')
			return ctx_err_set(err, CTX_E_ARG, "unknown option \"%s\" (see ctxrec --help)",
					   argv[at]);
		status = apply_option(ret, option, err);
		if (status != CTX_OK)
			return status;
	}
	if (ret->help || ret->version)
		return CTX_OK;
	if (optind < argc)
		ret->command = argv + optind;
	return check_together(ret, err);
}

void ctx_rec_options_deinit(struct ctx_rec_options *options)
{
	ctx_ids_deinit(&options->pids);
	ctx_buf_deinit(&options->events);
	*options = (struct ctx_rec_options){0};
}

/* The number of "<stem>.<number>.er"; 0: another name. */
static unsigned long number_of(const char *name, const char *stem)
{
	size_t n = strlen(stem);
	unsigned long number;
	char *end;

	if (strncmp(name, stem, n) != 0 || name[n] != '.' || name[n + 1] < '1' || name[n + 1] > '9')
		return 0;
	errno = 0;
	number = strtoul(name + n + 1, &end, 10);
	return errno == 0 && number < ULONG_MAX && strcmp(end, ".er") == 0 ? number : 0;
}

char *ctx_default_name(const char *stem)
{
	unsigned long highest = 0;
	char short_stem[STEM_MAX + 1], name[STEM_MAX + 32];
	struct dirent *entry;
	DIR *dir = opendir(".");

	snprintf(short_stem, sizeof(short_stem), "%s", ctx_path_base(stem));
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		unsigned long number = number_of(entry->d_name, short_stem);

		highest = number > highest ? number : highest;
	}
	if (dir != NULL)
		closedir(dir);
	snprintf(name, sizeof(name), "%s.%lu.er", short_stem, highest + 1);
	return ctx_memdup0(name, strlen(name));
}
