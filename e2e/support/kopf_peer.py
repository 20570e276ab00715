"""An operator by Kopf itself, as a peer of ours: it tells the counter what it handles."""

import json
import os
import time
import urllib.parse
import urllib.request

import kopf

GROUP, PLURAL = os.environ["PEER_GROUP"], os.environ["PEER_PLURAL"]


@kopf.on.startup()
def configure(settings, **_):
    settings.peering.lifetime = int(os.environ["PEER_LIFETIME"])
    settings.networking.error_backoffs = [0.1, 0.2, 0.5]


@kopf.on.create(GROUP, "v1", PLURAL)
def made(name, **_):
    tell(f"create {name}")
    time.sleep(float(os.environ["PEER_TAKES"]))


@kopf.on.update(GROUP, "v1", PLURAL, field="spec")
def changed(name, new, **_):
    tell(f"update {name} {json.dumps(new, separators=(',', ':'))}")


@kopf.on.resume(GROUP, "v1", PLURAL)
def noticed(name, **_):
    tell(f"resume {name} by {os.environ['POD_ID']}")


def tell(what):
    path = "/".join(urllib.parse.quote(part, safe="") for part in (os.environ["POD_ID"], what))
    urllib.request.urlopen(f"{os.environ['PEER_COUNTER']}/{path}", data=b"")
