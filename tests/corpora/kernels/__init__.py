"""A corpus of CUDA kernels, right and wrong, with what each must compute and where each must be reported.

`right/*.cu` must agree with NumPy and leave no report of severity error; `wrong/*.cu` must be reported at
the lines that say so:

    // right PROBLEM
    // wrong PROBLEM [17x33 block=8]: the kind of mistake      size and block may be left out
    ...   // expect: KIND       such a report here, or at another line that expects it
    ...   // may: KIND          what may follow from the mistake

A report that no line names is a failure. Kinds without a line of their own (launch, unwritten-output) stand
at the line of `__global__`. The expectations were written from CUDA's rules before any kernel ran.
"""
