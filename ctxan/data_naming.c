#include "ctxan/data_naming.h"

#include "ingest/data_names.h"

/* At the first question. */
static enum ctx_status begin(struct ctx_data_naming *naming, struct ctx_data_namer *ret, struct ctx_err *err)
{
	const struct ctx_export_objects *objects = &naming->objects;
	struct ctx_data_names_options options = {.profile = objects->profile,
						 .symfs = objects->options->symfs,
						 .debug_root = objects->options->debug_root};
	enum ctx_status status = CTX_OK;

	if (naming->names == NULL) {
		status = ctx_export_objects_open(&naming->objects, err);
		options.archives = objects->archives;
		options.caches = objects->caches.directories;
		if (status == CTX_OK)
			status = ctx_data_names_create(&options, &naming->names, err);
	}
	if (status == CTX_OK)
		*ret = ctx_data_names_namer(naming->names);
	return status;
}

static enum ctx_status name(void *context, const struct ctx_data_question *question,
			    struct ctx_data_name *ret, struct ctx_err *err)
{
	struct ctx_data_namer namer;
	enum ctx_status status = begin(context, &namer, err);

	return status == CTX_OK ? namer.name(namer.context, question, ret, err) : status;
}

static enum ctx_status layout(void *context, const char *type, struct ctx_data_layout *ret,
			      struct ctx_err *err)
{
	struct ctx_data_namer namer;
	enum ctx_status status = begin(context, &namer, err);

	return status == CTX_OK ? namer.layout(namer.context, type, ret, err) : status;
}

static bool locate(void *context, const struct ctx_data_map *map, uint64_t address, uint64_t *ret)
{
	struct ctx_data_namer namer;

	return begin(context, &namer, NULL) == CTX_OK && namer.locate(namer.context, map, address, ret);
}

void ctx_data_naming_init(struct ctx_data_naming *naming)
{
	naming->names = NULL;
	naming->namer = (struct ctx_data_namer){name, layout, locate, naming};
}

void ctx_data_naming_deinit(struct ctx_data_naming *naming)
{
	ctx_data_names_destroy(naming->names);
	ctx_export_objects_close(&naming->objects);
	naming->names = NULL;
}
