/** What a program prints, as a page that looks like a terminal: with the colours and forms that ours use, and no others. */

const ESCAPE = '\u001B';

/** By SGR code; the rest of the look is in the style of the page. */
const CLASSES: Readonly<Record<string, string>> = {
  1: 'bold',
  2: 'dim',
  31: 'red',
  33: 'yellow',
  36: 'cyan',
  90: 'grey',
};
/** Back to normal: everything, bold or dim, the colour. */
const ENDS: Readonly<Record<string, readonly string[]>> = {
  0: Object.values(CLASSES),
  22: ['bold', 'dim'],
  39: ['red', 'yellow', 'cyan', 'grey'],
};
const SGR = new RegExp(`${ESCAPE}\\[(\\d*)m`);
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

export function terminalPage(printed: string): string {
  return `<!doctype html><meta charset="utf-8"><style>
    body { margin: 0 }
    pre { box-sizing: border-box; margin: 0; height: 100vh; padding: 20px 24px; overflow: hidden; border-radius: 8px }
    code { display: inline-block; font: inherit }
    pre { background: #1b1f24; color: #e3e6ea; font: 13px/1.5 "DejaVu Sans Mono", "Liberation Mono", monospace }
    pre { white-space: pre-wrap; word-break: break-all }
    .bold { font-weight: bold } .dim { opacity: 0.65 } .grey { opacity: 0.6 }
    .red { color: #ff8a80 } .yellow { color: #f2c14e } .cyan { color: #67d3e5 }
  </style><pre><code>${coloured(printed)}</code></pre>`;
}

/** An unknown code is a mistake: it would be missing in the picture. */
export function coloured(printed: string): string {
  const [first = '', ...others] = printed.split(SGR);
  let html = escaped(first);
  let classes = new Set<string>();
  for (let at = 0; at < others.length; at += 2) {
    const code = others[at] || '0';
    const [begun, ended] = [CLASSES[code], ENDS[code]];
    if (begun === undefined && ended === undefined) throw new Error(`The terminal does not know the code ${code}.`);
    classes = new Set([...classes, ...(begun === undefined ? [] : [begun])].filter((one) => !ended?.includes(one)));
    const text = escaped(others[at + 1] ?? '');
    html += classes.size === 0 || text === '' ? text : `<span class="${[...classes].join(' ')}">${text}</span>`;
  }
  return html;
}

function escaped(text: string): string {
  if (text.includes(ESCAPE)) throw new Error(`The terminal knows colours only: ${JSON.stringify(text)}`);
  return text.replace(/[&<>]/g, (character) => ENTITIES[character] ?? character);
}
