/*
 * The executable mappings of the test program itself, for a recording of it.
 */
#ifndef CTX_TESTS_UNIT_OWN_MAPS_H
#define CTX_TESTS_UNIT_OWN_MAPS_H

#include "experiment_fixture.h"

#include <stdio.h>

static void put_own_maps(struct ctx_exp_writer *writer, uint32_t process)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4300];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps) != NULL) {
		unsigned long begin, end, offset;
		char access[5], path[4096] = "";
		struct ctx_exp_map map;

		if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %4095s", &begin, &end, access, &offset, path) < 4 ||
		    access[2] != 'x' || path[0] != '/')
			continue;
		map = (struct ctx_exp_map){begin, end - begin, offset, 5, path, "", FIXTURE_START_NS};
		assert_int_equal(ctx_exp_map(writer, process, &map, NULL), CTX_OK);
	}
	fclose(maps);
}

#endif
