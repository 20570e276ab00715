/** Versions as the binaries print them: `Kubernetes v1.36.4`, `etcd Version: 3.6.16`, `Client Version: v1.36.4`. */
export interface Version {
  readonly major: number;
  readonly minor: number;
  /** As printed, without the `v`: `1.36.4`, `1.32.4-dispatcher`. */
  readonly text: string;
}

/** The first thing in the text that looks like a version. */
export function parseVersion(text: string): Version | undefined {
  const match = /\bv?((\d+)\.(\d+)\.\d+[\w.+-]*)/.exec(text);
  if (match?.[1] === undefined) return undefined;
  return { major: Number(match[2]), minor: Number(match[3]), text: match[1] };
}

/** `1.36` of `1.36.4`. */
export function lineOf({ major, minor }: Version): string {
  return `${major}.${minor}`;
}

export function isAtLeast(version: Version, line: string): boolean {
  const [major = 0, minor = 0] = line.split('.').map(Number);
  return version.major > major || (version.major === major && version.minor >= minor);
}
