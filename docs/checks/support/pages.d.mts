export interface Block {
  readonly kind: 'sample' | 'comment' | 'heading';
  readonly line: number;
  readonly language?: string;
  readonly text: string;
}
export function pageNames(folder?: string): string[];
export function readPage(
  name: string,
  folder?: string,
): { readonly name: string; readonly text: string; readonly blocks: readonly Block[] };
