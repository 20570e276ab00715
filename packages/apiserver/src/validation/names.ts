/** The rules for names, labels and the like, in the words of kube-apiserver. */
/** All problems of a value; none if it is fine. */
export type NameRule = (name: string, isPrefix: boolean) => readonly string[];

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const DNS1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const tooLong = (limit: number): string => `must be no more than ${limit} characters`;
/** Of labels; the rules are younger, and worded otherwise. */
const tooManyBytes = (limit: number): string => `must be no more than ${limit} bytes`;

/** A prefix may end with a dash: the rest of the name is generated. */
function completed(name: string, isPrefix: boolean): string {
  return isPrefix && name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
}

export const dnsLabel: NameRule = (name, isPrefix) => {
  const value = completed(name, isPrefix);
  // Everything else about it is fine.
  if (value.length <= 63 && value.includes('.') && SUBDOMAIN.test(value)) return ['must not contain dots'];
  return [
    ...(value.length > 63 ? [tooLong(63)] : []),
    ...(LABEL.test(value)
      ? []
      : [
          "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        ]),
  ];
};

export const dnsSubdomain: NameRule = (name, isPrefix) => {
  const value = completed(name, isPrefix);
  return [
    ...(value.length > 253 ? [tooLong(253)] : []),
    ...(SUBDOMAIN.test(value)
      ? []
      : [
          "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        ]),
  ];
};

export const dns1035Label: NameRule = (name, isPrefix) => {
  const value = completed(name, isPrefix);
  return [
    ...(value.length > 63 ? [tooLong(63)] : []),
    ...(DNS1035.test(value)
      ? []
      : [
          "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
        ]),
  ];
};

/** Anything that can be one segment of a path. */
export const pathSegment: NameRule = (name, isPrefix) => {
  if (!isPrefix && (name === '.' || name === '..')) return [`may not be '${name}'`];
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
};

/** `name` or `prefix/name`, as keys of labels and annotations are, and finalizers. */
export function qualifiedName(value: string): readonly string[] {
  const parts = value.split('/');
  const problems: string[] = [];
  if (parts.length > 2) {
    return [
      "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    ];
  }
  const [prefix, name] = parts.length === 2 ? [parts[0] as string, parts[1] as string] : [undefined, value];
  if (prefix === '') problems.push('prefix part must be non-empty');
  else if (prefix !== undefined) problems.push(...dnsSubdomain(prefix, false).map((text) => `prefix part ${text}`));
  if (name === '') problems.push('name part must be non-empty');
  else if (name.length > 63) problems.push(`name part ${tooManyBytes(63)}`);
  if (!QUALIFIED.test(name)) {
    problems.push(
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    );
  }
  return problems;
}

export function labelValue(value: string): readonly string[] {
  return [
    ...(value.length > 63 ? [tooManyBytes(63)] : []),
    ...(LABEL_VALUE.test(value)
      ? []
      : [
          "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        ]),
  ];
}
