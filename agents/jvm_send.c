#include "agents/jvm_send.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 100
#define PATIENCE_MS 20000 /* of waiting for the recorder in all */
#define REGAINED_MS 20	  /* with each message that gets through */
#define SEND_BYTES (1 << 20)
#define NAME_MAX_BYTES 64u
#define FOLDER "/tmp/"

static _Atomic int connection = -1;
static _Atomic uint32_t dropped;
static _Atomic int patience_ms = PATIENCE_MS; /* that is left; at 0 nothing waits for the recorder any more */

static int connect_to(const struct sockaddr_un *address, size_t n)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (const struct sockaddr *)address, (socklen_t)n) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Puts a new connection in place of the one before, whose number other threads may still use. Returns that number, -1: none. */
static int replace(int fd)
{
	static int own = -1;

	if (fd < 0)
		return -1;
	if (own < 0) {
		own = fd;
		return own;
	}
	if (dup3(fd, own, O_CLOEXEC) < 0) {
		close(fd);
		return -1;
	}
	close(fd);
	return own;
}

/* By the abstract name, for whoever has the recorder's network, else by that of a file. */
bool ctx_jvm_connect(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t n = strlen(name);
	int fd;

	if (n == 0 || n > NAME_MAX_BYTES)
		return false;
	memcpy(address.sun_path + 1, name, n);
	fd = connect_to(&address, offsetof(struct sockaddr_un, sun_path) + 1 + n);
	if (fd < 0) {
		address = (struct sockaddr_un){.sun_family = AF_UNIX};
		snprintf(address.sun_path, sizeof(address.sun_path), FOLDER "%s", name);
		fd = connect_to(&address, sizeof(address));
	}
	if (fd >= 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){SEND_BYTES}, sizeof(int));
	atomic_store(&patience_ms, PATIENCE_MS);
	fd = replace(fd);
	atomic_store(&dropped, 0);
	atomic_store(&connection, fd);
	return fd >= 0;
}

bool ctx_jvm_is_connected(void)
{
	return atomic_load(&connection) >= 0;
}

bool ctx_jvm_looks_connected(void)
{
	int fd = atomic_load(&connection);
	char byte;

	/* Orders apart the end of the connection is all that can be read. */
	if (fd >= 0 && recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
		atomic_store(&connection, -1);
	return ctx_jvm_is_connected();
}

uint32_t ctx_jvm_wait_for_order(void)
{
	int fd = atomic_load(&connection);
	uint32_t order = 0;
	ssize_t got;

	do
		got = fd >= 0 ? recv(fd, &order, sizeof(order), 0) : 0;
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(order) ? order : 0;
}

uint64_t ctx_jvm_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void put_head(uint8_t *out, enum ctx_vm_message kind)
{
	const uint32_t word = (uint32_t)kind, lost = atomic_exchange(&dropped, 0);
	const uint64_t time_ns = ctx_jvm_now();

	memcpy(out, &word, sizeof(word));
	memcpy(out + 4, &lost, sizeof(lost));
	memcpy(out + 8, &time_ns, sizeof(time_ns));
}

struct ctx_jvm_message *ctx_jvm_begin(enum ctx_vm_message kind)
{
	struct ctx_jvm_message *message = ctx_jvm_is_connected() ? malloc(sizeof(*message)) : NULL;

	if (message == NULL)
		return NULL;
	message->failed = false;
	message->n = CTX_VM_HEAD_BYTES;
	put_head(message->bytes, kind);
	return message;
}

void ctx_jvm_put_bytes(struct ctx_jvm_message *message, const void *bytes, size_t n)
{
	if (message->failed || n > ctx_jvm_left(message)) {
		message->failed = true;
		return;
	}
	if (n != 0)
		memcpy(message->bytes + message->n, bytes, n);
	message->n += n;
}

void ctx_jvm_put_u16(struct ctx_jvm_message *message, uint16_t value)
{
	ctx_jvm_put_bytes(message, &value, sizeof(value));
}

void ctx_jvm_put_u32(struct ctx_jvm_message *message, uint32_t value)
{
	ctx_jvm_put_bytes(message, &value, sizeof(value));
}

void ctx_jvm_put_u64(struct ctx_jvm_message *message, uint64_t value)
{
	ctx_jvm_put_bytes(message, &value, sizeof(value));
}

void ctx_jvm_put_text(struct ctx_jvm_message *message, const char *text, size_t n)
{
	if (n > CTX_VM_TEXT_MAX)
		n = CTX_VM_TEXT_MAX;
	ctx_jvm_put_u16(message, (uint16_t)n);
	ctx_jvm_put_bytes(message, text, n);
}

void ctx_jvm_set_u32(struct ctx_jvm_message *message, size_t at, uint32_t value)
{
	memcpy(message->bytes + at, &value, sizeof(value));
}

/* False: it was not taken. */
static bool try_send(int fd, const void *bytes, size_t n)
{
	ssize_t sent;

	do
		sent = send(fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	if (sent < 0 && errno != EAGAIN && errno != ENOBUFS) /* the recorder has gone */
		atomic_store(&connection, -1);
	return sent >= 0;
}

/* `lost` of the message's head come back, and this one. */
static void note_dropped(const uint8_t *bytes)
{
	uint32_t lost;

	memcpy(&lost, bytes + 4, sizeof(lost));
	atomic_fetch_add(&dropped, lost + 1);
}

static void send_waiting(int fd, const uint8_t *bytes, size_t n)
{
	struct pollfd polled = {.fd = fd, .events = POLLOUT};

	for (;;) {
		if (try_send(fd, bytes, n)) {
			if (atomic_load(&patience_ms) < PATIENCE_MS - REGAINED_MS)
				atomic_fetch_add(&patience_ms, REGAINED_MS);
			return;
		}
		if (!ctx_jvm_is_connected() || atomic_load(&patience_ms) <= 0)
			break;
		if (poll(&polled, 1, WAIT_MS) == 0)
			atomic_fetch_sub(&patience_ms, WAIT_MS);
	}
	note_dropped(bytes);
}

void ctx_jvm_send(struct ctx_jvm_message *message)
{
	int fd = atomic_load(&connection);

	if (message == NULL)
		return;
	if (message->failed)
		note_dropped(message->bytes);
	else if (fd >= 0)
		send_waiting(fd, message->bytes, message->n);
	free(message);
}

void ctx_jvm_send_gc(uint32_t tid, uint64_t begin_ns)
{
	uint8_t bytes[CTX_VM_HEAD_BYTES + sizeof(tid) + sizeof(begin_ns)];
	int fd = atomic_load(&connection);

	if (fd < 0)
		return;
	put_head(bytes, CTX_VM_GC);
	memcpy(bytes + CTX_VM_HEAD_BYTES, &tid, sizeof(tid));
	memcpy(bytes + CTX_VM_HEAD_BYTES + sizeof(tid), &begin_ns, sizeof(begin_ns));
	if (!try_send(fd, bytes, sizeof(bytes)))
		note_dropped(bytes);
}
