/** Shows the name of a file above its sample: ` ```ts [handlers.ts] `, also outside of groups of samples. */
export function captions(md) {
  const fence = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const html = fence(tokens, index, ...rest);
    const name = /\[([^\]]+)\]/.exec(tokens[index].info)?.[1];
    const isInGroup = tokens.slice(0, index).reduce((depth, { type }) => depth + groupStep(type), 0) > 0;
    if (name === undefined || isInGroup) return html;
    return `<div class="sample"><div class="sample-name">${md.utils.escapeHtml(name)}</div>${html}</div>`;
  };
}

function groupStep(type) {
  if (type === 'container_code-group_open') return 1;
  return type === 'container_code-group_close' ? -1 : 0;
}
