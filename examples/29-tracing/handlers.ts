import { trace } from '@opentelemetry/api';
import * as kopf from 'kopf-ts';

const tracer = trace.getTracer('my-operator');

// The operator makes spans of the handler and of its requests. Those of your own are inside of them.
kopf.on.create('kopfexamples', async function createConfig({ name, api }) {
  const greeting = tracer.startActiveSpan('think', (span) => {
    span.setAttribute('words', 2);
    span.end();
    return `Hello, ${name}!`;
  });
  const metadata = { name: `${name}-config`, labels: { for: 'greeting' } };
  await api('configmaps').create({ metadata, data: { greeting } });
});

// It is another object that is handled here, maybe by another operator; but the trace is the same.
kopf.on.create('configmaps', { labels: { for: 'greeting' } }, function greet({ body, logger }) {
  logger.info(`${body.data?.greeting}`);
});
