/** Texts of others as they may be shown: whatever they contain, they remain text. */

/** Control characters, and those that turn the direction of writing or hide: a terminal would obey them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const COMMANDS = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/**
 * The text with escapes instead of everything that a terminal would take for a command.
 *
 * ```ts
 * const printName = (body: kopf.Body): void => console.log(kopf.insight.plainText(body.metadata?.name ?? ''));
 * ```
 */
export function plainText(text: string): string {
  return text.replace(COMMANDS, (character) => {
    if (character === '\n') return ' ';
    if (character === '\t') return ' ';
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
