import { createSecureContext } from 'node:tls';
import { describe, expect, it } from 'vitest';
import {
  autoServer,
  autoTunnel,
  dockerDesktopServer,
  k3dServer,
  minikubeServer,
  ngrokTunnel,
  serviceServer,
  webhookServer,
} from '../../src/index.js';

const certificates = { materials: () => (async function* () {})() };

describe('the options of servers', () => {
  it.each([
    [{ porrt: 1 }, /no option "porrt" of webhookServer\(\)\. Known here: .*port/],
    [{ verify_mode: 'none' }, /no option "verify_mode"/],
    [{ port: '9443' }, /"port" of webhookServer\(\) must be a whole number .* and is "9443"/],
    [{ port: -1 }, /"port".* -1/],
    [{ port: 65536 }, /"port"/],
    [{ port: 1.5 }, /"port"/],
    [{ addr: '' }, /"addr".* must be a text that is not empty/],
    [{ path: 'p1' }, /"path".* begins with a slash/],
    [{ path: '/p?q' }, /"path"/],
    [{ path: '/p#q' }, /"path"/],
    [{ path: '/p q' }, /"path"/],
    [{ path: '/%zz' }, /"path"/],
    [{ host: 5 }, /"host"/],
    [{ url: 'webhooks.example.com' }, /"url".* absolute URL/],
    [{ url: 'https://user@webhooks.example.com' }, /"url"/],
    [{ url: 'https://webhooks.example.com/?q' }, /"url"/],
    [{ insecure: 'yes' }, /"insecure".* true or false/],
    [{ bodyLimit: 0 }, /"bodyLimit"/],
    [{ maxConnections: 0 }, /"maxConnections".* a positive whole number/],
    [{ requestTimeout: Number.NaN }, /"requestTimeout".* seconds/],
    [{ extraSans: 'host' }, /"extraSans".* array of texts/],
    [{ extraSans: [1] }, /"extraSans"/],
    [{ verifyMode: 'maybe' }, /"verifyMode".* "none", "optional", "required".* "maybe"/],
    [{ fileCheckInterval: 0 }, /"fileCheckInterval"/],
    [{ secret: 'name' }, /"secret"/],
    [{ secret: { name: 'name' } }, /"secret".* namespace/],
    [{ certificates: {} }, /"certificates".* materials\(\)/],
    [{ context: 'context' }, /"context"/],
    [{ certfile: 'tls.crt' }, /both certfile and pkeyfile/],
    [{ pkeyfile: 'tls.key' }, /both certfile and pkeyfile/],
    [{ certfile: 'a', pkeyfile: 'b', certificates }, /several: certfile and certificates/],
    [{ verifyMode: 'required' }, /verifyCafile, verifyCapath or verifyCadata/],
    [{ verifyMode: 'optional', cafile: 'ca.pem' }, /cafile is about the certificate of the server itself/],
    [{ verifyMode: 'required', context: {} }, /verifyCafile, verifyCapath or verifyCadata/],
    [{ verifyMode: 'optional', context: { cert: 'x', key: 'x' } }, /verifyCafile, verifyCapath or verifyCadata/],
    [{ verifyCadata: 'x', context: createSecureContext() }, /cannot put authorities into a ready TLS context/],
    [{ insecure: true, context: {} }, /cannot be insecure and have context/],
    [{ insecure: true, certfile: 'a', pkeyfile: 'b' }, /cannot be insecure and have certfile, pkeyfile/],
    [{ insecure: true, verifyCadata: 'x' }, /cannot be insecure and have verifyCadata/],
    [{ bodyBudget: 0.5 }, /"bodyBudget".* bytes/],
    [{ bodyLimit: 2000, bodyBudget: 1000 }, /the largest of them could never be accepted/],
    [
      { cafile: 'ca.pem' },
      /no use for cafile when it makes its certificates by itself\. To verify callers.* verifyCafile/,
    ],
    [{ cadata: 'x', secret: { namespace: 'ns', name: 'name' } }, /no use for cadata when it makes/],
    [
      { certfile: 'a', pkeyfile: 'b', validity: 60, extraSans: ['x'] },
      /no use for extraSans, validity when .* as files/,
    ],
    [{ certificates, password: 'x' }, /no use for password when .* from a source/],
    [{ certificates, fileCheckInterval: 5 }, /no use for fileCheckInterval when .* from a source/],
    [{ context: {}, authorityValidity: 60 }, /no use for authorityValidity when .* context is given/],
    [{ context: {}, cadump: 'ca.pem' }, /nothing to write to cadump/],
    [{ insecure: true, fileCheckInterval: 5 }, /no use for fileCheckInterval/],
    [{ insecure: true, extraSans: ['x'] }, /cannot be insecure and have extraSans/],
    [null, /takes an object/],
    [9443, /takes an object.* 9443/],
  ])('%j are refused', (options, message) => {
    expect(() => webhookServer(options as never)).toThrow(message);
  });

  it.each([
    [{}],
    [{ port: 0, path: '', host: undefined, password: undefined }],
    [{ certfile: 'a', pkeyfile: 'b', cadata: 'x', verifyMode: 'none' }],
    [{ insecure: true, cafile: 'ca.pem', cadump: 'dump.pem', verifyMode: undefined }],
    [{ context: { ca: 'x' }, verifyMode: 'required' }],
    [{ context: {}, verifyMode: 'required', verifyCadata: 'x' }],
    [{ context: createSecureContext(), verifyMode: 'required' }],
    [{ secret: { namespace: 'ns', name: 'name' }, validity: 60, authorityValidity: 600, extraSans: ['x'] }],
    [{ password: 'x', cadump: 'ca.pem' }],
    [{ bodyLimit: 1000, bodyBudget: 1000 }],
    [{ certificates, cadump: 'ca.pem' }],
    [{ context: {}, cafile: 'ca.pem', cadump: 'dump.pem', fileCheckInterval: 5 }],
  ] as const)('%j are accepted', (options) => {
    expect(webhookServer(options)).toHaveProperty('serve');
  });

  it('are refused with a code, and without secrets', () => {
    expect(() => webhookServer({ port: 'x' } as never)).toThrow(expect.objectContaining({ code: 'KOPF_BAD_OPTION' }));
    expect(() => webhookServer({ password: ['hunter2'] } as never)).toThrow(/"password"/);
    expect(() => webhookServer({ password: ['hunter2'] } as never)).not.toThrow(/hunter2|array/);
    const pkeyfile = '-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n';
    const making = () => webhookServer({ certfile: 'tls.crt', pkeyfile });
    expect(making).toThrow(/"pkeyfile" .* must be the name of a file/);
    expect(making).not.toThrow(/hunter2/);
  });

  it.each([
    ['k3dServer()', k3dServer],
    ['minikubeServer()', minikubeServer],
    ['dockerDesktopServer()', dockerDesktopServer],
    ['autoServer()', autoServer],
    ['autoTunnel()', autoTunnel],
    ['ngrokTunnel()', ngrokTunnel],
    ['serviceServer()', serviceServer],
  ] as const)('of %s are checked when it is made', (owner, make) => {
    const making = () => (make as (options: object) => unknown)({ nonsense: 1, service: { name: 'svc' } });
    expect(making).toThrow(/There is no option "(nonsense|service)" of /);
    expect(making).toThrow(owner);
  });
});

describe('the options of the server behind a service', () => {
  const service = { name: 'svc', namespace: 'ns' };
  it.each([
    [{}, /needs to know the service/],
    [undefined, /takes an object/],
    [{ service: 'svc' }, /"service".* name of the service/],
    [{ service: {} }, /"service"/],
    [{ service: { name: 'svc', extra: 1 } }, /"extra" of the service of serviceServer\(\)/],
    [{ service: { ...service, port: '443' } }, /"port" of the service of serviceServer\(\)/],
    [{ service: { ...service, path: 'p' } }, /"path" of the service/],
    [{ service, secret: {} }, /"secret"/],
    [{ service, secret: { name: 'x', key: 1 } }, /"key" of the secret/],
    [{ service, insecure: true }, /no option "insecure"/],
    [{ service, host: 'x' }, /no option "host"/],
    [{ service, secret: { name: 'x' }, certificates }, /one place only/],
    [{ service, certfile: 'x' }, /both certfile and pkeyfile/],
  ])('%j are refused', (options, message) => {
    expect(() => serviceServer(options as never)).toThrow(message);
  });
});

describe('the options of tunnels', () => {
  it.each([
    [{ token: 5 }, /"token"/],
    [{ binary: '' }, /"binary"/],
    [{ ngrok: {} }, /"ngrok".* forward\(\)/],
    [{ binary: 'ngrok', ngrok: { forward: () => {} } }, /either by the binary or by the package/],
    [{ insecure: true }, /no option "insecure"/],
  ])('%j are refused', (options, message) => {
    expect(() => ngrokTunnel(options as never)).toThrow(message);
  });
});
