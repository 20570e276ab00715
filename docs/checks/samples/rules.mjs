/** What each chapter has to show by its samples. */

/** @returns {string[]} one sentence per violation */
export function rulesOf(plans, groups) {
  const pages = new Map(groups.flatMap((group) => group.pages).map((page) => [page.page, page]));
  return plans.flatMap((plan) => {
    const chapter = pages.get(plan.page);
    if (chapter === undefined || chapter.plain !== undefined) return [];
    const scenarios = [...plan.modules, ...plan.shell].flatMap((module) => module.scenarios);
    if (scenarios.length === 0) return [`${plan.page}.md has no executed sample with a scenario that can fail.`];
    const operators = plan.modules.filter(({ kind, scenarios }) => kind === 'operator' && scenarios.length > 0);
    if (!chapter.handlers) return [];
    if (operators.length === 0)
      return [`${plan.page}.md is about handlers, and has no whole operator with a scenario.`];
    const looks = operators.some(({ scenarios }) => scenarios.some(({ body }) => /\b(?:get|list)\(/.test(body)));
    return looks ? [] : [`${plan.page}.md is about handlers, and no scenario looks at an object (\`get(…)\`).`];
  });
}
