/**
 * The console in the browser. What the operator tells comes as server-sent events; the page keeps the last of each,
 * and brings what is shown in line with it. Texts of others are only ever put into text nodes.
 */
(() => {
  const STATES = ['failed', 'retrying', 'running', 'waiting', 'paused', 'daemons', 'done'];
  const VIEWS = {
    objects: 'Objects',
    handlers: 'Handlers',
    streams: 'Streams',
    operator: 'Operator',
    reviews: 'Reviews',
  };
  const PAUSES = { 900: '15 min', 3600: '1 hour', 28800: '8 hours', 86400: '1 day' };
  /** The operator says something at least so often, in milliseconds. */
  const SILENCE = 45_000;

  const byId = (id) => document.getElementById(id);
  const main = byId('main');
  /** The last that was told, by the names of the events. */
  const told = { hello: {}, overview: undefined, objects: undefined, object: undefined };
  let route = {};
  let token = sessionStorage.getItem('kopf-token') ?? '';

  // ---- Parts of pages. ----

  /** Characters that would turn or hide the text around them. */
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
  const COMMANDS = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
  const clean = (text) =>
    String(text ?? '').replace(COMMANDS, (one) =>
      one === '\n' || one === '\t' ? ' ' : `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );

  /** An element. Names of attributes are ours; values may be anybody's, and so may texts. */
  const el = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (typeof value === 'function') element.addEventListener(name, value);
      else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : clean(value));
    }
    for (const child of children.flat())
      if (child !== undefined) element.append(child?.nodeType ? child : clean(child));
    return element;
  };

  const setText = (element, text) => {
    const wanted = clean(text);
    if (element.textContent !== wanted) element.textContent = wanted;
  };

  /** Brings the children in line with the items, by their keys: what stays keeps its focus and its place. */
  const keep = (parent, items, keyOf, create, update) => {
    const old = new Map([...parent.children].map((child) => [child.dataset.key, child]));
    let next = parent.firstElementChild;
    for (const item of items) {
      const key = String(keyOf(item));
      let child = old.get(key);
      old.delete(key);
      if (child === undefined) {
        child = create(item);
        child.dataset.key = key;
      }
      if (child === next) next = next.nextElementSibling;
      else parent.insertBefore(child, next);
      update?.(child, item);
    }
    for (const child of old.values()) child.remove();
  };

  /** What is shown is made anew only if it is different. */
  const fill = (element, signature, make) => {
    const text = JSON.stringify(signature);
    if (element.dataset.made === text) return;
    element.dataset.made = text;
    element.replaceChildren(...make().flat());
  };

  /** Columns are `{ title, css, label, of(row): parts, look(row): what it depends on }`. */
  const table = (caption, columns, css = '') => {
    // Said again by roles: on phones, the parts are laid out as cards, and browsers would take them for no table then.
    const body = el('tbody', { role: 'rowgroup' });
    const head = columns.map(({ title, css: style }) =>
      el('th', { scope: 'col', class: style, role: 'columnheader' }, title),
    );
    const top = el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, head));
    const element = el('table', { class: css, 'aria-label': caption, role: 'table' }, top, body);
    const show = (rows, keyOf, isCurrent) =>
      keep(
        body,
        rows,
        keyOf,
        () =>
          el(
            'tr',
            { role: 'row' },
            columns.map(({ css: style, label }) => el('td', { class: style, 'data-label': label, role: 'cell' })),
          ),
        (row, item) => {
          row.className = isCurrent?.(item) ? 'current' : '';
          columns.forEach(({ of, look = of }, index) => {
            const cell = row.children[index];
            const seen = look(item);
            fill(cell, seen?.nodeType ? Math.random() : seen, () => [of(item) ?? []]);
          });
        },
      );
    return { element, show };
  };

  const plain = (text) =>
    text === undefined || text === null || text === '' ? [] : [document.createTextNode(clean(text))];
  const stateMark = (state) => el('span', { class: `state ${state}` }, state);
  const numberText = (value) => (value ?? 0).toLocaleString('en');

  const span = (seconds) => {
    if (seconds < 0.0005) return '<1 ms';
    if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
    if (seconds < 60) return `${Math.round(seconds)} s`;
    if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
    return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
  };
  const moment = (at) => {
    const seconds = (at - Date.now()) / 1000;
    if (Math.abs(seconds) < 1) return 'now';
    return seconds > 0 ? `in ${span(seconds)}` : `${span(-seconds)} ago`;
  };
  /** A time that keeps up with the clock. */
  const when = (at) => {
    const iso = new Date(at).toISOString();
    return el('time', { datetime: iso, title: iso, 'data-at': at }, moment(at));
  };
  setInterval(() => {
    for (const one of document.querySelectorAll('time[data-at]')) setText(one, moment(Number(one.dataset.at)));
  }, 1000);

  let saying;
  const say = (text) => {
    const place = byId('said');
    place.textContent = clean(text);
    place.classList.add('shown');
    clearTimeout(saying);
    saying = setTimeout(() => place.classList.remove('shown'), 5000);
  };

  // ---- Where we are: in the address, so that links and the way back work. ----

  const viewNamed = (name) => (Object.hasOwn(VIEWS, name) ? name : 'objects');
  const readRoute = () => {
    const [view = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
    const parameters = Object.fromEntries(new URLSearchParams(query));
    // For links with a token: it never leaves the browser in the address, and does not stay there either.
    if (parameters.token !== undefined) {
      token = parameters.token;
      sessionStorage.setItem('kopf-token', token);
      const { token: _, ...rest } = parameters;
      history.replaceState(null, '', hashOf({ view, ...rest }));
      return { ...rest, view: viewNamed(view) };
    }
    return { ...parameters, view: viewNamed(view) };
  };
  const hashOf = ({ view = 'objects', ...parameters }) => {
    const given = Object.entries(parameters).filter(([, value]) => value);
    const query = new URLSearchParams(given).toString();
    return `#/${view}${query === '' ? '' : `?${query}`}`;
  };
  const linkTo = (changes) => hashOf({ ...route, ...changes });
  const go = (changes) => {
    const hash = linkTo(changes);
    if (hash !== location.hash) location.hash = hash;
  };
  const AT = { atResource: undefined, atNamespace: undefined, atName: undefined };
  const chosenBy = ({ resource, namespace, name }) => ({ atResource: resource, atNamespace: namespace, atName: name });

  // ---- The operator: what it tells, and what it is told. ----

  let connection;
  let failures = 0;
  let retrying;

  const setConnection = (state, text) => {
    const place = byId('connection');
    if (place.dataset.state !== state && place.dataset.was === 'live' && state === 'off') say('Connection lost.');
    place.dataset.state = state;
    if (state === 'live') place.dataset.was = 'live';
    setText(place, text);
  };
  const authorization = () => (token === '' ? {} : { authorization: `Bearer ${token}` });
  const queryOf = () => {
    const { resource, state, text, limit, atResource, atNamespace, atName } = route;
    const given = Object.entries({ resource, state, text, limit, atResource, atNamespace, atName });
    return new URLSearchParams(given.filter(([, value]) => value)).toString();
  };

  const disconnect = () => {
    clearTimeout(retrying);
    connection?.abort();
    connection = undefined;
  };

  const connect = async () => {
    disconnect();
    if (document.hidden) return;
    const own = new AbortController();
    connection = own;
    let watchdog;
    const awake = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => own.abort(), SILENCE);
    };
    try {
      awake();
      const answer = await fetch(`api/live?${queryOf()}`, {
        headers: authorization(),
        cache: 'no-store',
        signal: own.signal,
      });
      if (answer.status === 401) return askForToken();
      if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).error ?? `status ${answer.status}`);
      await listen(answer.body, own, awake);
    } catch (error) {
      if (connection === own) setConnection('off', error.name === 'Error' ? error.message : 'reconnecting');
    } finally {
      clearTimeout(watchdog);
      if (connection === own && !document.hidden && byId('login') === null) {
        setConnection('off', 'reconnecting');
        failures += 1;
        retrying = setTimeout(connect, Math.min(15_000, 500 * 2 ** failures) * (0.75 + Math.random() / 2));
      }
    }
  };

  const listen = async (body, own, awake) => {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done || connection !== own) return;
      awake();
      failures = 0;
      setConnection('live', 'live');
      rest += value;
      const messages = rest.split('\n\n');
      rest = messages.pop();
      for (const message of messages) {
        const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(message) ?? [];
        if (name !== undefined && Object.hasOwn(told, name)) told[name] = JSON.parse(data);
      }
      if (messages.length > 0) render();
    }
  };

  const act = async (action, seconds) => {
    const { atResource: resource, atNamespace: namespace, atName: name } = route;
    const title = { retry: 'Retry', pause: 'Pause', resume: 'Resume' }[action];
    try {
      const answer = await fetch('api/actions', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...authorization() },
        body: JSON.stringify({ action, resource, namespace, name, seconds, by: 'the console' }),
      });
      const { error, isChanged, until } = await answer.json();
      if (!answer.ok) return say(`${title} was refused: ${error}.`);
      if (action === 'pause') return say(`Paused until ${new Date(until).toLocaleTimeString()}.`);
      const nothing = action === 'retry' ? 'Nothing is waiting for a retry.' : 'It is not paused.';
      say(isChanged ? (action === 'retry' ? 'Retried.' : 'Resumed.') : nothing);
    } catch {
      say(`${title} failed: no answer from the operator.`);
    }
  };

  const askForToken = () => {
    disconnect();
    setConnection('off', 'a token is needed');
    const input = el('input', { type: 'password', id: 'token', autocomplete: 'off', required: true });
    const submit = (event) => {
      event.preventDefault();
      token = input.value.trim();
      sessionStorage.setItem('kopf-token', token);
      layout();
      connect();
    };
    const wrong = token === '' ? [] : [el('p', { class: 'failed', role: 'alert' }, 'This token was not accepted.')];
    main.replaceChildren(
      el(
        'section',
        { class: 'panel login', id: 'login', 'aria-labelledby': 'login-title' },
        el('h2', { id: 'login-title' }, 'Token required'),
        el(
          'form',
          { submit },
          el('label', { for: 'token' }, "A token from the operator's token file (--admin-token-file)"),
          input,
          wrong,
          el('button', { type: 'submit' }, 'Sign in'),
        ),
      ),
    );
    input.focus();
  };

  // ---- The views. ----

  const rowKey = ({ uid, resource, namespace, name }) => uid ?? `${resource} ${namespace} ${name}`;
  const objectTitle = ({ namespace, name }) => (namespace ? `${namespace}/${name}` : name);

  const objectsView = () => {
    const kinds = el('ul');
    const search = el('input', {
      type: 'search',
      placeholder: 'Search names, namespaces, messages',
      'aria-label': 'Search objects',
      'aria-keyshortcuts': '/',
      id: 'search',
      value: route.text ?? '',
    });
    let typing;
    search.addEventListener('input', () => {
      clearTimeout(typing);
      typing = setTimeout(() => {
        history.replaceState(null, '', linkTo({ text: search.value }));
        moved();
      }, 250);
    });
    const chips = el('div', { class: 'chips', role: 'group', 'aria-label': 'States' });
    const list = table(
      'Objects',
      [
        {
          title: 'Object',
          css: 'name',
          look: (row) => [row.resource, row.namespace, row.name],
          of: (row) =>
            [
              row.namespace ? el('span', { class: 'dim' }, `${row.namespace}/`) : [],
              el('a', { href: linkTo(chosenBy(row)) }, row.name),
            ].flat(),
        },
        { title: 'Kind', css: 'fit dim', look: (row) => row.kind, of: (row) => plain(row.kind ?? row.resource) },
        { title: 'State', css: 'fit', look: (row) => row.state, of: (row) => stateMark(row.state) },
        {
          title: 'Next',
          css: 'fit dim',
          look: (row) => row.until,
          of: (row) => (row.until === undefined ? [] : when(row.until)),
        },
        {
          title: 'Latest problem',
          css: 'cut',
          look: (row) => row.message,
          of: (row) => (row.message ? el('span', { title: row.message }, row.message) : []),
        },
      ],
      'cards',
    );
    list.element.addEventListener('keydown', (event) => {
      const step = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key];
      const next = step && event.target.closest('tr')?.[step]?.querySelector('a');
      if (!next) return;
      event.preventDefault();
      next.focus();
    });
    const more = el('p', { class: 'more', hidden: true });
    const nothing = el('p', { class: 'empty', hidden: true });
    const detail = detailPanel();
    const split = el(
      'div',
      { class: 'split' },
      el('section', { class: 'panel kinds', 'aria-labelledby': 'kinds' }, el('h2', { id: 'kinds' }, 'Kinds'), kinds),
      el(
        'section',
        { class: 'panel objects', 'aria-label': 'Objects' },
        el('div', { class: 'bar-tools' }, search, chips),
        list.element,
        nothing,
        more,
      ),
      detail.element,
    );
    return {
      element: split,
      show() {
        split.classList.toggle('chosen', route.atName !== undefined);
        showKinds(kinds);
        const { items = [], matched = 0, counts = {} } = told.objects ?? {};
        const all = STATES.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
        const choices = [['all', all], ...STATES.map((state) => [state, counts[state] ?? 0])].filter(
          ([state, count]) => state === 'all' || count > 0 || state === route.state,
        );
        keep(
          chips,
          choices,
          ([state]) => state,
          ([state]) => {
            const click = () => go({ state: state === 'all' ? undefined : state });
            return el('button', { type: 'button', click }, state === 'all' ? 'all' : stateMark(state), el('b'));
          },
          (chip, [state, count]) => {
            chip.setAttribute('aria-pressed', String((route.state ?? 'all') === state));
            setText(chip.lastChild, numberText(count));
          },
        );
        const isChosen = (row) =>
          row.name === route.atName &&
          row.resource === route.atResource &&
          (row.namespace ?? '') === (route.atNamespace ?? '');
        list.show(items, rowKey, isChosen);
        const byKey = new Map(items.map((item) => [rowKey(item), item]));
        for (const row of list.element.tBodies[0].rows) {
          const link = row.querySelector('a');
          // It depends on where we are, and not on the object alone.
          const own = byKey.get(row.dataset.key);
          if (own) link.setAttribute('href', linkTo(chosenBy(own)));
          if (row.className === 'current') link.setAttribute('aria-current', 'true');
          else link.removeAttribute('aria-current');
        }
        list.element.hidden = items.length === 0;
        nothing.hidden = items.length > 0 || told.objects === undefined;
        const isFiltered = route.resource || route.state || route.text;
        setText(nothing, isFiltered ? 'No objects match.' : 'The operator has seen no objects yet.');
        more.hidden = matched <= items.length;
        fill(more, [items.length, matched, route], () => [
          `${numberText(items.length)} of ${numberText(matched)} shown, the most urgent first. `,
          items.length < 1000
            ? el('a', { href: linkTo({ limit: Math.min(1000, items.length * 3) }) }, 'Show more')
            : '',
        ]);
        detail.show();
      },
    };
  };

  const showKinds = (place) => {
    const { kinds = [], total = 0 } = told.overview ?? {};
    const sum = (kind) => STATES.reduce((count, state) => count + kind[state], 0);
    const all = { resource: undefined, ...Object.fromEntries(STATES.map((state) => [state, 0])) };
    for (const kind of kinds) for (const state of STATES) all[state] += kind[state];
    keep(
      place,
      kinds.length === 1 ? kinds : [all, ...kinds],
      ({ resource }) => resource ?? '',
      () => el('li', null, el('a')),
      (item, kind) => {
        const link = item.firstChild;
        const count = kind.resource === undefined ? total : sum(kind);
        link.setAttribute('href', linkTo({ resource: kind.resource, limit: undefined }));
        if (route.resource === kind.resource) link.setAttribute('aria-current', 'true');
        else link.removeAttribute('aria-current');
        fill(link, kind, () => {
          const present = STATES.filter((state) => kind[state] > 0);
          const parts = present.map((state) => {
            const part = el('i', { class: state });
            part.style.flex = `${kind[state]}`;
            return part;
          });
          const [name, ...group] = (kind.resource ?? 'all kinds').split('.');
          const words = present.map((state) => `${kind[state]} ${state}`).join(', ');
          return [
            el('b', null, el('span', null, name), el('span', { class: 'count' }, numberText(count))),
            group.length > 0 ? el('span', { class: 'note' }, group.join('.')) : [],
            el('div', { class: 'stack', role: 'img', 'aria-label': words || 'no objects', title: words }, parts),
          ];
        });
      },
    );
  };

  const detailPanel = () => {
    const title = el('h2', { id: 'detail-title', tabindex: '-1' });
    const kind = el('p', { class: 'note' });
    const facts = el('div', { class: 'facts' });
    const retry = el('button', { type: 'button', click: () => act('retry') }, 'Retry now');
    const duration = el(
      'select',
      { 'aria-label': 'For how long' },
      Object.entries(PAUSES).map(([value, text]) => el('option', { value, selected: value === '3600' }, text)),
    );
    const pause = el('button', { type: 'button', click: () => act('pause', Number(duration.value)) }, 'Pause');
    const resume = el('button', { type: 'button', click: () => act('resume') }, 'Resume');
    const acts = el('div', { class: 'acts', role: 'group', 'aria-label': 'Actions' }, retry, pause, duration, resume);
    const findings = el('ul', { class: 'lines findings' });
    const handlers = el('ul', { class: 'lines' });
    const timeline = el('ol', { class: 'lines timed' });
    const lost = el('p', { class: 'empty note' });
    const logs = el('ol', { class: 'lines timed logs' });
    const [handlersTitle, logsTitle] = [el('h3', null, 'Handlers'), el('h3', null, 'Logs, latest first')];
    const close = el('a', { class: 'note close', href: '#' }, 'Close');
    const back = el('a', { class: 'back', href: '#' }, '‹ Objects');
    const content = el(
      'div',
      null,
      facts,
      acts,
      el('h3', null, 'Why'),
      findings,
      handlersTitle,
      handlers,
      el('h3', null, 'Timeline, latest first'),
      timeline,
      lost,
      logsTitle,
      logs,
      el('div', { class: 'panel-end' }),
    );
    const unknown = el(
      'p',
      { class: 'empty' },
      'The operator does not know this object, or has dropped it from its journal.',
    );
    const element = el(
      'section',
      { class: 'panel detail', 'aria-labelledby': 'detail-title', hidden: true },
      el('div', { class: 'head' }, el('div', null, back, title, kind), close),
      content,
      unknown,
    );
    const lines = (place, items, make) => fill(place, items, () => items.map(make));
    const clock = (at) => el('time', { datetime: at, title: at }, new Date(at).toLocaleTimeString('en-GB'));
    return {
      element,
      show() {
        element.hidden = route.atName === undefined;
        if (element.hidden) return;
        const { object } = told;
        const isOther =
          object && (object.name !== route.atName || (object.namespace ?? '') !== (route.atNamespace ?? ''));
        for (const link of [close, back]) link.setAttribute('href', linkTo(AT));
        setText(title, objectTitle({ namespace: route.atNamespace, name: route.atName }));
        setText(kind, object?.kind ? `${object.kind} · ${route.atResource}` : route.atResource);
        unknown.hidden = object !== null;
        content.hidden = !object || isOther;
        if (content.hidden) return;
        const state = object.isKnown ? object.state : 'gone';
        fill(facts, [state, object.until, object.calls, object.daemons, object.version], () => [
          stateMark(state),
          object.until === undefined ? [] : el('span', null, 'next ', when(object.until)),
          object.calls.length > 0 ? el('span', null, `running: ${object.calls.join(', ')}`) : [],
          object.daemons.length > 0 ? el('span', null, `daemons: ${object.daemons.join(', ')}`) : [],
          object.version ? el('span', null, `version ${object.version}`) : [],
        ]);
        acts.hidden = !told.hello.mayWrite || !object.isKnown;
        const wasFocused = document.activeElement;
        resume.hidden = !object.isPaused;
        pause.hidden = duration.hidden = object.isPaused;
        // Those at the keyboard stay where they are: at the button that takes its place.
        if (wasFocused === pause && pause.hidden) resume.focus();
        if (wasFocused === resume && resume.hidden) pause.focus();
        retry.disabled = object.isPaused;
        lines(findings, object.findings, ({ text }) => el('li', null, text));
        handlersTitle.hidden = object.handlers.length === 0;
        lines(handlers, object.handlers, ({ state: one, text }) =>
          el('li', { class: one === 'chosen' ? 'chosen-handler' : one }, text),
        );
        lines(timeline, [...object.timeline].reverse(), ({ at, text }) =>
          el('li', null, clock(at), el('span', null, text)),
        );
        lost.hidden = object.lost === 0;
        setText(lost, `${numberText(object.lost)} older entries were dropped.`);
        logsTitle.hidden = object.logs.length === 0;
        lines(logs, [...object.logs].reverse(), ({ at, level, message }) =>
          el('li', null, clock(new Date(at).toISOString()), el('span', { class: `level-${level}` }, message)),
        );
      },
    };
  };

  /** A heading, and a table under it, or a sentence if there is nothing to show. */
  const panel = (id, title, parts, empty) => {
    const note = el('span', { class: 'note' });
    const nothing = el('p', { class: 'empty', hidden: true }, empty);
    const element = el(
      'section',
      { class: 'panel', 'aria-labelledby': id },
      el('h2', { id }, el('span', null, title), note),
      el('div', { class: 'scroll' }, parts),
      nothing,
    );
    return { element, note, nothing };
  };

  const handlersView = () => {
    const percent = (ratio) => `${ratio > 0 && ratio < 0.01 ? '<1' : Math.round(ratio * 100)} %`;
    const list = table(
      'Handlers',
      [
        { title: 'Handler', css: 'name', look: (row) => row.id, of: (row) => el('b', null, row.id) },
        { title: 'Type', css: 'fit dim', of: (row) => plain(row.kind), look: (row) => row.kind },
        { title: 'Of', css: 'dim', of: (row) => plain(row.resource), look: (row) => row.resource },
        {
          title: 'Running',
          css: 'number',
          label: 'running',
          look: (row) => row.running,
          of: (row) => plain(row.running || ''),
        },
        {
          title: 'Per minute',
          css: 'number',
          label: 'per minute',
          look: (row) => row.perMinute,
          of: (row) => plain(row.calls === 0 ? '' : row.perMinute.toLocaleString('en', { maximumFractionDigits: 1 })),
        },
        {
          title: 'Errors',
          css: 'number',
          label: 'errors',
          look: (row) => row.errorRatio,
          of: (row) => {
            if (row.errorRatio === undefined) return [];
            const bar = el('i');
            bar.style.width = `${row.errorRatio * 100}%`;
            return [...plain(percent(row.errorRatio)), el('span', { class: 'bar', 'aria-hidden': 'true' }, bar)];
          },
        },
        {
          title: 'Mean time',
          css: 'number',
          label: 'mean',
          look: (row) => row.meanSeconds,
          of: (row) => plain(row.meanSeconds === undefined ? '' : span(row.meanSeconds)),
        },
        {
          title: 'Calls in all',
          css: 'number',
          label: 'calls',
          look: (row) => [row.calls, row.running > 0],
          of: ({ calls, running }) => {
            if (calls > 0) return plain(numberText(calls));
            return running > 0 ? [] : el('span', { class: 'dim' }, 'never called');
          },
        },
        {
          title: 'Failed in all',
          css: 'number',
          label: 'failed',
          look: (row) => row.errors,
          of: (row) => plain(row.errors === 0 ? '' : numberText(row.errors)),
        },
      ],
      'cards',
    );
    const own = panel('handlers', 'Handlers', list.element, 'There are no handlers.');
    setText(own.note, 'rates, errors and times of the last 5 minutes');
    return {
      element: own.element,
      show() {
        const rows = [...(told.overview?.handlers ?? [])].sort(
          (one, two) => (two.errorRatio ?? 0) - (one.errorRatio ?? 0) || two.perMinute - one.perMinute,
        );
        list.show(rows, ({ kind, id }) => `${kind} ${id}`);
        own.nothing.hidden = rows.length > 0 || told.overview === undefined;
      },
    };
  };

  const streamsView = () => {
    const lagText = (lag) => (lag === undefined ? '' : lag === 0 ? 'none' : `${numberText(lag)} versions`);
    const list = table(
      'Streams',
      [
        { title: 'Kind', css: 'name', look: (row) => row.resource, of: (row) => el('b', null, row.resource) },
        { title: 'Namespace', css: 'fit', look: (row) => row.namespace, of: (row) => plain(row.namespace ?? 'all') },
        { title: 'Only', css: 'dim', look: (row) => row.selectors, of: (row) => plain(row.selectors) },
        {
          title: 'Health',
          css: 'fit',
          look: (row) => row.phase,
          of: (row) => el('span', { class: `state ${row.phase}` }, row.phase),
        },
        { title: 'Since', css: 'fit dim', label: 'since', look: (row) => row.since, of: (row) => when(row.since) },
        {
          title: 'Last event',
          css: 'fit dim',
          label: 'last event',
          look: (row) => row.lastEventAt,
          of: (row) => (row.lastEventAt === undefined ? [] : when(row.lastEventAt)),
        },
        { title: 'Lag', css: 'number', label: 'lag', look: (row) => row.lag, of: (row) => plain(lagText(row.lag)) },
        {
          title: 'Problem',
          css: 'cut',
          look: (row) => row.error,
          of: (row) => (row.error ? el('span', { class: 'failed', title: row.error }, row.error) : []),
        },
      ],
      'cards',
    );
    const own = panel('streams', 'Streams', list.element, 'There are no streams yet.');
    setText(own.note, 'lag is measured once a minute while somebody looks');
    return {
      element: own.element,
      show() {
        const rows = told.overview?.streams ?? [];
        list.show(rows, ({ resource, namespace, selectors }) => `${resource} ${namespace} ${selectors}`);
        own.nothing.hidden = rows.length > 0 || told.overview === undefined;
      },
    };
  };

  const operatorView = () => {
    const about = el('dl', { class: 'tiles' });
    const queue = el('dl', { class: 'tiles' });
    const peers = table(
      'Peers',
      [
        { title: 'Where', look: (row) => row.namespace, of: (row) => plain(row.namespace ?? 'the whole cluster') },
        {
          title: 'This operator',
          css: 'fit',
          look: (row) => row.isPaused,
          of: (row) =>
            el('span', { class: `state ${row.isPaused ? 'paused' : 'working'}` }, row.isPaused ? 'paused' : 'working'),
        },
        {
          title: 'Reason',
          look: (row) => [row.kind, row.by],
          of: (row) =>
            plain({ leader: `the leader ${row.by ?? ''}`, absent: 'the missing peering' }[row.kind] ?? row.by),
        },
        { title: 'Since', css: 'fit dim', label: 'since', look: (row) => row.since, of: (row) => when(row.since) },
      ],
      'cards',
    );
    const [ofAbout, ofQueue] = [panel('about', 'Operator', about), panel('queue', 'Queue', queue)];
    const ofPeers = panel(
      'peers',
      'Peers',
      peers.element,
      'No peers: the operator runs alone, or has not checked yet.',
    );
    const tiles = (place, entries) =>
      fill(place, entries, () =>
        entries.map(([title, value, isSmall, at]) =>
          el(
            'div',
            null,
            el('dt', null, title),
            el('dd', { class: isSmall ? 'small' : undefined }, at ? when(at) : value),
          ),
        ),
      );
    return {
      element: el('div', { class: 'columns' }, ofAbout.element, ofQueue.element, ofPeers.element),
      show() {
        const { overview } = told;
        if (overview === undefined) return;
        const { operator, version, startedAt, namespaces, indexing, queue: turns, peers: rulings, total } = overview;
        const places = namespaces
          ?.map((one) => one ?? 'the whole cluster')
          .slice(0, 20)
          .join(', ');
        tiles(about, [
          ['Objects', numberText(total)],
          ['Started', '', true, startedAt],
          ['Serves', places || 'not known yet', true],
          ['Identity', operator ?? 'not known yet', true],
          ...(version ? [['kopf-ts', version, true]] : []),
          ['Indices', indexing.isReady ? 'ready' : `waiting for ${indexing.missing.join(', ')}`, true],
        ]);
        tiles(queue, [
          ['Queued', numberText(turns.queued)],
          ['Being handled', numberText(turns.running)],
          ['Waiting for later', numberText(turns.waiting)],
          ['Oldest queued', 'none', true, turns.oldest],
          ['Limit per kind', turns.limit === undefined ? 'no limit' : `${numberText(turns.limit)} at once`, true],
        ]);
        peers.show(rulings, ({ namespace }) => `${namespace}`);
        peers.element.hidden = rulings.length === 0;
        ofPeers.nothing.hidden = rulings.length > 0;
      },
    };
  };

  const reviewsView = () => {
    const list = table(
      'Reviews',
      [
        { title: 'When', css: 'fit dim', look: (row) => row.at, of: (row) => when(row.at) },
        {
          title: 'Outcome',
          css: 'fit',
          look: (row) => [row.outcome, row.code],
          of: (row) =>
            el('span', { class: `state ${row.outcome}` }, row.code ? `${row.outcome}, ${row.code}` : row.outcome),
        },
        { title: 'Operation', css: 'fit', look: (row) => row.operation, of: (row) => plain(row.operation) },
        {
          title: 'Object',
          css: 'name',
          look: (row) => [row.resource, row.namespace, row.name],
          of: (row) => (row.resource ? plain(`${row.resource} ${objectTitle(row) ?? ''}`) : []),
        },
        { title: 'By', css: 'dim', look: (row) => row.text, of: (row) => plain(row.text) },
        {
          title: 'Took',
          css: 'number',
          look: (row) => row.seconds,
          of: (row) => plain(row.seconds === undefined ? '' : span(row.seconds)),
        },
      ],
      'cards',
    );
    const own = panel('reviews', 'Admission reviews', list.element, 'No reviews since the operator started.');
    return {
      element: own.element,
      show() {
        const { recent = [], allowed = 0, denied = 0, refused = 0, certified } = told.overview?.reviews ?? {};
        fill(own.note, [allowed, denied, refused, certified], () => [
          `${numberText(allowed)} allowed, ${numberText(denied)} denied, ${numberText(refused)} refused`,
          certified === undefined ? '' : ' · the certificate expires ',
          certified === undefined ? '' : when(certified),
        ]);
        list.show(recent, ({ at, text, operation, name }) => `${at} ${operation} ${name} ${text}`);
        list.element.hidden = recent.length === 0;
        own.nothing.hidden = recent.length > 0 || told.overview === undefined;
      },
    };
  };

  const MAKERS = {
    objects: objectsView,
    handlers: handlersView,
    streams: streamsView,
    operator: operatorView,
    reviews: reviewsView,
  };

  // ---- The frame around them. ----

  let shown;
  const layout = () => {
    shown = { name: route.view, ...MAKERS[route.view]() };
    main.replaceChildren(shown.element);
    render();
  };

  const notices = () => {
    const { overview } = told;
    if (overview === undefined) return [];
    const paused = overview.peers.filter(({ isPaused }) => isPaused);
    const down = overview.streams.filter(({ phase }) => phase === 'down' || phase === 'crashed');
    return [
      ...(overview.isPaused ? ['The whole operator is paused by hand.'] : []),
      ...(paused.length > 0 ? ['The operator is paused: another one is working. See Operator.'] : []),
      ...(overview.indexing.isReady
        ? []
        : [`No handlers are called until the indices are filled: ${overview.indexing.missing.join(', ')}.`]),
      ...(down.length > 0
        ? [`${down.map(({ resource }) => resource).join(', ')} cannot be watched. See Streams.`]
        : []),
    ];
  };

  const countOf = (view) => {
    const { overview } = told;
    if (overview === undefined) return undefined;
    if (view === 'objects') return overview.total;
    if (view === 'handlers' || view === 'streams') return overview[view].length;
    return undefined;
  };

  let isRendering = false;
  const render = () => {
    if (isRendering) return;
    isRendering = true;
    requestAnimationFrame(() => {
      isRendering = false;
      if (byId('login') !== null) return;
      keep(
        byId('nav'),
        Object.entries(VIEWS),
        ([view]) => view,
        ([, title]) => el('a', null, el('span', null, title), el('span', { class: 'count' })),
        (link, [view]) => {
          link.setAttribute('href', hashOf(view === 'objects' ? { ...route, view } : { view }));
          if (view === route.view) link.setAttribute('aria-current', 'page');
          else link.removeAttribute('aria-current');
          const count = countOf(view);
          link.lastChild.hidden = count === undefined;
          setText(link.lastChild, numberText(count));
        },
      );
      const { operator } = told.overview ?? {};
      setText(byId('operator'), operator);
      byId('scope').hidden = told.hello.mayWrite !== false;
      document.title = clean(operator ? `${operator} · kopf console` : 'kopf console');
      keep(
        byId('notices'),
        notices(),
        (text) => text,
        (text) => el('p', null, text),
      );
      shown?.show();
    });
  };

  /** The address is another one: what is shown, and mostly also what is asked for. */
  let asked;
  const moved = () => {
    const before = route;
    route = readRoute();
    if (shown?.name !== route.view) layout();
    else render();
    if (
      route.atName !== before.atName ||
      route.atNamespace !== before.atNamespace ||
      route.atResource !== before.atResource
    ) {
      told.object = undefined;
      // Those who cannot see the panel are taken to it.
      if (route.atName !== undefined && before.view === 'objects') {
        requestAnimationFrame(() => requestAnimationFrame(() => byId('detail-title')?.focus({ preventScroll: true })));
      }
    }
    const query = queryOf();
    if (query === asked) return;
    asked = query;
    connect();
  };

  // It is no address: those are of the views.
  document.querySelector('.skip').addEventListener('click', (event) => {
    event.preventDefault();
    main.focus();
  });
  addEventListener('hashchange', moved);
  document.addEventListener('visibilitychange', () => {
    // Nobody looks: the operator has nothing to tell.
    if (document.hidden) disconnect();
    else if (byId('login') === null) connect();
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      byId('search')?.focus();
    }
    if (event.key === 'Escape' && route.atName !== undefined) {
      const name = route.atName;
      go(AT);
      const back = [...document.querySelectorAll('.objects a')].find((link) => link.textContent === clean(name));
      (back ?? main).focus();
    }
  });
  moved();
})();
