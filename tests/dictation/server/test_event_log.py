"""What a session tells its readers, and that a reader can be stopped at any moment."""

import asyncio

import pytest

from dictation.server.sessions import EventLog
from dictation.server.shapes import Partial


@pytest.mark.parametrize("n_ticks", range(6))
def test_a_reader_stops_also_when_news_comes_at_the_same_moment(n_ticks):
    async def read() -> None:
        log = EventLog(lambda: None)

        async def follow() -> None:
            async for _ in log.follow():
                pass

        reader = asyncio.create_task(follow())
        await asyncio.sleep(0.01)
        log.publish(Partial("", "news", 1.0))
        for _ in range(n_ticks):
            await asyncio.sleep(0)
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(reader, 5)

    asyncio.run(read())
