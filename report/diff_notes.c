#include "report/diff_notes.h"

#include "report/head.h"

struct noting {
	const char *path;
	ctx_diff_note_fn put;
	void *context;
};

static void put_warning(void *context, const char *text)
{
	const struct noting *noting = context;

	noting->put(noting->context, noting->path, text);
}

void ctx_diff_notes(const struct ctx_diff_spec *spec, ctx_diff_note_fn put, void *context)
{
	for (int side = 0; side < CTX_COMPARE_SIDES; side++) {
		const struct ctx_diff_side *given = &spec->sides[side];

		for (size_t i = 0; i < given->n; i++) {
			struct ctx_report_source *source = given->sources[i];
			struct noting noting = {source->selection.path, put, context};
			struct ctx_report_parts parts;
			struct ctx_head head;

			if (source->parts(source, &(struct ctx_parts_query){0}, &parts, NULL) != CTX_OK)
				continue;
			head = ctx_head_of_parts(&source->selection, &parts);
			ctx_head_warnings(&head, put_warning, &noting);
		}
	}
}
