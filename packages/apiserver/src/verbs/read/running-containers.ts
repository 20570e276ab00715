/**
 * What is asked of running containers: logs, commands, ports. Nothing runs here: what simulated ones were told to print and
 * to answer is given, and the rest is refused.
 */

import type { ExecCommand } from '../../commands/exec-session.js';
import type { ServedObject } from '../../contracts/objects.js';
import type { ApiAnswer, StreamLine } from '../../contracts/request.js';
import type { Containers, ExecRequest, LogLine } from '../../contracts/simulated-containers.js';
import { refusal } from '../../http/answers.js';
import { badRequest, invalid, notFound, StatusError } from '../../http/status-errors.js';
import { itemsOf, mappingAt, maybeMapping } from '../../kinds/defaults/setting.js';
import type { Backend, Call } from '../../routing/backend.js';
import { parseRevision } from '../../store/revision.js';
import { invalidValue } from '../../text/field-causes.js';
import { find } from './get.js';

/** The log of a container: of one that has printed nothing, unless it was told to. */
export function readLog(backend: Backend, call: Call): ApiAnswer {
  refuseOptions(call);
  const pod = parseRevision(find(backend, call));
  const container = requireContainer(call, pod);
  if (!requireNode(backend, pod)) return { status: 204, headers: {}, body: '' };
  const headers = { 'content-type': 'text/plain' };
  const containers = backend.containers?.();
  if (containers === undefined) return { status: 200, headers, body: '' };
  const { query, request, name } = call;
  if (isTrue(query.get('previous'))) {
    throw badRequest(`previous terminated container "${container}" in pod "${name}" not found`);
  }
  const shown = wantedLines(containers.logOf(pod), query, backend.clock.utc());
  const text = shown.map((line) => lineText(line, query)).join('');
  const limit = query.get('limitBytes');
  if (limit !== null) return { status: 200, headers, body: Buffer.from(text).subarray(0, Number(limit)).toString() };
  if (!isTrue(query.get('follow'))) return { status: 200, headers, body: text };
  return { status: 200, headers, body: '', stream: followed(containers, pod, text, query, request.signal) };
}

/** Until the containers have ended, or the client leaves. */
async function* followed(
  containers: Containers,
  pod: ServedObject,
  text: string,
  query: URLSearchParams,
  signal: AbortSignal,
): AsyncGenerator<StreamLine> {
  let told = containers.logOf(pod).length;
  if (text !== '') yield { type: 'ADDED', text };
  while (await containers.whenPrinted(pod, told, signal)) {
    const lines = containers.logOf(pod).slice(told);
    told += lines.length;
    yield { type: 'ADDED', text: lines.map((line) => lineText(line, query)).join('') };
  }
}

function wantedLines(lines: readonly LogLine[], query: URLSearchParams, now: Date): readonly LogLine[] {
  const [seconds, time, tail] = [query.get('sinceSeconds'), query.get('sinceTime'), query.get('tailLines')];
  const since = time === null ? (seconds === null ? 0 : now.getTime() - Number(seconds) * 1000) : Date.parse(time);
  const recent = lines.filter(({ at }) => at.getTime() >= since);
  return tail === null ? recent : recent.slice(Math.max(0, recent.length - Number(tail)));
}

function lineText({ text, at }: LogLine, query: URLSearchParams): string {
  const time = isTrue(query.get('timestamps')) ? `${at.toISOString().replace('.000Z', 'Z')} ` : '';
  return `${time}${text}\n`;
}

const isTrue = (value: string | null): boolean => value === 'true' || value === '1';

/** Commands and streams need a host; ports are not of a container. */
export function connect(backend: Backend, call: Call): ApiAnswer {
  const pod = parseRevision(find(backend, call));
  const container = call.subresource === 'portforward' ? '' : requireContainer(call, pod);
  if (!requireNode(backend, pod)) throw badRequest(`pod ${call.name} does not have a host assigned`);
  const containers = backend.containers?.();
  if (containers === undefined || call.subresource !== 'exec') throw nothingRuns();
  return { ...refusal(badRequest('Upgrade request required')), command: commandOf(backend, call, pod, container) };
}

const nothingRuns = (hint = ''): StatusError =>
  new StatusError(500, '', `error dialing backend: nothing runs in the containers of this cluster${hint}`);

/** What it answers was told by a test or by an annotation. */
function commandOf({ store, containers }: Backend, call: Call, pod: ServedObject, container: string): ExecCommand {
  const { query, name, namespace } = call;
  const command = query.getAll('command');
  const vanished = (): Error => new Error(`container not found ("${container}"): the pod "${name}" is gone`);
  return {
    hasStdin: isTrue(query.get('stdin')),
    async run(stdin) {
      const request: ExecRequest = { command, container, stdin, tty: isTrue(query.get('tty')) };
      const phase = maybeMapping(pod, 'status')?.['phase'];
      if (phase !== 'Running') throw new Error(`cannot exec into a container of a pod that is ${String(phase)}`);
      let unobserve: (() => void) | undefined;
      const gone = new Promise<never>((_, reject) => {
        unobserve = store.observe('pods', ({ type, object }) => {
          if (type === 'DELETED' && object.uid === pod.metadata.uid) reject(vanished());
        });
      });
      gone.catch(() => {});
      try {
        if (store.get('pods', namespace, name)?.uid !== pod.metadata.uid) throw vanished();
        const answer = await Promise.race([containers?.()?.execOf(pod)(request), gone]);
        if (answer !== undefined) return answer;
      } finally {
        unobserve?.();
      }
      const how = 'say what it answers by the annotation simulation.kopf-ts.dev/exec or by simulation.behave()';
      throw nothingRuns(`; for the command "${command.join(' ')}", ${how}`);
    },
  };
}

/** Is there a node, and may it be asked? */
function requireNode({ store }: Backend, pod: ServedObject): boolean {
  const { nodeName } = mappingAt(pod, 'spec');
  if (typeof nodeName !== 'string' || nodeName === '') return false;
  const node = store.get('nodes', '', nodeName);
  if (node === undefined) throw notFound({ group: '', plural: 'pods' }, nodeName);
  if (itemsOf(maybeMapping(parseRevision(node), 'status'), 'addresses').length === 0) {
    throw new StatusError(500, '', 'no preferred addresses found; known addresses: []');
  }
  return true;
}

/** A pod with one container needs no name of it. */
function requireContainer({ query, name }: Call, pod: ServedObject): string {
  const spec = mappingAt(pod, 'spec');
  const names = ['initContainers', 'containers', 'ephemeralContainers'].flatMap((key) =>
    itemsOf(spec, key).map((container) => String(container.name)),
  );
  const wanted = query.get('container') ?? '';
  if (wanted !== '') {
    if (!names.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${name}`);
    return wanted;
  }
  if (itemsOf(spec, 'containers').length > 1) {
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`);
  }
  return String(itemsOf(spec, 'containers')[0]?.name ?? '');
}

/** The least that the numbers may be. */
const LEAST: Readonly<Record<string, number>> = { tailLines: 0, sinceSeconds: 1, limitBytes: 1 };

function refuseOptions({ query, name }: Call): void {
  const causes = Object.entries(LEAST).flatMap(([key, least]) => {
    const given = query.get(key);
    if (given === null || given === '' || Number(given) >= least) return [];
    const why = least === 0 ? 'must be greater than or equal to 0' : 'must be greater than 0';
    return [invalidValue(key, Number(given), why)];
  });
  if (causes.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, name, causes);
}
