/** Parameters of commands about single objects, and what they mean. */
import { UsageError } from '../failures.js';
import type { Parameter, Values } from '../options/parameters.js';
import type { ObjectChoice, OperatorWay } from '../runtime.js';

const WAY = 'The operator:';

export function objectParameters(prefix: string): readonly Parameter[] {
  return [
    {
      flags: '-n, --namespace <name>',
      about: 'The namespace of the object. Default: that of the kubeconfig.',
      kind: 'text',
      env: `${prefix}_NAMESPACE`,
    },
  ];
}

export function wayParameters(prefix: string): readonly Parameter[] {
  const group = WAY;
  return [
    {
      flags: '--admin <url>',
      about: 'The admin endpoint of the operator, as given to kopf run: http://127.0.0.1:8083.',
      kind: 'endpoint',
      env: 'KOPF_ADMIN',
      group,
    },
    {
      flags: '--pod <namespace/name>',
      about: 'The pod of the operator: its port is reached through the API server, as kubectl port-forward does.',
      kind: 'text',
      env: `${prefix}_POD`,
      group,
    },
    {
      flags: '--port <number>',
      about: 'The port of the admin endpoint in the pod. Default: 8083.',
      kind: 'port',
      env: `${prefix}_PORT`,
      group,
    },
    {
      flags: '--token-file <path>',
      about: 'A file with the token for the admin endpoint.',
      kind: 'text',
      env: 'KOPF_ADMIN_TOKEN_FILE',
      group,
    },
    {
      flags: '--token-secret <namespace/name>',
      about: 'A Secret with the token for the admin endpoint, in its field "token".',
      kind: 'text',
      env: `${prefix}_TOKEN_SECRET`,
      group,
    },
  ];
}

/** `kopfexamples/one`; or `kopfexamples one`, as in kubectl. */
export function objectChoice(values: Values, args: readonly string[], command: string): ObjectChoice {
  const [kind, name, ...rest] = args.length === 1 ? (args[0] ?? '').split('/') : args;
  if (!kind || !name || rest.length > 0) {
    throw new UsageError(`which object? Name its kind and its name, as in 'kopf ${command} kopfexamples/one'`);
  }
  const namespace = values['namespace'] as string | undefined;
  return { kind, name, ...(namespace === undefined ? {} : { namespace }) };
}

const NAMESPACED = /^[^/]+\/[^/]+$/;

export function wayChoice(values: Values): OperatorWay {
  const { admin, pod, tokenFile, tokenSecret } = values as Readonly<Record<string, string | undefined>>;
  const port = values['port'] as number | undefined;
  if (admin !== undefined && pod !== undefined) {
    throw new UsageError('choose either --admin or --pod, not both');
  }
  if (tokenFile !== undefined && tokenSecret !== undefined) {
    throw new UsageError('choose either --token-file or --token-secret');
  }
  if (port !== undefined && pod === undefined) throw new UsageError('--port needs the pod: add --pod');
  for (const [flag, text] of [
    ['--pod', pod],
    ['--token-secret', tokenSecret],
  ] as const) {
    if (text !== undefined && !NAMESPACED.test(text)) {
      throw new UsageError(`'${text}' after ${flag} must be a namespace and a name: operators/my-operator-0`);
    }
  }
  return {
    ...(admin === undefined ? {} : { admin }),
    ...(pod === undefined ? {} : { pod }),
    ...(port === undefined ? {} : { port }),
    ...(tokenFile === undefined ? {} : { tokenFile }),
    ...(tokenSecret === undefined ? {} : { tokenSecret }),
  };
}
