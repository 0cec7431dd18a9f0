/* A front end fetches pages from a back end over a socket and indexes them. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGES 110u
#define PAGE_SIZE 16384u

static void load_page(uint8_t *page, uint32_t number)
{
	const struct timespec seek = {0, 14000000};

	for (uint32_t i = 0; i < PAGE_SIZE; i++)
		page[i] = (uint8_t)((number + i) * 2654435761u >> 24);
	nanosleep(&seek, NULL);
}

static int run_backend(int socket)
{
	static uint8_t page[PAGE_SIZE];
	uint32_t number;

	prctl(PR_SET_NAME, "backend");
	while (read(socket, &number, sizeof(number)) == sizeof(number)) {
		load_page(page, number);
		if (write(socket, page, sizeof(page)) != sizeof(page))
			return 1;
	}
	return 0;
}

static void fetch_page(int socket, uint32_t number, uint8_t *page)
{
	size_t size = 0;

	if (write(socket, &number, sizeof(number)) != sizeof(number))
		exit(1);
	while (size < PAGE_SIZE) {
		ssize_t got = read(socket, page + size, PAGE_SIZE - size);

		if (got <= 0) {
			perror("backend");
			exit(1);
		}
		size += (size_t)got;
	}
}

static uint64_t index_page(const uint8_t *page)
{
	uint64_t key = 14695981039346656037u;

	for (int round = 0; round < 60; round++)
		for (uint32_t i = 0; i < PAGE_SIZE; i++)
			key = (key ^ page[i]) * 1099511628211u;
	return key;
}

int main(void)
{
	static uint8_t page[PAGE_SIZE];
	uint64_t keys = 0;
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
		return 1;
	if (fork() == 0) {
		close(sockets[0]);
		_exit(run_backend(sockets[1]));
	}
	close(sockets[1]);
	for (uint32_t number = 0; number < PAGES; number++) {
		fetch_page(sockets[0], number, page);
		keys ^= index_page(page);
	}
	close(sockets[0]);
	wait(NULL);
	printf("%u pages, %016llx\n", PAGES, (unsigned long long)keys);
	return 0;
}
