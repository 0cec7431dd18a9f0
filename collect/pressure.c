#include "collect/pressure.h"

#define LATE_MS 50u
#define LATE_PERCENT 50u
#define CROWD 64u
#define HURRY_PERCENT 75u
#define CALM_PERCENT 50u
#define WINDOW 128u	/* stacks that a decision is made by */
#define CUT_SHARE 0.01	/* of them may be cut */
#define GROW_SHARE 0.02 /* beyond it the usual copies are too short */
#define HELPS_BELOW 0.75
#define SETTLE_NS UINT64_C(300000000)
#define HOLD_MIN_NS UINT64_C(2000000000)
#define HOLD_MAX_NS UINT64_C(64000000000)
#define CHANGE_NS 24000u /* for each thread and CPU, in a virtual machine */
#define CHANGE_PART 50u
#define TRIES_AFTER 64u /* stacks: the start code is learned from the first */
#define TRIAL_PART 10u	/* one in so many must be too deep for small copies */
#define AGAIN_NS UINT64_C(10000000000)

bool ctx_pressure_is_late(uint64_t waited_ms, uint64_t limit_ms, unsigned fullest_percent)
{
	return waited_ms > limit_ms + LATE_MS || fullest_percent > LATE_PERCENT;
}

bool ctx_pressure_is_crowded(uint64_t n_threads, uint32_t n_cpus)
{
	return n_threads > (uint64_t)CROWD * n_cpus;
}

bool ctx_pressure_hurries(bool hurries, unsigned before, unsigned now)
{
	if (hurries)
		return now >= CALM_PERCENT;
	return now >= HURRY_PERCENT && now >= before;
}

static bool has(const struct ctx_copy_choice *choice, enum ctx_copy copy)
{
	return choice->copy_bytes[copy] != 0 && choice->copy_bytes[copy] != choice->copy_bytes[choice->now];
}

static bool change(struct ctx_copy_choice *choice, enum ctx_copy copy, uint64_t now_ns)
{
	choice->now = copy;
	choice->since_ns = now_ns;
	choice->has_window = choice->tries = choice->is_chained = false;
	return true;
}

static bool is_affordable(const struct ctx_copy_choice *choice, const struct ctx_pressure *pressure)
{
	return pressure->events * CHANGE_NS <= (pressure->now_ns - choice->since_ns) / CHANGE_PART;
}

/* A ring was half full. */
static bool press(struct ctx_copy_choice *choice, const struct ctx_pressure *pressure, bool loses)
{
	uint64_t now_ns = pressure->now_ns;
	bool is_again = choice->pressed_ns != 0 && choice->now != CTX_COPY_SMALL &&
			now_ns - choice->since_ns < AGAIN_NS;

	if (choice->now == CTX_COPY_LARGE)
		choice->usual_share = 0;
	choice->pressed_ns = now_ns;
	if (choice->hold_ns == 0)
		choice->hold_ns = HOLD_MIN_NS;
	else if (is_again && choice->hold_ns < HOLD_MAX_NS)
		choice->hold_ns *= 2;
	return has(choice, CTX_COPY_SMALL) && (loses || is_affordable(choice, pressure)) &&
	       change(choice, CTX_COPY_SMALL, now_ns);
}

/* The share of cut stacks of a complete window; below 0: not complete yet. */
static double cut_share(struct ctx_copy_choice *choice, const struct ctx_pressure *pressure)
{
	uint64_t n = pressure->stacks - choice->stacks;

	/* Samples of before the change are still in the rings. */
	if (!choice->has_window && pressure->now_ns - choice->since_ns >= SETTLE_NS) {
		choice->has_window = true;
		choice->stacks = pressure->stacks;
		choice->cut = pressure->cut;
		return -1;
	}
	if (!choice->has_window || n < WINDOW)
		return -1;
	choice->has_window = false;
	return (double)(pressure->cut - choice->cut) / (double)n;
}

static void hold_trial(struct ctx_copy_choice *choice, uint64_t now_ns)
{
	choice->tries = false;
	choice->try_hold_ns = choice->try_hold_ns == 0 ? HOLD_MIN_NS : choice->try_hold_ns;
	choice->try_ns = now_ns + choice->try_hold_ns;
	if (choice->try_hold_ns < HOLD_MAX_NS)
		choice->try_hold_ns *= 2;
}

static void begin_trial(struct ctx_copy_choice *choice, const struct ctx_pressure *pressure)
{
	choice->tries = true;
	choice->tried = pressure->tried;
	choice->deep = pressure->deep;
	choice->failed = pressure->failed;
}

/* True: small copies and the kernel's frame pointers give the same stacks. */
static bool try_chain(struct ctx_copy_choice *choice, const struct ctx_pressure *pressure)
{
	uint64_t n = pressure->tried - choice->tried, failed = pressure->failed - choice->failed;

	if (!has(choice, CTX_COPY_SMALL) || pressure->stacks < TRIES_AFTER ||
	    pressure->now_ns < choice->try_ns)
		return false;
	if (!choice->tries) {
		begin_trial(choice, pressure);
		return false;
	}
	if ((double)failed > CUT_SHARE * (double)(n > WINDOW ? n : WINDOW)) {
		hold_trial(choice, pressure->now_ns);
		return false;
	}
	if (n < WINDOW || !is_affordable(choice, pressure))
		return false;
	if ((pressure->deep - choice->deep) * TRIAL_PART >= n)
		return true;
	begin_trial(choice, pressure);
	return false;
}

bool ctx_copy_choose(struct ctx_copy_choice *choice, const struct ctx_pressure *pressure)
{
	uint64_t now_ns = pressure->now_ns;
	bool loses = pressure->lost != choice->lost;
	double share;

	if (choice->since_ns == 0)
		choice->since_ns = now_ns;
	choice->lost = pressure->lost;
	if (pressure->fullest_percent >= LATE_PERCENT)
		return press(choice, pressure, loses);
	if (try_chain(choice, pressure)) {
		(void)change(choice, CTX_COPY_SMALL, now_ns);
		choice->is_chained = true;
		return true;
	}
	share = cut_share(choice, pressure);
	if ((share < CUT_SHARE && choice->now != CTX_COPY_LARGE) || !is_affordable(choice, pressure))
		return false;
	switch (choice->now) {
	case CTX_COPY_SMALL:
		if (now_ns - choice->pressed_ns < choice->hold_ns)
			return false;
		if (choice->is_chained)
			hold_trial(choice, now_ns);
		return change(choice, CTX_COPY_USUAL, now_ns);
	case CTX_COPY_USUAL:
		if (share < GROW_SHARE || choice->usual_share != 0 || !has(choice, CTX_COPY_LARGE) ||
		    (choice->pressed_ns != 0 && now_ns - choice->pressed_ns < choice->hold_ns))
			return false;
		choice->usual_share = share;
		choice->is_proven = false;
		return change(choice, CTX_COPY_LARGE, now_ns);
	default:
		/* Where they cut as many at first they are left for ever. */
		if (share < 0 || choice->is_proven)
			return false;
		choice->is_proven = share < choice->usual_share * HELPS_BELOW;
		return !choice->is_proven && change(choice, CTX_COPY_USUAL, now_ns);
	}
}
