/*
 * Wait budget: how many stacks of waits and wake-ups may be copied, so that recording a program that
 * switches often costs at most a share of its CPU time. A pure function of counts: no clock, no
 * events.
 *
 *	counts of an interval --take--> plan: all stacks, or those of a part of the time
 *
 * The cost is counts by kind of record times what one record costs, in the kernel and in the
 * recorder (wait_budget.c, measured: bench/results/states.md). The recorder's own CPU time is not
 * used: it contains work that fewer stacks do not reduce (reading files, other samples), and says
 * nothing about the kernel's part, which is the larger one.
 *
 * Every switch keeps its two records and its reason: where these alone cost more than the budget,
 * a small share of the time is left for stacks nevertheless.
 */
#ifndef CTX_COLLECT_WAIT_BUDGET_H
#define CTX_COLLECT_WAIT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define CTX_WAIT_BUDGET_OFF UINT32_MAX
#define CTX_WAIT_DUTY_ONE 1000000u /* all of the time */

struct ctx_wait_counts { /* of an interval */
	uint64_t wall_ns;
	uint64_t target_ns; /* CPU time of the recorded threads, the kernel's work for the records included */
	uint64_t switches;  /* SWITCH records: two for each switch */
	uint64_t leaves,
		leaves_brief; /* samples of threads that leave their CPU: whole; brief (state_events.h) */
	uint64_t wakes, wakes_brief; /* of wake-ups */
	uint64_t sought, strange;    /* brief ones of which the place was sought; was not, or hardly, known */
	bool is_full;		     /* a ring was nearly full */
};

/* All zero but for the first field is a new one. */
struct ctx_wait_budget {
	uint32_t per_mille; /* of the target's CPU time; CTX_WAIT_BUDGET_OFF; 0: as few stacks as possible */
	bool samples;	    /* not all stacks are copied */
	uint64_t debt_ns;   /* cost beyond the budget since there was none */
	uint64_t calm_ns;   /* how long all stacks would have been cheap */
	/* Sums over the recording, for the header of reports: */
	uint64_t cost_of_all_ns; /* if all stacks had been copied, while they were not */
	uint64_t target_ns;	 /* meanwhile, without the cost of records */
};

struct ctx_wait_plan {
	bool samples;  /* false: all stacks are copied */
	uint32_t duty; /* the share of the time in which they are, of CTX_WAIT_DUTY_ONE */
	bool learns;   /* places should be known: sampling is near */
};

/*
 * The plan for the next interval. While stacks are sampled, the brief samples are complete, and
 * count switches and wake-ups.
 *
 * Sampling begins when the cost has exceeded the budget by 10 ms of CPU, and ends when all stacks
 * would have cost half of it for a second. It also begins when a ring is nearly full, and not because of few
 * large samples: brief ones take a fifth of the room. In addition to the share of the target's time, 2 % of
 * one CPU are allowed, so that programs that mostly sleep have all their stacks. Where almost all
 * places are known, further stacks only show what has changed: they get a tenth of the budget.
 */
struct ctx_wait_plan ctx_wait_budget_take(struct ctx_wait_budget *budget,
					  const struct ctx_wait_counts *counts);

#endif
