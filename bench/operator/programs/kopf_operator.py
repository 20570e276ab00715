"""The same operator on Kopf. For what it does by the WORKLOAD, see operator.ts."""
import logging
import os
import time

import kopf

WORKLOAD = os.environ['WORKLOAD']
OBJECTS = int(os.environ['OBJECTS'])
seen = 0
logging.getLogger().setLevel(logging.WARNING)


@kopf.on.startup()
async def configure(settings, **_):
    settings.posting.enabled = False
    print('READY', flush=True)


if WORKLOAD == 'events':
    @kopf.on.event('kopfexamples')
    async def event_fn(**_):
        global seen
        seen += 1
        if seen == OBJECTS:
            print(f'SEEN {time.monotonic_ns() / 1e6}', flush=True)
else:
    @kopf.on.create('kopfexamples')
    async def create_fn(**_):
        return {'ok': True}

if WORKLOAD == 'update':
    @kopf.on.update('kopfexamples')
    async def update_fn(name, **_):
        print(f'UPDATED {name} {time.monotonic_ns() / 1e6}', flush=True)

kopf.run(standalone=True, clusterwide=True)
