/* Posts transfers between accounts and keeps a journal of them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ACCOUNTS 4096u
#define TRANSFERS 1500u

struct transfer {
	uint32_t from, to;
	int64_t cents;
	uint32_t check;
};

static int64_t balances[ACCOUNTS];

static uint32_t check_of(const struct transfer *transfer)
{
	const uint8_t *bytes = (const uint8_t *)transfer;
	uint32_t check = 2166136261u;

	for (size_t i = 0; i < offsetof(struct transfer, check); i++)
		check = (check ^ bytes[i]) * 16777619u;
	return check;
}

static void append_entry(int journal, struct transfer *transfer)
{
	transfer->check = check_of(transfer);
	if (write(journal, transfer, sizeof(*transfer)) != sizeof(*transfer) || fsync(journal) != 0) {
		perror("journal");
		exit(1);
	}
}

static uint64_t audit_balances(void)
{
	uint64_t sum = 0;

	for (unsigned round = 0; round < 8; round++)
		for (unsigned i = 0; i < ACCOUNTS; i++)
			sum = sum * 31 + (uint64_t)balances[i];
	return sum;
}

static void post_transfer(int journal, uint32_t number)
{
	struct transfer transfer = {number * 2654435761u % ACCOUNTS, number * 40503u % ACCOUNTS, number % 977,
				    0};

	balances[transfer.from] -= transfer.cents;
	balances[transfer.to] += transfer.cents;
	append_entry(journal, &transfer);
}

int main(void)
{
	int journal = open("journal.dat", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	uint64_t sum = 0;

	if (journal < 0) {
		perror("journal.dat");
		return 1;
	}
	for (uint32_t number = 0; number < TRANSFERS; number++) {
		post_transfer(journal, number);
		sum ^= audit_balances();
	}
	printf("%u transfers, audit %016llx\n", TRANSFERS, (unsigned long long)sum);
	return close(journal) != 0;
}
