/*
 * Flame graph and static page: read again with libxml2 and held against the histogram, whatever the
 * names are.
 */
#include "base/buf.h"
#include "calltree/calltree.h"
#include "failing_malloc.h"
#include "report/embedded.h"
#include "report/report_exports.h"
#include "report_fixture.h"
#include "xml_document.h"

#include <stdio.h>

#define HOSTILE "]]></script></style></title><script>alert(1)</script><!-- & \"'"

static struct fake_source input_of(const struct fixture *fixture, const struct ctx_report_part *parts)
{
	return (struct fake_source){.profile = &fixture->profile,
				    .path = "test.1.er",
				    .intervals = &whole_run,
				    .n_intervals = 1,
				    .whole = &fixture->all,
				    .parts = parts,
				    .n_parts = parts != NULL ? 2 : 0};
}

/* The file's text; free() it. */
static char *write_export(const struct ctx_export_kind *kind, struct fake_source *input)
{
	struct ctx_err err = {0};
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	if (kind->write(fake_export(input), out, &err) != CTX_OK)
		fail_msg("%s: %s", kind->name, err.msg);
	fclose(out);
	assert_int_equal(strlen(text), n);
	return text;
}

static xmlNode *child(xmlNode *node, const char *name)
{
	for (xmlNode *it = node->children; it != NULL; it = it->next) {
		if (is(it, name))
			return it;
	}
	return NULL;
}

static double number(xmlNode *node, const char *name)
{
	xmlChar *value = xmlGetProp(node, BAD_CAST name);
	double result;

	assert_non_null(value);
	result = strtod((const char *)value, NULL);
	xmlFree(value);
	return result;
}

struct frame {
	double x, width, y, percent;
	uint64_t samples;
	char *title; /* xmlFree */
};

static struct frame frame_of(xmlNode *group)
{
	xmlNode *rect = child(group, "rect");
	struct frame frame = {.x = number(rect, "x"), .width = number(rect, "width"), .y = number(rect, "y")};
	const char *percent;
	unsigned long long samples;

	frame.title = (char *)xmlNodeGetContent(child(group, "title"));
	percent = strstr(frame.title, " % of the total, ");
	assert_non_null(percent);
	assert_int_equal(sscanf(percent, " %% of the total, %llu sample", &samples), 1);
	frame.samples = samples;
	while (percent[-1] != ' ')
		percent--;
	frame.percent = strtod(percent, NULL);
	return frame;
}

/*
 * A frame is within the last one that is one row above it, behind its earlier siblings, and as wide
 * as its share.
 */
static size_t check_frames(xmlDoc *document)
{
	static double begin[4096], end[4096], used[4096];
	size_t n = 0;
	double top = 0;
	xmlNode *frames = by_id(document, "frames");

	for (xmlNode *group = frames->children; group != NULL; group = group->next) {
		struct frame frame;
		size_t level;

		if (!is(group, "g"))
			continue;
		frame = frame_of(group);
		if (n++ == 0) {
			top = frame.y;
			assert_true(frame.x == 10 && frame.width == 1180);
		}
		level = (size_t)((frame.y - top) / 17 + 0.5);
		assert_true(level < 4096 && (level == 0) == (n == 1));
		assert_true(frame.width >= 0.0999);
		assert_true(frame.width / 11.8 - frame.percent < 0.0051 + 0.00002 &&
			    frame.percent - frame.width / 11.8 < 0.0051 + 0.00002);
		begin[level] = frame.x;
		end[level] = frame.x + frame.width;
		used[level] = frame.x;
		if (level > 0) {
			assert_true(frame.x > used[level - 1] - 1e-6);
			assert_true(frame.x > begin[level - 1] - 1e-6);
			assert_true(end[level] < end[level - 1] + 1e-6);
			used[level - 1] = end[level];
		}
		assert_true(number(xmlDocGetRootElement(document), "height") >= frame.y + 17);
		xmlFree(frame.title);
	}
	return n;
}

static void test_flamegraph__is_as_ever(void **state)
{
	struct fixture *fixture = *state;
	struct fake_source input = input_of(fixture, NULL);
	char *text = write_export(&ctx_export_flamegraph, &input);
	char *style = strstr(text, ctx_flame_style), *script = strstr(text, ctx_flame_script);
	xmlDoc *document = parse(text);
	struct frame root = frame_of(child(by_id(document, "frames"), "g"));

	assert_string_equal(root.title, "<Total>\n300.000 ms, 100.00 % of the total, 300 samples");
	xmlFree(root.title);
	assert_int_equal(check_frames(document), 13);
	xmlFreeDoc(document);
	/* Style and script have no golden copy: they are files of their own. */
	assert_non_null(style);
	assert_non_null(script);
	memmove(script, script + strlen(ctx_flame_script), strlen(script + strlen(ctx_flame_script)) + 1);
	memmove(style, style + strlen(ctx_flame_style), strlen(style + strlen(ctx_flame_style)) + 1);
	assert_golden("export.flamegraph", text);
	free(text);
}

static void test_flamegraph__shows_the_selection_and_warnings(void **state)
{
	struct fixture *fixture = *state;
	static const struct ctx_interval some = {10 * MS, 20 * MS};
	static const uint32_t selected[] = {1};
	struct fake_source input = input_of(fixture, NULL);
	char *text;

	input.intervals = &some;
	input.threads = selected;
	input.n_threads = 1;
	input.filter = "cpu 3";
	fixture->profile.losses.samples = 7;
	text = write_export(&ctx_export_flamegraph, &input);
	assert_non_null(strstr(text, ">10.000-20.000 ms | thread 102 | cpu 3 | cpu-clock | 300 samples | "));
	assert_non_null(strstr(text, ">note: 7 records were lost"));
	free(text);
}

struct random_profile {
	struct ctx_profile profile;
	struct ctx_function_info functions[40];
	struct ctx_histogram histogram;
};

/* Weights of very different size, so that some frames are too narrow; paths that recur. */
static void make_random(struct random_profile *random, const struct fixture *fixture, unsigned seed)
{
	uint32_t n_nodes = 1 + (uint32_t)(seed * 37 % 700);

	*random = (struct random_profile){.profile = fixture->profile};
	srand(seed);
	for (uint32_t i = 0; i < 40; i++)
		random->functions[i] = (struct ctx_function_info){
			.name = "f", .linkage_name = "f", .object = i % 4 ? i % 3 : CTX_NONE};
	random->profile.functions = random->functions;
	random->profile.n_functions = 40;
	assert_int_equal(ctx_trie_init(&random->profile.cct, NULL), CTX_OK);
	for (uint32_t i = 0; i < n_nodes; i++) {
		uint32_t below =
			random->profile.cct.n - (uint32_t)rand() % (random->profile.cct.n / 3 + 1) - 1;
		uint32_t function = rand() % 4 == 0 ? 0 : (uint32_t)rand() % 40; /* one has many callers */

		assert_int_equal(ctx_trie_child(&random->profile.cct, below, function, &below, NULL), CTX_OK);
		assert_int_equal(ctx_histogram_add(&random->histogram,
						   (struct ctx_hist_entry){
							   .stack = below,
							   .weight = UINT64_C(1)
								     << (rand() % (seed % 2 != 0 ? 55 : 20)),
							   .samples = 1},
						   NULL),
				 CTX_OK);
	}
}

/* Frames by adding up every stack: those with at least a tenth of a px, and those below. */
static void expect_frames(const struct random_profile *random, uint64_t *ret_wide, uint64_t *ret_narrow)
{
	const struct ctx_trie *cct = &random->profile.cct;
	uint64_t *cum = ctx_calloc(cct->n, sizeof(*cum)), total = random->histogram.weight;

	assert_non_null(cum);
	for (size_t i = 0; i < random->histogram.n; i++) {
		uint32_t at = random->histogram.entries[i].stack;

		for (; at != CTX_TRIE_ROOT; at = cct->parent[at])
			cum[at] += random->histogram.entries[i].weight;
	}
	*ret_wide = *ret_narrow = 0;
	for (uint32_t i = 1; i < cct->n; i++) {
		if ((unsigned __int128)cum[i] * 11800 >= total)
			++*ret_wide;
		else
			++*ret_narrow;
	}
	free(cum);
}

static void test_flamegraph__has_every_frame_that_is_wide_enough(void **state)
{
	for (unsigned seed = 1; seed <= 60; seed++) {
		struct random_profile random;
		struct fake_source input = input_of(*state, NULL);
		uint64_t wide, narrow;
		char said[64], *text;
		xmlDoc *document;
		struct frame root;

		make_random(&random, *state, seed);
		input.profile = &random.profile;
		input.whole = &random.histogram;
		text = write_export(&ctx_export_flamegraph, &input);
		document = parse(text);
		expect_frames(&random, &wide, &narrow);
		assert_int_equal(check_frames(document), wide + 1);
		root = frame_of(child(by_id(document, "frames"), "g"));
		assert_int_equal(root.samples, random.histogram.samples);
		snprintf(said, sizeof(said), "\n%llu frame%s narrower", (unsigned long long)narrow,
			 narrow == 1 ? "" : "s");
		assert_int_equal(strstr(root.title, said) != NULL, narrow != 0);
		xmlFree(root.title);
		xmlFreeDoc(document);
		free(text);
		ctx_trie_deinit(&random.profile.cct);
		ctx_histogram_deinit(&random.histogram);
	}
}

static const struct ctx_report_part *parts_of(struct fixture *fixture, struct ctx_report_part parts[2])
{
	parts[0] = (struct ctx_report_part){.thread = 0, .histograms = &fixture->main_thread};
	parts[1] = (struct ctx_report_part){.thread = 1, .histograms = &fixture->worker};
	return parts;
}

static void test_html_static__is_as_ever(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_report_part parts[2];
	struct fake_source input = input_of(fixture, parts_of(fixture, parts));
	char *text = write_export(&ctx_export_html_static, &input);
	char *style = strstr(text, ctx_static_style);
	xmlDoc *document = parse(text);

	assert_int_equal(count(document, "script"), 0);
	assert_non_null(strstr(text, "content=\"default-src 'none'; style-src 'unsafe-inline'\""));
	check_links(document);
	xmlFreeDoc(document);
	assert_non_null(style);
	memmove(style, style + strlen(ctx_static_style), strlen(style + strlen(ctx_static_style)) + 1);
	assert_golden("export.html-static", text);
	free(text);
}

/* The text of a row's cells, each followed by '|'; free() it. */
static char *row_text(xmlNode *row)
{
	struct ctx_buf buf = {0};

	for (xmlNode *cell = row->children; cell != NULL; cell = cell->next) {
		xmlChar *content = cell->type == XML_ELEMENT_NODE ? xmlNodeGetContent(cell) : NULL;

		if (content != NULL)
			ctx_buf_printf(&buf, "%s|", (const char *)content);
		xmlFree(content);
	}
	ctx_buf_put_u8(&buf, '\0');
	return (char *)buf.bytes;
}

static void test_html_static__has_the_numbers_of_the_reports(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_report_part parts[2];
	struct fake_source input = input_of(fixture, parts_of(fixture, parts));
	char *text = write_export(&ctx_export_html_static, &input);
	xmlDoc *document = parse(text);
	struct ctx_calltree tree;
	struct ctx_flat flat;

	assert_int_equal(ctx_calltree_build(&fixture->profile.cct, fixture->profile.n_functions,
					    &fixture->all, &tree, NULL),
			 CTX_OK);
	assert_int_equal(ctx_flat_build(&tree, &flat, NULL), CTX_OK);
	for (uint32_t i = 0; i < flat.n; i++) {
		const struct ctx_flat_row *row = &flat.rows[i];
		char id[16], want[128], *have;

		snprintf(id, sizeof(id), "f%u", row->function);
		have = row_text(by_id(document, id));
		snprintf(want, sizeof(want), "%llu.000|%.2f|%llu.000|%.2f|%llu|",
			 (unsigned long long)(row->base / MS), (double)row->base / 3 / (double)MS,
			 (unsigned long long)(row->cum / MS), (double)row->cum / 3 / (double)MS,
			 (unsigned long long)row->base_samples);
		assert_memory_equal(have, want, strlen(want));
		assert_non_null(strstr(have, fixture->profile.functions[row->function].name));
		free(have);
	}
	ctx_flat_deinit(&flat);
	ctx_calltree_deinit(&tree);
	assert_non_null(strstr(
		text, "<td>102</td><td>3</td><td>100.000</td><td>900.000</td><td>60</td><td>60.000</td>"));
	xmlFreeDoc(document);
	free(text);
}

/*
 * Callers, self and callees of a stanza add up. A stanza is a part of the table, its own row is
 * marked.
 */
static void test_html_static__stanzas_add_up(void **state)
{
	struct fixture *fixture = *state;
	struct random_profile random;
	struct fake_source input = input_of(fixture, NULL);
	char *text;
	xmlDoc *document;
	size_t stanzas = 0;

	make_random(&random, fixture, 18);
	input.profile = &random.profile;
	input.whole = &random.histogram;
	fixture->profile.metrics[0].unit = CTX_UNIT_EVENTS; /* whole numbers */
	text = write_export(&ctx_export_html_static, &input);
	fixture->profile.metrics[0].unit = CTX_UNIT_NS;
	document = parse(text);
	for (xmlNode *body = xmlDocGetRootElement(document); body != NULL; body = next_node(body)) {
		long long callers[2] = {0}, self[2] = {0}, callees[2] = {0}; /* self, total */
		bool found = false;

		if (!is(body, "tbody"))
			continue;
		for (xmlNode *row = body->children; row != NULL; row = row->next) {
			xmlChar *class = is(row, "tr") ? xmlGetProp(row, BAD_CAST "class") : NULL;
			char *cells = is(row, "tr") ? row_text(row) : NULL;
			bool is_self = class != NULL && strcmp((const char *)class, "self") == 0;
			long long *sums = is_self ? self : found ? callees : callers;
			long long n[2] = {0};

			if (cells != NULL &&
			    sscanf(cells + strcspn(cells, "|") + 1, "%lld|%lld|", &n[0], &n[1]) == 2) {
				for (int i = 0; i < 2; i++)
					sums[i] += n[i];
			}
			found |= is_self;
			xmlFree(class);
			free(cells);
		}
		if (!found)
			continue;
		stanzas++;
		for (int i = 0; i < 2; i++)
			assert_true(callers[i] == self[i]);
		assert_true(callees[1] + self[0] == self[1]);
	}
	assert_int_equal(stanzas, 10);
	xmlFreeDoc(document);
	free(text);
	ctx_trie_deinit(&random.profile.cct);
	ctx_histogram_deinit(&random.histogram);
}

/*
 * Whatever the names are, they are text: nothing of them becomes an element, an attribute or code.
 */
static void test_report_exports__hostile_names_are_literal(void **state)
{
	struct fixture *fixture = *state;
	static const struct ctx_export_kind *const kinds[] = {&ctx_export_flamegraph,
							      &ctx_export_html_static};
	struct ctx_function_info hostile[CTX_COUNT_OF(functions)];
	struct ctx_object_info hostile_objects[CTX_COUNT_OF(objects)];
	char *long_name = ctx_calloc(10001, 1);
	static const char *const names[] = {
		HOSTILE,
		"\033]0;title\007\033[2Jred\nline\r\ttab",
		"bad\xff\xc0\x80utf\xed\xa0\x80\xef\xbf\xbf",
		"bidi\xe2\x80\xae"
		"evil\xe2\x80\xa8sep\xc2\x9b"
		"31m",
		"",
		"javascript:alert(1)",
	};

	assert_non_null(long_name);
	memcpy(hostile, functions, sizeof(hostile));
	memcpy(hostile_objects, objects, sizeof(hostile_objects));
	memset(long_name, '<', 10000);
	for (size_t i = 0; i < CTX_COUNT_OF(names); i++)
		hostile[i].name = names[i];
	hostile[7].name = long_name;
	for (size_t i = 0; i < CTX_COUNT_OF(objects); i++)
		hostile_objects[i].path = names[i];
	fixture->profile.functions = hostile;
	fixture->profile.objects = hostile_objects;
	fixture->profile.name = HOSTILE;
	fixture->profile.notes = HOSTILE "\n" HOSTILE;
	for (size_t i = 0; i < CTX_COUNT_OF(kinds); i++) {
		struct ctx_report_part parts[2];
		struct fake_source input = input_of(fixture, parts_of(fixture, parts));
		char *text;
		xmlDoc *document;
		xmlChar *content;

		input.path = HOSTILE;
		input.filter = HOSTILE;
		text = write_export(kinds[i], &input);
		document = parse(text);
		content = xmlNodeGetContent(xmlDocGetRootElement(document));
		assert_non_null(strstr((const char *)content, HOSTILE));
		assert_int_equal(count(document, "script"), i == 0 ? 1 : 0);
		assert_int_equal(count(document, "style"), 1);
		assert_null(strstr(text, "<script>alert"));
		check_links(document);
		for (const char *c = text; *c != '\0'; c++)
			assert_true((unsigned char)*c >= 0x20 || *c == '\n' || *c == '\t');
		assert_null(strstr(text, "\xe2\x80\xae"));
		assert_null(strstr(text, "\xe2\x80\xa8"));
		assert_null(strchr(text, '\xff'));
		if (i == 0) {
			xmlNode *script = child(xmlDocGetRootElement(document), "script");
			xmlChar *code = xmlNodeGetContent(script);

			assert_string_equal((const char *)code + 1, ctx_flame_script);
			xmlFree(code);
			check_frames(document);
		}
		xmlFree(content);
		xmlFreeDoc(document);
		free(text);
	}
	fixture->profile.functions = functions;
	fixture->profile.objects = objects;
	free(long_name);
}

static void test_report_exports__an_empty_selection_is_a_file_too(void **state)
{
	static const struct ctx_export_kind *const kinds[] = {&ctx_export_flamegraph,
							      &ctx_export_html_static};
	struct ctx_histogram nothing = {0};
	struct fake_source input = input_of(*state, NULL);

	input.whole = &nothing;
	for (size_t i = 0; i < CTX_COUNT_OF(kinds); i++) {
		char *text = write_export(kinds[i], &input);
		xmlDoc *document = parse(text);

		assert_non_null(strstr(text, "no samples in this selection"));
		assert_non_null(strstr(text, "&lt;Total&gt;"));
		xmlFreeDoc(document);
		free(text);
	}
}

static void test_report_exports__memory_that_runs_out_is_an_error(void **state)
{
	struct fixture *fixture = *state;
	static const struct ctx_export_kind *const kinds[] = {&ctx_export_flamegraph,
							      &ctx_export_html_static};

	for (size_t i = 0; i < CTX_COUNT_OF(kinds); i++) {
		struct ctx_report_part parts[2];
		struct fake_source input = input_of(fixture, parts_of(fixture, parts));
		FILE *nowhere = fopen("/dev/null", "w");
		bool failed = true;

		assert_non_null(nowhere);
		for (long n = 0; failed; n++) {
			struct ctx_err err = {0};
			enum ctx_status status;

			fail_after = n;
			status = kinds[i]->write(fake_export(&input), nowhere, &err);
			failed = fail_after == -1;
			fail_after = -1;
			assert_int_equal(status, failed ? CTX_E_NOMEM : CTX_OK);
			assert_true(n < 100000);
		}
		fclose(nowhere);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(test_flamegraph__is_as_ever),
		with_fixture(test_flamegraph__shows_the_selection_and_warnings),
		with_fixture(test_flamegraph__has_every_frame_that_is_wide_enough),
		with_fixture(test_html_static__is_as_ever),
		with_fixture(test_html_static__has_the_numbers_of_the_reports),
		with_fixture(test_html_static__stanzas_add_up),
		with_fixture(test_report_exports__hostile_names_are_literal),
		with_fixture(test_report_exports__an_empty_selection_is_a_file_too),
		with_fixture(test_report_exports__memory_that_runs_out_is_an_error),
	};

	return cmocka_run_group_tests_name("report_exports", tests, NULL, NULL);
}
