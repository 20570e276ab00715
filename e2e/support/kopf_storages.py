"""What Kopf's own storages make of a body: one JSON request from stdin, one JSON answer to stdout."""

import json
import sys

import kopf

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
    patch = kopf.Patch()
    for key, record in request["records"].items():
        progress.store(key=key, record=record, body=body, patch=patch)
    essence = progress.clear(essence=diffbase.build(body=body))
    diffbase.store(body=body, patch=patch, essence=essence)
    return {"patch": dict(patch), "essence": essence}


json.dump(answer(json.load(sys.stdin)), sys.stdout)
