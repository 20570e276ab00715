/** The pictures of the site, by the names of their files. */
import { drawing } from './drawing.mjs';

const flow = drawing(
  {
    width: 760,
    height: 330,
    title: 'An event goes from the cluster to the handlers, and their outcomes go back as a patch.',
  },
  ({ box, arrow, frame }) => {
    box(10, 60, 100, 230, ['the cluster', '*objects', '*with marks'], 'cluster');
    frame(160, 10, 590, 310, 'the operator');
    const stream = box(180, 60, 120, 60, ['stream', '*lists, watches']);
    const owner = box(325, 60, 150, 60, ['owner of the object', '*newest state']);
    const cause = box(500, 60, 110, 60, ['cause', '*compares']);
    const select = box(640, 60, 95, 60, ['filters', '*which, due?']);
    const call = box(500, 150, 235, 60, ['your handlers', '*attempts, one cycle at a time'], 'yours');
    const outcome = box(500, 240, 235, 55, ['outcomes', '*succeeded, failed, later']);
    const patch = box(230, 240, 180, 55, ['one patch', '*changes, results, marks']);
    arrow([[110, 90], stream.left], { label: 'events', at: [135, 82] });
    arrow([stream.right, owner.left]);
    arrow([owner.right, cause.left]);
    arrow([cause.right, select.left]);
    arrow([select.bottom, [687.5, 150]]);
    arrow([call.bottom, outcome.top]);
    arrow([outcome.left, patch.right]);
    arrow([patch.left, [110, 267.5]]);
    arrow(
      [
        [535, 240],
        [535, 225],
        [400, 225],
        [400, 120],
      ],
      { label: 'again, when due', at: [345, 180], dashed: true },
    );
  },
);

const causes = drawing(
  { width: 760, height: 390, title: 'How the cause of a cycle is found, and which handlers it concerns.' },
  ({ box, arrow, label }) => {
    const event = box(10, 20, 150, 50, ['an event'], 'cluster');
    const watch = box(600, 20, 150, 50, ['$on.event'], 'yours');
    arrow([event.right, watch.left], { label: 'as it comes, every time', at: [380, 38] });
    const rows = [
      ['deletion requested,', 'our finalizer holds it?', 'deletion', '$on.delete'],
      ['no state was', 'recorded as handled?', 'creation', '$on.create', '$on.field'],
      ['the essence differs', 'from the recorded one?', 'update', '$on.update', '$on.field'],
      ['first seen since', 'the operator started?', 'resuming', '$on.resume'],
    ];
    let before = event.bottom;
    rows.forEach(([one, two, cause, ...handlers], index) => {
      const y = 100 + index * 72;
      const question = box(10, y, 190, 54, [one, two]);
      arrow([before, [before[0], y]], index === 0 ? {} : { label: 'no', at: [before[0] + 16, y - 5] });
      before = [85, y + 54];
      const found = box(270, y, 110, 54, [cause]);
      arrow([question.right, found.left], { label: 'yes' });
      const filter = box(430, y, 110, 54, ['filters', '*labels, fields…']);
      arrow([found.right, filter.left]);
      const called = box(600, y, 150, 54, handlers, 'yours');
      arrow([filter.right, called.left]);
    });
    label(20, 384, 'otherwise, nothing has happened that counts', true);
  },
);

const handler = drawing(
  { width: 760, height: 310, title: "A handler's attempts, from the cause to its success or its failure." },
  ({ box, arrow }) => {
    const cause = box(10, 100, 110, 60, ['a cause']);
    const attempt = box(190, 100, 140, 60, ['an attempt', '*your function'], 'yours');
    const done = box(590, 20, 160, 60, ['succeeded', '*the result is stored'], 'yours');
    const failed = box(590, 200, 160, 60, ['failed for good', '*not called again'], 'bad');
    const waits = box(380, 200, 140, 60, ['waits', '*time on the object'], 'warn');
    arrow([cause.right, attempt.left]);
    arrow([[330, 115], [460, 115], [460, 50], done.left], { label: 'returns', at: [490, 42] });
    arrow(
      [
        [330, 145],
        [640, 145],
        [640, 200],
      ],
      { label: 'PermanentError', at: [560, 137] },
    );
    arrow(
      [
        [290, 160],
        [290, 215],
        [380, 215],
      ],
      { label: 'any other error,\nTemporaryError', at: [350, 180] },
    );
    arrow(
      [
        [450, 260],
        [450, 285],
        [215, 285],
        [215, 160],
      ],
      { label: 'the pause is over; also after a restart', at: [332, 302], dashed: true },
    );
    arrow([waits.right, failed.left], { label: 'retries or\ntime over', at: [555, 248] });
  },
);

const daemon = drawing(
  {
    width: 760,
    height: 300,
    title: "A daemon's life: it begins with the object and is asked to stop, then forced, then left alone.",
  },
  ({ box, arrow, frame }) => {
    const seen = box(10, 60, 140, 60, ['the object is seen', '*filters match'], 'cluster');
    const delay = box(180, 60, 110, 60, ['initial delay', '*if any']);
    const runs = box(330, 60, 150, 60, ['the daemon runs', '*your loop'], 'yours');
    const ended = box(600, 60, 150, 60, ['it has returned', '*not called again'], 'yours');
    box(310, 10, 190, 30, ['*error: again after a pause'], 'warn');
    arrow([seen.right, delay.left]);
    arrow([delay.right, runs.left]);
    arrow([runs.right, ended.left], { label: 'returns' });
    arrow([
      [360, 60],
      [360, 40],
    ]);
    arrow([
      [450, 40],
      [450, 60],
    ]);
    frame(10, 160, 740, 130, 'object deleted, filters mismatch, operator pauses or exits');
    const stop = box(30, 200, 190, 70, ['asked', '$stopped', '*its reasons tell why']);
    const cancel = box(290, 200, 190, 70, ['forced', '$signal', '*what waits with it fails'], 'warn');
    const left = box(550, 200, 180, 70, ['left alone', '*with a warning;', '*the object goes'], 'bad');
    arrow([
      [440, 120],
      [440, 188],
      [125, 188],
      [125, 200],
    ]);
    arrow([stop.right, cancel.left], { label: 'backoff' });
    arrow([cancel.right, left.left], { label: 'timeout' });
  },
);

const peering = drawing(
  {
    width: 760,
    height: 330,
    title: 'Peering: the operator with the highest priority works. Lease: one of several replicas works.',
  },
  ({ box, arrow, frame }) => {
    frame(10, 10, 360, 310, 'peering: by priority');
    const deployed = box(30, 50, 140, 70, ['deployed operator', '*priority 0', '*pauses'], 'warn');
    const laptop = box(210, 50, 140, 70, ['on a laptop', '*priority 666: --dev', '*works'], 'yours');
    box(90, 180, 200, 60, ['KopfPeering', '*a record of each of them'], 'cluster');
    const objects = box(90, 265, 200, 40, ['objects'], 'cluster');
    arrow([deployed.bottom, [130, 180]], { both: true, label: 'keep-alive', at: [68, 152] });
    arrow([laptop.bottom, [250, 180]], { both: true, label: 'keep-alive', at: [303, 152] });
    arrow([[342, 120], [342, 285], objects.right]);
    frame(390, 10, 360, 310, 'lease: replicas');
    box(405, 50, 105, 70, ['replica 1', '*leads, works'], 'yours');
    box(517, 50, 105, 70, ['replica 2', '*waits'], 'warn');
    box(629, 50, 105, 70, ['replica 3', '*waits'], 'warn');
    box(470, 180, 200, 60, ['Lease', '*holder, renewed at'], 'cluster');
    const others = box(470, 265, 200, 40, ['objects'], 'cluster');
    arrow(
      [
        [490, 120],
        [490, 180],
      ],
      { label: 'renews', at: [520, 150] },
    );
    arrow(
      [
        [569, 120],
        [569, 180],
      ],
      { dashed: true, label: 'looks', at: [594, 150] },
    );
    arrow(
      [
        [655, 120],
        [655, 180],
      ],
      { dashed: true, label: 'looks', at: [680, 150] },
    );
    arrow([[430, 120], [430, 285], others.left]);
  },
);

const admission = drawing(
  {
    width: 760,
    height: 340,
    title:
      'Admission: a request is reviewed by handlers before it is stored. Certificates are renewed, and the cluster is told.',
  },
  ({ box, arrow, frame }) => {
    const user = box(10, 70, 100, 60, ['a person', '*kubectl apply']);
    box(180, 50, 150, 100, ['API server', '*mutating webhooks,', '*schema,', '*validating webhooks'], 'cluster');
    box(180, 230, 150, 50, ['stored'], 'cluster');
    frame(420, 10, 330, 320, 'the operator');
    const server = box(440, 60, 130, 80, ['webhook server', '*HTTPS']);
    box(605, 50, 130, 100, ['$on.mutate', '$on.validate', '*your functions'], 'yours');
    const certificate = box(440, 210, 130, 60, ['certificate', '*own authority'], 'warn');
    const configuration = box(605, 210, 130, 60, ['configurations', '*of webhooks']);
    arrow([user.right, [180, 100]]);
    arrow(
      [
        [330, 85],
        [440, 85],
      ],
      { label: 'review', at: [385, 78] },
    );
    arrow(
      [
        [440, 118],
        [330, 118],
      ],
      { label: 'answer', at: [385, 136] },
    );
    arrow(
      [
        [570, 100],
        [605, 100],
      ],
      { both: true },
    );
    arrow(
      [
        [255, 150],
        [255, 230],
      ],
      { label: 'allowed', at: [285, 195] },
    );
    arrow(
      [
        [195, 150],
        [195, 180],
        [60, 180],
        [60, 130],
      ],
      { label: 'denied, with your words', at: [105, 197] },
    );
    arrow([certificate.top, server.bottom], { label: 'renewed', at: [535, 180] });
    arrow([certificate.right, configuration.left]);
    arrow(
      [
        [670, 270],
        [670, 305],
        [375, 305],
        [375, 165],
        [310, 165],
        [310, 150],
      ],
      { label: 'address and CA bundle', at: [530, 298] },
    );
  },
);

const packages = drawing(
  {
    width: 760,
    height: 330,
    title: 'The star of packages: kopf-ts on top, core at the bottom, and the leaves between them.',
  },
  ({ box, line, label }) => {
    box(280, 10, 200, 50, ['$kopf-ts', '*everything, wired'], 'yours');
    const leaves = [
      'reactor',
      'storage',
      'client',
      'indexing',
      'peering',
      'webhooks',
      'apiserver',
      'testing',
      'cli',
      'insight',
      'metrics',
      'otel',
      'kinds',
    ];
    leaves.forEach((name, index) => {
      const isUpper = index < 7;
      const x = isUpper ? 17 + index * 105 : 70 + (index - 7) * 105;
      const y = isUpper ? 110 : 175;
      // It does not come with the others.
      if (name !== 'kinds')
        line([
          [380, 60],
          [x + 47, y],
        ]);
      line([
        [x + 47, y + 40],
        [380, 270],
      ]);
    });
    leaves.forEach((name, index) => {
      const isUpper = index < 7;
      box(isUpper ? 17 + index * 105 : 70 + (index - 7) * 105, isUpper ? 110 : 175, 95, 40, [`$${name}`]);
    });
    box(280, 270, 200, 50, ['$core', '*words, decisions, seams'], 'cluster');
    label(10, 30, 'puts the parts together', true);
    label(10, 308, 'decides, and touches nothing', true);
    label(610, 250, 'one thing each', true);
  },
);

export const pictures = { flow, causes, handler, daemon, peering, admission, packages };
