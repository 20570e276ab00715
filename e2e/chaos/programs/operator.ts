/**
 * A program with the operator that has to survive: handlers of all sorts, which write what the server completes, fail
 * now and then, and take their time. Each call is appended to a file at once, where no fault of the cluster can reach it.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type AnyObject,
  type ConnectionInfo,
  createRegistry,
  run,
  type SettingsOverrides,
  settings,
  sleep,
  subhandler,
  TemporaryError,
} from 'kopf-ts';
import type { Call, Values } from '../history.js';

export interface OperatorProgramOptions {
  readonly connection: ConnectionInfo;
  readonly namespace: string;
  /** Of the kind `things`. */
  readonly selector: string;
  /** Which of the processes it is. */
  readonly run: number;
  /** Where the calls are told. */
  readonly calls: string;
  /** While this file exists, timers write nothing. */
  readonly calm: string;
  readonly overrides?: SettingsOverrides;
}

/** The beginning of a call, or its end: these are the lines of the file. */
export type CallLine = { readonly id: string } & (
  | ({ readonly what: 'began' } & Omit<Call, 'ended' | 'outcome'>)
  | ({ readonly what: 'ended' } & Required<Pick<Call, 'ended' | 'outcome'>>)
);

const options = JSON.parse(process.argv[2] ?? '{}') as OperatorProgramOptions;
const THINGS = options.selector;
const DEPLOYMENTS = 'apps/v1/deployments';
const OWN = 'chaos.example.com';

/** What all handlers have in common. */
interface Kwargs {
  readonly uid: string;
  readonly name: string;
  readonly resource: { readonly plural: string };
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: AnyObject;
  readonly retry: number;
}

interface Telling {
  readonly handler: string;
  readonly kind?: Call['kind'];
  /** What it looks at. Default: everything that others have changed. */
  readonly seen?: unknown;
  /** Fails in its first attempts at times. */
  readonly isFlaky?: boolean;
}

/** Tells of the call from its beginning to its end. */
async function told<T>(kwargs: Kwargs, telling: Telling, body: () => T | Promise<T>): Promise<T> {
  const { uid, name, resource, retry } = kwargs;
  const { handler, kind = 'change', isFlaky = false } = telling;
  const values = valuesOf(kwargs);
  const seen = telling.seen === undefined ? `edit ${values.edit}` : String(telling.seen);
  count += 1;
  const id = `${options.run}-${count}`;
  const began = Date.now();
  const key = `${resource.plural}/${name}`;
  tell({ id, what: 'began', run: options.run, began, uid, key, handler, kind, retry, seen, values });
  let outcome: 'succeeded' | 'failed' = 'failed';
  try {
    // The same for the same call in each run: only the moments differ.
    const fortune = fraction(`${name} ${handler} ${seen}`);
    if (kind !== 'daemon' && kind !== 'timer') await pause(fortune * fortune * 200);
    if (isFlaky && fortune < 0.4 && retry < 1 + (fortune < 0.1 ? 1 : 0)) {
      throw new TemporaryError('Not this time.', { delay: 0.2 + fortune });
    }
    const result = await body();
    outcome = 'succeeded';
    return result;
  } finally {
    tell({ id, what: 'ended', ended: Date.now(), outcome });
  }
}

let count = 0;

function tell(line: CallLine): void {
  appendFileSync(options.calls, `${JSON.stringify(line)}\n`);
}

/** Deployments have no room for them in their specs. */
function valuesOf({ labels, spec }: Kwargs): Values {
  return {
    edit: Number(labels['edit'] ?? -1),
    round: Number(labels['round'] ?? spec['round'] ?? -1),
    size: Number(spec['size'] ?? -1),
  };
}

function fraction(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32;
}

/** Everything that a change handler could look at, without our own marks. */
function essence({ spec, meta }: { readonly spec: unknown; readonly meta: AnyObject }): string {
  const annotations = Object.entries((meta['annotations'] ?? {}) as Record<string, string>);
  const ours = annotations.filter(([key]) => !key.startsWith('kopf.zalando.org/')).sort();
  const labels = Object.entries((meta['labels'] ?? {}) as Record<string, string>).sort();
  return createHash('sha256')
    .update(JSON.stringify([spec, labels, ours]))
    .digest('hex')
    .slice(0, 12);
}

const unique = (): string => `${options.run}-${Date.now()}-${Math.random().toString(36).slice(2, 8)}`;

const { on, timer, daemon, ...registry } = createRegistry();

on.login(function login() {
  return options.connection;
});

// Two ordinary steps of a creation, and one with parts. The server completes the items of the list.
on.create(THINGS, { id: 'prepare' }, (kwargs) =>
  told(kwargs, { handler: 'prepare' }, () => {
    kwargs.patch.spec['ports'] = [{ name: `p${kwargs.spec['round']}` }];
    return { round: kwargs.spec['round'] };
  }),
);
on.create(THINGS, { id: 'stamp' }, (kwargs) =>
  told(kwargs, { handler: 'stamp', isFlaky: true }, () => {
    kwargs.patch.meta.annotations[`${OWN}/stamp`] = unique();
  }),
);
on.create(THINGS, { id: 'assemble' }, (kwargs) =>
  told(kwargs, { handler: 'assemble', kind: 'parent' }, () => declareParts('assemble')),
);

on.update(THINGS, { id: 'apply', field: 'spec.round' }, (kwargs) =>
  told(kwargs, { handler: 'apply', seen: `round ${kwargs.spec['round']}` }, () => {
    kwargs.patch.spec['ports'] = [{ name: `p${kwargs.spec['round']}` }];
    return { round: kwargs.spec['round'] };
  }),
);
on.update(THINGS, { id: 'reassemble', field: 'spec.round' }, (kwargs) =>
  told(kwargs, { handler: 'reassemble', kind: 'parent', seen: `round ${kwargs.spec['round']}` }, () =>
    declareParts('reassemble'),
  ),
);
on.update(THINGS, { id: 'anything' }, (kwargs) =>
  told(kwargs, { handler: 'anything', seen: `essence ${essence(kwargs)}` }, () => {}),
);
/** Handlers of fields are called for deletions as well: that is not a repetition. */
function ofDeletion({ reason }: { readonly reason: string }): string {
  return reason === 'delete' ? ', in its deletion' : '';
}

on.field(THINGS, { id: 'resize', field: 'spec.size' }, (kwargs) =>
  told(
    kwargs,
    { handler: 'resize', seen: `size ${kwargs.spec['size']}${ofDeletion(kwargs)}`, isFlaky: true },
    () => {},
  ),
);
// Of what the operator itself has written.
on.field(THINGS, { id: 'connect', field: 'spec.ports' }, (kwargs) =>
  told(kwargs, { handler: 'connect', seen: `ports ${JSON.stringify(kwargs.new)}${ofDeletion(kwargs)}` }, () => {}),
);
on.resume(THINGS, { id: 'again' }, (kwargs) =>
  told(kwargs, { handler: 'again', kind: 'resumption', seen: `process ${options.run}` }, () => {}),
);
on.delete(THINGS, { id: 'release' }, (kwargs) =>
  told(kwargs, { handler: 'release', kind: 'deletion', seen: 'deletion' }, () => ({ released: true })),
);
on.delete(THINGS, { id: 'forget' }, (kwargs) =>
  told(kwargs, { handler: 'forget', kind: 'deletion', seen: 'deletion', isFlaky: true }, () => {}),
);

function declareParts(parent: string): void {
  for (const part of ['a', 'b']) {
    subhandler(part, (kwargs) =>
      told(
        kwargs as Kwargs,
        { handler: `${parent}/${part}`, seen: partSeen(parent, kwargs as Kwargs), isFlaky: part === 'b' },
        () => {
          // A new value each time: it must not be news for those who are done.
          if (part === 'a') (kwargs.patch.meta.annotations as Record<string, string>)[`${OWN}/part-a`] = unique();
          return `${part} is done`;
        },
      ),
    );
  }
}

/** Parts of a creation look at everything, as their parent does; parts of an update, at the field. */
function partSeen(parent: string, kwargs: Kwargs): string | undefined {
  return parent === 'reassemble' ? `round ${kwargs.spec['round']}` : undefined;
}

timer(THINGS, { id: 'tick', interval: 2.5, initialDelay: 1 }, (kwargs) =>
  told(kwargs, { handler: 'tick', kind: 'timer' }, () => {
    if (existsSync(options.calm)) return;
    const isNoisy = kwargs.labels['noisy'] === 'yes';
    if (isNoisy) kwargs.patch.meta.annotations[`${OWN}/tick`] = unique();
    else kwargs.patch.status['tick'] = unique();
  }),
);
daemon(THINGS, { id: 'keep', cancellationBackoff: 4, cancellationTimeout: 2 }, (kwargs) =>
  told(kwargs, { handler: 'keep', kind: 'daemon' }, async () => {
    while (!kwargs.stopped.aborted) await sleep(60, kwargs.stopped);
    // Some take their time to leave.
    if (fraction(kwargs.uid) < 0.3) await pause(1_500);
  }),
);

on.create(DEPLOYMENTS, { id: 'template' }, (kwargs) =>
  told(kwargs, { handler: 'template' }, () => {
    kwargs.patch.spec['template'] = {
      spec: { containers: [{ name: 'main', image: `app:${kwargs.labels['round']}` }] },
    };
  }),
);
on.create(DEPLOYMENTS, { id: 'mark' }, (kwargs) =>
  told(kwargs, { handler: 'mark', isFlaky: true }, () => {
    kwargs.patch.meta.labels['mark'] = unique();
  }),
);
on.update(DEPLOYMENTS, { id: 'rollout', field: 'metadata.labels.round' }, (kwargs) =>
  told(kwargs, { handler: 'rollout', seen: `round ${kwargs.labels['round']}` }, () => {
    kwargs.patch.spec['template'] = {
      spec: { containers: [{ name: 'main', image: `app:${kwargs.labels['round']}` }] },
    };
  }),
);
on.delete(DEPLOYMENTS, { id: 'dismantle' }, (kwargs) =>
  told(kwargs, { handler: 'dismantle', kind: 'deletion', seen: 'deletion' }, () => {}),
);

await run({
  registry: { on, timer, daemon, ...registry },
  namespaces: [options.namespace],
  standalone: true,
  settings: settings(options.overrides ?? {}),
});
