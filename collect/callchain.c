#include "collect/callchain.h"

#include "model/chainwalk.h"
#include "model/event_source.h"

#define USER_MIN 4096u /* nothing is mapped in the first page */
#if defined(__x86_64__)
#define USER_END UINT64_C(0x800000000000)
#else
#define USER_END CTX_KERNEL_START
#endif

static uint64_t entry(const struct ctx_perf_record *sample, size_t i)
{
	return ctx_pe_word(sample->sample.chain + 8 * i, false);
}

static bool is_possible(uint64_t ip, enum ctx_chainwalk_part part)
{
	return part == CTX_CHAINWALK_KERNEL ? ip >= CTX_KERNEL_START : ip >= USER_MIN && ip < USER_END;
}

void ctx_callchain_unwind(struct ctx_callchain *chain, const struct ctx_perf_record *sample)
{
	struct ctx_chainwalk walk = ctx_chainwalk_begin(ctx_chainwalk_part_of(sample->misc));
	bool is_cut = false, skips = false;
	size_t n = 0, n_entries = 0;

	for (size_t i = 0; i < sample->sample.n_chain; i++) {
		uint64_t ip = entry(sample, i);

		if (!ctx_chainwalk_step(&walk, &ip)) {
			skips = false;
			continue;
		}
		n_entries++;
		if (walk.part == CTX_CHAINWALK_ELSEWHERE || skips)
			continue;
		if (!is_possible(entry(sample, i), walk.part)) {
			is_cut = true;
			skips = true; /* up to the next mark */
			continue;
		}
		if (n == CTX_CALLCHAIN_MAX) {
			is_cut = true;
			break;
		}
		chain->frames[n++] = ip;
	}
	if (n == 0 && (sample->sample.ip != 0))
		chain->frames[n++] = sample->sample.ip;
	if (is_cut || n_entries >= chain->max_stack)
		chain->frames[n++] = CTX_FRAME_TRUNCATED;
	chain->n = n;
}

void ctx_callchain_edge(struct ctx_callchain *chain, const struct ctx_perf_record *sample)
{
	const struct ctx_pe_sample *fields = &sample->sample;
	uint64_t caller = 0;

	if (fields->user_stack != NULL && fields->user_stack_bytes >= sizeof(caller))
		caller = fields->regs_abi == PERF_SAMPLE_REGS_ABI_32
				 ? (uint32_t)ctx_pe_word(fields->user_stack, false)
				 : ctx_pe_word(fields->user_stack, false);
	chain->n = 0;
	chain->frames[chain->n++] = fields->ip;
	if (is_possible(caller, CTX_CHAINWALK_USER))
		chain->frames[chain->n++] = caller - 1;
	chain->frames[chain->n++] = ctx_frame_truncated(CTX_TRUNCATED_COUNTED);
}

void ctx_callchain_end(struct ctx_callchain *chain, enum ctx_truncation end)
{
	if (chain->n != 0 && chain->frames[chain->n - 1] == CTX_FRAME_TRUNCATED)
		chain->n--;
	chain->frames[chain->n++] = ctx_frame_truncated(end);
}

/* The kernel's part alone; a sample in the kernel without a chain has its ip. */
static size_t take_kernel(struct ctx_callchain *chain, const struct ctx_perf_record *sample)
{
	struct ctx_chainwalk walk = ctx_chainwalk_begin(ctx_chainwalk_part_of(sample->misc));
	bool is_kernel = walk.part == CTX_CHAINWALK_KERNEL;
	size_t n = 0;

	for (size_t i = 0; i < sample->sample.n_chain && n < CTX_CALLCHAIN_MAX; i++) {
		uint64_t ip = entry(sample, i);

		if (ctx_chainwalk_step(&walk, &ip) && walk.part == CTX_CHAINWALK_KERNEL &&
		    is_possible(entry(sample, i), walk.part))
			chain->frames[n++] = ip;
	}
	if (n == 0 && is_kernel && sample->sample.ip >= CTX_KERNEL_START)
		chain->frames[n++] = sample->sample.ip;
	return n;
}

struct ctx_unwind_chain ctx_callchain_user(const struct ctx_perf_record *sample)
{
	struct ctx_chainwalk walk = ctx_chainwalk_begin(ctx_chainwalk_part_of(sample->misc));
	size_t n = sample->sample.n_chain, i = 0;
	uint64_t ip;

	for (; i < n; i++) {
		ip = entry(sample, i);
		if (ctx_chainwalk_step(&walk, &ip) && walk.part == CTX_CHAINWALK_USER)
			break;
	}
	return (struct ctx_unwind_chain){.words = sample->sample.chain + 8 * i, .n = n - i};
}

static size_t put(struct ctx_callchain *chain, size_t n, const struct ctx_unwind_frame *frames,
		  size_t n_frames)
{
	for (size_t i = 0; i < n_frames && n < CTX_CALLCHAIN_MAX; i++)
		chain->frames[n++] = frames[i].address;
	return n;
}

void ctx_callchain_compose(struct ctx_callchain *chain, const struct ctx_perf_record *sample,
			   const struct ctx_unwound *user)
{
	enum ctx_truncation end = user->end;
	size_t n = take_kernel(chain, sample), n_all = n + user->n + user->n_joined + (user->n_joined != 0);

	if (user->n <= 1 && (end == CTX_TRUNCATED_NO_TABLE || end == CTX_TRUNCATED_NO_MAP)) {
		ctx_callchain_unwind(chain, sample);
		if (chain->n > n_all + 1) {
			ctx_callchain_end(chain, end);
			return;
		}
		n = take_kernel(chain, sample);
	}
	n = put(chain, n, user->frames, user->n);
	if (user->n_joined != 0 && n < CTX_CALLCHAIN_MAX)
		chain->frames[n++] = user->has_gap ? CTX_FRAME_GAP : CTX_FRAME_JOINED;
	n = put(chain, n, user->joined, user->n_joined);
	if (n < n_all)
		end = CTX_TRUNCATED_DEPTH;
	if (end != CTX_TRUNCATED_NOT)
		chain->frames[n++] = ctx_frame_truncated(end);
	else if (user->is_in_exec)
		chain->frames[n++] = CTX_FRAME_EXEC;
	chain->n = n;
}
