/** How settings are told on their page. */

const bytes = /(?:Size)$/;

/** @param {string} type as it is written in the code */
export function unitOf(name, type) {
  if (/\bSeconds\b/.test(type)) return 'seconds';
  if (bytes.test(name)) return 'bytes';
  if (/^boolean\b/.test(type)) return 'yes or no';
  if (/^number\b/.test(type)) return 'number';
  if (/^'|^LogLevel/.test(type)) return 'one of';
  if (/^string\b/.test(type)) return 'text';
  if (/^readonly string\[\]/.test(type)) return 'list of texts';
  return 'object';
}

export function shownDefault(name, value) {
  if (value === undefined || /Storage$/.test(name))
    return value === undefined && !/Storage$/.test(name) ? 'unset' : 'in annotations';
  if (typeof value === 'number' && bytes.test(name))
    return value % 1024 ** 2 === 0 ? `${value / 1024 ** 2} MiB` : `${value / 1e6} MB`;
  if (typeof value === 'string') return `\`'${value}'\``;
  if (typeof value === 'object')
    return `\`${JSON.stringify(value).replaceAll('"', '').replaceAll(',', ', ').replaceAll(':', ': ')}\``;
  return `\`${String(value)}\``;
}
