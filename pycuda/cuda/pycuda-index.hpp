// What generated kernels with index arrays are made of: finding the place of an index on
// its axis, and the note about an index out of bounds.
#ifndef PYCUDA_INDEX_HPP
#define PYCUDA_INDEX_HPP

#include <pycuda-array.hpp>

namespace pycuda_array {

// The report of a context, in page-locked memory: see python/array/index/report.c.
struct index_report {
    uint64 state;  // 0: empty, 1: being written, 2: the other numbers are valid
    uint64 index;
    uint64 length;
    int32 axis;
    int32 is_unsigned;
    uint64 call;  // the number of the statement: pcu_call_site()
};

// Note the first index out of bounds. The host reads the note later.
__device__ __noinline__ void note_index(
    index_report *report, uint64 index, bool is_unsigned, uint64 length, int32 axis,
    uint32 call)
{
    if (report == 0 || atomicCAS(&report->state, 0ull, 1ull) != 0ull) {
        return;
    }
    report->index = index;
    report->length = length;
    report->axis = axis;
    report->is_unsigned = is_unsigned;
    report->call = call;
    __threadfence_system();
    *(volatile uint64 *)&report->state = 2ull;
}

// The place of an index on an axis; `at` is where its number is stored. K is the type of
// the index, S that of places. Each returns whether the index is in bounds.
template <class K, class S>
PYCUDA_FN bool place_or_note(K given, S length, S &at)
{
    if ((K)-1 > (K)0) {
        at = (S)given;
        return (uint64)given < (uint64)length;
    }
    if (sizeof(K) <= 4 && sizeof(S) == 4) {
        int32 narrow = (int32)given;
        narrow += narrow < 0 ? (int32)length : 0;
        at = (S)narrow;
        return (uint32)narrow < (uint32)length;
    }
    int64 place = (int64)given;
    place += place < 0 ? (int64)length : 0;
    at = (S)place;
    return (uint64)place < (uint64)length;
}

// An index beyond an end counts on from the other end.
template <class K, class S>
PYCUDA_FN bool place_wrapped(K given, S length, S &at)
{
    if ((K)-1 > (K)0) {
        at = (S)((uint64)given % (uint64)length);
        return true;
    }
    int64 place = (int64)given;
    if ((uint64)place >= (uint64)length) {
        place %= (int64)length;
        place += place < 0 ? (int64)length : 0;
    }
    at = (S)place;
    return true;
}

// An index beyond an end, and each negative one, means the element at that end.
template <class K, class S>
PYCUDA_FN bool place_clipped(K given, S length, S &at)
{
    if ((K)-1 > (K)0) {
        at = (uint64)given < (uint64)length ? (S)given : length - 1;
        return true;
    }
    int64 place = (int64)given;
    place = place < 0 ? 0 : place;
    at = place < (int64)length ? (S)place : length - 1;
    return true;
}

// -- operations on elements that several threads may have ------------------------------

template <class T, class Word>
PYCUDA_FN T element_of_bits(Word bits)
{
    union {
        Word bits;
        T element;
    } both;
    both.bits = bits;
    return both.element;
}

template <class Word, class T>
PYCUDA_FN Word bits_of_element(T element)
{
    union {
        Word bits;
        T element;
    } both;
    both.element = element;
    return both.bits;
}

// *place = Op::call(*place, value) as one step. Word has the size of the element.
template <class Word>
struct apply_words {
    template <class Op, class T>
    static PYCUDA_FN void at(T *place, T value)
    {
        Word old = *(volatile Word *)place, seen;
        do {
            seen = old;
            T element = Op::call(element_of_bits<T>(seen), value);
            old = atomicCAS((Word *)place, seen, bits_of_element<Word>(element));
        } while (old != seen);
    }
};

template <int bytes>
struct apply_bytes;
template <>
struct apply_bytes<2> : apply_words<uint16> {};  // from compute capability 7.0 on
template <>
struct apply_bytes<4> : apply_words<uint32> {};
template <>
struct apply_bytes<8> : apply_words<uint64> {};

// Sums have instructions of their own. The compiler would let atomicAdd() return the old
// value, although no code uses it, because the kernel has another atomic operation. On an
// H200 that takes a third longer.
#define PYCUDA_ADD_AT(type, suffix, letter)                    \
    PYCUDA_FN void add_at(type *place, type value)             \
    {                                                          \
        const size_t at = __cvta_generic_to_global(place);     \
        asm volatile("red.global.add." suffix " [%0], %1;"     \
                     :                                         \
                     : "l"(at), letter(value)                  \
                     : "memory");                              \
    }
PYCUDA_ADD_AT(int32, "s32", "r")
PYCUDA_ADD_AT(uint32, "u32", "r")
PYCUDA_ADD_AT(int64, "u64", "l")
PYCUDA_ADD_AT(uint64, "u64", "l")
PYCUDA_ADD_AT(float32, "f32", "f")
PYCUDA_ADD_AT(float64, "f64", "d")
#undef PYCUDA_ADD_AT
template <class T>
PYCUDA_FN void add_at(complex<T> *place, complex<T> value)
{
    add_at(&place->re, value.re);
    add_at(&place->im, value.im);
}

}  // namespace pycuda_array

#endif
