// Without the web font: no request leaves the page, and the fonts of the system are good enough.

import hovers from '@shikijs/vitepress-twoslash/client';
import '@shikijs/vitepress-twoslash/style.css';
import { useData, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import './style.css';

/** All pages, as the sidebar has them: from the home page, one click leads to each of them. */
const AllPages = {
  setup() {
    const { theme } = useData();
    const link = ({ text, link: to }) =>
      h('li', h('a', { href: withBase(to.endsWith('/') ? to : `${to}.html`) }, text));
    const group = ({ text, items }) => h('section', [h('h3', text), h('ul', items.map(link))]);
    return () => h('div', { class: 'all-pages' }, theme.value.sidebar['/'].map(group));
  },
};

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('AllPages', AllPages);
    app.use(hovers);
  },
};
