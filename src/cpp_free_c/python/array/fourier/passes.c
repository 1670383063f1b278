/* The kernels of a Fourier transform along one axis: see passes.h. */

#include "python/array/fourier/passes.h"

#include "python/array/element_type.h"

enum {
    PASS_SHARED_BYTES = 48 * 1024, /* that a block has on every device */
    PASS_THREADS = 256,            /* of a block, if lines are short */
    PASS_THREADS_MAX = 512,
    PASS_PER_THREAD = 8,       /* elements */
    PASS_PER_THREAD_LONG = 16, /* the same, of long lines in single precision */
    PASS_LONG = 1024,          /* elements of a long line */
    PASS_RUN_BYTES = 128,      /* of neighbouring lines that a block should read */
    PASS_SECTOR_BYTES = 32,    /* the least that memory moves */
    PASS_STAGED = 32,          /* elements of lines that a block moves as one run */
    PASS_FACTORS_MAX = 8,
    PASS_PRIMES_MAX = 64
};

/* The distances of temporary memory. */
typedef struct {
    ptrdiff_t step; /* from an element of a line to the next */
    ptrdiff_t strides[PCU_MAX_NDIM];
    size_t bytes;
} pass_temporary;

/* What the passes of one transform of smooth length share. */
typedef struct {
    const pcu_fourier_transform *transform;
    pcu_fourier_plan *plan;
    int ndim;  /* axes of lines; 0 for the chirp, which is one line */
    int inner; /* the last axis of lines is closer in memory than the elements */
    size_t n;
    size_t number; /* bytes of a complex number */
    pass_temporary temporary;
} pass_series;

/* -- lengths ----------------------------------------------------------------------- */

static size_t
pass_number_bytes(int compute)
{
    if (compute == PCU_T_FLOAT32) {
        return 8;
    }
    return 16;
}

/* The elements of a line in shared memory, with its gaps. */
static size_t
pass_pitch(size_t length, size_t number)
{
    size_t group = 128 / number;
    return length + length / group + group + 1;
}

static bool
pass_fits_block(size_t length, size_t number)
{
    return length < PASS_SHARED_BYTES &&
           pass_pitch(length, number) * number <= PASS_SHARED_BYTES;
}

/* The prime factors in descending order; their number, or -1 if one is too large. */
static int
pass_primes(size_t n, unsigned char *primes)
{
    static const unsigned char known[] = {13, 11, 7, 5, 3, 2};
    int count = 0;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(known); i++) {
        while (n % known[i] == 0) {
            primes[count++] = known[i];
            n /= known[i];
        }
    }
    if (n != 1) {
        return -1;
    }
    return count;
}

/* Distribute the primes evenly to `bins` factors. Return the largest factor. */
static size_t
pass_distribute(const unsigned char *primes, int count, int bins, size_t *factors)
{
    size_t largest = 1;
    for (int b = 0; b < bins; b++) {
        factors[b] = 1;
    }
    for (int i = 0; i < count; i++) {
        int least = 0;
        for (int b = 1; b < bins; b++) {
            if (factors[b] < factors[least]) {
                least = b;
            }
        }
        factors[least] *= primes[i];
        largest = Py_MAX(largest, factors[least]);
    }
    return largest;
}

/* Cut a smooth length into factors that fit a block, as few as possible. Blocks should
 * have room for several lines if there are several factors, or if lines are `inner`:
 * neighbouring elements in memory then belong to neighbouring lines. Return the number
 * of factors. */
static int
pass_factors(size_t n, size_t number, int inner, size_t *factors)
{
    unsigned char primes[PASS_PRIMES_MAX];
    size_t limit = PASS_SHARED_BYTES / 3 / number;
    factors[0] = n;
    if (inner) {
        limit = (size_t)(PASS_SHARED_BYTES / PASS_SECTOR_BYTES / 3) * 2;
    }
    if (pass_fits_block(n, number) && (!inner || n <= limit)) {
        return 1;
    }
    int count = pass_primes(n, primes);
    for (int bins = 2; bins <= PASS_FACTORS_MAX; bins++) {
        if (pass_distribute(primes, count, bins, factors) <= limit) {
            return bins;
        }
    }
    return 0;
}

/* The smallest length of the convolution that makes a transform of n elements. */
static size_t
pass_convolution(size_t n)
{
    static const unsigned char odd[] = {1, 3, 5, 7, 9, 15};
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(odd); i++) {
        size_t length = odd[i];
        while (length < 2 * n - 1) {
            length *= 2;
        }
        best = Py_MIN(best, length);
    }
    return best;
}

static int
pass_raise_too_long(const pcu_fourier_transform *transform)
{
    PyErr_Format(PyExc_OverflowError,
                 "a Fourier transform of %zu elements along an axis, of arrays of this "
                 "size, is too long",
                 transform->whole);
    return -1;
}

/* -- temporary memory -------------------------------------------------------------- */

/* Pack lines of n elements. Lines that are neighbours in the input stay neighbours. */
static int
pass_temporary_fill(pass_series *series)
{
    const pcu_fourier_transform *transform = series->transform;
    size_t bytes = series->number;
    int last = series->ndim - 1;
    if (series->inner) {
        series->temporary.strides[last] = (ptrdiff_t)bytes;
        if (pcu_mul_size(bytes, transform->shape[last], &bytes) < 0) {
            return -1;
        }
        last--;
    }
    series->temporary.step = (ptrdiff_t)bytes;
    if (pcu_mul_size(bytes, series->n, &bytes) < 0) {
        return -1;
    }
    for (; last >= 0; last--) {
        series->temporary.strides[last] = (ptrdiff_t)bytes;
        if (pcu_mul_size(bytes, transform->shape[last], &bytes) < 0) {
            return -1;
        }
    }
    series->temporary.bytes = bytes;
    if (bytes > PTRDIFF_MAX) {
        return -1;
    }
    return 0;
}

static int
pass_series_begin(pass_series *series, const pcu_fourier_transform *transform,
                  pcu_fourier_plan *plan, int ndim, size_t n)
{
    int last = ndim - 1;
    series->transform = transform;
    series->plan = plan;
    series->ndim = ndim;
    series->n = n;
    series->number = pass_number_bytes(transform->compute);
    series->inner =
        ndim > 0 && Py_ABS(transform->in.strides[last]) < Py_ABS(transform->in.step);
    if (pass_temporary_fill(series) < 0) {
        return pass_raise_too_long(transform);
    }
    return 0;
}

/* An end of a transform in temporary memory. */
static pcu_fourier_end
pass_temporary_end(const pass_series *series, pcu_fourier_buffer buffer)
{
    size_t *bytes = &series->plan->bytes[buffer];
    *bytes = Py_MAX(*bytes, series->temporary.bytes);
    pcu_fourier_end end = {
        .buffer = buffer,
        .type = pcu_type_complex(series->transform->compute),
        .count = series->n,
        .step = series->temporary.step,
        .strides = series->temporary.strides,
    };
    return end;
}

/* -- one pass ---------------------------------------------------------------------- */

static void
pass_add_axis(pcu_fourier_pass *pass, size_t length, ptrdiff_t load, ptrdiff_t store)
{
    pass->shape[pass->ndim] = length;
    pass->load[pass->ndim] = load;
    pass->store[pass->ndim++] = store;
    pass->lines *= length;
}

static void
pass_add_batch(pcu_fourier_pass *pass, const pass_series *series,
               const pcu_fourier_end *from, const pcu_fourier_end *to, int begin,
               int end)
{
    for (int k = begin; k < end; k++) {
        pass_add_axis(pass, series->transform->shape[k], from->strides[k],
                      to->strides[k]);
    }
}

static pcu_fourier_pass *
pass_new(const pass_series *series, const pcu_fourier_end *from,
         const pcu_fourier_end *to, size_t length)
{
    pcu_fourier_pass *pass = &series->plan->passes[series->plan->count++];
    memset(&pass->key, 0, sizeof(pass->key));
    pass->key.family = PCU_FAMILY_FOURIER;
    pass->key.inputs = 1;
    pass->key.outputs = 1;
    pass->key.types[0] = (uint8_t)from->type;
    pass->key.types[1] = (uint8_t)to->type;
    pass->key.compute = (uint8_t)series->transform->compute;
    pass->key.length = (uint16_t)length;
    pass->source = from->buffer;
    pass->target = to->buffer;
    pass->factor = from->buffer; /* not read */
    pass->lines = 1;
    pass->ndim = 0;
    pass->which = -1;
    pass->load_part = from->part;
    pass->store_part = to->part;
    pass->whole = series->transform->whole;
    pass->span = 1;
    pass->scale = 1;
    return pass;
}

/* Whether the distance from a line to the next is less than from an element to the
 * next. */
static bool
pass_is_by_line(const pcu_fourier_pass *pass, ptrdiff_t line, ptrdiff_t element)
{
    return pass->lines > 1 && Py_ABS(line) < Py_ABS(element);
}

/* The threads of a line. Long lines have more elements for each, so that they take
 * fewer stages. */
static size_t
pass_threads_of_line(size_t length, size_t number)
{
    size_t each = PASS_PER_THREAD;
    if (number == 8 && length >= PASS_LONG && length % 256 == 0) {
        each = PASS_PER_THREAD_LONG;
    }
    return Py_MIN((length + each - 1) / each, PASS_THREADS_MAX);
}

/* Choose the lines of a block and its threads. If there are few lines, blocks have
 * fewer of them, so that more multiprocessors work. */
static void
pass_shape_block(pcu_fourier_pass *pass, const pass_series *series, size_t length)
{
    size_t number = series->number;
    size_t each = pass_threads_of_line(length, number);
    size_t tile = 1;
    size_t least = 1;
    size_t wanted = Py_MAX(PASS_THREADS / each, 1);
    if (pass->key.fourier & (PCU_FOURIER_LOAD_BY_LINE | PCU_FOURIER_STORE_BY_LINE)) {
        wanted = Py_MAX(wanted, PASS_RUN_BYTES / number);
        least = PASS_SECTOR_BYTES / number;
    }
    while (2 * tile <= wanted && 2 * tile * each <= PASS_THREADS_MAX &&
           2 * tile * pass_pitch(length, number) * number <= PASS_SHARED_BYTES &&
           tile < pass->lines &&
           (tile < least ||
            2 * tile * series->transform->multiprocessors <= pass->lines)) {
        tile *= 2;
    }
    pass->key.tile = (uint16_t)tile;
    pass->key.threads = (uint16_t)(tile * each);
    pass->blocks = (pass->lines - 1) / tile + 1;
}

static void
pass_finish(pcu_fourier_pass *pass, const pass_series *series, size_t length)
{
    pass_shape_block(pass, series, length);
    pass->key.ndim = (uint8_t)pass->ndim;
    pass->key.wide = pass->lines > INT32_MAX - PASS_THREADS_MAX;
}

/* Whether lines of n elements follow each other without gaps. */
static bool
pass_end_is_run(const pcu_fourier_end *end, size_t n, uint32_t words)
{
    return pcu_type_is_complex(end->type) && (end->words & ~words) == 0 &&
           end->count == n && end->step == (ptrdiff_t)pcu_types[end->type].size &&
           end->strides[0] == (ptrdiff_t)n * end->step;
}

/* Whether a block should move its lines as one run. */
static bool
pass_is_staged(const pcu_fourier_pass *pass, const pass_series *series,
               const pcu_fourier_end *from, const pcu_fourier_end *to)
{
    return series->n > 1 && series->n <= PASS_STAGED && pass->ndim == 1 &&
           pass_end_is_run(from, series->n, PCU_FOURIER_LOAD_INVERSE) &&
           pass_end_is_run(to, series->n, PCU_FOURIER_STORE_INVERSE);
}

/* -- the passes of a smooth length ------------------------------------------------- */

/* One factor of the length: `done` is the product of the factors before, `columns` that
 * of all others. */
typedef struct {
    size_t factor;
    size_t done;
    size_t columns;
    bool first;
    bool last;
    ptrdiff_t line_load; /* bytes from a line to the next */
    ptrdiff_t line_store;
} pass_place;

/* Add the axes of the batch, those of the other factors, then the inner ones of the
 * batch. The axis added last decides how far lines are apart. */
static void
pass_add_axes(pcu_fourier_pass *pass, const pass_series *series,
              const pcu_fourier_end *from, const pcu_fourier_end *to, pass_place *place)
{
    size_t done = place->done;
    int outer = series->ndim - series->inner;
    pass_add_batch(pass, series, from, to, 0, outer);
    if (outer > 0) {
        place->line_load = from->strides[outer - 1];
        place->line_store = to->strides[outer - 1];
    }
    if (!place->last) {
        ptrdiff_t load = (ptrdiff_t)done * from->step;
        pass->which = pass->ndim;
        place->line_load = load;
        place->line_store = (ptrdiff_t)(done * place->factor) * to->step;
        if (place->first) {
            load = 0; /* the kernel computes the address from the index */
        }
        pass_add_axis(pass, place->columns / done, load, place->line_store);
    }
    if (!place->first) {
        ptrdiff_t store = to->step;
        if (place->last) {
            store = 0;
        }
        pass->which = pass->ndim;
        place->line_load = from->step;
        place->line_store = to->step;
        pass_add_axis(pass, done, from->step, store);
        pass->key.fourier |= PCU_FOURIER_TWIDDLED;
    }
    if (series->inner) {
        pass_add_batch(pass, series, from, to, outer, series->ndim);
        place->line_load = from->strides[outer];
        place->line_store = to->strides[outer];
    }
}

/* Set the distances of a line's elements. */
static void
pass_set_steps(pcu_fourier_pass *pass, const pcu_fourier_end *from,
               const pcu_fourier_end *to, const pass_place *place)
{
    pass->load_spacing = place->columns;
    pass->load_count = from->count;
    pass->load_step = from->step;
    if (!place->first) {
        pass->load_step *= (ptrdiff_t)place->columns;
    }
    pass->store_spacing = place->done;
    pass->store_count = to->count;
    pass->store_step = to->step;
    if (!place->last) {
        pass->store_step *= (ptrdiff_t)place->done;
    }
    pass->span = place->done * place->factor;
}

/* The words of the kernel that depend on the place of the factor. */
static uint32_t
pass_words_of_place(const pcu_fourier_pass *pass, const pass_series *series,
                    const pcu_fourier_end *from, const pcu_fourier_end *to,
                    const pass_place *place)
{
    uint32_t words = from->words | to->words;
    if (place->last && !place->first) {
        words |= PCU_FOURIER_INDEXED;
    }
    if (place->first && from->count < series->n) {
        words |= PCU_FOURIER_LOAD_BOUNDED;
    }
    if (place->last && to->count < series->n) {
        words |= PCU_FOURIER_STORE_BOUNDED;
    }
    if (place->first && place->last && pass_is_staged(pass, series, from, to)) {
        words |= PCU_FOURIER_STAGED;
    }
    if (pass_is_by_line(pass, place->line_load,
                        (ptrdiff_t)place->columns * from->step)) {
        words |= PCU_FOURIER_LOAD_BY_LINE;
    }
    if (pass_is_by_line(pass, place->line_store, (ptrdiff_t)place->done * to->step)) {
        words |= PCU_FOURIER_STORE_BY_LINE;
    }
    return words;
}

/* Add the pass of one factor. `done` is the product of the factors before. */
static void
pass_add_factor(const pass_series *series, const pcu_fourier_end *from,
                const pcu_fourier_end *to, size_t factor, size_t done)
{
    size_t columns = series->n / factor;
    pass_place place = {.factor = factor,
                        .done = done,
                        .columns = columns,
                        .first = done == 1,
                        .last = done == columns};
    pcu_fourier_pass *pass = pass_new(series, from, to, factor);
    pass_add_axes(pass, series, from, to, &place);
    pass_set_steps(pass, from, to, &place);
    pass->key.fourier |= pass_words_of_place(pass, series, from, to, &place);
    if (to->words & PCU_FOURIER_STORE_MULTIPLIED) {
        pass->factor = PCU_FOURIER_FACTOR;
    }
    pass_finish(pass, series, factor);
}

/* Add the passes of a smooth length. */
static int
pass_add_smooth(const pass_series *series, const pcu_fourier_end *from,
                const pcu_fourier_end *to)
{
    size_t factors[PASS_FACTORS_MAX];
    size_t done = 1;
    int count = pass_factors(series->n, series->number, series->inner, factors);
    pcu_fourier_end source = *from;
    if (count == 0 ||
        series->plan->count + count > PCU_FOURIER_PASSES_MAX - 1) { /* and unzip */
        return pass_raise_too_long(series->transform);
    }
    for (int p = 0; p < count; p++) {
        pcu_fourier_end target = *to;
        if (p < count - 1) {
            target = pass_temporary_end(
                series, p % 2 == 0 ? PCU_FOURIER_EVEN : PCU_FOURIER_ODD);
        }
        pass_add_factor(series, &source, &target, factors[p], done);
        done *= factors[p];
        source = target;
    }
    return 0;
}

/* -- lengths with large prime factors ---------------------------------------------- */

/* One kernel that transforms by a convolution in shared memory. */
static void
pass_add_convolution(const pass_series *series, const pcu_fourier_end *from,
                     const pcu_fourier_end *to, size_t convolution)
{
    size_t n = series->n;
    int last = series->ndim - 1;
    pcu_fourier_pass *pass = pass_new(series, from, to, n);
    pass_add_batch(pass, series, from, to, 0, series->ndim);
    pass->key.convolution = (uint16_t)convolution;
    pass->whole = n;
    pass->load_spacing = 1;
    pass->load_count = from->count;
    pass->load_step = from->step;
    pass->store_spacing = 1;
    pass->store_count = to->count;
    pass->store_step = to->step;
    pass->key.fourier = from->words | to->words | PCU_FOURIER_LOAD_CHIRPED |
                        PCU_FOURIER_STORE_TURNED | PCU_FOURIER_STORE_CHIRPED;
    if (from->count < n) {
        pass->key.fourier |= PCU_FOURIER_LOAD_BOUNDED;
    }
    if (to->count < n) {
        pass->key.fourier |= PCU_FOURIER_STORE_BOUNDED;
    }
    if (last >= 0 && pass_is_by_line(pass, from->strides[last], from->step)) {
        pass->key.fourier |= PCU_FOURIER_LOAD_BY_LINE;
    }
    if (last >= 0 && pass_is_by_line(pass, to->strides[last], to->step)) {
        pass->key.fourier |= PCU_FOURIER_STORE_BY_LINE;
    }
    pass_finish(pass, series, convolution);
}

/* The transform of the chirp, the transform of the input times it, and back. */
static int
pass_add_long_convolution(const pass_series *series, const pcu_fourier_end *from,
                          const pcu_fourier_end *to, size_t convolution)
{
    pcu_fourier_transform chirp = *series->transform;
    chirp.whole = series->n;
    pass_series one;
    pass_series many;
    if (pass_series_begin(&one, &chirp, series->plan, 0, convolution) < 0 ||
        pass_series_begin(&many, &chirp, series->plan, series->ndim, convolution) < 0) {
        return -1;
    }
    pcu_fourier_end begin = pass_temporary_end(&one, PCU_FOURIER_FACTOR);
    pcu_fourier_end spectrum = begin;
    begin.words = PCU_FOURIER_LOAD_CHIRP;
    pcu_fourier_end in = *from;
    pcu_fourier_end out = *to;
    pcu_fourier_end product = pass_temporary_end(&many, PCU_FOURIER_MIDDLE);
    pcu_fourier_end back = product;
    in.words |= PCU_FOURIER_LOAD_CHIRPED;
    product.words = PCU_FOURIER_STORE_MULTIPLIED | PCU_FOURIER_STORE_INVERSE;
    out.words |= PCU_FOURIER_STORE_TURNED | PCU_FOURIER_STORE_CHIRPED;
    if (pass_add_smooth(&one, &begin, &spectrum) < 0 ||
        pass_add_smooth(&many, &in, &product) < 0) {
        return -1;
    }
    series->plan->passes[series->plan->count - 1].scale = 1 / (double)convolution;
    return pass_add_smooth(&many, &back, &out);
}

/* -- transforms -------------------------------------------------------------------- */

/* Add the passes of a complex transform of any length. */
static int
pass_add_complex(const pass_series *series, const pcu_fourier_end *from,
                 const pcu_fourier_end *to)
{
    if (pcu_fourier_is_smooth(series->n)) {
        return pass_add_smooth(series, from, to);
    }
    if (series->n > UINT32_MAX) { /* the kernel squares an index */
        return pass_raise_too_long(series->transform);
    }
    size_t convolution = pass_convolution(series->n);
    if (pass_fits_block(convolution, series->number)) {
        pass_add_convolution(series, from, to, convolution);
        return 0;
    }
    return pass_add_long_convolution(series, from, to, convolution);
}

/* Fill in a kernel with one thread for each line, which is one element. */
static void
pass_by_thread(pcu_fourier_pass *pass, uint32_t words)
{
    pass->key.fourier = words;
    pass->key.length = 0;
    pass->key.tile = PASS_THREADS;
    pass->key.threads = PASS_THREADS;
    pass->key.ndim = (uint8_t)pass->ndim;
    pass->key.wide = pass->lines > INT32_MAX - PASS_THREADS_MAX;
    pass->blocks = (pass->lines - 1) / PASS_THREADS + 1;
}

/* Add the pass that makes the transform of real elements from that of half the length.
 */
static void
pass_add_unzip(const pass_series *series, const pcu_fourier_end *from,
               const pcu_fourier_end *to)
{
    pcu_fourier_pass *pass = pass_new(series, from, to, series->n);
    pass_add_batch(pass, series, from, to, 0, series->ndim);
    pass->which = pass->ndim;
    pass_add_axis(pass, series->n / 2 + 1, 0, 0);
    pass->load_spacing = 1;
    pass->load_count = from->count;
    pass->load_step = from->step;
    pass->store_spacing = 1;
    pass->store_count = to->count;
    pass->store_step = to->step;
    pass_by_thread(pass, to->words | PCU_FOURIER_UNZIP);
}

/* Add the passes of a transform of real elements, two of which are one number. */
static int
pass_add_real(const pass_series *series)
{
    const pcu_fourier_transform *transform = series->transform;
    size_t factors[PASS_FACTORS_MAX];
    if (pass_factors(series->n, series->number, series->inner, factors) == 1) {
        pcu_fourier_end to = transform->out;
        to.words |= PCU_FOURIER_UNZIP_BLOCK;
        return pass_add_smooth(series, &transform->in, &to);
    }
    pcu_fourier_end middle = pass_temporary_end(series, PCU_FOURIER_MIDDLE);
    if (pass_add_smooth(series, &transform->in, &middle) < 0) {
        return -1;
    }
    pass_add_unzip(series, &middle, &transform->out);
    return 0;
}

bool
pcu_fourier_is_smooth(size_t n)
{
    unsigned char primes[PASS_PRIMES_MAX];
    return pass_primes(n, primes) >= 0;
}

void
pcu_fourier_mirror_fill(const pcu_fourier_mirror *mirror, pcu_fourier_pass *pass)
{
    uint32_t words = PCU_FOURIER_MIRROR;
    memset(pass, 0, sizeof(*pass));
    pass->key.family = PCU_FAMILY_FOURIER;
    pass->key.inputs = 1;
    pass->key.outputs = 1;
    pass->key.types[0] = (uint8_t)mirror->type;
    pass->key.types[1] = (uint8_t)mirror->type;
    pass->key.compute = (uint8_t)pcu_type_real(mirror->type);
    pass->source = PCU_FOURIER_OUT;
    pass->target = PCU_FOURIER_OUT;
    pass->factor = PCU_FOURIER_OUT;
    pass->lines = 1;
    pass->scale = 1;
    pass->whole = mirror->shape[mirror->axis];
    pass->load_step = mirror->strides[mirror->axis];
    pass->store_step = mirror->strides[mirror->axis];
    for (int k = 0; k < mirror->ndim; k++) {
        if (k == mirror->axis) {
            pass->which = k;
            pass_add_axis(pass, (pass->whole - 1) / 2, 0, 0);
        }
        else {
            pass_add_axis(pass, mirror->shape[k], mirror->strides[k],
                          mirror->strides[k]);
        }
        if (mirror->mirrored[k] && k != mirror->axis) {
            pass->span |= (size_t)1 << k;
        }
    }
    if (mirror->is_loose) {
        words |= PCU_FOURIER_STORE_LOOSE;
    }
    pass_by_thread(pass, words);
}

int
pcu_fourier_plan_fill(const pcu_fourier_transform *transform, pcu_fourier_plan *plan)
{
    pass_series series;
    int rc;
    plan->count = 0;
    memset(plan->bytes, 0, sizeof(plan->bytes));
    if (pass_series_begin(&series, transform, plan, transform->ndim, transform->n) <
        0) {
        return -1;
    }
    if (transform->unzips) {
        rc = pass_add_real(&series);
    }
    else {
        rc = pass_add_complex(&series, &transform->in, &transform->out);
    }
    if (rc == 0) {
        plan->passes[plan->count - 1].scale *= transform->scale;
    }
    return rc;
}
