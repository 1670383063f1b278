/* Sentences that many docstrings share, in numpydoc's form.
 *
 * A docstring is a list of strings: the signature, a summary, and sections. Each macro
 * is one entry with its description, so a sentence about streams is changed here, in
 * one place. A parameter with another description has another line, with its type in
 * more words. tools/shared_parameters.py writes the same descriptions into docstrings
 * of Python. */

#ifndef PCU_DOCS_H
#define PCU_DOCS_H

/* -- parameters -------------------------------------------------------------------- */

#define PCU_DOC_AFTER                                        \
    "after : GraphNode or sequence of GraphNode, optional\n" \
    "    Nodes for which the new one waits. The default is none.\n"

#define PCU_DOC_ALLOCATOR                                                         \
    "allocator : callable or None, optional\n"                                    \
    "    Function of a number of bytes that returns device memory. The default\n" \
    "    is the default allocator.\n"

#define PCU_DOC_ALLOCATOR_OF_ARRAY                                                \
    "allocator : callable, optional\n"                                            \
    "    Function of a number of bytes that returns device memory. The default\n" \
    "    is the allocator of the array.\n"

#define PCU_DOC_AXES                               \
    "axis : int, tuple of int or None, optional\n" \
    "    Axis or axes along which to compute. The default is all axes.\n"

#define PCU_DOC_AXIS         \
    "axis : int, optional\n" \
    "    Axis along which to compute. The default is the last one.\n"

#define PCU_DOC_AXIS_OR_FLAT         \
    "axis : int or None, optional\n" \
    "    Axis along which to compute. The default is the flat array.\n"

#define PCU_DOC_ACCESS_FLAGS               \
    "flags : mem_access_flags, optional\n" \
    "    Rights of the device: READWRITE, READ or NONE. The default is READWRITE.\n"

#define PCU_DOC_DDOF         \
    "ddof : int, optional\n" \
    "    The divisor is the number of elements less ``ddof``. The default is 0.\n"

#define PCU_DOC_DEVICE         \
    "device : Device or int\n" \
    "    Device, or its number.\n"

#define PCU_DOC_DEVICE_OF_MEMORY                                                  \
    "device : Device or int, optional\n"                                          \
    "    Device that has the memory, or its number. The default is the current\n" \
    "    device.\n"

#define PCU_DOC_DTYPE      \
    "dtype : dtype_like\n" \
    "    Type of the elements.\n"

#define PCU_DOC_INITIAL            \
    "initial : number, optional\n" \
    "    One more element, with which the computation begins.\n"

#define PCU_DOC_HOST_FUNCTION \
    "function : callable\n"   \
    "    The function, which takes no arguments. It must not call the driver.\n"

#define PCU_DOC_KEEPDIMS                                                         \
    "keepdims : bool, optional\n"                                                \
    "    If true, the result keeps the axes along which it was computed, with\n" \
    "    length 1.\n"

#define PCU_DOC_NUMBERS \
    "a : GPUArray\n"    \
    "    Array of numbers.\n"

#define PCU_DOC_ORDER                    \
    "order : {\"C\", \"F\"}, optional\n" \
    "    Order of the elements in memory.\n"

#define PCU_DOC_OUT                                                                \
    "out : GPUArray, optional\n"                                                   \
    "    Array of the result's shape to which the result goes. The default is a\n" \
    "    new array.\n"

#define PCU_DOC_SHAPE               \
    "shape : int or tuple of int\n" \
    "    Lengths of the axes.\n"

#define PCU_DOC_STREAM                                                       \
    "stream : Stream, optional\n"                                            \
    "    Stream in which the work is enqueued. The default is the current\n" \
    "    stream.\n"

#define PCU_DOC_OWNER                                                            \
    "owner : object, optional\n"                                                 \
    "    Object that is kept alive. The default is ``handle``, unless that is\n" \
    "    an int.\n"

#define PCU_DOC_WHERE              \
    "where : GPUArray, optional\n" \
    "    Mask of the elements that count, which broadcasts. The default is all.\n"

/* -- results, errors and notes ----------------------------------------------------- */

#define PCU_DOC_NO_SUCH_AXIS \
    "ValueError\n"           \
    "    If there is no such axis.\n"

#define PCU_DOC_NO_SUCH_ELEMENT \
    "ValueError\n"              \
    "    If there is no such axis, or if there is no element.\n"

#define PCU_DOC_CONTEXT_ENDED \
    "LogicError\n"            \
    "    If the object's context has ended.\n"

#define PCU_DOC_NO_CONTEXT \
    "LogicError\n"         \
    "    If no context is current.\n"

#define PCU_DOC_WAIT_FAILED                                                     \
    "LaunchError\n"                                                             \
    "    If a kernel failed.\n"                                                 \
    "LogicError\n"                                                              \
    "    If a kernel used an invalid address, or if the object's context has\n" \
    "    ended.\n"

#define PCU_DOC_NO_EVENT \
    "TypeError\n"        \
    "    If ``event`` is no ``Event``.\n"

#define PCU_DOC_NOT_CALLABLE \
    "TypeError\n"            \
    "    If ``function`` is not callable.\n"

#define PCU_DOC_NO_HANDLE \
    "TypeError\n"         \
    "    If ``handle`` is no handle.\n"

#define PCU_DOC_NOT_A_GRAPH \
    "TypeError\n"           \
    "    If ``graph`` is no ``Graph``.\n"

#define PCU_DOC_NO_GRAPH                                                             \
    "LogicError\n"                                                                   \
    "    If the graph is being captured, if its capture failed, or if its context\n" \
    "    has ended.\n"

#define PCU_DOC_NOT_ADDED \
    PCU_DOC_NO_GRAPH      \
    "ValueError\n"        \
    "    If a node of ``after`` belongs to another graph.\n"

#define PCU_DOC_LATE_INDEX \
    "IndexError\n"         \
    "    If an index of an earlier array operation was not in its array.\n"

#define PCU_DOC_NEW_NODE \
    "GraphNode\n"        \
    "    The new node.\n"

#define PCU_DOC_RESULT \
    "GPUArray\n"       \
    "    The result: ``out``, or a new array.\n"

#define PCU_DOC_NO_MEMORY \
    "MemoryError\n"       \
    "    If the device has not enough free memory.\n"

#define PCU_DOC_ADDRESS \
    "int\n"             \
    "    The address.\n"

#define PCU_DOC_BYTES \
    "int\n"           \
    "    Number of bytes.\n"

#define PCU_DOC_NO_HOST_BUFFER                                      \
    "TypeError\n"                                                   \
    "    If a host object is no buffer, or holds Python objects.\n" \
    "ValueError\n"                                                  \
    "    If a host buffer is not contiguous.\n"

#define PCU_DOC_PYTHON_OBJECTS \
    "TypeError\n"              \
    "    If the dtype has Python objects.\n"

#define PCU_DOC_RELEASED \
    "LogicError\n"       \
    "    If the object was released before.\n"

#define PCU_DOC_STAGED                                                        \
    "A large copy of ordinary memory may be done when an asynchronous call\n" \
    "returns: see ``doc/memory.rst``.\n"
#define PCU_DOC_NO_WAIT "The call does not wait.\n"

#endif
