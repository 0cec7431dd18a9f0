/*
 * Names of data for reports (model/data_name.h), from the files of load objects that the recording or this machine has.
 */
#ifndef CTX_CTXAN_DATA_NAMING_H
#define CTX_CTXAN_DATA_NAMING_H

#include "ctxan/exporting_places.h"
#include "model/data_name.h"

struct ctx_data_names;

struct ctx_data_naming {
	struct ctx_export_objects objects; /* the caller sets what it has to */
	struct ctx_data_names *names;	   /* NULL: not asked for yet */
	struct ctx_data_namer namer;	   /* set by ctx_data_naming_init; borrowed by sources */
};

/* Opens nothing: the first question does. Do not move it afterwards. */
void ctx_data_naming_init(struct ctx_data_naming *naming);
void ctx_data_naming_deinit(struct ctx_data_naming *naming);

#endif
