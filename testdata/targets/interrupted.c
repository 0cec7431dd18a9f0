/*
 * What a program may do with signals, and before its main: each word on the command line is one of these. Says what
 * came of it; status 3: not what was to come.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define ROUNDS 2000
#define READS 300

static void say(const char *text)
{
	printf("%s\n", text);
	fflush(stdout);
}

/* Programs are executed before the constructors of any library. */
static int spawned = -1;

static int end_of(pid_t pid)
{
	int status = -1;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static void spawn_early(int argc, char **argv, char **environment)
{
	char name[] = "true", *const arguments[] = {name, NULL};
	pid_t pid;

	if (argc < 2 || strcmp(argv[1], "early") != 0)
		return;
	spawned = posix_spawnp(&pid, name, NULL, NULL, arguments, environment) == 0 ? end_of(pid) : -1;
	pid = fork();
	if (pid == 0) {
		execvp(name, arguments);
		_exit(1);
	}
	spawned |= end_of(pid);
}

__attribute__((section(".preinit_array"), used)) static void (*const before_all)(int, char **,
										 char **) = spawn_early;

static void early(void)
{
	say(spawned == 0 ? "spawned" : "not spawned");
}

/* A handler leaves a function of stdio by longjmp; later the thread ends by pthread_exit. */
static __thread sigjmp_buf place;
static FILE *silent;
static volatile sig_atomic_t waits, may_jump;

static void jump(int signal_number)
{
	(void)signal_number;
	if (may_jump) {
		may_jump = 0;
		siglongjmp(place, 1);
	}
}

__attribute__((noinline)) static int line_comes(void)
{
	char line[100];

	if (sigsetjmp(place, 1) != 0)
		return 0;
	may_jump = waits = 1;
	return fgets(line, sizeof(line), silent) != NULL;
}

__attribute__((noinline)) static void use_stack(void)
{
	volatile char bytes[8000];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 'a';
}

static void *wait_for_line(void *argument)
{
	if (line_comes())
		return NULL;
	use_stack();
	pthread_exit(argument);
}

static void leaves_stream(void)
{
	void *ended = NULL;
	pthread_t thread;
	int ends[2];

	signal(SIGUSR1, jump);
	if (pipe(ends) != 0 || (silent = fdopen(ends[0], "r")) == NULL ||
	    pthread_create(&thread, NULL, wait_for_line, &silent) != 0)
		exit(3);
	while (!waits)
		usleep(1000);
	usleep(50000); /* until it is in fgets, mostly */
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, &ended);
	say(ended == &silent ? "no line" : "a line");
}

/* A timer's handler leaves reads by longjmp, again and again. How often it read is in the file `counts`, and the jumps. */
__attribute__((noinline)) static void read_some(int fd)
{
	char bytes[16];

	for (int i = 0; i < READS; i++)
		(void)!pread(fd, bytes, sizeof(bytes), 0);
}

static void leaves_reads(void)
{
	struct itimerval timer = {{0, 500}, {0, 500}};
	int fd = open("/dev/zero", O_RDONLY);
	volatile long rounds = 0, jumps = 0;
	FILE *counts;

	signal(SIGALRM, jump);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (rounds < ROUNDS) {
		if (sigsetjmp(place, 1) != 0) {
			jumps++;
			continue;
		}
		may_jump = 1;
		read_some(fd);
		may_jump = 0;
		rounds++;
	}
	timer = (struct itimerval){{0, 0}, {0, 0}};
	setitimer(ITIMER_REAL, &timer, NULL);
	close(fd);
	counts = fopen("counts", "w");
	if (counts == NULL || fprintf(counts, "%ld %ld\n", rounds * READS, jumps) < 0 || fclose(counts) != 0)
		exit(3);
	say("read");
}

/* The first that a child does is in a handler with a small stack. */
static void use_small_stack(int signal_number)
{
	int fd = open("/dev/null", O_WRONLY);

	(void)signal_number;
	(void)!write(fd, "x", 1);
	close(fd);
	execl("./program", "program", NULL);
}

/* A program that may not be executed. */
static void make_program(void)
{
	static char bytes[65536];
	int from = open("/proc/self/exe", O_RDONLY), to = open("program", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ssize_t n = read(from, bytes, sizeof(bytes));

	if (n <= 0 || write(to, bytes, (size_t)n) != n)
		exit(3);
	close(from);
	close(to);
}

static void small_stack(void)
{
	char *area = mmap(NULL, 2 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = {.ss_sp = area + MIB, .ss_size = getauxval(AT_MINSIGSTKSZ) + 4096};
	struct sigaction action = {.sa_handler = use_small_stack, .sa_flags = SA_ONSTACK};
	size_t below = 0;

	make_program();
	use_small_stack(0); /* the functions are found */
	fflush(stdout);
	if (fork() != 0) {
		int status;

		if (wait(&status) < 0 || status != 0)
			exit(3);
		return;
	}
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	memset(area, 'a', 2 * MIB);
	syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1);
	while (below < MIB && area[MIB - 1 - below] == 'a')
		below++;
	say(below == MIB ? "the stack was enough" : "the stack was not enough");
	_exit(0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {
		{"early", early},
		{"stream", leaves_stream},
		{"reads", leaves_reads},
		{"small", small_stack},
	};

	for (int i = 1; i < argc; i++) {
		for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
			if (strcmp(argv[i], all[k].name) == 0)
				all[k].run();
		}
	}
	return 6;
}
