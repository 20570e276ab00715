import * as kopf from 'kopf-ts';
import { cloudflared } from './cloudflared.js';
import { tunnel } from './tunnel.js';

kopf.on.startup(({ settings }) => {
  // Whoever starts the operator may have given another one.
  settings.admission.server ??= tunnel(cloudflared);
  settings.admission.managed ??= 'tunnelled.kopf.dev';
});

kopf.on.validate('kopfexamples', { labels: { tunnelled: 'yes' } }, function check({ spec }) {
  if (spec.field === 'wrong') throw new kopf.AdmissionError('Not through this tunnel!');
});
