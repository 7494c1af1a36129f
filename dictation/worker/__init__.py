"""The engine worker: one thread that owns the loaded models and recognises for the microphone and for others.

    lane (begin, feed, finish) -> board of jobs -> whose turn it is -> a step on a model -> report to the lane

model            what the worker needs of a model, and how a take is to be recognised
lane, job        one user of the worker; a take of his on its way
board            what all threads share: the jobs, and which model is wanted
turns            whose turn it is, and who gives way to whom
loading, loaded  a model on its way into memory, on which thread ever; the models in memory
reports          what comes back
thread           the engine thread, which does the work
front            the worker as everybody else sees it: calls that never wait
"""
