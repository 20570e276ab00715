/** Every public name of Kopf 1.44: of the package itself, of its three namespaces, and of its testing kit. */
export const KOPF_NAMES: readonly string[] = `
  on on.startup on.cleanup on.login on.probe
  on.create on.update on.delete on.resume on.field on.event on.validate on.mutate
  daemon timer index subhandler register execute
  adopt label append_owner_reference remove_owner_reference build_object_reference build_owner_reference
  event info warn exception
  run operator spawn_tasks run_tasks configure
  get_default_registry set_default_registry get_default_lifecycle set_default_lifecycle
  lifecycles lifecycles.all_at_once lifecycles.one_by_one lifecycles.randomized lifecycles.shuffled lifecycles.asap
  not_ all_ any_ none_ PRESENT ABSENT EVERYTHING
  login_via_pykube login_via_client login_via_async_client login_with_kubeconfig login_with_service_account
  LoginError ConnectionInfo AiohttpSession
  TemporaryError PermanentError HandlerTimeoutError HandlerRetriesError AdmissionError
  ErrorsMode LogFormat Logger ObjectLogger LocalObjectLogger
  OperatorRegistry OperatorSettings
  ProgressRecord ProgressStorage AnnotationsProgressStorage StatusProgressStorage MultiProgressStorage SmartProgressStorage
  DiffBaseStorage AnnotationsDiffBaseStorage StatusDiffBaseStorage MultiDiffBaseStorage
  RawEvent RawEventType RawBody Body BodyEssence Meta Spec Status Labels Annotations
  ObjectReference OwnerReference Resource Memo Index Store
  Diff DiffItem DiffOperation FieldPath FieldSpec HandlerId Reason Patch PatchFn
  DaemonStopped DaemonStoppingReason AsyncDaemonStopperChecker SyncDaemonStopperChecker
  Operation UserInfo Headers SSLPeer
  WebhookFn WebhookServerProtocol WebhookClientConfig WebhookClientConfigService
  WebhookServer WebhookK3dServer WebhookMinikubeServer WebhookDockerDesktopServer
  WebhookAutoServer WebhookAutoTunnel WebhookNgrokTunnel
  testing.KopfRunner
`
  .trim()
  .split(/\s+/);

/** What belongs to Python alone. Each of them has its row, too, which says what to do instead. */
export const MEANINGLESS: ReadonlySet<string> = new Set(['login_via_pykube', 'AiohttpSession']);
