/** What pages have to contain. */

/** @returns {string[]} one sentence for each anchor that is not there */
export function chapterProblems({ page, title, kopf = {} }, pages) {
  if (!pages.has(page)) return [`There is no ${page}.md for '${title}'.`];
  const wanted = Object.entries(kopf).map(([heading, place]) => [heading, ...placeOf(place, page)]);
  return wanted
    .filter(([, where, anchor]) => !headingsOf(pages.get(where)).some((heading) => heading.anchor === anchor))
    .map(([heading, where, anchor]) => `${where}.md has no #${anchor}, for Kopf's '${heading}'.`);
}

/**
 * A question is answered by a section that has all its keywords. Two clicks are enough: the home page links to all pages of
 * the list, and headings up to the third level are in the outline of each.
 *
 * @returns {string | undefined} what is wrong
 */
export function answerProblem({ answer, keywords }, pages, listed) {
  if (answer === undefined) return 'It has no `answer`.';
  const [page, anchor] = placeOf(answer, answer);
  if (!listed.some((chapter) => chapter.page === page)) return `${page} is not on the home page, nor in the sidebar.`;
  if (!pages.has(page)) return `There is no ${page}.md.`;
  const section = sectionOf(pages.get(page), answer.includes('#') ? anchor : undefined);
  if (section === undefined) return `${page}.md has no #${anchor} of the first three levels.`;
  const text = section.toLowerCase();
  const lacking = keywords.filter((keyword) => !text.includes(String(keyword).toLowerCase()));
  return lacking.length === 0 ? undefined : `${answer} does not have: ${lacking.join(', ')}.`;
}

function placeOf(place, page) {
  if (!place.includes('#')) return place === page ? [page, undefined] : [page, place];
  const [where, anchor] = place.split('#');
  return [where === '' ? page : where, anchor];
}

function headingsOf(page) {
  return page?.blocks.filter(({ kind }) => kind === 'heading') ?? [];
}

/** The text under a heading, up to the next one of the same level; or the whole page. */
function sectionOf(page, anchor) {
  if (anchor === undefined) return page.text;
  const headings = headingsOf(page);
  const at = headings.findIndex((heading) => heading.anchor === anchor && heading.level <= 3);
  if (at === -1) return undefined;
  const next = headings.slice(at + 1).find(({ level }) => level <= headings[at].level);
  return page.text
    .split('\n')
    .slice(headings[at].line - 1, next === undefined ? undefined : next.line - 1)
    .join('\n');
}
