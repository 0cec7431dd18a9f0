/* Exports the rows of a table as text. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ROWS 20000u

struct row {
	uint32_t id;
	double value;
	const char *unit;
};

static struct row read_row(uint32_t number)
{
	static const char *const units[] = {"m", "kg", "s", "mol"};
	uint32_t state = number * 2654435761u + 1;
	struct row row = {number, 0, units[number % 4]};

	for (int i = 0; i < 2000; i++) {
		state = state * 1664525u + 1013904223u;
		row.value += (double)(state >> 20) / 4096;
	}
	return row;
}

static void put_text(int fd, const char *text)
{
	for (; *text != '\0'; text++) {
		if (write(fd, text, 1) != 1) {
			perror("export");
			exit(1);
		}
	}
}

static void export_row(int fd, const struct row *row)
{
	char text[128];

	snprintf(text, sizeof(text), "row %08u: value %14.6f, unit %s, state final\n", row->id, row->value,
		 row->unit);
	put_text(fd, text);
}

int main(void)
{
	int fd = open("export.txt", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0) {
		perror("export.txt");
		return 1;
	}
	for (uint32_t number = 0; number < ROWS; number++) {
		struct row row = read_row(number);

		export_row(fd, &row);
	}
	return close(fd) != 0;
}
