# Experiments of gprofng that are damaged in every way: gprofng_robust.py does each damage to each file of a generated one, and many to one that is recorded here.
. "$(dirname "$0")/../common.sh" "$@"
need gprofng python3 cc

cat >small.c <<'END_OF_C'
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *volatile kept;
__attribute__((noinline)) static void work(void) { volatile double s = 1; for (int i = 0; i < 30000000; i++) s = s * 1.0000001; kept = malloc(100); free(malloc(7)); }
static void *start(void *p) { for (int i = 0; i < 3; i++) { pthread_mutex_lock(&lock); work(); pthread_mutex_unlock(&lock); } return p; }
int main(void) { pthread_t t; int fd = open("small.tmp", O_CREAT | O_RDWR, 0600); pthread_create(&t, 0, start, 0); start(0); pthread_join(t, 0); if (write(fd, "text", 4) != 4) return 1; if (fork() == 0) { work(); _exit(0); } wait(0); return 0; }
END_OF_C
cc -O1 -pthread -o small small.c || fail "small.c"
timeout 60 gprofng collect app -o recorded.er -p on -s on -H on -i on ./small >collect.out 2>&1 && [ -s recorded.er/log.xml ] ||
	skip "gprofng collects nothing here: $(head -n 1 collect.out)"
python3 "$source_dir/tests/flow/gprofng_robust.py" --all recorded.er || fail "see above"
finish
