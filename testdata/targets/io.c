/*
 * Input and output whose numbers are known, each kind in a function of its own; for the tests of ctxrec --io.
 *
 *	io all DIR      everything, in the directory; "all is right" and status 7
 *	io child FD     copies what it reads from the descriptor, which it has inherited, to stdout
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#if __has_attribute(noclone)
#define APART __attribute__((noinline, noclone))
#else
#define APART __attribute__((noinline))
#endif

static void check(int is_right, const char *what)
{
	if (!is_right) {
		fprintf(stderr, "%s: %s\n", what, strerror(errno));
		exit(1);
	}
}

/* 10 writes of 100 bytes, 5 of them at places; 3 of vectors of 30. */
APART static void writes_18(const char *name)
{
	char bytes[100] = {0};
	struct iovec parts[2] = {{bytes, 10}, {bytes, 20}};
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0640);
	struct stat info;

	check(fd >= 0 && fstat(fd, &info) == 0 && (info.st_mode & 0777) == 0640, "open");
	for (int i = 0; i < 5; i++) {
		check(write(fd, bytes, 100) == 100, "write");
		check(pwrite(fd, bytes, 100, 500 + 100 * i) == 100, "pwrite");
	}
	for (int i = 0; i < 3; i++)
		check(pwritev(fd, parts, 2, 1000 + 30 * i) == 30, "pwritev");
	check(fsync(fd) == 0 && fdatasync(fd) == 0, "fsync");
	check(close(fd) == 0, "close");
}

/* The file has 1090 bytes: reads of 100, the last two of 90 and 0; 4 at places; and by a copy of the descriptor. */
APART static void reads(const char *name)
{
	char bytes[100];
	int fd = openat(AT_FDCWD, name, O_RDONLY), copy, n = 0;

	while (read(fd, bytes, sizeof(bytes)) > 0)
		n++;
	check(n == 11, "read");
	for (int i = 0; i < 4; i++)
		check(pread(fd, bytes, 50, 100 * i) == 50, "pread");
	copy = dup(fd);
	check(copy >= 0 && dup2(copy, 100) == 100 && close(fd) == 0 && close(copy) == 0, "dup");
	fd = fcntl(100, F_DUPFD, 200);
	check(fd == 200 && close(100) == 0 && pread(fd, bytes, 7, 0) == 7 && close(fd) == 0, "fcntl");
}

APART static void fails(void)
{
	struct statx more;
	struct stat info;
	char byte;

	check(open("missing", O_RDONLY) < 0 && errno == ENOENT, "open of nothing");
	check(open((const char *)8, O_RDONLY) < 0 && errno == EFAULT, "open of nowhere");
	check(connect(333, (const struct sockaddr *)8, 16) < 0 && errno == EBADF, "connect to nowhere");
	check(statx(AT_FDCWD, (const char *)8, -1, 0, &more) < 0 && errno == EINVAL, "statx of nowhere");
	check(read(-1, &byte, 1) < 0 && errno == EBADF, "read of nothing");
	check(write(333, &byte, 1) < 0 && errno == EBADF, "write to nothing");
	check(close(333) < 0 && errno == EBADF, "close of nothing");
	check(stat("missing", &info) < 0 && errno == ENOENT, "stat of nothing");
	check(fopen("missing", "r") == NULL && errno == ENOENT, "fopen of nothing");
}

APART static void asks(const char *name)
{
	struct stat info;
	struct statx more;
	int dir = open(".", O_PATH | O_DIRECTORY);

	check(stat(name, &info) == 0 && lstat(name, &info) == 0 && info.st_size == 1090, "stat");
	check(fstatat(dir, name, &info, 0) == 0 && statx(dir, name, 0, STATX_SIZE, &more) == 0, "fstatat");
	check(fstatat(dir, "", &info, AT_EMPTY_PATH) == 0 && S_ISDIR(info.st_mode),
	      "fstatat of the directory");
	check(mkdir("below", 0700) == 0 && chdir("below") == 0 && stat("../x", &info) == 0 &&
		      fchdir(dir) == 0,
	      "chdir");
	check(stat("./x", &info) == 0 && close(dir) == 0, "stat");
}

/* 1,000 lines, 8890 bytes: each buffer of 4096 is an operation. */
APART static void streams(void)
{
	char line[64], *long_line = NULL;
	size_t room = 0, n = 0;
	FILE *file = fopen("text", "w");

	setvbuf(file, NULL, _IOFBF, 4096);
	for (int i = 0; i < 1000; i++)
		n += (size_t)fprintf(file, "line %d\n", i);
	check(n == 8890 && fclose(file) == 0, "fprintf");
	file = fopen("text", "r");
	setvbuf(file, NULL, _IOFBF, 4096);
	while (fgets(line, sizeof(line), file) != NULL)
		n -= strlen(line);
	check(n == 0, "fgets");
	rewind(file);
	while (getline(&long_line, &room, file) > 0)
		n++;
	free(long_line);
	check(n == 1000 && fclose(file) == 0, "getline");
}

/* Nothing is written but where a buffer is full: 4096 and 904. */
APART static void puts_bytes_5000(void)
{
	FILE *file = fopen("bytes", "w");

	setvbuf(file, NULL, _IOFBF, 4096);
	for (int i = 0; i < 2500; i++)
		check(fputc('a', file) == 'a' && putc_unlocked('b', file) == 'b', "fputc");
	check(fflush(file) == 0 && fclose(file) == 0, "fflush");
	file = fopen("bytes", "r");
	setvbuf(file, NULL, _IOFBF, 4096);
	for (int i = 0; i < 5000; i++)
		check(getc_unlocked(file) == (i % 2 == 0 ? 'a' : 'b'), "getc");
	check(getc(file) == EOF && fclose(file) == 0, "getc");
}

APART static void passes_over(const char *name)
{
	int ends[2], from = open(name, O_RDONLY), to = open("copied", O_RDWR | O_CREAT, 0600);
	char bytes[1000];
	off_t at = 0;

	check(pipe(ends) == 0 && sendfile(ends[1], from, &at, 1000) == 1000, "sendfile");
	check(splice(ends[0], NULL, to, NULL, 600, 0) == 600 && read(ends[0], bytes, 1000) == 400, "splice");
	check(copy_file_range(from, NULL, to, NULL, 300, 0) == 300, "copy_file_range");
	check(close(from) == 0 && close(to) == 0 && close(ends[0]) == 0 && close(ends[1]) == 0, "close");
}

static void *answers(void *listener)
{
	char bytes[64];
	int fd = accept(*(int *)listener, NULL, NULL);

	for (int i = 0; i < 20; i++)
		check(recv(fd, bytes, 10, MSG_WAITALL) == 10 && send(fd, bytes, 5, 0) == 5, "recv");
	close(fd);
	return NULL;
}

/* 20 requests of 10 bytes, 20 answers of 5. */
APART static void talks(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char bytes[64] = {0};
	pthread_t thread;

	check(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 1) == 0, "bind");
	check(getsockname(listener, (struct sockaddr *)&address, &length) == 0, "getsockname");
	check(pthread_create(&thread, NULL, answers, &listener) == 0, "pthread_create");
	check(connect(fd, (struct sockaddr *)&address, length) == 0, "connect");
	for (int i = 0; i < 20; i++) {
		struct iovec part = {bytes, 10};
		struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

		check(sendmsg(fd, &message, 0) == 10 && recvfrom(fd, bytes, 5, MSG_WAITALL, NULL, NULL) == 5,
		      "talk");
	}
	pthread_join(thread, NULL);
	check(close(fd) == 0 && close(listener) == 0, "close");
}

APART static void waits(void)
{
	int ends[2], queue = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLOUT};
	struct pollfd item = {.events = POLLOUT};
	struct timeval none = {0};
	fd_set set;

	check(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0, "socketpair");
	item.fd = ends[0];
	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	check(poll(&item, 1, 0) == 1 && ppoll(&item, 1, NULL, NULL) == 1, "poll");
	check(select(ends[0] + 1, NULL, &set, NULL, &none) == 1, "select");
	check(epoll_ctl(queue, EPOLL_CTL_ADD, ends[0], &event) == 0 && epoll_wait(queue, &event, 1, 0) == 1,
	      "epoll");
	close(queue);
	close(ends[0]);
	close(ends[1]);
}

/* A descriptor that no recorded function makes. */
APART static void uses_memory_file(void)
{
	int fd = memfd_create("known", 0);

	check(fd >= 0 && write(fd, "abc", 3) == 3, "memfd");
	usleep(50000); /* until the recorder has seen it */
	check(write(fd, "abcd", 4) == 4 && close(fd) == 0, "memfd");
}

/* The child executes this program, with a descriptor of the file. */
APART static void executes(const char *program, const char *name)
{
	char number[16];
	int fd = open(name, O_RDONLY), status;
	pid_t child;

	snprintf(number, sizeof(number), "%d", fd);
	child = vfork();
	if (child == 0) {
		close(0); /* the child's own */
		execl(program, "io", "child", number, NULL);
		_exit(127);
	}
	check(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
		      WEXITSTATUS(status) == 0,
	      "child");
	check(close(fd) == 0, "close");
}

/* The child goes on with the descriptors of its parent. */
APART static void forks(const char *name)
{
	char bytes[100];
	int fd = open(name, O_RDONLY), status;
	pid_t child = fork();

	if (child == 0)
		_exit(read(fd, bytes, 60) == 60 && close(fd) == 0 ? 0 : 1);
	check(waitpid(child, &status, 0) == child && status == 0, "fork");
	check(close(fd) == 0, "close");
}

static void *sleeps_in_read(void *end)
{
	char byte;

	(void)!read(*(int *)end, &byte, 1);
	return NULL;
}

/* read is a cancellation point; so is fgets, which then has its stream locked no longer. */
APART static void is_cancelled(void)
{
	int ends[2];
	pthread_t thread = 0;
	void *result;

	check(pipe(ends) == 0 && pthread_create(&thread, NULL, sleeps_in_read, &ends[0]) == 0,
	      "pthread_create");
	usleep(10000);
	check(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED,
	      "cancelled");
	close(ends[0]);
	close(ends[1]);
}

static FILE *cancelled;

static void *sleeps_in_fgets(void *unused)
{
	char line[10];

	(void)!fgets(line, sizeof(line), cancelled);
	return unused;
}

APART static void stream_is_cancelled(void)
{
	int ends[2];
	pthread_t thread;
	void *result;

	check(pipe(ends) == 0, "pipe");
	cancelled = fdopen(ends[0], "r");
	check(pthread_create(&thread, NULL, sleeps_in_fgets, NULL) == 0, "pthread_create");
	usleep(10000);
	check(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED,
	      "cancelled");
	check(ftrylockfile(cancelled) == 0, "the lock of the stream");
	funlockfile(cancelled);
	fclose(cancelled);
	close(ends[1]);
}

APART static int child(int fd)
{
	char bytes[256];
	ssize_t n, sum = 0;

	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		sum += n;
	printf("%zd bytes\n", sum);
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = "x";

	if (argc == 3 && strcmp(argv[1], "child") == 0)
		return child(atoi(argv[2]));
	if (argc != 3 || strcmp(argv[1], "all") != 0 || chdir(argv[2]) != 0)
		return 2;
	writes_18(name);
	reads(name);
	fails();
	asks(name);
	streams();
	puts_bytes_5000();
	passes_over(name);
	talks();
	waits();
	uses_memory_file();
	executes(realpath("/proc/self/exe", NULL), name);
	forks(name);
	is_cancelled();
	stream_is_cancelled();
	printf("all is right\n");
	return 7;
}
