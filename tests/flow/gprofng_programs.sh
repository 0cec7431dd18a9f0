# Sourced: writes the programs that are recorded with gprofng into the current directory and compiles them, with the options $flags too
# if there are any. `fail` must be defined.

# Debian's gprofng does not see the pthread_create of today's C library, and starts its timer with a first period of 100 ms that it
# never shortens. This library passes threads to it, and gives the timer a period.
cat >period.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg) __asm__("create");
__asm__(".symver create, pthread_create@@GLIBC_2.34");
int create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	static create_fn *next;
	void *collector = next ? NULL : dlopen("libgp-collector.so", RTLD_LAZY | RTLD_NOLOAD);
	if (collector)
		next = (create_fn *)dlsym(collector, "pthread_create");
	if (!next || next == create)
		next = (create_fn *)dlvsym(RTLD_NEXT, "pthread_create", "GLIBC_2.34");
	return next(thread, attr, start, arg);
}
int set(int timer, int flags, const struct itimerspec *value, struct itimerspec *old) __asm__("set");
__asm__(".symver set, timer_settime@@GLIBC_2.3.3");
int set(int timer, int flags, const struct itimerspec *value, struct itimerspec *old)
{
	struct itimerspec mine = *value;
	if (mine.it_value.tv_sec == 0 && mine.it_value.tv_nsec == 100000000)
		mine.it_interval.tv_nsec = mine.it_value.tv_nsec = 4000000;
	return (int)syscall(SYS_timer_settime, timer, flags, &mine, old);
}
int get(int timer, struct itimerspec *value) __asm__("get");
__asm__(".symver get, timer_gettime@@GLIBC_2.3.3");
int get(int timer, struct itimerspec *value)
{
	return (int)syscall(SYS_timer_gettime, timer, value);
}
END
echo 'GLIBC_2.3.3 { global: timer_settime; timer_gettime; local: *; }; GLIBC_2.34 { global: pthread_create; } GLIBC_2.3.3;' >period.map
cc -shared -fPIC -O1 -Wl,--version-script=period.map -o period.so period.c 2>period.err || echo "without the shim for threads: $(head -n 1 period.err)"

cat >single.c <<'END'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define KEPT __attribute__((noinline))
static volatile double sink;
KEPT static void multiply(long n) { double a = 1.0001; for (long i = 0; i < n; i++) a = a * 1.0000001 + 1e-9; sink += a; }
KEPT static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
KEPT int odd(int n, long w);
KEPT int even(int n, long w) { multiply(w); int r = n == 0 ? 1 : odd(n - 1, w); sink += r; return r; }
KEPT int odd(int n, long w) { multiply(w / 2); int r = n == 0 ? 0 : even(n - 1, w); sink += r; return r; }
static int compare(const void *a, const void *b) { int x = *(const int *)a, y = *(const int *)b; return x < y ? -1 : x > y; }
KEPT void sorter(int n) { int *v = malloc(n * sizeof(*v)); for (int i = 0; i < n; i++) v[i] = rand(); qsort(v, n, sizeof(*v), compare); sink += v[n / 2]; free(v); }
KEPT void trigonometry(int n) { double t = 0; for (int i = 0; i < n; i++) t += sin(i * 0.1) + pow(1.0001, i % 97); sink += t; }
KEPT void deep(int n) { if (n == 0) multiply(60000000); else deep(n - 1); sink += n; }
KEPT void clocks(void) { struct timespec t; for (int i = 0; i < 3000000; i++) clock_gettime(CLOCK_MONOTONIC, &t); }
int main(void) { multiply(30000000); sink += fib(32); even(14, 3000000); sorter(600000); trigonometry(2000000); deep(400); clocks(); return 0; }
END
cat >threads.c <<'END'
#include <pthread.h>
#include <time.h>
#define KEPT __attribute__((noinline))
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile double shared;
KEPT static double burn(long n) { double a = 1.5; for (long i = 0; i < n; i++) a = a * 1.0000001 + 1e-7; shared = a; return a; }
KEPT void work(int k) { for (int i = 0; i < k; i++) burn(3000000); }
KEPT void locked(int k) { for (int i = 0; i < k; i++) { pthread_mutex_lock(&lock); burn(300000); pthread_mutex_unlock(&lock); } }
KEPT void sleepy(int k) { for (int i = 0; i < k; i++) { struct timespec t = {0, 1000000}; burn(500000); nanosleep(&t, 0); } }
static void *start(void *p) { switch ((long)p) { case 0: work(20); break; case 1: sleepy(60); break; default: locked(200); } return 0; }
int main(void) { pthread_t t[4]; for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, start, (void *)i); work(15); for (int i = 0; i < 4; i++) pthread_join(t[i], 0); return 0; }
END
cat >family.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define KEPT __attribute__((noinline))
static volatile double s;
KEPT void in_parent(int k) { for (long i = 0; i < k * 1000000L; i++) s += i; }
KEPT void in_child(int k) { for (long i = 0; i < k * 1000000L; i++) s += i * 2; }
KEPT void in_grandchild(int k) { for (long i = 0; i < k * 1000000L; i++) s += i * 3; }
KEPT void in_new_program(int k) { for (long i = 0; i < k * 1000000L; i++) s -= i; }
int main(int argc, char **argv)
{
	char command[4096];
	if (argc > 1) { in_new_program(60); return 0; }
	in_parent(80);
	if (fork() == 0) { in_child(60); if (fork() == 0) { in_grandchild(60); _exit(3); } wait(0); exit(0); }
	wait(0);
	if (fork() == 0) { in_child(20); execl(argv[0], argv[0], "exec", (char *)0); _exit(9); }
	wait(0);
	snprintf(command, sizeof(command), "%s exec", argv[0]);
	return system(command) != 0;
}
END
cat >shapes.cc <<'END'
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>
namespace shapes {
struct Shape { virtual ~Shape() = default; virtual double area(int n) const = 0; };
template <class T> struct Round : Shape { T r; explicit Round(T v) : r(v) {} double area(int n) const override { double a = 0; for (int i = 0; i < n; i++) a += std::sin(r * i); return a; } };
}
shapes::Shape *make(int kind) { if (kind == 0) return new shapes::Round<float>(1.5f); return new shapes::Round<double>(2.5); }
double words(int n) { std::map<std::string, int> count; for (int i = 0; i < n; i++) count["word" + std::to_string(i * 7919 % 5003)]++; double a = 0; for (auto &[w, k] : count) a += w.size() * k; return a; }
END
cat >main.cc <<'END'
#include <vector>
#include <algorithm>
namespace shapes { struct Shape { virtual ~Shape() = default; virtual double area(int n) const = 0; }; }
shapes::Shape *make(int kind);
double words(int n);
int main() { volatile double s = 0; for (int i = 0; i < 40; i++) { shapes::Shape *x = make(i % 2); s = s + x->area(400000); delete x; } s = s + words(700000); std::vector<double> v(800000); for (size_t i = 0; i < v.size(); i++) v[i] = i * 7919 % 1000003; std::sort(v.begin(), v.end()); return s + v[3] < 0; }
END
cat >traced.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#define KEPT __attribute__((noinline))
#define PAGE 4096
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *volatile kept;
KEPT static void leak(int n) { for (int i = 0; i < n; i++) kept = malloc(50 + i); }
KEPT static void churn(int n) { void *v[16] = {0}; for (int i = 0; i < n; i++) { int k = i * 7 % 16; free(v[k]); v[k] = i % 3 ? malloc(i) : calloc(i, 3); } }
KEPT static void grow(int n) { void *p = NULL; for (int i = 1; i < n; i++) p = realloc(p, i * 40 % 5000 + 1); kept = realloc(p, 70000); }
KEPT static void zero(void) { kept = malloc(0); free(kept); free(NULL); kept = malloc(0); free(realloc(malloc(10), 0)); }
KEPT static void maps(void)
{
	char *a = mmap(NULL, 10 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *b = mmap(NULL, 6 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 3; i++) { /* a region that is aligned: both ends go */
		char *c = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		munmap(c, 5 * PAGE);
		munmap(c + 37 * PAGE, 27 * PAGE);
	}
	munmap(a + 2 * PAGE, 3 * PAGE);
	kept = mmap(a + 7 * PAGE, 5 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	kept = mmap(a + 6 * PAGE, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	munmap(b, 6 * PAGE);
}
KEPT static void files(void)
{
	char text[3000] = "text";
	int fd = open("traced.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600), again, ends[2];
	FILE *file;
	for (int i = 0; i < 30; i++)
		if (write(fd, text, 100 * i) != 100 * i) exit(1);
	lseek(fd, 0, SEEK_SET);
	again = dup(fd);
	while (read(again, text, 700) > 0);
	close(fd);
	close(again);
	kept = (void *)(long)read(-1, text, 5);
	kept = (void *)(long)write(99, text, 5);
	kept = (void *)(long)open("/nonexistent/file", O_RDONLY);
	if (pipe(ends) == 0) { kept = (void *)(long)write(ends[1], text, 77); kept = (void *)(long)read(ends[0], text, 90); }
	file = fopen("traced.tmp", "r");
	while (fread(text, 1, 999, file) > 0);
	fclose(file);
	unlink("traced.tmp");
}
KEPT static void hold(void) { pthread_mutex_lock(&lock); usleep(3000); pthread_mutex_unlock(&lock); }
static void *start(void *p) { for (int i = 0; i < 12; i++) { hold(); churn(40); leak(2); } return p; }
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, start, 0);
	leak(5); churn(500); grow(200); zero(); maps(); files();
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
	puts("done");
	return 0;
}
END
cat >traces.c <<'END'
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define KEPT __attribute__((noinline))
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile double s;
KEPT static void spin(long n) { for (long i = 0; i < n; i++) s += i; }
KEPT void heap_work(void) { void *kept[50]; for (int i = 0; i < 50; i++) kept[i] = malloc(100 + i * 13); for (int i = 0; i < 50; i += 2) kept[i] = realloc(kept[i], 4000 + i); for (int i = 0; i < 40; i++) free(kept[i]); free(calloc(10, 300)); void *m = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); munmap(m, 1 << 20); }
KEPT void hold(int k) { for (int i = 0; i < k; i++) { pthread_mutex_lock(&lock); spin(1500000); pthread_mutex_unlock(&lock); usleep(200); } }
KEPT void io_work(void) { char b[4096]; memset(b, 7, sizeof(b)); int fd = open("traces.tmp", O_CREAT | O_TRUNC | O_RDWR, 0644); for (int i = 0; i < 40; i++) if (write(fd, b, sizeof(b)) < 0) perror("w"); lseek(fd, 0, SEEK_SET); for (int i = 0; i < 45; i++) if (read(fd, b, 1000) < 0) perror("r"); close(fd); if (open("/nonexistent/file", O_RDONLY) < 0) errno = 0; if (read(-1, b, 10) < 0) errno = 0; unlink("traces.tmp"); }
static void *start(void *p) { hold(20); return p; }
int main(void) { pthread_t t[3]; for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, start, 0); heap_work(); io_work(); for (int i = 0; i < 3; i++) pthread_join(t[i], 0); spin(50000000); return 0; }
END
g="-gdwarf-4 ${flags:-}" # gprofng has no lines of version 5
cc $g -O1 -pthread -o traces traces.c || fail "traces.c"
echo 'static volatile double s; __attribute__((noinline)) void spin(void) { for (;;) s++; } int main(void) { spin(); return 0; }' >endless.c
cc -O1 -o endless endless.c || fail "endless.c"
cc $g -O1 -o single single.c -lm || fail "single.c"
cc $g -O1 -pthread -o threads threads.c || fail "threads.c"
cc $g -O1 -o family family.c || fail "family.c"
cc $g -O1 -pthread -o traced traced.c || fail "traced.c"
c++ $g -O1 -shared -fPIC -o libshapes.so shapes.cc && c++ $g -O1 -o shapes main.cc -L. -lshapes -Wl,-rpath,"$PWD" || fail "shapes.cc"

# collect NAME COMMAND...: records NAME.er. Fails if gprofng cannot record here; then there is nothing to compare.
collect() {
	name=$1
	shift
	preload=
	[ -e period.so ] && preload=$PWD/period.so
	LD_PRELOAD=$preload timeout 60 gprofng collect app -o "$name.er" "$@" >"$name.out" 2>&1
}
