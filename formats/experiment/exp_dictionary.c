#include "formats/experiment/exp_dictionary.h"

#include <stdlib.h>

void ctx_exp_dictionary_clear(struct ctx_exp_dictionary *dictionary)
{
	for (size_t i = 0; i < dictionary->n_epochs; i++)
		free(dictionary->epochs[i].ranges);
	dictionary->n_epochs = 0;
	dictionary->n_ids = 0;
}

void ctx_exp_dictionary_deinit(struct ctx_exp_dictionary *dictionary)
{
	ctx_exp_dictionary_clear(dictionary);
	free(dictionary->epochs);
}
