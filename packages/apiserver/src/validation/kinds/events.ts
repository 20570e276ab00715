/** Events, of both groups: they are judged in the shape of the core group. */
import { deepEqual } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../../contracts/objects.js';
import { eventConversion } from '../../kinds/conversions/event-versions.js';
import { maybeMapping } from '../../kinds/defaults/setting.js';
import { invalidValue, required } from '../../text/field-causes.js';
import { qualifiedName } from '../names.js';
import type { KindRules } from './rules.js';

const LIMITS: readonly (readonly [field: string, limit: number])[] = [
  ['reportingInstance', 128],
  ['action', 128],
  ['reason', 128],
  ['message', 1024],
];

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';

/** What holds for events of both groups. */
function validateCommon(event: ServedObject, reporterField: string): readonly Cause[] {
  const { namespace = '' } = event.metadata;
  const subject = String(maybeMapping(event, 'involvedObject')?.namespace ?? '');
  const mismatch = invalidValue('involvedObject.namespace', subject, 'does not match event.namespace');
  if (isEmpty(event.eventTime)) {
    const isFine = subject === '' ? namespace === 'default' : subject === namespace;
    return isFine ? [] : [mismatch];
  }
  const isNowhere = subject === '' && namespace !== 'default' && namespace !== 'kube-system';
  const reporter = String(event.reportingComponent ?? '');
  return [
    ...(isNowhere ? [mismatch] : []),
    ...(reporter === '' ? [required(reporterField)] : []),
    ...qualifiedName(reporter).map((why) => invalidValue(reporterField, reporter, why)),
    ...LIMITS.flatMap(([field, limit]): Cause[] => {
      const value = String(event[field] ?? '');
      if (value === '' && field !== 'message') return [required(field)];
      return value.length > limit ? [invalidValue(field, '', `can have at most ${limit} characters`)] : [];
    }),
  ];
}

const toCore = (object: ServedObject): ServedObject => eventConversion.toStorage?.(object) ?? object;

function validateSeries(event: ServedObject): readonly Cause[] {
  const series = maybeMapping(event, 'series');
  if (series === undefined) return [];
  return [
    ...(Number(series.count ?? 0) < 2 ? [invalidValue('series.count', '', 'should be at least 2')] : []),
    ...(isEmpty(series.lastObservedTime) ? [required('series.lastObservedTime')] : []),
  ];
}

const UNSET = ['firstTimestamp', 'lastTimestamp', 'count'];

const newEvent: KindRules = {
  validate: (object) => [...validateCommon(toCore(object), 'reportingController'), ...validateSeries(object)],
  validateCreate(object) {
    const event = toCore(object);
    const source = maybeMapping(event, 'source') ?? {};
    return [
      ...(isEmpty(event.eventTime) ? [required('eventTime')] : []),
      ...(event.type === 'Normal' || event.type === 'Warning'
        ? []
        : [invalidValue('type', '', `has invalid value: ${String(event.type ?? '')}`)]),
      ...UNSET.flatMap((field) =>
        isEmpty(event[field]) || event[field] === 0 ? [] : [invalidValue(field, '', 'needs to be unset')],
      ),
      ...(isEmpty(source.component) && isEmpty(source.host) ? [] : [invalidValue('source', '', 'needs to be unset')]),
    ];
  },
  validateUpdate(object, old) {
    const [event, before] = [toCore(object), toCore(old)];
    const fields: readonly (readonly [key: string, field: string])[] = [
      ...[
        'involvedObject',
        'reason',
        'message',
        'source',
        'firstTimestamp',
        'lastTimestamp',
        'count',
        'reason',
        'type',
      ].map((key) => [key, key] as const),
      ...['eventTime', 'action', 'related'].map((key) => [key, key] as const),
      ['reportingComponent', 'reportingController'],
      ['reportingInstance', 'reportingInstance'],
    ];
    return fields.flatMap(([key, field]) =>
      deepEqual(event[key], before[key]) ? [] : [invalidValue(field, event[key] ?? '', 'field is immutable')],
    );
  },
};

export const eventRules: Readonly<Record<string, KindRules>> = {
  'core.Event': { validate: (object) => validateCommon(object, 'reportingComponent') },
  'events.Event': newEvent,
};
