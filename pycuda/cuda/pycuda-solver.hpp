// Systems of equations and decompositions of small dense matrices.
//
// A block works on one matrix, which lies in its shared memory: row i begins `pitch`
// elements after row i - 1. The pitch is odd, so that the lanes of a warp read a column
// as fast as a row. Every warp computes a pivot or the norm of a vector by itself: that
// takes less time than to wait for another warp.
//
// Reflectors have LAPACK's form: H = 1 - tau v v^H, with v = (1, rest), turns a vector
// into (beta, 0, ...) by H^H. Signs are LAPACK's, too.
#ifndef PYCUDA_SOLVER_HPP
#define PYCUDA_SOLVER_HPP

namespace pycuda_solver {

#define PYCUDA_FN __device__ __forceinline__

typedef long long int64;
typedef unsigned long long uint64;

// -- numbers --------------------------------------------------------------------------

template <class P>
struct complex {
    P re, im;
};

template <class T>
struct number {
    typedef T real;
    static PYCUDA_FN T make(real x)
    {
        return x;
    }
};
template <class P>
struct number<complex<P> > {
    typedef P real;
    static PYCUDA_FN complex<P> make(P x)
    {
        complex<P> z = {x, 0};
        return z;
    }
};

template <class P>
PYCUDA_FN complex<P> operator+(complex<P> x, complex<P> y)
{
    complex<P> z = {x.re + y.re, x.im + y.im};
    return z;
}
template <class P>
PYCUDA_FN complex<P> operator-(complex<P> x, complex<P> y)
{
    complex<P> z = {x.re - y.re, x.im - y.im};
    return z;
}
template <class P>
PYCUDA_FN complex<P> operator*(complex<P> x, complex<P> y)
{
    complex<P> z = {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
    return z;
}
// Smith's division: the squares of the divisor may overflow.
template <class P>
PYCUDA_FN complex<P> operator/(complex<P> x, complex<P> y)
{
    complex<P> z;
    if (::fabs(y.re) >= ::fabs(y.im)) {
        const P ratio = y.im / y.re, whole = y.re + y.im * ratio;
        z.re = (x.re + x.im * ratio) / whole;
        z.im = (x.im - x.re * ratio) / whole;
    }
    else {
        const P ratio = y.re / y.im, whole = y.im + y.re * ratio;
        z.re = (x.re * ratio + x.im) / whole;
        z.im = (x.im * ratio - x.re) / whole;
    }
    return z;
}

PYCUDA_FN float real(float x) { return x; }
PYCUDA_FN double real(double x) { return x; }
template <class P>
PYCUDA_FN P real(complex<P> x) { return x.re; }
PYCUDA_FN float imag(float) { return 0; }
PYCUDA_FN double imag(double) { return 0; }
template <class P>
PYCUDA_FN P imag(complex<P> x) { return x.im; }

PYCUDA_FN float conj(float x) { return x; }
PYCUDA_FN double conj(double x) { return x; }
template <class P>
PYCUDA_FN complex<P> conj(complex<P> x)
{
    x.im = -x.im;
    return x;
}

template <class T>
PYCUDA_FN typename number<T>::real square_of(T x)
{
    return real(x) * real(x) + imag(x) * imag(x);
}

PYCUDA_FN float magnitude(float x) { return fabsf(x); }
PYCUDA_FN double magnitude(double x) { return fabs(x); }
PYCUDA_FN float magnitude(complex<float> x) { return hypotf(x.re, x.im); }
PYCUDA_FN double magnitude(complex<double> x) { return hypot(x.re, x.im); }

// What LAPACK compares to find a pivot.
PYCUDA_FN float weight(float x) { return fabsf(x); }
PYCUDA_FN double weight(double x) { return fabs(x); }
PYCUDA_FN float weight(complex<float> x) { return fabsf(x.re) + fabsf(x.im); }
PYCUDA_FN double weight(complex<double> x) { return fabs(x.re) + fabs(x.im); }

PYCUDA_FN float scaled(float x, float by) { return x * by; }
PYCUDA_FN double scaled(double x, double by) { return x * by; }
template <class P>
PYCUDA_FN complex<P> scaled(complex<P> x, P by)
{
    x.re *= by;
    x.im *= by;
    return x;
}

PYCUDA_FN float divided(float x, float by) { return x / by; }
PYCUDA_FN double divided(double x, double by) { return x / by; }
template <class P>
PYCUDA_FN complex<P> divided(complex<P> x, P by)
{
    x.re /= by;
    x.im /= by;
    return x;
}

// A power of two near 1 / x, for a positive number, and the square root.
PYCUDA_FN float inverse_power(float x)
{
    const int e = ilogbf(x);
    return scalbnf(1, -min(max(e, -120), 120));
}
PYCUDA_FN double inverse_power(double x)
{
    const int e = ilogb(x);
    return scalbn(1.0, -min(max(e, -1000), 1000));
}
PYCUDA_FN float root(float x) { return sqrtf(x); }
PYCUDA_FN double root(double x) { return sqrt(x); }
PYCUDA_FN float logarithm(float x) { return logf(x); }
PYCUDA_FN double logarithm(double x) { return log(x); }

// Constants: the least normal number, the precision of bisections.
template <class R>
struct limits;
template <>
struct limits<float> {
    static PYCUDA_FN float least() { return 1.17549435e-38f; }
    static PYCUDA_FN float precision() { return 1.49011612e-8f; }
};
template <>
struct limits<double> {
    static PYCUDA_FN double least() { return 2.2250738585072014e-308; }
    static PYCUDA_FN double precision() { return 2.7755575615628914e-17; }
};

// -- a warp ---------------------------------------------------------------------------

template <class R>
PYCUDA_FN R exchange(R x, int distance)
{
    return __shfl_xor_sync(0xffffffffu, x, distance);
}
template <class P>
PYCUDA_FN complex<P> exchange(complex<P> x, int distance)
{
    complex<P> z = {exchange(x.re, distance), exchange(x.im, distance)};
    return z;
}

// The sum of the lanes' numbers, in every lane.
template <class T>
PYCUDA_FN T sum_of_lanes(T x)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        x = x + exchange(x, distance);
    }
    return x;
}

template <class R>
PYCUDA_FN R greatest_of_lanes(R x)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        const R y = exchange(x, distance);
        x = y > x ? y : x;
    }
    return x;
}

// -- the call -------------------------------------------------------------------------

// A stack of matrices in memory: distances in bytes.
struct stack {
    const char *first;
    int64 batch, row, column;
};

// The arguments of all kernels. `wrong` gets a number other than 0 if a matrix is
// singular, or not positive definite.
struct call {
    stack a, b;
    char *results[3];
    uint64 *wrong;
    int rows, columns; // of a
    int width;         // columns of b
    int chunk;         // columns of b that a block solves for
    int chunks;        // blocks for each matrix
    int option;        // as the kernel says

    PYCUDA_FN void report() const
    {
        if (threadIdx.x == 0) {
            *wrong = 1;
        }
    }
};

template <class T>
PYCUDA_FN T element(const stack &s, int64 matrix, int row, int column)
{
    return *(const T *)(s.first + matrix * s.batch + row * s.row + column * s.column);
}

template <class T, int THREADS>
struct block {
    typedef typename number<T>::real R;
    static const int warps = THREADS / 32;

    T *a;
    int pitch, rows, columns, lane, warp;

    // A loop over rows reads some of them before it writes: the compiler must assume that
    // a write changes what is read next.
    static const int rows_at_once = sizeof(T) > 8 ? 2 : 4;
    static const int step = warps * rows_at_once;
    static const int lines_at_once = 16 / (int)sizeof(T);  // of 4 to 16 bytes

    // Subtract factors[i] * upper from column j in rows i from `first` on.
    PYCUDA_FN void subtract(const T *factors, T upper, int j, int first, int end)
    {
        for (int i = first + warp; i < end; i += step) {
            T own[rows_at_once], by[rows_at_once];
#pragma unroll
            for (int r = 0; r < rows_at_once; r++) {
                const int row = i + r * warps < end ? i + r * warps : i;
                own[r] = at(row, j);
                by[r] = factors[row];
            }
#pragma unroll
            for (int r = 0; r < rows_at_once; r++) {
                if (i + r * warps < end) {
                    at(i + r * warps, j) = own[r] - by[r] * upper;
                }
            }
        }
    }

    // Further memory is behind the matrix.
    PYCUDA_FN T *begin(void *memory, int rows_, int columns_)
    {
        a = (T *)memory;
        rows = rows_;
        columns = columns_;
        pitch = columns_ | 1;
        lane = threadIdx.x % 32;
        warp = threadIdx.x / 32;
        return a + rows_ * pitch;
    }
    PYCUDA_FN T &at(int i, int j)
    {
        return a[i * pitch + j];
    }

    // Read a matrix. The lanes go along the axis of the smaller distance.
    PYCUDA_FN void load(const stack &s, int64 matrix, int height, int width)
    {
        const bool by_row = s.column <= s.row;
        const int lines = by_row ? height : width, length = by_row ? width : height;
        for (int line = warp; line < lines; line += warps) {
            for (int place = lane; place < length; place += 32) {
                const int i = by_row ? line : place, j = by_row ? place : line;
                at(i, j) = element<T>(s, matrix, i, j);
            }
        }
    }

    // Scale the matrix, which was read, by a power of two so that the greatest part is
    // near 1. Return the reciprocal of that power. `room` has a number for each warp.
    PYCUDA_FN R balance(R *room)
    {
        R most = 0;
        for (int i = warp; i < rows; i += warps) {
            for (int j = lane; j < columns; j += 32) {
                const R x = weight(at(i, j));
                most = x > most ? x : most;
            }
        }
        most = greatest_of_lanes(most);
        if (lane == 0) {
            room[warp] = most;
        }
        __syncthreads();
        most = 0;
        for (int k = 0; k < warps; k++) {
            most = room[k] > most ? room[k] : most;
        }
        if (!(most > 0) || most - most != 0) { // nothing to scale, or infinity
            return 1;
        }
        const R by = inverse_power(most);
        for (int i = warp; i < rows; i += warps) {
            for (int j = lane; j < columns; j += 32) {
                at(i, j) = scaled(at(i, j), by);
            }
        }
        __syncthreads();
        return 1 / by;
    }

    // Columns `first` and later become H^H times themselves if tau is conjugated, else
    // H times. The vector begins at row `top`. A warp handles some columns at once: the
    // sums of all of them are on their way together.
    PYCUDA_FN void reflect_columns(const T *v, T tau, int top, int first, int end)
    {
        for (int j = first + warp; j < end; j += warps * lines_at_once) {
            T sums[lines_at_once];
            for_lines(sums, number<T>::make(0));
            for (int i = top + lane; i < rows; i += 32) {
                const T by = conj(v[i]);
#pragma unroll
                for (int r = 0; r < lines_at_once; r++) {
                    sums[r] = sums[r] + by * at(i, line(j, r, end));
                }
            }
            sum_lines(sums, tau);
            for (int i = top + lane; i < rows; i += 32) {
                const T by = v[i];
                T own[lines_at_once];
#pragma unroll
                for (int r = 0; r < lines_at_once; r++) {
                    own[r] = at(i, line(j, r, end));
                }
#pragma unroll
                for (int r = 0; r < lines_at_once; r++) {
                    if (j + r * warps < end) {
                        at(i, j + r * warps) = own[r] - by * sums[r];
                    }
                }
            }
        }
    }

    // Rows `first` and later become themselves times H; the vector begins at column
    // `left`.
    PYCUDA_FN void reflect_rows(const T *v, T tau, int first, int left)
    {
        for (int i = first + warp; i < rows; i += warps * lines_at_once) {
            T sums[lines_at_once];
            multiply_rows(sums, v, tau, i, left);
            for (int j = left + lane; j < columns; j += 32) {
                const T by = conj(v[j]);
                T own[lines_at_once];
#pragma unroll
                for (int r = 0; r < lines_at_once; r++) {
                    own[r] = at(line(i, r, rows), j);
                }
#pragma unroll
                for (int r = 0; r < lines_at_once; r++) {
                    if (i + r * warps < rows) {
                        at(i + r * warps, j) = own[r] - sums[r] * by;
                    }
                }
            }
        }
    }

    // The products of some rows from column `left` on with a vector, times tau.
    PYCUDA_FN void multiply_rows(T *sums, const T *v, T tau, int i, int left)
    {
        for_lines(sums, number<T>::make(0));
        for (int j = left + lane; j < columns; j += 32) {
            const T by = v[j];
#pragma unroll
            for (int r = 0; r < lines_at_once; r++) {
                sums[r] = sums[r] + at(line(i, r, rows), j) * by;
            }
        }
        sum_lines(sums, tau);
    }

    // Line r of those that a warp handles at once; the first one behind the end.
    static PYCUDA_FN int line(int first, int r, int end)
    {
        return first + r * warps < end ? first + r * warps : first;
    }

    static PYCUDA_FN void for_lines(T *sums, T value)
    {
#pragma unroll
        for (int r = 0; r < lines_at_once; r++) {
            sums[r] = value;
        }
    }

    static PYCUDA_FN void sum_lines(T *sums, T tau)
    {
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
#pragma unroll
            for (int r = 0; r < lines_at_once; r++) {
                sums[r] = sums[r] + exchange(sums[r], distance);
            }
        }
#pragma unroll
        for (int r = 0; r < lines_at_once; r++) {
            sums[r] = tau * sums[r];
        }
    }

    // Make the reflector of column k below row `top`. Every warp returns tau and beta;
    // v is complete after the next __syncthreads().
    PYCUDA_FN T column_reflector(T *v, int top, int k, R &beta)
    {
        R rest = 0;
        for (int i = top + 1 + lane; i < rows; i += 32) {
            rest += square_of(at(i, k));
        }
        T by;
        const T tau = reflector(at(top, k), sum_of_lanes(rest), beta, by);
        for (int i = top + threadIdx.x; i < rows; i += THREADS) {
            v[i] = i == top ? number<T>::make(1) : at(i, k) * by;
        }
        return tau;
    }

    // The same for row k from column `left`, whose conjugate is reflected.
    PYCUDA_FN T row_reflector(T *v, int k, int left, R &beta)
    {
        R rest = 0;
        for (int j = left + 1 + lane; j < columns; j += 32) {
            rest += square_of(at(k, j));
        }
        T by;
        const T tau = reflector(conj(at(k, left)), sum_of_lanes(rest), beta, by);
        for (int j = left + threadIdx.x; j < columns; j += THREADS) {
            v[j] = j == left ? number<T>::make(1) : conj(at(k, j)) * by;
        }
        return tau;
    }

    static PYCUDA_FN T reflector(T alpha, R rest, R &beta, T &by)
    {
        if (rest == 0 && imag(alpha) == 0) {
            beta = real(alpha);
            by = number<T>::make(0);
            return by;
        }
        beta = root(square_of(alpha) + rest);
        beta = real(alpha) > 0 ? -beta : beta;
        const T whole = number<T>::make(beta);
        by = number<T>::make(1) / (alpha - whole);
        return (whole - alpha) / whole;
    }
};

// -- systems and determinants: LU decomposition with pivots -----------------------------

template <class T, int THREADS>
struct elimination : block<T, THREADS> {
    typedef block<T, THREADS> base;
    typedef typename base::R R;
    using base::at;

    T *factors, *pivots;
    bool odd; // true if the rows were exchanged an odd number of times

    // Find the row of the pivot of column k: 0 if there is none.
    PYCUDA_FN bool find(int k, int &row)
    {
        R most = -1;
        row = k;
        for (int i = k + this->lane; i < this->rows; i += 32) {
            const R x = weight(at(i, k));
            if (x > most) {
                most = x;
                row = i;
            }
        }
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
            const R x = exchange(most, distance);
            const int i = exchange(row, distance);
            if (x > most || (x == most && i < row)) {
                most = x;
                row = i;
            }
        }
        return most != 0;
    }

    // Eliminate below the diagonal, also in the columns behind the square matrix. The
    // columns of the lower factor are not stored. Return false if a pivot is 0.
    PYCUDA_FN bool run()
    {
        const int n = this->rows;
        odd = false;
        for (int k = 0; k < n; k++) {
            int row;
            if (!find(k, row)) {
                return false;
            }
            // Column k is read only, the columns behind it are exchanged.
            const T pivot = at(row, k);
            odd ^= row != k;
            for (int i = k + 1 + threadIdx.x; i < n; i += THREADS) {
                factors[i] = at(i == row ? k : i, k) / pivot;
            }
            if (threadIdx.x == 0) {
                pivots[k] = pivot;
            }
            for (int j = k + 1 + threadIdx.x; j < this->columns && row != k;
                 j += THREADS) {
                const T upper = at(k, j);
                at(k, j) = at(row, j);
                at(row, j) = upper;
            }
            __syncthreads();
            for (int j = k + 1 + this->lane; j < this->columns; j += 32) {
                const T upper = at(k, j);
#pragma unroll 4
                for (int i = k + 1 + this->warp; i < n; i += base::warps) {
                    at(i, j) = at(i, j) - factors[i] * upper;
                }
            }
            __syncthreads();
        }
        return true;
    }
};

// Solve for a chunk of the right side. Without a right side it is the identity.
template <class T, int THREADS>
PYCUDA_FN void solve(const call &c, void *memory)
{
    elimination<T, THREADS> e;
    const int n = c.rows;
    const int64 matrix = blockIdx.x / c.chunks;
    const int first = blockIdx.x % c.chunks * c.chunk;
    const int width = c.width - first < c.chunk ? c.width - first : c.chunk;
    e.factors = e.begin(memory, n, n + c.chunk);
    e.pivots = e.factors + n;
    e.columns = n + width;
    e.load(c.a, matrix, n, n);
    for (int i = e.warp; i < n; i += e.warps) {
        for (int j = e.lane; j < width; j += 32) {
            e.at(i, n + j) = c.b.first ? element<T>(c.b, matrix, i, first + j)
                                       : number<T>::make(i == first + j);
        }
    }
    __syncthreads();
    if (!e.run()) {
        c.report();
        return;
    }
    T *result = (T *)c.results[0] + matrix * n * c.width + first;
    for (int k = n - 1; k >= 0; k--) {
        const T pivot = e.pivots[k];
        for (int j = e.lane; j < width; j += 32) {
            const T x = e.at(k, n + j) / pivot;
            for (int i = e.warp; i < k; i += e.warps) {
                e.at(i, n + j) = e.at(i, n + j) - e.at(i, k) * x;
            }
            if (k % e.warps == e.warp) {
                result[(int64)k * c.width + j] = x;
            }
        }
        __syncthreads();
    }
}

// What a warp finds of the diagonal of a triangular factor: the product of the elements,
// or the product of their signs and the sum of the logarithms of their sizes.
template <class T>
struct diagonal_product {
    typedef typename number<T>::real R;
    T product;
    R sum;

    PYCUDA_FN diagonal_product() : product(number<T>::make(1)), sum(0) {}
    PYCUDA_FN void take(T x, int is_logarithm)
    {
        if (!is_logarithm) {
            product = product * x;
            return;
        }
        const R size = magnitude(x);
        product = product * (size == 0 ? x : divided(x, size));
        sum += logarithm(size);
    }
    // Join the lanes and store the results of a matrix.
    PYCUDA_FN void store(const call &c, int64 matrix, bool is_odd)
    {
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
            product = product * exchange(product, distance);
        }
        sum = sum_of_lanes(sum);
        if (threadIdx.x == 0) {
            ((T *)c.results[0])[matrix] = scaled(product, is_odd ? (R)-1 : (R)1);
            if (c.option) {
                ((R *)c.results[1])[matrix] = sum;
            }
        }
    }
};

// The determinant, or with the option its sign and the logarithm of its size.
template <class T, int THREADS>
PYCUDA_FN void determinant(const call &c, void *memory)
{
    elimination<T, THREADS> e;
    const int n = c.rows;
    e.factors = e.begin(memory, n, n);
    e.pivots = e.factors + n;
    e.load(c.a, blockIdx.x, n, n);
    __syncthreads();
    const bool is_regular = e.run();
    diagonal_product<T> all;
    if (e.warp != 0) {
        return;
    }
    if (!is_regular) {
        all.take(number<T>::make(0), c.option);
    }
    for (int k = e.lane; k < n && is_regular; k += 32) {
        all.take(e.pivots[k], c.option);
    }
    all.store(c, blockIdx.x, e.odd);
}

// The same of matrices that LAPACK has factored; `b` are the pivots.
template <class T, int THREADS>
PYCUDA_FN void determinant_of_factors(const call &c, void *)
{
    const int n = c.rows;
    if (threadIdx.x >= 32) {
        return;
    }
    diagonal_product<T> all;
    int moved = 0;
    for (int k = threadIdx.x; k < n; k += 32) {
        all.take(element<T>(c.a, blockIdx.x, k, k), c.option);
        moved += element<int>(c.b, blockIdx.x, k, 0) != k + 1;
    }
    all.store(c, blockIdx.x, sum_of_lanes(moved) % 2 != 0);
}

// -- Cholesky decomposition -------------------------------------------------------------

// The lower factor. With the option the upper triangle is read, and the factor is upper.
template <class T, int THREADS>
PYCUDA_FN void cholesky(const call &c, void *memory)
{
    typedef typename number<T>::real R;
    block<T, THREADS> m;
    const int n = c.rows;
    T *column = m.begin(memory, n, n);
    m.load(c.a, blockIdx.x, n, n);
    __syncthreads();
    // An upper triangle is the conjugate of the lower one of the transposed matrix.
    for (int i = m.warp; c.option && i < n; i += m.warps) {
        for (int j = m.lane; j < i; j += 32) {
            m.at(i, j) = conj(m.at(j, i));
        }
    }
    __syncthreads();
    for (int k = 0; k < n; k++) {
        const R size = real(m.at(k, k));
        if (!(size > 0)) {
            c.report();
            return;
        }
        const R diagonal = root(size);
        for (int i = k + 1 + threadIdx.x; i < n; i += THREADS) {
            column[i] = m.at(i, k) = scaled(m.at(i, k), 1 / diagonal);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            m.at(k, k) = number<T>::make(diagonal);
        }
        for (int j = k + 1 + m.lane; j < n; j += 32) {
            m.subtract(column, conj(column[j]), j, k + 1 + (j - m.lane - k - 1), n);
        }
        __syncthreads();
    }
    T *result = (T *)c.results[0] + (int64)blockIdx.x * n * n;
    for (int i = m.warp; i < n; i += m.warps) {
        for (int j = m.lane; j < n; j += 32) {
            const bool kept = c.option ? j >= i : j <= i;
            const T x = c.option ? conj(m.at(j, i)) : m.at(i, j);
            result[i * n + j] = kept ? x : number<T>::make(0);
        }
    }
}

// -- QR decomposition -------------------------------------------------------------------

// Results: Q, which has `width` columns and may be missing; R, which has `chunk` rows.
template <class T, int THREADS>
PYCUDA_FN void triangular(const call &c, void *memory)
{
    typedef typename number<T>::real R;
    block<T, THREADS> m;
    const int rows = c.rows, least = c.columns < rows ? c.columns : rows;
    const int across = c.columns > c.width ? c.columns : c.width;
    T *v = m.begin(memory, rows, across);
    T *taus = v + rows;
    m.columns = c.columns;
    m.load(c.a, blockIdx.x, rows, c.columns);
    __syncthreads();
    const R unit = m.balance((R *)v);
    __syncthreads();
    for (int k = 0; k < least; k++) {
        R beta;
        const T tau = m.column_reflector(v, k, k, beta);
        __syncthreads();
        if (threadIdx.x == 0) {
            taus[k] = tau;
        }
        for (int i = k + threadIdx.x; i < rows; i += THREADS) {
            m.at(i, k) = i == k ? number<T>::make(beta) : v[i];
        }
        m.reflect_columns(v, conj(tau), k, k + 1, c.columns);
        __syncthreads();
    }
    T *upper = (T *)c.results[1] + (int64)blockIdx.x * c.chunk * c.columns;
    for (int i = m.warp; i < c.chunk; i += m.warps) {
        for (int j = m.lane; j < c.columns; j += 32) {
            const T x = scaled(m.at(i, j), unit);
            upper[i * c.columns + j] = j >= i ? x : number<T>::make(0);
        }
    }
    if (c.results[0] == 0) {
        return;
    }
    __syncthreads();
    // Columns without a reflector are those of the identity.
    for (int i = m.warp; i < rows; i += m.warps) {
        for (int j = least + m.lane; j < c.width; j += 32) {
            m.at(i, j) = number<T>::make(i == j);
        }
    }
    for (int k = least - 1; k >= 0; k--) {
        const T tau = taus[k];
        for (int i = k + threadIdx.x; i < rows; i += THREADS) {
            v[i] = i == k ? number<T>::make(1) : m.at(i, k);
        }
        __syncthreads();
        for (int i = threadIdx.x; i < rows; i += THREADS) {
            const T x = number<T>::make(i == k) - (i < k ? number<T>::make(0) : tau * v[i]);
            m.at(i, k) = x;
        }
        m.reflect_columns(v, tau, k, k + 1, c.width);
        __syncthreads();
    }
    T *result = (T *)c.results[0] + (int64)blockIdx.x * rows * c.width;
    for (int i = m.warp; i < rows; i += m.warps) {
        for (int j = m.lane; j < c.width; j += 32) {
            result[i * c.width + j] = m.at(i, j);
        }
    }
}

// -- eigenvalues and singular values: bisection -------------------------------------------

// How many eigenvalues of a symmetric tridiagonal matrix are below x. `squares` are
// those of the elements beside the diagonal, which is 0 everywhere without `diagonal`.
template <class R>
PYCUDA_FN int count_below(const R *diagonal, const R *squares, int n, R x, R least)
{
    int count = 0;
    R q = 1, square = 0;
    for (int i = 0; i < n; i++) {
        q = (diagonal ? diagonal[i] - x : -x) - square / q;
        if ((q < 0 ? -q : q) < least) {
            q = -least;
        }
        count += q < 0;
        square = squares[i];
    }
    return count;
}

// Store some of the eigenvalues of a tridiagonal matrix of order n, times `unit`: numbers
// `from` to `to` in ascending order. Without a diagonal only the upper half is counted;
// these are not negative, and the greatest is stored first. `off` has n numbers, the
// last one 0, and is overwritten.
template <class R, int THREADS>
PYCUDA_FN void bisect(const R *diagonal, R *off, int n, int from, int to, R unit,
                      R *result)
{
    const int first = diagonal ? 0 : n / 2;
    const int lane = threadIdx.x % 32;
    R bound = 0, beside = 0, ill = 0;
    for (int i = lane; i < n; i += 32) {
        const R d = diagonal ? magnitude(diagonal[i]) : 0;
        const R sum = d + magnitude(off[i]) + (i ? magnitude(off[i - 1]) : 0);
        bound = sum > bound ? sum : bound;
        beside = magnitude(off[i]) > beside ? magnitude(off[i]) : beside;
        ill += sum - sum; // NaN if a number is not finite
    }
    bound = greatest_of_lanes(bound) + sum_of_lanes(ill);
    beside = greatest_of_lanes(beside);
    const R least = limits<R>::least() * (beside > 1 ? beside * beside : 1);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += THREADS) {
        off[i] *= off[i];
    }
    __syncthreads();
    // `lanes` neighbours cut the interval of one eigenvalue into lanes + 1 parts.
    int lanes = 1;
    while (lanes < 32 && 2 * lanes * (to - from) <= THREADS) {
        lanes *= 2;
    }
    const int group = lane / lanes * lanes;
    const unsigned int mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
    for (int begin = from; begin < to; begin += THREADS / lanes) {
        const int own = begin + threadIdx.x / lanes;
        const int index = own < to ? own : to - 1;
        R low = diagonal == 0 ? 0 : -bound * (1 + 8 * limits<R>::precision());
        R high = bound * (1 + 8 * limits<R>::precision());
        const R end = bound * limits<R>::precision();
        for (R length = high - low; length > end; length /= lanes + 1) {
            const R step = (high - low) / (lanes + 1);
            const R x = low + step * (lane - group + 1);
            const int below = count_below(diagonal, off, n, x, least);
            const unsigned int votes =
                __ballot_sync(0xffffffffu, below <= first + index) >> group;
            const int left = __popc(votes & mask);
            high = left == lanes ? high : low + step * (left + 1);
            low = low + step * left;
        }
        if (lane == group && own < to) {
            result[diagonal ? index : first - 1 - index] = (low + high) / 2 * unit;
        }
    }
}

// The eigenvalues of a Hermitian matrix, of which one triangle is read: the lower one,
// or the upper one with the option.
template <class T, int THREADS>
PYCUDA_FN void eigenvalues(const call &c, void *memory)
{
    typedef typename number<T>::real R;
    block<T, THREADS> m;
    const int n = c.rows;
    T *v = m.begin(memory, n, n);
    T *p = v + n;
    R *diagonal = (R *)(p + n), *off = diagonal + n;
    m.load(c.a, blockIdx.x, n, n);
    __syncthreads();
    for (int i = m.warp; i < n; i += m.warps) {
        for (int j = m.lane; j < i; j += 32) {
            if (c.option) {
                m.at(i, j) = conj(m.at(j, i));
            }
            else {
                m.at(j, i) = conj(m.at(i, j));
            }
        }
        if (m.lane == 0) {
            m.at(i, i) = number<T>::make(real(m.at(i, i)));
        }
    }
    __syncthreads();
    const R unit = m.balance((R *)v);
    __syncthreads();
    for (int k = 0; k < n - 2; k++) {
        R beta;
        const T tau = m.column_reflector(v, k + 1, k, beta);
        if (threadIdx.x == 0) {
            diagonal[k] = real(m.at(k, k));
            off[k] = beta;
        }
        __syncthreads();
        // p = tau A v
        for (int i = k + 1 + m.warp; i < n; i += m.warps * m.lines_at_once) {
            T sums[m.lines_at_once];
            m.multiply_rows(sums, v, tau, i, k + 1);
#pragma unroll
            for (int r = 0; r < m.lines_at_once; r++) {
                if (m.lane == 0 && i + r * m.warps < n) {
                    p[i + r * m.warps] = sums[r];
                }
            }
        }
        __syncthreads();
        // w = p - tau (p^H v) / 2 v, then A - v w^H - w v^H
        T sum = number<T>::make(0);
        for (int j = k + 1 + m.lane; j < n; j += 32) {
            sum = sum + conj(p[j]) * v[j];
        }
        const T by = scaled(tau * sum_of_lanes(sum), (R)-0.5);
        for (int j = k + 1 + m.lane; j < n; j += 32) {
            const T vj = conj(v[j]), wj = conj(p[j] + by * v[j]);
            for (int i = k + 1 + m.warp; i < n; i += m.step) {
                T own[m.rows_at_once], vi[m.rows_at_once], pi[m.rows_at_once];
#pragma unroll
                for (int r = 0; r < m.rows_at_once; r++) {
                    const int row = i + r * m.warps < n ? i + r * m.warps : i;
                    own[r] = m.at(row, j);
                    vi[r] = v[row];
                    pi[r] = p[row];
                }
#pragma unroll
                for (int r = 0; r < m.rows_at_once; r++) {
                    if (i + r * m.warps < n) {
                        m.at(i + r * m.warps, j) =
                            own[r] - vi[r] * wj - (pi[r] + by * vi[r]) * vj;
                    }
                }
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        for (int k = n < 2 ? 0 : n - 2; k < n; k++) {
            diagonal[k] = real(m.at(k, k));
            off[k] = k + 1 < n ? magnitude(m.at(k + 1, k)) : 0;
        }
    }
    __syncthreads();
    bisect<R, THREADS>(diagonal, off, n, 0, n, unit,
                       (R *)c.results[0] + (int64)blockIdx.x * n);
}

// The singular values of a matrix with at least as many rows as columns: the positive
// eigenvalues of the tridiagonal matrix that the elements of the bidiagonal one make.
template <class T, int THREADS>
PYCUDA_FN void singular_values(const call &c, void *memory)
{
    typedef typename number<T>::real R;
    block<T, THREADS> m;
    const int rows = c.rows, n = c.columns;
    T *v = m.begin(memory, rows, n);
    R *off = (R *)(v + rows);
    m.load(c.a, blockIdx.x, rows, n);
    __syncthreads();
    const R unit = m.balance((R *)v);
    __syncthreads();
    for (int k = 0; k < n; k++) {
        R beta;
        T tau = m.column_reflector(v, k, k, beta);
        if (threadIdx.x == 0) {
            off[2 * k] = beta;
        }
        __syncthreads();
        m.reflect_columns(v, conj(tau), k, k + 1, n);
        __syncthreads();
        if (k + 1 == n) {
            break;
        }
        tau = m.row_reflector(v, k, k + 1, beta);
        if (threadIdx.x == 0) {
            off[2 * k + 1] = beta;
        }
        __syncthreads();
        m.reflect_rows(v, tau, k + 1, k + 1);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        off[2 * n - 1] = 0;
    }
    __syncthreads();
    bisect<R, THREADS>((const R *)0, off, 2 * n, 0, n, unit,
                       (R *)c.results[0] + (int64)blockIdx.x * n);
}

// The eigenvalues of tridiagonal matrices, which are in memory: the diagonals are `a`,
// the elements beside them `b`. With the option the singular values of bidiagonal
// matrices. A block computes a chunk of the values.
template <class R, int THREADS>
PYCUDA_FN void values_of_diagonals(const call &c, void *memory)
{
    const int n = c.rows, lane = threadIdx.x % 32;
    const int64 matrix = blockIdx.x / c.chunks;
    const R *a = (const R *)(c.a.first + matrix * c.a.batch);
    const R *b = (const R *)(c.b.first + matrix * c.b.batch);
    R most = 0;
    for (int i = lane; i < n; i += 32) {
        most = magnitude(a[i]) > most ? magnitude(a[i]) : most;
        most = i + 1 < n && magnitude(b[i]) > most ? magnitude(b[i]) : most;
    }
    most = greatest_of_lanes(most);
    const bool is_scaled = most > 0 && most - most == 0;
    const R by = is_scaled ? inverse_power(most) : 1;
    R *numbers = (R *)memory;
    for (int i = threadIdx.x; i < n; i += THREADS) {
        const R beside = i + 1 < n ? b[i] * by : 0;
        numbers[c.option ? 2 * i : i] = a[i] * by;
        numbers[c.option ? 2 * i + 1 : n + i] = beside;
    }
    __syncthreads();
    const int from = blockIdx.x % c.chunks * c.chunk;
    bisect<R, THREADS>(c.option ? (const R *)0 : numbers, c.option ? numbers : numbers + n,
                       c.option ? 2 * n : n, from,
                       from + c.chunk < n ? from + c.chunk : n, 1 / by,
                       (R *)c.results[0] + matrix * n);
}

} // namespace pycuda_solver

#endif
