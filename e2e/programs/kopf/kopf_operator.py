"""An operator by Kopf with a handler of each sort. It tells on its standard output what it was called for."""

import asyncio
import json
import threading

import kopf
from kubernetes import client, config

GROUP, PLURAL = "kopf.example.com", "shops"
LOCK = threading.Lock()


def tell(what, name, **details):
    # Handlers run in several threads.
    with LOCK:
        print(json.dumps({"what": what, "name": name, **details}, sort_keys=True), flush=True)


@kopf.on.startup()
def configure(settings, **_):
    config.load_kube_config()
    settings.networking.error_backoffs = [0.1, 0.2, 0.5]
    settings.posting.level = 20


@kopf.on.resume(GROUP, "v1", PLURAL)
def noticed(name, **_):
    tell("resume", name)


@kopf.on.create(GROUP, "v1", PLURAL)
def opened(name, namespace, spec, body, patch, retry, **_):
    if spec.get("stubborn") and retry == 0:
        tell("refused", name)
        raise kopf.TemporaryError("not yet", delay=0.2)
    page = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{name}-page"}, "data": {"sign": spec["sign"]}}
    kopf.adopt(page)
    kopf.label(page, {"shop": name})
    client.CoreV1Api().create_namespaced_config_map(namespace, page)
    patch.status["page"] = page["metadata"]["name"]
    kopf.info(body, reason="Opened", message=f"The shop is open: {spec['sign']}")
    tell("create", name, retry=retry)
    return {"doors": 2}


@kopf.on.update(GROUP, "v1", PLURAL, field="spec.sign")
def renamed(name, namespace, old, new, diff, **_):
    client.CoreV1Api().patch_namespaced_config_map(f"{name}-page", namespace, {"data": {"sign": new}})
    tell("update", name, old=old, new=new, diff=[list(item) for item in diff])


@kopf.on.field(GROUP, "v1", PLURAL, field="metadata.labels")
def labelled(name, new, **_):
    tell("labels", name, new=new)


@kopf.on.event("", "v1", "configmaps", labels={"shop": kopf.PRESENT})
def page_seen(type, name, **_):
    tell("event", name, type=type)


@kopf.index(GROUP, "v1", PLURAL)
def signs(name, spec, **_):
    return {spec.get("sign"): name}


@kopf.on.delete(GROUP, "v1", PLURAL)
def closed(name, signs, **_):
    tell("delete", name, indexed=sorted(signs.keys()))


@kopf.timer(GROUP, "v1", PLURAL, interval=0.5, initial_delay=0.1, annotations={"count": kopf.PRESENT})
def counted(name, patch, status, **_):
    patch.status["count"] = min(status.get("count", 0) + 1, 3)
    tell("timer", name)


@kopf.daemon(GROUP, "v1", PLURAL, annotations={"guard": kopf.PRESENT}, cancellation_backoff=10.0, cancellation_timeout=1.0)
async def guarded(name, stopped, **_):
    tell("daemon begins", name)
    while not stopped:
        await asyncio.sleep(0.1)
    tell("daemon ends", name)


@kopf.on.cleanup()
def cleaned(**_):
    tell("cleanup", "operator")
