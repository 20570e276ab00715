/** Texts from outside are quoted and cut before they get into a log line, so that none of them looks like a line of ours. */

const MAX_LENGTH = 256;

/** In double quotes, with everything escaped that could break out of them, or out of the line. */
export function quoted(text: string | undefined): string {
  const whole = text ?? '';
  const cut = whole.length > MAX_LENGTH ? `${whole.slice(0, MAX_LENGTH)}…` : whole;
  // JSON leaves some characters as they are which terminals and log viewers take for commands or for new lines.
  return JSON.stringify(cut).replace(/[\u007f-\u009f\u2028\u2029]/g, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
