#include "collect/wait_budget.h"

#include "base/mem.h"

/*
 * Nanoseconds of one record, in the kernel and in the recorder: two threads that wake each other on
 * one CPU (bench/ping_pong.c) on a virtual machine of 2 CPUs (Intel Xeon), Linux 6.18.
 */
#define SWITCH_KERNEL 140u
#define SWITCH_RECORDER 90u
#define LEAVE_KERNEL 2000u /* call chain of the kernel 1000, registers 200, a copy of 2 KiB 300 */
#define LEAVE_RECORDER 900u
#define LEAVE_BRIEF_KERNEL 550u
#define LEAVE_BRIEF_RECORDER 250u
#define WAKE_KERNEL 1700u
#define WAKE_RECORDER 900u
#define WAKE_BRIEF_KERNEL 150u
#define WAKE_BRIEF_RECORDER 250u

#define PART_OF_CPU 50u	    /* 2 % of one CPU are always allowed */
#define LEAST_PER_MILLE 10u /* of the target's CPU time, for stacks even if nothing is left for them */
#define FULL_MIN 1000u	    /* whole samples that can have filled a ring */
#define DEBT_MAX_NS UINT64_C(10000000)
#define DEBT_LEARN_NS UINT64_C(5000000)
#define STRANGE_PART 20u /* fewer of them are strange: the places are known, */
#define KNOWN_PART 10u	 /* and the rest of the budget is for this part of it */
#define CALM_NS UINT64_C(1000000000)
#define DUTY_MIN 1000u
#define DUTY_MAX 500000u

struct cost {
	uint64_t kernel_ns, recorder_ns;
};

static uint64_t sum(struct cost cost)
{
	return cost.kernel_ns + cost.recorder_ns;
}

static struct cost cost_of_switches(uint64_t n)
{
	return (struct cost){n * SWITCH_KERNEL, n * SWITCH_RECORDER};
}

static struct cost cost_of_whole(uint64_t leaves, uint64_t wakes)
{
	return (struct cost){leaves * LEAVE_KERNEL + wakes * WAKE_KERNEL,
			     leaves * LEAVE_RECORDER + wakes * WAKE_RECORDER};
}

static struct cost cost_of_brief(uint64_t leaves, uint64_t wakes)
{
	return (struct cost){leaves * LEAVE_BRIEF_KERNEL + wakes * WAKE_BRIEF_KERNEL,
			     leaves * LEAVE_BRIEF_RECORDER + wakes * WAKE_BRIEF_RECORDER};
}

static void begin_or_wait(struct ctx_wait_budget *budget, uint64_t cost_ns, uint64_t allowed_ns, bool is_full)
{
	uint64_t debt_ns = budget->debt_ns + cost_ns;

	budget->debt_ns = debt_ns > allowed_ns ? debt_ns - allowed_ns : 0;
	budget->samples = budget->debt_ns > DEBT_MAX_NS || is_full || budget->per_mille == 0;
	budget->calm_ns = 0;
}

static void end_or_go_on(struct ctx_wait_budget *budget, uint64_t cost_ns, uint64_t allowed_ns,
			 uint64_t wall_ns)
{
	budget->calm_ns = cost_ns <= allowed_ns / 2 && budget->per_mille != 0 ? budget->calm_ns + wall_ns : 0;
	budget->samples = budget->calm_ns < CALM_NS;
	budget->debt_ns = 0;
}

static uint32_t duty_of(uint64_t left_ns, uint64_t cost_ns)
{
	uint64_t duty = cost_ns != 0 ? left_ns * CTX_WAIT_DUTY_ONE / cost_ns : DUTY_MAX;

	return (uint32_t)(duty < DUTY_MIN ? DUTY_MIN : duty > DUTY_MAX ? DUTY_MAX : duty);
}

/* What windows may cost. */
static uint64_t left_of(const struct ctx_wait_counts *counts, uint64_t allowed_ns, uint64_t exact_ns,
			uint64_t least_ns)
{
	uint64_t left_ns = allowed_ns > exact_ns + least_ns ? allowed_ns - exact_ns : least_ns;
	uint64_t part_ns = allowed_ns / KNOWN_PART > least_ns ? allowed_ns / KNOWN_PART : least_ns;
	bool is_known = counts->sought != 0 && counts->strange * STRANGE_PART <= counts->sought;

	return is_known && part_ns < left_ns ? part_ns : left_ns;
}

struct ctx_wait_plan ctx_wait_budget_take(struct ctx_wait_budget *budget,
					  const struct ctx_wait_counts *counts)
{
	bool sampled = budget->samples;
	struct cost switches = cost_of_switches(counts->switches);
	struct cost whole = cost_of_whole(counts->leaves, counts->wakes);
	struct cost brief = cost_of_brief(counts->leaves_brief, counts->wakes_brief);
	uint64_t kernel_ns = switches.kernel_ns + whole.kernel_ns + brief.kernel_ns;
	uint64_t own_ns = counts->target_ns > kernel_ns ? counts->target_ns - kernel_ns : 0;
	uint64_t allowed_ns, all_ns, exact_ns = sum(switches) + sum(brief), least_ns;

	if (budget->per_mille == CTX_WAIT_BUDGET_OFF)
		return (struct ctx_wait_plan){.duty = CTX_WAIT_DUTY_ONE};
	/* The costs are estimates: on a faster machine they can be most of the time. */
	if (own_ns < counts->target_ns / 8)
		own_ns = counts->target_ns / 8;
	allowed_ns = own_ns * budget->per_mille / 1000 +
		     (budget->per_mille != 0 ? counts->wall_ns / PART_OF_CPU : 0);
	if (sampled)
		whole = cost_of_whole(counts->leaves_brief, counts->wakes_brief);
	all_ns = sum(switches) + sum(whole);
	if (sampled) {
		budget->cost_of_all_ns += all_ns;
		budget->target_ns += own_ns;
		end_or_go_on(budget, all_ns, allowed_ns, counts->wall_ns);
	} else {
		begin_or_wait(budget, all_ns, allowed_ns,
			      counts->is_full && counts->leaves + counts->wakes >= FULL_MIN);
		brief = cost_of_brief(counts->leaves, counts->wakes);
		exact_ns = sum(switches) + sum(brief);
	}
	if (!budget->samples)
		return (struct ctx_wait_plan){.duty = CTX_WAIT_DUTY_ONE,
					      .learns = budget->debt_ns > DEBT_LEARN_NS};
	least_ns = own_ns * LEAST_PER_MILLE / 1000;
	return (struct ctx_wait_plan){
		.samples = true,
		.duty = duty_of(left_of(counts, allowed_ns, exact_ns, least_ns), sum(whole)),
		.learns = true,
	};
}
