#include "browse/rescue.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define LEAVE_MAX 256u

static const int crashes[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/* What handlers need: they can have no argument. */
static struct {
	struct termios terminal;
	bool has_terminal;
	char leave[LEAVE_MAX];
	size_t n_leave;
	struct sigaction before_crash[CTX_COUNT_OF(crashes)], before_end[CTX_COUNT_OF(ends)];
	void *stack;
	volatile sig_atomic_t asked;
} rescue;

/* Only functions that a signal handler may call. */
static void restore(void)
{
	if (rescue.n_leave != 0 && write(STDOUT_FILENO, rescue.leave, rescue.n_leave) < 0)
		return;
	if (rescue.has_terminal)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &rescue.terminal);
}

/* Ends as if there were no handler; a sanitizer's own handler reports first. */
static void end_by(int number, const struct sigaction *before)
{
	(void)sigaction(number, before, NULL);
	(void)raise(number);
}

static void crash(int number)
{
	restore();
	for (size_t i = 0; i < CTX_COUNT_OF(crashes); i++) {
		if (crashes[i] == number)
			end_by(number, &rescue.before_crash[i]);
	}
}

static void ask(int number)
{
	if (rescue.asked != 0) {
		struct sigaction plain = {.sa_handler = SIG_DFL};

		restore();
		end_by(number, &plain);
	}
	rescue.asked = number;
}

static void take(const int *numbers, struct sigaction *before, size_t n, const struct sigaction *action)
{
	for (size_t i = 0; i < n; i++) {
		(void)sigaction(numbers[i], NULL, &before[i]);
		/* nohup */
		if (before[i].sa_handler != SIG_IGN)
			(void)sigaction(numbers[i], action, NULL);
	}
}

enum ctx_status ctx_rescue_begin(const char *leave, struct ctx_err *err)
{
	struct sigaction on_crash = {.sa_handler = crash, .sa_flags = SA_ONSTACK | SA_NODEFER};
	struct sigaction on_end = {.sa_handler = ask};
	stack_t stack = {.ss_size = 64 * 1024};

	rescue.n_leave = strlen(leave);
	if (rescue.n_leave >= LEAVE_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "the terminal's description is too long");
	memcpy(rescue.leave, leave, rescue.n_leave);
	rescue.has_terminal = tcgetattr(STDIN_FILENO, &rescue.terminal) == 0;
	rescue.asked = 0;
	/* A stack that overflowed has no room for a handler. */
	rescue.stack = malloc(stack.ss_size);
	if (rescue.stack == NULL)
		return ctx_err_nomem(err);
	stack.ss_sp = rescue.stack;
	(void)sigaltstack(&stack, NULL);
	sigemptyset(&on_crash.sa_mask);
	sigemptyset(&on_end.sa_mask);
	take(crashes, rescue.before_crash, CTX_COUNT_OF(crashes), &on_crash);
	take(ends, rescue.before_end, CTX_COUNT_OF(ends), &on_end);
	return CTX_OK;
}

void ctx_rescue_end(void)
{
	const stack_t none = {.ss_flags = SS_DISABLE};

	for (size_t i = 0; i < CTX_COUNT_OF(crashes); i++)
		(void)sigaction(crashes[i], &rescue.before_crash[i], NULL);
	for (size_t i = 0; i < CTX_COUNT_OF(ends); i++)
		(void)sigaction(ends[i], &rescue.before_end[i], NULL);
	(void)sigaltstack(&none, NULL);
	free(rescue.stack);
	rescue.stack = NULL;
}

int ctx_rescue_signal(void)
{
	return (int)rescue.asked;
}
