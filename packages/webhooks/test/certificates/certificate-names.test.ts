import { describe, expect, it } from 'vitest';
import { certificateNames } from '../../src/certificates/making/certificate-names.js';

describe('names in certificates', () => {
  it('keep hostnames, and addresses both as names and as addresses', () => {
    const names = certificateNames(['hostname1', '1.2.3.4', '0:0:0:0:0:0:0:1', '2001:0DB8:0000::0001']);
    expect(names.dns).toEqual(['hostname1', '1.2.3.4', '::1', '2001:db8::1']);
    expect(names.ips).toEqual(['1.2.3.4', '::1', '2001:db8::1']);
  });

  it.each([
    { hosts: ['1.2.3.4', 'hostname2', 'hostname3'], commonName: 'hostname2' },
    { hosts: ['hostname1', '1.2.3.4'], commonName: 'hostname1' },
    { hosts: ['1.2.3.4', '0:0::1'], commonName: '1.2.3.4' },
    { hosts: ['0:0::1', '1.2.3.4'], commonName: '::1' },
  ])('take $commonName for the common name of $hosts', ({ hosts, commonName }) => {
    expect(certificateNames(hosts).commonName).toBe(commonName);
  });

  it('drop repetitions, in whatever form they are given', () => {
    expect(certificateNames(['a', '::1', 'a', '0::1', '[::1]']).dns).toEqual(['a', '::1']);
  });

  it('drop addresses that nobody can connect to', () => {
    const names = certificateNames(['0.0.0.0', '::', '0:0:0:0::0', 'localhost']);
    expect(names).toEqual({ commonName: 'localhost', dns: ['localhost'], ips: [] });
  });

  it('drop zones of addresses, and emptiness', () => {
    expect(certificateNames(['fe80::1%eth0', '', ' ']).dns).toEqual(['fe80::1']);
  });

  it('are in ASCII', () => {
    expect(certificateNames(['bücher.example']).dns).toEqual(['xn--bcher-kva.example']);
  });

  it('may be longer than a common name may be', () => {
    const long = `${'a'.repeat(63)}.${'b'.repeat(63)}.svc`;
    expect(certificateNames([long, 'short']).commonName).toBe('short');
    expect(certificateNames([long])).toMatchObject({ commonName: long.slice(0, 64), dns: [long] });
  });

  it.each([[[]], [['0.0.0.0']], [['::', '']]])('are required: %j is not enough', (hosts) => {
    expect(() => certificateNames(hosts)).toThrow(/needs a hostname or an address/);
  });
});
