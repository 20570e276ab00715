/**
 * The command line: flags and environment variables turned into options, handler files loaded, logs
 * formatted.
 * It leaves the operator itself to the runtime it is given, so that it can start one without knowing how one
 * is made.
 */
export { type Cli, cli } from './cli.js';
export { loadAnew } from './loading/anew.js';
export type {
  Announced,
  CliRuntime,
  ClusterChoice,
  DevCluster,
  Explained,
  FreezeChoice,
  LoggingChoice,
  ObjectChoice,
  OperatorWay,
  ReleaseChoice,
  ReleasedObject,
  ResumeChoice,
  RunChoice,
  Terminal,
  WebhooksChoice,
} from './runtime.js';
