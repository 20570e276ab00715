export function unitOf(name: string, type: string): string;
export function shownDefault(name: string, value: unknown): string;
