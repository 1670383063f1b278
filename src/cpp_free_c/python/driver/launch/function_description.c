/* Reading the limits and parameters of a kernel. See function_description.h. */
#include "python/driver/launch/function_description.h"

#include "python/support/errors.h"
#include "python/driver/resource.h"

static CUresult
description_read_limits(pcu_function *self)
{
    int threads = 0;
    int static_shared = 0;
    int dynamic = 0;
    CUresult status = drv.FuncGetAttribute(
        &threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, self->handle);
    if (status == CUDA_SUCCESS) {
        status = drv.FuncGetAttribute(
            &static_shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, self->handle);
    }
    if (status == CUDA_SUCCESS) {
        status = drv.FuncGetAttribute(
            &dynamic, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, self->handle);
    }
    self->max_threads = threads;
    self->static_shared = (size_t)static_shared;
    self->max_dynamic = (size_t)dynamic;
    return status;
}

/* Count the parameters. *count is -1 if this driver cannot report them. */
static int
description_count_params(pcu_function *self, Py_ssize_t *count)
{
    size_t offset = 0;
    size_t size = 0;
    CUresult status = CUDA_SUCCESS;
    for (*count = 0; status == CUDA_SUCCESS; ++*count) {
        status = drv.FuncGetParamInfo(self->handle, (size_t)*count, &offset, &size);
    }
    --*count;
    if (status == CUDA_ERROR_INVALID_VALUE) { /* past the last one */
        return 0;
    }
    *count = -1;
    if (status == CUDA_ERROR_NOT_FOUND || status == CUDA_ERROR_NOT_SUPPORTED) {
        return 0;
    }
    return pcu_raise(self->st, "cuFuncGetParamInfo", status);
}

static int
description_read_params(pcu_function *self)
{
    Py_ssize_t n;
    pcu_param *params = NULL;
    size_t end = 0;
    if (self->nparams >= 0) { /* they never change, and a call may be using them */
        return 0;
    }
    if (description_count_params(self, &n) < 0) {
        return -1;
    }
    if (n > 0) {
        params = PyMem_Calloc((size_t)n, sizeof(*params));
        if (params == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        pcu_param *param = &params[i];
        CUresult status =
            drv.FuncGetParamInfo(self->handle, (size_t)i, &param->offset, &param->size);
        if (status != CUDA_SUCCESS) {
            PyMem_Free(params);
            return pcu_raise(self->st, "cuFuncGetParamInfo", status);
        }
        if (param->offset + param->size > end) {
            end = param->offset + param->size;
        }
    }
    PyMem_Free(self->params);
    self->params = params;
    self->params_size = end;
    self->nparams = n;
    return 0;
}

int
pcu_function_describe(pcu_function *self)
{
    pcu_resource *module = (pcu_resource *)self->module;
    pcu_scope scope;
    int rc;
    if (self->described) {
        return 0;
    }
    if (pcu_resource_check(module, "cuFuncGetAttribute") < 0) {
        return -1;
    }
    CUresult status = pcu_scope_enter(&scope, pcu_context_rec(module->ctx));
    if (status != CUDA_SUCCESS) {
        return pcu_raise(self->st, scope.routine, status);
    }
    status = description_read_limits(self);
    if (status == CUDA_SUCCESS) {
        rc = description_read_params(self);
    }
    else {
        rc = pcu_raise(self->st, "cuFuncGetAttribute", status);
    }
    status = pcu_scope_leave(&scope);
    if (rc == 0 && status != CUDA_SUCCESS) {
        rc = pcu_raise(self->st, "cuCtxPopCurrent", status);
    }
    self->described = rc == 0;
    return rc;
}

void
pcu_function_forget(pcu_function *self)
{
    self->described = 0;
}
