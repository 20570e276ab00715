export function tableRows(text: string): string[][];
