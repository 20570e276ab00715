"""What people do with Python's client of Kubernetes, step by step; each step tells a line of JSON."""

import base64
import json
import sys
import threading

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client import ApiException

NAMESPACE = sys.argv[1]
LABELS = {"app": "web"}


def main():
    config.load_kube_config()
    api = client.ApiClient()
    for part in (versions, config_maps, secrets, deployments, scales, services, pods, lists, watches, custom, dynamics,
                 applying, yaml_files, events, access, leases, deletions):
        part(api)


def tell(step, answer):
    print(json.dumps({"step": step, "answer": plain(answer)}), flush=True)


def plain(answer):
    if isinstance(answer, dynamic.resource.ResourceInstance | dynamic.resource.ResourceField):
        return answer.to_dict()
    return client.ApiClient().sanitize_for_serialization(answer)


def refused(step, call):
    try:
        call()
    except ApiException as error:
        tell(step, {"status": error.status, "reason": error.reason, "body": json.loads(error.body)})
    else:
        raise AssertionError(f"{step} was not refused")


def versions(api):
    info = client.VersionApi(api).get_code()
    tell("version", {"major": info.major, "minor": info.minor})
    groups = client.ApisApi(api).get_api_versions().groups
    tell("groups", [group.name for group in groups if group.name in ("apps", "batch", "rbac.authorization.k8s.io")])
    resources = client.AppsV1Api(api).get_api_resources().resources
    tell("resources of apps", [r for r in resources if r.name.startswith("deployments")])


def config_maps(api):
    core = client.CoreV1Api(api)
    body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="settings", labels=LABELS), data={"a": "1", "b": "2"})
    tell("create a config map", core.create_namespaced_config_map(NAMESPACE, body))
    refused("create it twice", lambda: core.create_namespaced_config_map(NAMESPACE, body))
    tell("dry run", core.create_namespaced_config_map(
        NAMESPACE, client.V1ConfigMap(metadata=client.V1ObjectMeta(generate_name="dry-", name="dry-run")), dry_run="All"))
    found = core.read_namespaced_config_map("settings", NAMESPACE)
    found.data["c"] = "3"
    tell("replace it", core.replace_namespaced_config_map("settings", NAMESPACE, found))
    found.data["d"] = "4"
    refused("replace an old version", lambda: core.replace_namespaced_config_map("settings", NAMESPACE, found))
    tell("patch it", core.patch_namespaced_config_map("settings", NAMESPACE, {"data": {"a": None, "e": "5"}}))
    tell("patch it by operations", core.patch_namespaced_config_map(
        "settings", NAMESPACE, [{"op": "replace", "path": "/data/b", "value": "two"}]))
    refused("patch by a failing test", lambda: core.patch_namespaced_config_map(
        "settings", NAMESPACE, [{"op": "test", "path": "/data/b", "value": "three"}]))
    refused("read what is not there", lambda: core.read_namespaced_config_map("nothing", NAMESPACE))
    refused("create with a bad name", lambda: core.create_namespaced_config_map(
        NAMESPACE, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="Bad_Name"))))
    tell("binary data", core.create_namespaced_config_map(NAMESPACE, client.V1ConfigMap(
        metadata=client.V1ObjectMeta(name="binary"), binary_data={"bytes": base64.b64encode(b"\0\1").decode()})))


def secrets(api):
    core = client.CoreV1Api(api)
    body = client.V1Secret(metadata=client.V1ObjectMeta(name="keys"), string_data={"password": "secret"})
    made = core.create_namespaced_secret(NAMESPACE, body)
    tell("create a secret by strings", made)
    tell("the password", base64.b64decode(made.data["password"]).decode())
    core.patch_namespaced_secret("keys", NAMESPACE, {"stringData": {"user": "me"}})
    tell("read it", core.read_namespaced_secret("keys", NAMESPACE))


def container(name, image, **more):
    return client.V1Container(name=name, image=image, **more)


def deployment(name):
    port = client.V1ContainerPort(name="http", container_port=8080)
    env = [client.V1EnvVar(name="A", value="1"), client.V1EnvVar(name="B", value="2")]
    containers = [container("web", "web:1", ports=[port], env=env), container("helper", "helper:1")]
    template = client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels=LABELS), spec=client.V1PodSpec(containers=containers))
    spec = client.V1DeploymentSpec(replicas=2, selector=client.V1LabelSelector(match_labels=LABELS), template=template)
    return client.V1Deployment(metadata=client.V1ObjectMeta(name=name, labels=LABELS), spec=spec)


def deployments(api):
    apps = client.AppsV1Api(api)
    tell("create a deployment", apps.create_namespaced_deployment(NAMESPACE, deployment("web")))
    # By default, dictionaries are sent as strategic merge patches: the other container stays.
    change = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "web:2"}]}}}}
    tell("patch its image", apps.patch_namespaced_deployment("web", NAMESPACE, change))
    change = {"spec": {"template": {"spec": {"containers": [
        {"name": "web", "env": [{"name": "B", "$patch": "delete"}, {"name": "C", "value": "3"}]}]}}}}
    tell("patch its environment", apps.patch_namespaced_deployment("web", NAMESPACE, change))
    change = {"spec": {"template": {"spec": {"containers": [{"name": "helper", "$patch": "delete"}]}}}}
    tell("take a container away", apps.patch_namespaced_deployment("web", NAMESPACE, change))
    status = {"status": {"conditions": [{"type": "Available", "status": "True", "reason": "Tried", "message": "Yes"}]}}
    tell("patch its status", apps.patch_namespaced_deployment_status("web", NAMESPACE, status))
    change = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    tell("change its strategy", apps.patch_namespaced_deployment("web", NAMESPACE, change))
    refused("change its selector", lambda: apps.patch_namespaced_deployment(
        "web", NAMESPACE, {"spec": {"selector": {"matchLabels": {"app": "other"}}}}))
    annotations = {"spec": {"template": {"metadata": {"annotations": {"restarted": "now"}}}}}
    tell("restart it", apps.patch_namespaced_deployment("web", NAMESPACE, annotations, field_manager="restarter"))


def scales(api):
    apps = client.AppsV1Api(api)
    tell("read its scale", apps.read_namespaced_deployment_scale("web", NAMESPACE))
    tell("patch its scale", apps.patch_namespaced_deployment_scale("web", NAMESPACE, {"spec": {"replicas": 5}}))
    scale = apps.read_namespaced_deployment_scale("web", NAMESPACE)
    scale.spec.replicas = 3
    tell("replace its scale", apps.replace_namespaced_deployment_scale("web", NAMESPACE, scale))
    tell("its replicas", apps.read_namespaced_deployment("web", NAMESPACE).spec.replicas)
    refused("scale below nothing", lambda: apps.patch_namespaced_deployment_scale(
        "web", NAMESPACE, {"spec": {"replicas": -1}}))


def services(api):
    core = client.CoreV1Api(api)
    ports = [client.V1ServicePort(name="http", port=80), client.V1ServicePort(name="https", port=443)]
    spec = client.V1ServiceSpec(selector=LABELS, ports=ports)
    tell("create a service", core.create_namespaced_service(
        NAMESPACE, client.V1Service(metadata=client.V1ObjectMeta(name="web"), spec=spec)))
    # Ports are merged by their numbers.
    change = {"spec": {"ports": [{"port": 80, "targetPort": 8080}]}}
    tell("patch its ports", core.patch_namespaced_service("web", NAMESPACE, change))


def pods(api):
    core = client.CoreV1Api(api)
    for name in ("one", "two"):
        spec = client.V1PodSpec(containers=[container("main", "main:1")])
        labels = {**LABELS, "number": name}
        core.create_namespaced_pod(NAMESPACE, client.V1Pod(
            metadata=client.V1ObjectMeta(name=name, labels=labels), spec=spec))
    tell("a pod", core.read_namespaced_pod("one", NAMESPACE))
    refused("change a pod", lambda: core.patch_namespaced_pod("one", NAMESPACE, {"spec": {"hostname": "other"}}))
    tell("change its image", core.patch_namespaced_pod(
        "one", NAMESPACE, {"spec": {"containers": [{"name": "main", "image": "main:2"}]}}).spec.containers[0].image)
    binding = client.V1Binding(
        metadata=client.V1ObjectMeta(name="one"), target=client.V1ObjectReference(kind="Node", name="node"))
    core.create_namespaced_pod_binding("one", NAMESPACE, binding, _preload_content=False)
    tell("a bound pod", core.read_namespaced_pod("one", NAMESPACE))
    eviction = client.V1Eviction(metadata=client.V1ObjectMeta(name="two"))
    tell("evict a pod", json.loads(core.create_namespaced_pod_eviction(
        "two", NAMESPACE, eviction, _preload_content=False).data))


def lists(api):
    core = client.CoreV1Api(api)
    names = lambda found: [item.metadata.name for item in found.items]
    for number in range(5):
        core.create_namespaced_config_map(NAMESPACE, client.V1ConfigMap(
            metadata=client.V1ObjectMeta(name=f"page-{number}", labels={"page": str(number % 2)})))
    tell("by label", names(core.list_namespaced_config_map(NAMESPACE, label_selector="page in (1)")))
    tell("by field", names(core.list_namespaced_config_map(NAMESPACE, field_selector="metadata.name=page-3")))
    pages, token = [], None
    while True:
        page = core.list_namespaced_config_map(NAMESPACE, label_selector="page", limit=2, _continue=token)
        pages.append(names(page))
        token = page.metadata._continue
        if not token:
            break
    tell("by pages", pages)
    tell("everywhere", names(core.list_config_map_for_all_namespaces(label_selector="page=0")))
    refused("by a bad selector", lambda: core.list_namespaced_config_map(NAMESPACE, label_selector="a in b"))


def watches(api):
    core = client.CoreV1Api(api)
    seen = []

    def change():
        core.create_namespaced_config_map(NAMESPACE, client.V1ConfigMap(
            metadata=client.V1ObjectMeta(name="watched", labels={"watch": "me"})))
        core.patch_namespaced_config_map("watched", NAMESPACE, {"data": {"a": "1"}})
        core.patch_namespaced_config_map("watched", NAMESPACE, {"metadata": {"labels": {"watch": None}}})

    version = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version
    changing = threading.Timer(0.2, change)
    changing.start()
    stream = watch.Watch()
    for event in stream.stream(core.list_namespaced_config_map, NAMESPACE, label_selector="watch=me",
                               resource_version=version, timeout_seconds=30):
        seen.append({"type": event["type"], "object": event["raw_object"]})
        if event["type"] == "DELETED":
            stream.stop()
    changing.join()
    tell("watch", seen)
    ended = [event["type"] for event in watch.Watch().stream(
        core.list_namespaced_config_map, NAMESPACE, label_selector="page=0", timeout_seconds=1)]
    tell("watch for a second", ended)


def definition():
    schema = {"type": "object", "properties": {
        "spec": {"type": "object", "required": ["size"], "properties": {
            "size": {"type": "integer", "minimum": 1},
            "colour": {"type": "string", "default": "red"},
            "parts": {"type": "array", "items": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"}, "count": {"type": "integer"}}},
                "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        }},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    }}
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.python.example.com"},
        "spec": {
            "group": "python.example.com", "scope": "Namespaced",
            "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema},
                          "subresources": {"status": {}, "scale": {
                              "specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}}}],
        },
    }


def gadget(name, **spec):
    return {"apiVersion": "python.example.com/v1", "kind": "Gadget", "metadata": {"name": name}, "spec": spec}


def custom(api):
    extensions = client.ApiextensionsV1Api(api)
    extensions.create_custom_resource_definition(definition())
    for event in watch.Watch().stream(extensions.list_custom_resource_definition,
                                      field_selector="metadata.name=gadgets.python.example.com", timeout_seconds=30):
        conditions = event["raw_object"].get("status", {}).get("conditions", [])
        if any(each["type"] == "Established" and each["status"] == "True" for each in conditions):
            break
    objects = client.CustomObjectsApi(api)
    place = ("python.example.com", "v1", NAMESPACE, "gadgets")
    tell("create a custom object", objects.create_namespaced_custom_object(*place, gadget("small", size=1)))
    refused("create a wrong one", lambda: objects.create_namespaced_custom_object(*place, gadget("none", size=0)))
    tell("patch it", objects.patch_namespaced_custom_object(*place, "small", {"spec": {"size": 2}}))
    tell("patch its status", objects.patch_namespaced_custom_object_status(*place, "small", {"status": {"ok": True}}))
    tell("its scale", objects.get_namespaced_custom_object_scale(*place, "small"))
    tell("list them", objects.list_namespaced_custom_object(*place)["items"])
    tell("list the cluster's", len(objects.list_cluster_custom_object(place[0], place[1], place[3])["items"]))


def dynamics(api):
    found = dynamic.DynamicClient(api)
    gadgets = found.resources.get(api_version="python.example.com/v1", kind="Gadget")
    tell("a dynamic creation", gadgets.create(body=gadget("dynamic", size=3), namespace=NAMESPACE))
    tell("a dynamic patch", gadgets.patch(
        body={"spec": {"colour": "blue"}}, name="dynamic", namespace=NAMESPACE,
        content_type="application/merge-patch+json"))
    tell("a dynamic list", [item.metadata.name for item in gadgets.get(namespace=NAMESPACE).items])
    tell("a dynamic status", gadgets.status.patch(
        body={"status": {"phase": "Ready"}}, name="dynamic", namespace=NAMESPACE,
        content_type="application/merge-patch+json"))
    deployments = found.resources.get(api_version="apps/v1", kind="Deployment")
    tell("a dynamic strategic patch", deployments.patch(
        body={"spec": {"template": {"spec": {"containers": [{"name": "web", "imagePullPolicy": "Always"}]}}}},
        name="web", namespace=NAMESPACE, content_type="application/strategic-merge-patch+json"))
    seen = []
    for event in gadgets.watch(namespace=NAMESPACE, timeout=1):
        seen.append(f"{event['type']} {event['object'].metadata.name}")
    tell("a dynamic watch", seen)
    tell("a dynamic deletion", gadgets.delete(name="dynamic", namespace=NAMESPACE))


def applying(api):
    found = dynamic.DynamicClient(api)
    gadgets = found.resources.get(api_version="python.example.com/v1", kind="Gadget")
    config_maps = found.resources.get(api_version="v1", kind="ConfigMap")
    applied = lambda **data: {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied", "namespace": NAMESPACE}, "data": data}
    tell("apply", config_maps.server_side_apply(body=applied(a="1", b="2"), field_manager="first"))
    tell("apply less", config_maps.server_side_apply(body=applied(a="1"), field_manager="first"))
    refused("apply against another", lambda: config_maps.server_side_apply(body=applied(a="2"), field_manager="second"))
    tell("apply by force", config_maps.server_side_apply(
        body=applied(a="2"), field_manager="second", force_conflicts=True))
    parts = [{"name": "wheel", "count": 4}]
    tell("apply a custom object", gadgets.server_side_apply(
        body=gadget("applied", size=1, parts=parts), namespace=NAMESPACE, field_manager="first"))
    tell("apply other parts", gadgets.server_side_apply(
        body=gadget("applied", size=1, parts=[{"name": "door", "count": 2}]), namespace=NAMESPACE,
        field_manager="second"))
    apps = client.AppsV1Api(api)
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {"template": {"spec": {"containers": [{"name": "side", "image": "side:1"}]}}}}
    tell("apply a container", apps.patch_namespaced_deployment(
        "web", NAMESPACE, body, field_manager="sides", force=True, _content_type="application/apply-patch+yaml"))


def yaml_files(api):
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "once"}, "spec": {
        "backoffLimit": 1, "template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "main", "image": "main:1"}]}}}}
    cron = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "often"}, "spec": {
        "schedule": "*/5 * * * *", "jobTemplate": {"spec": job["spec"]}}}
    tell("create by utilities", utils.create_from_dict(
        api, {"apiVersion": "v1", "kind": "List", "items": [job, cron]}, namespace=NAMESPACE))


def events(api):
    core = client.CoreV1Api(api)
    found = core.read_namespaced_config_map("settings", NAMESPACE)
    reference = client.V1ObjectReference(
        api_version="v1", kind="ConfigMap", name="settings", namespace=NAMESPACE, uid=found.metadata.uid)
    body = client.CoreV1Event(
        metadata=client.V1ObjectMeta(name="settings.1"), involved_object=reference, reason="Tried", message="It was tried.",
        type="Normal", source=client.V1EventSource(component="script"), count=1)
    tell("create an event", core.create_namespaced_event(NAMESPACE, body))
    # Raw: the client itself refuses events without the time that only newer ones have.
    newer = client.EventsV1Api(api).list_namespaced_event(
        NAMESPACE, field_selector="reason=Tried", _preload_content=False)
    tell("read it by the newer API", json.loads(newer.data))


def access(api):
    reviews = client.AuthorizationV1Api(api)
    attributes = client.V1ResourceAttributes(namespace=NAMESPACE, verb="delete", resource="pods")
    spec = client.V1SelfSubjectAccessReviewSpec(resource_attributes=attributes)
    tell("may I?", reviews.create_self_subject_access_review(client.V1SelfSubjectAccessReview(spec=spec)).status)
    core = client.CoreV1Api(api)
    core.create_namespaced_service_account(
        NAMESPACE, client.V1ServiceAccount(metadata=client.V1ObjectMeta(name="robot")))
    rbac = client.RbacAuthorizationV1Api(api)
    rbac.create_namespaced_role(NAMESPACE, client.V1Role(
        metadata=client.V1ObjectMeta(name="reader"),
        rules=[client.V1PolicyRule(api_groups=[""], resources=["configmaps"], verbs=["get", "list"])]))
    rbac.create_namespaced_role_binding(NAMESPACE, client.V1RoleBinding(
        metadata=client.V1ObjectMeta(name="robots-read"),
        role_ref=client.V1RoleRef(api_group="rbac.authorization.k8s.io", kind="Role", name="reader"),
        subjects=[client.RbacV1Subject(kind="ServiceAccount", name="robot", namespace=NAMESPACE)]))
    request = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[], expiration_seconds=600))
    token = core.create_namespaced_service_account_token("robot", NAMESPACE, request).status.token
    robot = client.Configuration(host=api.configuration.host, api_key={"BearerToken": f"Bearer {token}"})
    robot.ssl_ca_cert = api.configuration.ssl_ca_cert
    limited = client.CoreV1Api(client.ApiClient(robot))
    tell("what the robot reads", limited.read_namespaced_config_map("settings", NAMESPACE).data)
    refused("what it must not", lambda: limited.delete_namespaced_config_map("settings", NAMESPACE))


def leases(api):
    coordination = client.CoordinationV1Api(api)
    spec = client.V1LeaseSpec(holder_identity="me", lease_duration_seconds=15)
    coordination.create_namespaced_lease(
        NAMESPACE, client.V1Lease(metadata=client.V1ObjectMeta(name="leader"), spec=spec))
    tell("take a lease over", coordination.patch_namespaced_lease(
        "leader", NAMESPACE, {"spec": {"holderIdentity": "you", "leaseTransitions": 1}}))


def deletions(api):
    core, apps, extensions = client.CoreV1Api(api), client.AppsV1Api(api), client.ApiextensionsV1Api(api)
    tell("delete a config map", core.delete_namespaced_config_map("applied", NAMESPACE))
    refused("delete it twice", lambda: core.delete_namespaced_config_map("applied", NAMESPACE))
    tell("delete a collection", core.delete_collection_namespaced_config_map(NAMESPACE, label_selector="page"))
    tell("delete with orphans", apps.delete_namespaced_deployment(
        "web", NAMESPACE, body=client.V1DeleteOptions(propagation_policy="Background")))
    tell("delete at once", core.delete_namespaced_pod("one", NAMESPACE, grace_period_seconds=0))
    tell("what is left", sorted(item.metadata.name for item in core.list_namespaced_config_map(NAMESPACE).items))
    extensions.delete_custom_resource_definition("gadgets.python.example.com")
    tell("the end", None)


main()
