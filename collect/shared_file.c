#include "collect/shared_file.h"

#include "base/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void ctx_shared_objects_deinit(struct ctx_shared_objects *objects)
{
	for (size_t i = 0; i < objects->n; i++)
		free(objects->items[i].path);
	free(objects->items);
	*objects = (struct ctx_shared_objects){0};
}

enum ctx_status ctx_shared_objects_find(struct ctx_shared_objects *objects, const char *path,
					const char *what, uint32_t *ret, struct ctx_err *err)
{
	struct ctx_shared_object *object;
	struct stat found;
	enum ctx_status status;

	if (stat(path, &found) != 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", path);
	for (size_t i = 0; i < objects->n; i++) {
		*ret = (uint32_t)i;
		if (objects->items[i].device == found.st_dev && objects->items[i].inode == found.st_ino)
			return CTX_OK;
	}
	if (objects->n == CTX_SHARED_OBJECTS_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "%s of more than %u load objects", what,
				   CTX_SHARED_OBJECTS_MAX);
	status = ctx_grow(&objects->items, &objects->cap, objects->n + 1, err);
	if (status != CTX_OK)
		return status;
	object = &objects->items[objects->n];
	*object = (struct ctx_shared_object){
		.path = ctx_memdup0(path, strlen(path)), .device = found.st_dev, .inode = found.st_ino};
	if (object->path == NULL)
		return ctx_err_nomem(err);
	*ret = (uint32_t)objects->n++;
	return CTX_OK;
}

enum ctx_status ctx_shared_file_make(const char *what, uint64_t bytes, int *ret_fd, void **ret_memory,
				     struct ctx_err *err)
{
	int fd = memfd_create("ctxrec-shared", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *at;

	if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
		enum ctx_status status =
			ctx_err_errno(err, CTX_E_IO, "the memory of %s cannot be made", what);

		if (fd >= 0)
			close(fd);
		return status;
	}
	at = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		enum ctx_status status =
			ctx_err_errno(err, CTX_E_NOMEM, "the memory of %s cannot be mapped", what);

		close(fd);
		return status;
	}
	*ret_fd = fd;
	*ret_memory = at;
	return CTX_OK;
}
