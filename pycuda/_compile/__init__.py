"""The compile room: from CUDA C to an image that a context can load.

A caller fills one ``CompileRequest`` (``request.py``) and gives it to ``build.py``,
which returns bytes. A file imports only files from its own line or from lines above
it::

    lock                    a lock file
    store  sweep            the cache on disk: its entries, its size
    manifest                what a compilation reads, on which its entry depends
    single_flight           one compilation of a key at a time
    toolkit                 where toolkits are, what a compiler is
    inputs                  what nvcc's options and variables add
    nvcc  nvrtc  nvrtc_*    the two tools
    tools                   the choice between them
    request  source_text    what a caller asks for; what is put around a source
    architecture            the options for the current device
    bundle  recording       images made in advance; notes of what programs compile
    progress                a line on the terminal; several jobs in threads
    build  nvcc_link        from a request to an image, from pieces to an image
    bundle_writer           from recorded sources to a bundle
"""
