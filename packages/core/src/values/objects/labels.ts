/** What can be a label: the server refuses whole requests for one that cannot. */
const NAME = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

export function isLabelKey(key: string): boolean {
  const slash = key.indexOf('/');
  return slash < 0 ? NAME.test(key) : PREFIX.test(key.slice(0, slash)) && NAME.test(key.slice(slash + 1));
}

export function isLabelValue(value: string): boolean {
  return value === '' || NAME.test(value);
}
