/** What the client wants to get: the object as it is, its metadata only, or a table for people; as JSON or YAML. */
import { StatusError } from './status-errors.js';

export interface Wanted {
  readonly format: 'json' | 'yaml';
  /** `undefined` for the object itself. */
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | 'APIGroupDiscoveryList' | undefined;
  readonly version: string;
}

const PLAIN: Wanted = { format: 'json', as: undefined, version: '' };
const TYPES = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
const STREAMS = 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch';

interface Clause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** What is asked for, as far as refusals are in other words for it. */
export interface Negotiated {
  readonly isCollection?: boolean;
  readonly isCustom?: boolean;
}

/** The first acceptable of what is offered by the client. Throws 406 if there is none. */
export function negotiate(
  accept: string | undefined,
  { isCollection = false, isCustom = false }: Negotiated = {},
): Wanted {
  // By far the most frequent ones.
  if (accept === undefined || accept === '' || accept === 'application/json' || accept === '*/*') return PLAIN;
  const clauses = accept.split(',').map(parseClause);
  for (const clause of clauses) {
    const wanted = wantedBy(clause);
    if (wanted !== undefined) return wanted;
  }
  if (isCustom || clauses.some(({ type }) => formatOf(type) !== undefined)) {
    throw new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${TYPES}`);
  }
  throw new StatusError(
    406,
    'NotAcceptable',
    `406: Not Acceptable\n\nAvailable representations: ${isCollection ? `${TYPES}, ${STREAMS}` : TYPES}`,
    {},
  );
}

function wantedBy({ type, parameters }: Clause): Wanted | undefined {
  const format = formatOf(type);
  if (format === undefined) return undefined;
  const as = parameters.get('as');
  if (as === undefined) return { ...PLAIN, format };
  const group = parameters.get('g') ?? '';
  const version = parameters.get('v') ?? '';
  if (as === 'APIGroupDiscoveryList') {
    const isKnown = group === 'apidiscovery.k8s.io' && (version === 'v2' || version === 'v2beta1');
    return isKnown ? { format, as, version } : undefined;
  }
  if (as !== 'Table' && as !== 'PartialObjectMetadata' && as !== 'PartialObjectMetadataList') return undefined;
  return group === 'meta.k8s.io' && (version === 'v1' || version === 'v1beta1') ? { format, as, version } : undefined;
}

function formatOf(type: string): 'json' | 'yaml' | undefined {
  if (type === 'application/json' || type === '*/*') return 'json';
  return type === 'application/yaml' ? 'yaml' : undefined;
}

function parseClause(text: string): Clause {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim());
  const parameters = rest.map((part): [string, string] => {
    const [name = '', value = ''] = part.split('=');
    return [name.trim().toLowerCase(), value.trim()];
  });
  return { type: type.toLowerCase(), parameters: new Map(parameters) };
}
