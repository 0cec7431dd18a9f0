#include "collect/trace_segments.h"

#include "base/mem.h"
#include "model/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 4096
#define SILENT_NS UINT64_C(1000000000)
#define SEGMENTS_MAX 65536u

/* The segment */

static bool is_sealed(int fd)
{
	int wanted = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, seals = fcntl(fd, F_GET_SEALS);
	struct stat info;

	return seals >= 0 && (seals & wanted) == wanted && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
	       info.st_size == (off_t)CTX_RT_SEGMENT_BYTES;
}

enum ctx_status ctx_trace_segment_map(int fd, struct ctx_trace_segment **ret, struct ctx_err *err)
{
	struct ctx_trace_segment *segment;
	uint8_t *bytes;

	if (!is_sealed(fd))
		return ctx_err_set(err, CTX_E_FORMAT, "not a memory file of the runtime");
	bytes = mmap(NULL, CTX_RT_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return ctx_err_errno(err, CTX_E_IO, "a segment cannot be mapped");
	segment = ctx_calloc(1, sizeof(*segment));
	if (segment != NULL)
		segment->header = (struct ctx_rt_header *)bytes;
	if (segment == NULL || segment->header->magic != CTX_RT_MAGIC ||
	    segment->header->version != CTX_RT_VERSION) {
		munmap(bytes, CTX_RT_SEGMENT_BYTES);
		if (segment == NULL)
			return ctx_err_nomem(err);
		free(segment);
		return ctx_err_set(err, CTX_E_FORMAT, "a segment of another version");
	}
	segment->created_ns = segment->header->created_ns;
	segment->process = CTX_NONE;
	for (uint32_t i = 0; i < CTX_RT_SLOTS; i++) {
		segment->rings[i].slot = ctx_rt_slot_of(bytes, i);
		segment->rings[i].words = ctx_rt_words_of(bytes, i);
		segment->threads[i] = CTX_NONE;
	}
	*ret = segment;
	return CTX_OK;
}

void ctx_trace_segment_unmap(struct ctx_trace_segment *segment)
{
	atomic_store(&segment->header->closed, 1);
	munmap(segment->header, CTX_RT_SEGMENT_BYTES);
	for (uint32_t i = 0; i < CTX_RT_SLOTS; i++)
		ctx_trace_ring_deinit(&segment->rings[i]);
	free(segment);
}

/* The socket */

enum ctx_status ctx_trace_segments_init(struct ctx_trace_segments *segments, struct ctx_err *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	uint64_t random[2];
	socklen_t length;
	size_t n;

	*segments = (struct ctx_trace_segments){.listener = -1};
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return ctx_err_errno(err, CTX_E_IO, "getrandom");
	n = (size_t)snprintf(segments->name, sizeof(segments->name), "ctxrec-%016llx%016llx",
			     (unsigned long long)random[0], (unsigned long long)random[1]);
	memcpy(address.sun_path + 1, segments->name, n);
	length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
	segments->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (segments->listener < 0 ||
	    bind(segments->listener, (const struct sockaddr *)&address, length) != 0 ||
	    listen(segments->listener, BACKLOG) != 0)
		return ctx_err_errno(err, CTX_E_IO, "socket for traced processes");
	return CTX_OK;
}

void ctx_trace_segments_deinit(struct ctx_trace_segments *segments)
{
	if (segments->listener >= 0)
		close(segments->listener);
	for (size_t i = 0; i < segments->n_connections; i++)
		close(segments->connections[i].fd);
	while (segments->first != NULL)
		ctx_trace_segments_remove(segments, &segments->first);
	segments->n_connections = 0;
	segments->listener = -1;
}

void ctx_trace_segments_remove(struct ctx_trace_segments *segments, struct ctx_trace_segment **place)
{
	struct ctx_trace_segment *segment = *place;

	*place = segment->next;
	segments->n--;
	ctx_trace_segment_unmap(segment);
}

/* The first descriptor of a message; others are closed. -1: none. */
static int take_descriptor(struct msghdr *message)
{
	int first = -1;

	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL; part = CMSG_NXTHDR(message, part)) {
		size_t n = part->cmsg_len > CMSG_LEN(0) ? (part->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;

		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(part) + i * sizeof(fd), sizeof(fd));
			if (first < 0)
				first = fd;
			else
				close(fd);
		}
	}
	return first;
}

static enum ctx_status adopt(struct ctx_trace_segments *segments, int fd, int64_t pid, struct ctx_err *err)
{
	struct ctx_trace_segment *segment;
	enum ctx_status status = CTX_E_FORMAT;

	if (pid > 0 && segments->n < SEGMENTS_MAX)
		status = ctx_trace_segment_map(fd, &segment, err);
	close(fd);
	if (status == CTX_E_NOMEM)
		return status;
	if (status != CTX_OK) {
		segments->refused++;
		return CTX_OK;
	}
	segment->pid = pid;
	segment->next = segments->first;
	segments->first = segment;
	segments->n++;
	return CTX_OK;
}

/* CTX_END: nothing was sent yet. */
static enum ctx_status receive(struct ctx_trace_segments *segments, int connection, struct ctx_err *err)
{
	char byte;
	struct iovec data = {.iov_base = &byte, .iov_len = 1};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	struct ucred peer;
	socklen_t length = sizeof(peer);
	ssize_t n = recvmsg(connection, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int fd;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return CTX_END;
	fd = n >= 0 ? take_descriptor(&message) : -1;
	if (fd < 0)
		return CTX_OK;
	if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
		peer.pid = 0;
	return adopt(segments, fd, peer.pid, err);
}

static void forget(struct ctx_trace_segments *segments, size_t i)
{
	close(segments->connections[i].fd);
	segments->connections[i] = segments->connections[--segments->n_connections];
}

enum ctx_status ctx_trace_segments_accept(struct ctx_trace_segments *segments, uint64_t now_ns,
					  struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	int fd;

	while ((status == CTX_OK || status == CTX_END) &&
	       (fd = accept4(segments->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		status = receive(segments, fd, err);
		if (status == CTX_END && segments->n_connections < CTX_TRACE_CONNECTIONS_MAX)
			segments->connections[segments->n_connections++] =
				(struct ctx_trace_connection){fd, now_ns};
		else
			close(fd);
	}
	for (size_t i = segments->n_connections; i-- > 0 && (status == CTX_OK || status == CTX_END);) {
		status = receive(segments, segments->connections[i].fd, err);
		if (status != CTX_END || now_ns - segments->connections[i].since_ns > SILENT_NS)
			forget(segments, i);
	}
	return status == CTX_END ? CTX_OK : status;
}
