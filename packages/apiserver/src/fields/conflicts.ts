/** What an applied configuration would change although others manage it, in the words of the API server. */
import { StatusError } from '../http/status-errors.js';
import { type FieldSet, membersOf } from './field-sets.js';
import { pathText } from './field-steps.js';
import type { ManagerEntry } from './managers.js';

export interface Conflict {
  readonly with: ManagerEntry;
  readonly fields: FieldSet;
}

export class ConflictsError extends StatusError {
  readonly conflicts: readonly Conflict[];

  constructor(conflicts: readonly Conflict[]) {
    const told = conflicts
      .map(({ with: entry, fields }) => ({
        key: sortKeyOf(entry),
        name: nameOf(entry),
        paths: [...membersOf(fields)].map(pathText),
      }))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
    const causes = told.flatMap(({ name, paths }) =>
      paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${name}`, field })),
    );
    super(409, 'Conflict', messageOf(told), { causes });
    this.conflicts = conflicts;
  }
}

function messageOf(told: readonly { readonly name: string; readonly paths: readonly string[] }[]): string {
  const count = told.reduce((sum, { paths }) => sum + paths.length, 0);
  if (count === 1) return `Apply failed with 1 conflict: conflict with ${told[0]?.name}: ${told[0]?.paths[0]}`;
  const groups = told.map(
    ({ name, paths }) => `conflicts with ${name}:\n${paths.map((path) => `- ${path}`).join('\n')}`,
  );
  return `Apply failed with ${count} conflicts: ${groups.join('\n')}`;
}

/** The order is that of the entries as JSON: a part of an object comes before the object. */
function sortKeyOf({ manager, operation, apiVersion, subresource }: ManagerEntry): string {
  return JSON.stringify({ manager, operation, ...(operation === 'Apply' ? {} : { apiVersion }), subresource });
}

function nameOf({ manager = '', operation, apiVersion, subresource }: ManagerEntry): string {
  const part = subresource === undefined ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(manager)}${part}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}
