"""Translate the inner loops of compiled cores into C99: one source, two outputs.

The ``noexcept nogil`` bodies of a learner's ``.pyx`` and ``.pxd`` files are read by Cython's own
parser. What is reached from a core's `step` and `decide` becomes C, one header a module. The build
puts them into ``edgesvm/export/translated``. A node that is not known is an error that names file
and line.

* ``self`` is the arena, a ``char *``. ``self.w``, wired in ``__init__`` by ``self.array("w")``, is
  a macro of an offset that the exported model defines (``StreamSVM_AT_w``); any other attribute is
  a macro that the model defines (``StreamSVM_C``).
* ``self.is_float32`` and ``real is float`` are known when a model is compiled: ``#if``.
* An ``int64_t`` that can only hold an index is an ``esvm_index`` of 32 bits; one that may hold a
  count of samples stays as it is.
"""
