/** What the command line needs of others: the operator and its tools, and the place where it is run. */
import { styleText } from 'node:util';
import type { AnyObject, Awaitable, Clock, Logger, LogLevel, Seconds } from '@kopf-ts/core';
import { onEnter } from './keyboard.js';

/** How the process is to log. */
export interface LoggingChoice {
  readonly format: 'full' | 'plain' | 'json';
  readonly level: LogLevel;
  /** Whether messages about objects begin with their names; by the format unless given. */
  readonly prefix?: boolean | undefined;
  readonly refkey?: string | undefined;
}

/** What `kopf run` says about the operator. */
export interface RunChoice {
  readonly clusterwide: boolean;
  readonly namespaces: readonly string[];
  readonly standalone?: boolean | undefined;
  readonly priority?: number | undefined;
  readonly peeringName?: string | undefined;
  readonly liveness?: string | undefined;
  readonly metrics?: string | undefined;
  readonly console?: string | undefined;
  readonly admin?: string | undefined;
  readonly adminTokenFile?: string | undefined;
  /** Traces by OpenTelemetry; and whether they travel on objects. */
  readonly otel?: { readonly onObjects: boolean } | undefined;
  /** What the process is made to save. Default: memory. */
  readonly optimize?: 'memory' | 'speed' | undefined;
  /** Among replicas, the holder of the Lease of this name works; instead of all other ways to agree. */
  readonly lease?: string | undefined;
  /** The only way to the cluster, instead of all other logins. */
  readonly kubeconfig?: string | undefined;
  /** Of that kubeconfig, or of the usual one: also the only way to the cluster. */
  readonly context?: string | undefined;
  /** Stops the operator. */
  readonly signal?: AbortSignal | undefined;
}

export interface ResumeChoice {
  /** The name of the peering objects. */
  readonly name: string;
  /** The whole cluster unless given. */
  readonly namespaces?: readonly string[] | undefined;
  readonly identity?: string | undefined;
}

export interface FreezeChoice extends ResumeChoice {
  readonly lifetime: Seconds;
  readonly priority?: number | undefined;
  readonly message?: string | undefined;
}

/** Who has told it, and where it is written now. */
export interface Announced {
  readonly identity: string;
  readonly peerings: readonly string[];
}

export interface ReleaseChoice {
  readonly selectors: readonly string[];
  /** All of them unless given. */
  readonly namespaces?: readonly string[] | undefined;
  readonly finalizer?: string | undefined;
  readonly prefix?: string | undefined;
  readonly dryRun: boolean;
  /** Called for each object that is released, as soon as it is. */
  onObject(object: ReleasedObject): void;
}

/** An object on which there was something of the operator's. */
export interface ReleasedObject {
  /** In words: `kopfexamples.kopf.dev default/one`. */
  readonly title: string;
  /** In words: the finalizer, the annotations, the fields. */
  readonly traces: readonly string[];
  /** It is marked for deletion: without the finalizer, it goes away. */
  readonly isDeleting: boolean;
  /** Why it could not be released. */
  readonly problem?: string | undefined;
}

/** One object, as people name it. */
export interface ObjectChoice {
  /** `kopfexamples`, `KopfExample`, `kex`, `kopfexamples.kopf.dev`. */
  readonly kind: string;
  readonly name: string;
  /** Default: that of the kubeconfig. */
  readonly namespace?: string | undefined;
}

/** How to reach the operator; without any of these, only the object itself is looked at. */
export interface OperatorWay {
  /** The URL of its admin endpoint. */
  readonly admin?: string | undefined;
  /** Its pod, as `namespace/name`, to be reached through the API server; the endpoint is at this port of it. */
  readonly pod?: string | undefined;
  readonly port?: number | undefined;
  /** Where the token is: in a file, or in the field `token` of a Secret, as `namespace/name`. */
  readonly tokenFile?: string | undefined;
  readonly tokenSecret?: string | undefined;
}

/** Why something happens to an object, or does not. The texts are safe to be printed. */
export interface Explained {
  readonly title: string;
  /** The most important one goes first. */
  readonly findings: readonly { readonly reason: string; readonly text: string }[];
  readonly handlers: readonly { readonly handler: string; readonly state: string; readonly text: string }[];
  readonly timeline: readonly { readonly at: string; readonly text: string }[];
  /** How many older moments are forgotten. */
  readonly lost: number;
  /** Who has told it; absent if only the object was looked at. */
  readonly operator: string | undefined;
}

export interface WebhooksChoice {
  /** All that were made by us unless given. */
  readonly name?: string | undefined;
  readonly dryRun: boolean;
}

/** What the cluster of `kopf dev` is like. */
export interface ClusterChoice {
  /** Any free one unless given. */
  readonly port?: number | undefined;
  /** Everybody but the administrator may do only what roles allow. */
  readonly roles: boolean;
  /** Workloads are simulated: there is a node, pods become ready, deployments roll out, jobs complete. */
  readonly workloads: boolean;
  /** The folder in which its data are kept. They are gone in the end unless given. */
  readonly data?: string | undefined;
}

/** A cluster for `kopf dev`: it lives as long as the process. */
export interface DevCluster {
  readonly url: string;
  /** A kubeconfig of the administrator, as text. */
  kubeconfig(): string;
  /**
   * The path of a kubeconfig of the administrator, or of somebody else. Only its owner can read it; it is removed with
   * the cluster.
   */
  kubeconfigFile(user?: { readonly username: string }): Promise<string>;
  /** An object by its reference: `serviceaccounts/default/robot`; `undefined` if there is none. */
  get(reference: string): unknown;
  /** Creates the objects, or merges them into those that exist. */
  apply(objects: readonly AnyObject[]): Promise<unknown>;
  stop(): Promise<void>;
}

/** Everything that is not the command line itself. Each of them is loaded when it is needed, so that `--help` is fast. */
export interface CliRuntime {
  readonly version: string;
  /** How to start this very command again, in another process: the program and its first arguments. */
  readonly command: readonly string[];
  /** Sets how the process logs, and gives a logger. */
  configure(options: LoggingChoice): Awaitable<Logger>;
  /** Loads what `run` needs, to be faster then. */
  warmUp(): Awaitable<void>;
  /** Runs the operator as the whole of the process, with the handlers of the default registry; gives the exit code. */
  run(options: RunChoice): Promise<number>;
  freeze(options: FreezeChoice): Promise<Announced>;
  resume(options: ResumeChoice): Promise<Announced>;
  release(options: ReleaseChoice): Promise<void>;
  /** The configurations in words, as far as they are (or would be) removed. */
  releaseWebhooks(options: WebhooksChoice): Promise<readonly string[]>;
  why(options: ObjectChoice & OperatorWay): Promise<Explained>;
  /** Whether there was anything to be retried. */
  retry(options: ObjectChoice & OperatorWay): Promise<boolean>;
  /** Until when it is paused. */
  pauseObject(options: ObjectChoice & { readonly seconds: Seconds }): Promise<Date>;
  /** Whether it was paused. */
  resumeObject(options: ObjectChoice): Promise<boolean>;
  localCluster(options: ClusterChoice): Promise<DevCluster>;
  clock(): Awaitable<Clock>;
  /** The address of our own copy of a package (`kopf-ts`, `@kopf-ts/core`), for handlers in folders that have none. */
  resolve(specifier: string): string | undefined;
}

/** Where the command is run. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Results go here. */
  out(text: string): void;
  /** Problems and progress go here. */
  err(text: string): void;
  /** The text for `out`, with that colour or form where it is a terminal that has them. */
  style(form: 'bold' | 'cyan' | 'dim', text: string): string;
  /** Calls the function for each Enter; gives the way to stop, or `undefined` if nobody sits there. */
  onEnter(listener: () => void): (() => void) | undefined;
  /** Calls the function for each SIGINT or SIGTERM, instead of ending the process; returns how to stop that. */
  onSignal(listener: (name: 'SIGINT' | 'SIGTERM') => void): () => void;
  /** Ends the process at once. */
  exit(code: number): void;
}

/** The process that this code runs in. */
export function processTerminal(): Terminal {
  return {
    env: process.env,
    cwd: process.cwd(),
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    style: (form, text) => styleText(form, text, { stream: process.stdout }),
    onEnter,
    onSignal(listener) {
      const relay = (name: NodeJS.Signals): void => listener(name as 'SIGINT' | 'SIGTERM');
      process.on('SIGINT', relay).on('SIGTERM', relay);
      return () => void process.off('SIGINT', relay).off('SIGTERM', relay);
    },
    exit: (code) => process.exit(code),
  };
}
