/* Fuzz target: texts about indicators: a specification, the helper's places, a listing, a loader's list, lines of the header. */
#include "collect/indicator_list.h"
#include "collect/indicator_places.h"
#include "collect/indicator_spec.h"
#include "collect/load_objects.h"
#include "collect/uprobes.h"
#include "model/indicator.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_alive(int64_t pid)
{
	return pid % 2 == 0;
}

static void parse_lines(const char *text)
{
	struct ctx_indicator_places places = {0};
	struct ctx_indicator_listing listing = {0};
	struct ctx_load_objects objects = {0};
	struct ctx_buf stale = {0};

	(void)!ctx_indicator_places_parse(&places, "/bin/app", text, NULL);
	for (size_t i = 0; i < places.n; i++) {
		if (strchr(places.items[i].name, '\n') != NULL)
			abort();
	}
	(void)!ctx_indicator_listing_parse(&listing, text, NULL);
	for (size_t i = 0; i < listing.n; i++) {
		if (listing.items[i].path[0] != '/' || strchr(listing.items[i].spec.text, ';') != NULL)
			abort();
	}
	(void)!ctx_load_objects_parse(&objects, text, NULL);
	for (size_t i = 0; i < objects.n; i++) {
		if (objects.paths[i][0] != '/')
			abort();
	}
	ctx_uprobes_list_stale(text, is_alive, &stale);
	ctx_indicator_places_deinit(&places);
	ctx_indicator_listing_deinit(&listing);
	ctx_load_objects_deinit(&objects);
	ctx_buf_deinit(&stale);
}

/* What was read and put again is the same. */
static void parse_header(const char *text)
{
	struct ctx_property property = {"indicator 1", text};
	struct ctx_indicator_list first = {0}, second = {0};
	struct ctx_buf put = {0};

	if (ctx_indicator_list_read(&first, &property, 1, 4, NULL) != CTX_OK)
		abort();
	if (first.n != 0) {
		ctx_indicator_put(&first.items[0], &put);
		ctx_buf_put_u8(&put, 0);
		property.value = (const char *)put.bytes;
		if (ctx_indicator_list_read(&second, &property, 1, 4, NULL) != CTX_OK || second.n != 1 ||
		    second.items[0].metric != first.items[0].metric ||
		    second.items[0].threshold != first.items[0].threshold ||
		    strcmp(second.items[0].name, first.items[0].name) != 0)
			abort();
	}
	ctx_indicator_list_deinit(&first);
	ctx_indicator_list_deinit(&second);
	ctx_buf_deinit(&put);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_indicator_spec spec;
	char text[TEXT_MAX];

	if (size >= sizeof(text))
		return 0;
	if (size != 0)
		memcpy(text, data, size);
	text[size] = '\0';
	if (ctx_indicator_spec_parse(text, &spec, NULL) == CTX_OK &&
	    (strcmp(spec.text, text) != 0 || (spec.what == CTX_INDICATOR_LINE && spec.line == 0) ||
	     (spec.name[0] == '\0' && spec.what != CTX_INDICATOR_OBJECT)))
		abort();
	parse_lines(text);
	parse_header(text);
	return 0;
}
