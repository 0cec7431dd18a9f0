#include "report/headings.h"

#include "report/names.h"

#include <string.h>

size_t ctx_heading_width(const char *heading)
{
	size_t most = 0;

	while (*heading != '\0') {
		size_t n = strcspn(heading, " "), width = ctx_text_width(heading, n);

		most = width > most ? width : most;
		heading += n + (heading[n] == ' ');
	}
	return most;
}

size_t ctx_heading_line(const char *heading, size_t room)
{
	size_t n = strcspn(heading, " ");

	while (heading[n] == ' ') {
		size_t end = n + 1 + strcspn(heading + n + 1, " ");

		if (ctx_text_width(heading, end) > room)
			break;
		n = end;
	}
	return n;
}

size_t ctx_heading_lines(const char *heading, size_t room)
{
	size_t lines = 0;

	for (; *heading != '\0'; lines++) {
		size_t n = ctx_heading_line(heading, room);

		heading += n + (heading[n] == ' ');
	}
	return lines;
}

size_t ctx_heading_room(const char *heading, size_t lines)
{
	size_t room = ctx_heading_width(heading), whole = ctx_text_width(heading, strlen(heading));

	while (room < whole && ctx_heading_lines(heading, room) > lines)
		room++;
	return room;
}
