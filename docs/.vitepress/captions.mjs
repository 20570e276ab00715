/**
 * How samples are shown: with the name of the file above, ` ```ts [handlers.ts] `, also outside of groups of samples; and what
 * stands above the marked lines, ` ```ts{40-52} `, folded if it is long: readers know it from the page before.
 */
export function captions(md) {
  const fence = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    // Before it is rendered: that takes the name away.
    const name = /\[([^\]]+)\]/.exec(tokens[index].info)?.[1];
    const html = folded(fence(tokens, index, ...rest));
    const isInGroup = tokens.slice(0, index).reduce((depth, { type }) => depth + groupStep(type), 0) > 0;
    if (name === undefined || isInGroup) return html;
    return `<div class="sample"><div class="sample-name">${md.utils.escapeHtml(name)}</div>${html}</div>`;
  };
}

const LONG = 12;

function folded(html) {
  const start = html.indexOf('<span class="line');
  const marked = html.indexOf('<span class="line highlighted');
  const above = html.slice(start, marked);
  const lines = above.split('<span class="line').length - 1;
  if (marked === -1 || lines < LONG) return html;
  // The button that copies the sample copies these lines, but not the summary.
  const summary = `<summary class="vp-copy-ignore">${lines} lines as before</summary>`;
  return `${html.slice(0, start)}<details class="as-before">${summary}${above}</details>${html.slice(marked)}`;
}

function groupStep(type) {
  if (type === 'container_code-group_open') return 1;
  return type === 'container_code-group_close' ? -1 : 0;
}
