import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isPublicAddress } from './public-address.js';

/** Written apart from the lists: the first and the last address of each range that is not for the internet. */
const NOT_PUBLIC = [
  '0.0.0.0', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.127.255.255', '100.100.100.200', '127.0.0.1', '127.255.255.255', '168.63.129.16', '169.254.0.0', '169.254.169.254',
  '169.254.255.255', '172.16.0.0', '172.31.255.255', '192.0.0.0', '192.0.0.192', '192.0.2.1', '192.88.99.1', '192.168.0.0', '192.168.255.255', '198.18.0.0', '198.19.255.255', '198.51.100.1',
  '203.0.113.1', '224.0.0.251', '239.255.255.255', '240.0.0.1', '255.255.255.255',
  '::', '::1', '::10.0.0.1', '::ffff:10.0.0.1', '::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '::ffff:140.82.121.4', '64:ff9b::a9fe:a9fe', '64:ff9b::8c52:7904', '64:ff9b:1::1', '100::1', '2001::1', '2001:0:1::1',
  '2001:1ff:ffff::', '2001:db8::1', '2002:a9fe:a9fe::1', '2002:8c52:7904::1', '3fff::1', '3fff:fff::1', '4000::1', '5f00::1', 'fc00::1', 'fd00:ec2::254', 'fd20:ce::254', 'fe80::1', 'fe80::1%eth0',
  'fec0::1', 'ff02::fb', '2606:50c0:8000::153%eth0',
]; // biome-ignore format: a list reads better in lines
const PUBLIC = [
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.0.0.1',
  '128.0.0.1',
  '140.82.121.4',
  '168.63.129.15',
  '168.63.129.17',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.1',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2000::1',
  '2001:200::1',
  '2606:50c0:8000::153',
  '2a00:1450::1',
  '3ffe::1',
];

describe('an address of the internet', () => {
  for (const address of NOT_PUBLIC) it(`is not ${address}`, () => expect(isPublicAddress(address)).toBe(false));
  for (const address of PUBLIC) it(`is ${address}`, () => expect(isPublicAddress(address)).toBe(true));

  it('has one answer, however IPv6 is written', () => {
    const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
    const first = fc.oneof(
      fc.constantFrom(0x2001, 0x2002, 0x3fff, 0, 0x64, 0xfe80, 0xfd00),
      fc.integer({ min: 0x2000, max: 0x3fff }),
      fc.integer({ min: 0, max: 0xffff }),
    );
    let publicOnes = 0;
    fc.assert(
      fc.property(first, groups, (head, [, ...rest]) => {
        const long = [head, ...rest].map((group) => group.toString(16).padStart(4, '0')).join(':');
        const short = new URL(`http://[${long}]/`).hostname.slice(1, -1);
        expect([short, isPublicAddress(short)]).toEqual([short, isPublicAddress(long.toUpperCase())]);
        if (isPublicAddress(long)) publicOnes += 1;
        if (head < 0x2000 || head > 0x3fff) expect([long, isPublicAddress(long)]).toEqual([long, false]);
      }),
      { numRuns: 500 },
    );
    expect(publicOnes).toBeGreaterThan(50);
  });

  it('is no name and no number that a resolver may take for one', () => {
    for (const text of [
      '',
      'localhost',
      '127.1',
      '2130706433',
      '0x7f000001',
      '010.0.0.1',
      '1.1.1.1 ',
      '1.1.1.1/32',
      '[2606:50c0:8000::153]',
    ])
      expect(isPublicAddress(text)).toBe(false);
  });
});
