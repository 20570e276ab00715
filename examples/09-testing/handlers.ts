import * as kopf from 'kopf-ts';

interface Greeting {
  spec: { field?: string };
  status?: { greeted?: string };
}

export function greetingOf(spec: Greeting['spec']): string {
  return `Hello, ${spec.field ?? 'stranger'}!`;
}

kopf.on.create('kopfexamples', async function greet({ spec, patch, retry }: kopf.Change<Greeting>) {
  if (retry === 0) throw new kopf.TemporaryError('Let me think about it.', { delay: 300 });
  patch.status.greeted = greetingOf(spec);
});
