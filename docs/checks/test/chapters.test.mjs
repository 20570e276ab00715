/** The list of chapters, Kopf's table of contents, and the questions of users, compared with the pages. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { chapters } from '../support/chapters.mjs';
import { answerProblem, chapterProblems } from '../support/contents.mjs';
import { pageNames, readPage } from '../support/pages.mjs';

const names = pageNames();
const pages = new Map(names.map((name) => [name, readPage(name)]));
const listed = chapters().flatMap((group) => group.pages);

describe('The list of chapters', () => {
  it.each(listed.map((chapter) => [chapter.page, chapter]))('%s is there, with all its anchors', (_, chapter) => {
    expect(chapterProblems(chapter, pages)).toEqual([]);
  });

  it('has all pages', () => {
    const known = new Set(['index', ...listed.map(({ page }) => page)]);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('A page that is not there', () => {
  const awaited = { page: 'guide/none', title: 'None' };

  it('fails', () => {
    expect(chapterProblems(awaited, pages)).toEqual(["There is no guide/none.md for 'None'."]);
    expect(answerProblem({ answer: 'guide/none', keywords: [] }, pages, [awaited])).toBe('There is no guide/none.md.');
    expect(answerProblem({ keywords: [] }, pages, listed)).toBe('It has no `answer`.');
  });
});

describe('A heading that is not there', () => {
  it('fails', () => {
    const page = { page: 'guide/handlers', title: 'Handlers', kopf: { Nothing: 'no-such-anchor' } };
    expect(chapterProblems(page, pages)).toHaveLength(1);
  });
});

describe('Questions of users of Kopf', () => {
  const questions = parse(readFileSync(new URL('../../questions.yaml', import.meta.url), 'utf8'));

  it('are many', () => expect(questions.length).toBeGreaterThanOrEqual(40));

  it.each(questions.map((one) => [one.question.slice(0, 80), one]))('%s…', (_, question) => {
    expect(answerProblem(question, pages, listed)).toBeUndefined();
  });
});
