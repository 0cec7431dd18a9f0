#include "symbols/source_map.h"

/* To be replaced: no object has debug information yet. */

enum ctx_status ctx_source_map_open(const struct ctx_symtab_request *request, struct ctx_source_map **ret,
				    struct ctx_err *err)
{
	(void)request;
	(void)err;
	*ret = NULL;
	return CTX_OK;
}

void ctx_source_map_close(struct ctx_source_map *map)
{
	(void)map;
}

const char *ctx_source_map_origin(const struct ctx_source_map *map)
{
	(void)map;
	return "none";
}

enum ctx_status ctx_source_map_find(struct ctx_source_map *map, uint64_t address,
				    struct ctx_source_frame frames[CTX_SOURCE_FRAMES_MAX], size_t *ret_n,
				    struct ctx_err *err)
{
	(void)map;
	(void)address;
	(void)frames;
	(void)err;
	*ret_n = 0;
	return CTX_OK;
}

enum ctx_status ctx_source_map_lines(struct ctx_source_map *map, uint64_t begin, uint64_t end,
				     ctx_source_line_fn each, void *context, struct ctx_err *err)
{
	(void)map;
	(void)begin;
	(void)end;
	(void)each;
	(void)context;
	(void)err;
	return CTX_OK;
}
