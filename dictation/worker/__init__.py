"""The engine worker: one thread that owns the loaded models and recognises for the microphone and for others.

    lane (begin, feed, finish) -> job -> whose turn it is -> a step on the model -> report to the lane

model            what the worker needs of a model, and how a take is to be recognised
lane, job        one user of the worker; a take of his on its way
turns            whose turn it is, and who gives way to whom
loaded           the model in memory: loaded, warmed, touched, put away
reports          what comes back
thread           the worker: takes calls from any thread, does all the work on its own
"""
