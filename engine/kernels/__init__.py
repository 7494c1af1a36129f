"""Custom GPU kernels of the decode path: each body written once, in a dialect that Metal, CUDA and plain C++ share."""
