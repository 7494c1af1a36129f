"""Clips in the microphone's place."""

import queue

import numpy as np

from dictation.clip_source import ClipSource
from dictation.source import Block, ClipEnded, SourceOpened


def heard(posts, until=ClipEnded):
    """What is posted, up to the first report of a kind."""
    found = []
    while not found or not isinstance(found[-1], until):
        found.append(posts.get(timeout=20))
    return found


def test_opened_again_while_it_plays_a_clip_goes_on_where_it_was():
    posts = queue.SimpleQueue()
    clip = np.arange(16_000, dtype=np.float32) / 16_000
    source = ClipSource(posts.put, [(clip, 16_000), (-clip, 16_000)], realtime=True)
    source.open(1)
    first = heard(posts, Block) + heard(posts, Block)
    source.open(2, again=True)
    rest = heard(posts)
    blocks = [post for post in first + rest if isinstance(post, Block)]
    assert np.array_equal(np.concatenate([block.samples[:, 0] for block in blocks]), clip)
    assert {block.opening for block in blocks} == {1, 2}
    source.open(3, again=True)
    assert posts.get(timeout=20) == ClipEnded(3), "its end had been posted, but the other side was busy"
    source.open(4)
    assert [type(post) for post in heard(posts, Block)] == [SourceOpened, Block]
    source.close()
