/** Draws boxes and arrows as SVG. It is readable on light and on dark pages, and loads nothing. */

const STYLE = `
  text { font: 14px system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif; fill: #1f2430; text-anchor: middle }
  .small { font-size: 12px; fill: #4b5262 }
  .free { fill: #4b5262; font-size: 12.5px }
  .left { text-anchor: start }
  .code { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size: 13px }
  rect { stroke-width: 1.5; rx: 8px }
  .plain { fill: #f4f5f7; stroke: #9aa1ae }
  .cluster { fill: #e3edfb; stroke: #5b8ad0 }
  .yours { fill: #e2f4e6; stroke: #4c9f63 }
  .warn { fill: #fdeede; stroke: #cf8a3c }
  .bad { fill: #fbe4e4; stroke: #cc5c5c }
  .frame { fill: none; stroke: #9aa1ae; stroke-dasharray: 5 4 }
  .line { fill: none; stroke: #6f7685; stroke-width: 1.5 }
  .dashed { stroke-dasharray: 5 4 }
  .head { fill: #6f7685 }
  @media (prefers-color-scheme: dark) {
    text { fill: #eceef2 }
    .small, .free { fill: #b6bcc8 }
    .plain { fill: #2b2e36; stroke: #6c7382 }
    .cluster { fill: #1f3350; stroke: #6d9ee6 }
    .yours { fill: #1d3b27; stroke: #62b67b }
    .warn { fill: #46321b; stroke: #d99a50 }
    .bad { fill: #472426; stroke: #dd7272 }
    .frame { stroke: #6c7382 }
    .line { stroke: #9aa1ae }
    .head { fill: #9aa1ae }
  }`;

const escaped = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

/**
 * @param {{ width: number, height: number, title: string }} size the title is read to those who do not see the picture
 * @param {(pen: ReturnType<typeof pens>) => void} draw
 * @returns {string} the file
 */
export function drawing({ width, height, title }, draw) {
  const parts = [];
  draw(pens(parts));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
  <title>${escaped(title)}</title>
  <style>${STYLE}
  </style>
${parts.map((part) => `  ${part}`).join('\n')}
</svg>
`;
}

/** Text that begins with `*` is small, with `$` is code. */
function pens(parts) {
  const text = (x, y, line, more = '') => {
    const small = line.startsWith('*');
    const code = line.startsWith('$');
    const classes = [small && 'small', code && 'code', more].filter(Boolean).join(' ');
    const name = classes === '' ? '' : ` class="${classes}"`;
    parts.push(`<text x="${x}" y="${y}"${name}>${escaped(small || code ? line.slice(1) : line)}</text>`);
  };
  const head = ([x, y], [fromX, fromY]) => {
    const angle = (Math.atan2(y - fromY, x - fromX) * 180) / Math.PI;
    parts.push(
      `<path class="head" d="M0 0L-9 -4.5V4.5Z" transform="translate(${x} ${y}) rotate(${Math.round(angle)})"/>`,
    );
  };
  return {
    /** @returns the middles of its sides */
    box(x, y, width, height, lines, tone = 'plain') {
      parts.push(`<rect class="${tone}" x="${x}" y="${y}" width="${width}" height="${height}"/>`);
      const top = y + height / 2 - (lines.length - 1) * 9 + 5;
      for (const [at, line] of lines.entries()) text(x + width / 2, top + at * 18, line);
      return {
        left: [x, y + height / 2],
        right: [x + width, y + height / 2],
        top: [x + width / 2, y],
        bottom: [x + width / 2, y + height],
        at: (fraction, side) => [x + width * fraction, side === 'top' ? y : y + height],
      };
    },
    frame(x, y, width, height, label) {
      parts.push(`<rect class="frame" x="${x}" y="${y}" width="${width}" height="${height}"/>`);
      text(x + 12, y + 19, label, 'free left');
    },
    /** Through all points; the last one has the head. */
    arrow(points, { label, at, dashed = false, both = false } = {}) {
      const path = points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('');
      parts.push(`<path class="line${dashed ? ' dashed' : ''}" d="${path}"/>`);
      head(points.at(-1), points.at(-2));
      if (both) head(points[0], points[1]);
      if (label === undefined) return;
      const [x, y] = at ?? [(points[0][0] + points[1][0]) / 2, (points[0][1] + points[1][1]) / 2 - 7];
      for (const [index, line] of label.split('\n').entries()) text(x, y + index * 16, line, 'free');
    },
    line(points) {
      parts.push(
        `<path class="line" d="${points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('')}"/>`,
      );
    },
    label: (x, y, line, left = false) => text(x, y, line, left ? 'free left' : 'free'),
  };
}
