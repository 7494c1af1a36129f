"""The local API: other programs on this computer dictate through Sayso, over HTTP and WebSocket.

    request -> gate (Host, Origin, token) -> endpoint -> desk -> the engine worker's lane -> answer

Endpoints are one table (`routes.py`), from which both the routing and the OpenAPI document are made. Everything runs on
one asyncio loop in a thread of its own (`serving.py`); what takes time (decoding, the voice detector, the rewrite
rules) runs in a small pool at a low priority. Nothing outside this package imports it before the server is wanted:
its libraries are the extra `server`.
"""
