"""What Kopf's own storages make of a body: one JSON request from stdin, one JSON answer to stdout."""

import asyncio
import json
import sys
import types

import kopf
from kopf._core.actions import execution, progression

STORAGES = {
    "annotations": (kopf.AnnotationsProgressStorage, kopf.AnnotationsDiffBaseStorage),
    "status": (kopf.StatusProgressStorage, kopf.StatusDiffBaseStorage),
    "smart": (kopf.SmartProgressStorage, kopf.AnnotationsDiffBaseStorage),
}


def answer(request):
    make_progress, make_diffbase = STORAGES[request["storage"]]
    options = request.get("options", {})
    progress, diffbase = make_progress(**options), make_diffbase(**options)
    body = kopf.Body(request["body"])
    if request["action"] == "fetch":
        return {
            "records": {key: progress.fetch(key=key, body=body) for key in request["keys"]},
            "essence": diffbase.fetch(body=body),
            "current": progress.clear(essence=diffbase.build(body=body)),
        }
    if request["action"] == "retry":
        return {"patch": dict(asyncio.run(retried(progress, body, request["keys"])))}
    patch = kopf.Patch()
    for key, record in request["records"].items():
        progress.store(key=key, record=record, body=body, patch=patch)
    essence = progress.clear(essence=diffbase.build(body=body))
    diffbase.store(body=body, patch=patch, essence=essence)
    return {"patch": dict(patch), "essence": essence}


async def retried(progress, body, keys):
    """As if these handlers were called by Kopf, and had succeeded."""
    handlers = [types.SimpleNamespace(id=key) for key in keys]
    state = progression.State.from_storage(body=body, storage=progress, handlers=handlers)
    state = state.with_purpose("create").with_handlers(handlers)
    state = state.with_outcomes({key: execution.Outcome(final=True) for key in keys})
    patch = kopf.Patch()
    state.store(body=body, patch=patch, storage=progress)
    return patch


json.dump(answer(json.load(sys.stdin)), sys.stdout)
