#include "collect/session_sizes.h"

#include "collect/permissions.h"

#include <sys/resource.h>
#include <unistd.h>

#define RING_BYTES_USUAL ((size_t)1 << 20)
#define RING_BYTES_MANY_CPUS ((size_t)512 << 10) /* from 64 CPUs on */
#define RING_PAGES_MIN 2u
/* With stacks in the samples, which are hundred times larger then. */
#define RING_BYTES_STACKS_FEW_CPUS ((size_t)16 << 20) /* up to 16 CPUs */
#define RING_BYTES_STACKS ((size_t)8 << 20)
#define RING_BYTES_STACKS_MANY_CPUS ((size_t)2 << 20)
/* With switches, of which there can be 100,000 a second. */
#define RING_BYTES_STATES ((size_t)4 << 20)
/* High frequencies and bursts take larger ones, as long as all together have no more than this. */
#define RING_BYTES_MAX ((size_t)64 << 20)
#define RINGS_ALL_MAX ((size_t)128 << 20)
#define RING_SAMPLES_MIN 32u /* with stacks, the least number of samples that a ring holds */
#define MANY_CPUS 64u
#define FEW_CPUS 16u
#define STACK_BYTES_MIN 1024u
#define RECORD_BESIDE 1024u    /* bytes of a sample beside the copy, as a rule */
#define TWO_ROUNDS_SECONDS 0.2 /* a ring holds what comes within two poll intervals */
#define SMALL_SECONDS 2.0      /* with small copies, as long */
#define SMALL_MIN 2048u
#define LARGE_BYTES 65528u   /* the kernel's limit */
#define BURST_PERIOD_MAX 16u /* events of which so many are one sample come in bursts */
#define BURST_RECORDS 4096u
#define BURST_MIN 2048u

/* Source: perf_mmap in the kernel's kernel/events/core.c. One page of each mapping is the control page. */
size_t ctx_session_lockable(size_t n_cpus)
{
	struct rlimit limit = {.rlim_cur = 0};
	size_t share = (size_t)ctx_permissions_setting("/proc/sys/kernel/perf_event_mlock_kb", 516) * 1024;
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);

	if (ctx_permissions_paranoid_level() < 0 || ctx_permissions_may_lock_memory() ||
	    getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return SIZE_MAX;
	share += (size_t)limit.rlim_cur / n_cpus;
	return share > page_size ? share - page_size : 0;
}

size_t ctx_session_ring_min(void)
{
	return RING_PAGES_MIN * (size_t)sysconf(_SC_PAGESIZE);
}

bool ctx_perf_event_bursts(const struct ctx_perf_event *event)
{
	return !event->is_clock && event->period != 0 && event->period <= BURST_PERIOD_MAX;
}

void ctx_session_load_events(struct ctx_session_load *load, const struct ctx_perf_events *events)
{
	load->hz = 0;
	load->has_bursts = false;
	for (size_t i = 0; i < events->n; i++) {
		const struct ctx_perf_event *event = &events->items[i];

		if (event->period == 0)
			load->hz += (double)event->frequency_hz;
		else if (event->is_clock)
			load->hz += 1e9 / (double)event->period;
		load->has_bursts = load->has_bursts || ctx_perf_event_bursts(event);
	}
}

static size_t round_ring(size_t bytes)
{
	size_t rounded = (size_t)sysconf(_SC_PAGESIZE);

	while (rounded < bytes && rounded < SIZE_MAX / 4)
		rounded *= 2;
	return rounded;
}

static size_t usual_ring(const struct ctx_session_load *load)
{
	bool is_many = load->n_cpus >= MANY_CPUS;

	if (load->stack_bytes != 0)
		return is_many			  ? RING_BYTES_STACKS_MANY_CPUS
		       : load->n_cpus <= FEW_CPUS ? RING_BYTES_STACKS_FEW_CPUS
						  : RING_BYTES_STACKS;
	if (load->has_states && !is_many)
		return RING_BYTES_STATES;
	return is_many ? RING_BYTES_MANY_CPUS : RING_BYTES_USUAL;
}

/* Of no more than `lockable` and, where it was not asked, large enough for the load. */
static size_t choose_ring(const struct ctx_session_load *load)
{
	size_t floor = ctx_session_ring_min();
	size_t bytes = round_ring(load->ring_bytes != 0 ? load->ring_bytes : usual_ring(load));
	double need = load->hz * TWO_ROUNDS_SECONDS * (double)(load->stack_bytes + RECORD_BESIDE);

	if (load->has_bursts && !load->stack_is_fixed)
		need = (double)BURST_RECORDS * (double)(load->stack_bytes + RECORD_BESIDE);
	while (load->ring_bytes == 0 && load->stack_bytes != 0 && (double)bytes < need &&
	       bytes * 2 <= RING_BYTES_MAX && bytes * 2 * load->n_cpus <= RINGS_ALL_MAX)
		bytes *= 2;
	while (bytes > load->lockable && bytes / 2 >= floor)
		bytes /= 2;
	return bytes;
}

static size_t limit(size_t bytes, size_t min, size_t max)
{
	bytes = bytes < min ? min : bytes;
	return (bytes < max ? bytes : max) / 8 * 8;
}

static void choose_copies(const struct ctx_session_load *load, struct ctx_session_sizes *sizes)
{
	double records = load->hz * SMALL_SECONDS;
	size_t room = records < 1 ? 0 : (size_t)((double)sizes->ring_bytes / records);

	sizes->copy_bytes[CTX_COPY_USUAL] = sizes->stack_bytes;
	if (load->stack_is_fixed || load->hz < 1)
		return;
	if (sizes->stack_bytes / 4 >= SMALL_MIN)
		sizes->copy_bytes[CTX_COPY_SMALL] = limit(room > RECORD_BESIDE ? room - RECORD_BESIDE : 0,
							  SMALL_MIN, sizes->stack_bytes / 4);
	if (sizes->stack_bytes < LARGE_BYTES &&
	    load->hz * TWO_ROUNDS_SECONDS * LARGE_BYTES <= (double)sizes->ring_bytes)
		sizes->copy_bytes[CTX_COPY_LARGE] = LARGE_BYTES;
}

struct ctx_session_sizes ctx_session_sizes_choose(const struct ctx_session_load *load)
{
	struct ctx_session_sizes sizes = {.ring_bytes = choose_ring(load), .stack_bytes = load->stack_bytes};
	size_t room = sizes.ring_bytes / BURST_RECORDS;

	while (sizes.stack_bytes > sizes.ring_bytes / RING_SAMPLES_MIN &&
	       sizes.stack_bytes / 2 >= STACK_BYTES_MIN)
		sizes.stack_bytes = sizes.stack_bytes / 2 / 8 * 8;
	sizes.burst_bytes = sizes.stack_bytes;
	if (!load->stack_is_fixed)
		sizes.burst_bytes =
			limit(room > RECORD_BESIDE ? room - RECORD_BESIDE : 0, BURST_MIN, sizes.stack_bytes);
	if (sizes.stack_bytes != 0)
		choose_copies(load, &sizes);
	return sizes;
}
