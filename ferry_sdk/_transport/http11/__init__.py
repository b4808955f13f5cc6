"""The library's own HTTP clients: HTTP/1.1 on connections of their own, in a small pool.

`client` is for threads, `async_client` for tasks. `replies` reads replies, with llhttp where it is
installed and else with h11. The bytes pass through a stream with the interface of httpcore's
network streams: httpcore's own for threads and on trio, `asyncio_stream` on asyncio. `pool` limits
the connections in use and keeps the idle ones, of which the one used last is taken first.
"""
