/** The limit: a server of Node that parses what comes, and answers always the same. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buildCertificate } from '@kopf-ts/webhooks';
import { tellCpuTime } from './cpu-time.js';

const { certificate, privateKey } = await buildCertificate(['localhost', '127.0.0.1']);

const server = createServer({ cert: certificate, key: privateKey, keepAliveTimeout: 120_000 }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const review = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const answer = JSON.stringify({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: review.request.uid, allowed: true },
    });
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) });
    response.end(answer);
  });
});
server.listen(0, '127.0.0.1', () => {
  tellCpuTime();
  process.send?.({ url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, ca: certificate });
});
