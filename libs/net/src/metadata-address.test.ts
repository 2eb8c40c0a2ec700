import { describe, expect, it } from '@jest/globals';
import { isMetadataAddress, isMetadataHost, METADATA_RANGES } from './metadata-address.js';

// biome-ignore format: a table
const SERVICES = ['169.254.169.254', '169.254.170.2', '169.254.170.23', '169.254.0.23', '169.254.42.42', '168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254',
  'fd00:ec2::23', 'fd20:ce::254', 'fd00:c1::a9fe:a9fe', 'fe80::a9fe:a9fe', 'fe80::a9fe:a9fe%eth0', 'fd00:42::42', 'fd00:a9fe:a9fe::1', 'fd00:100::100:200'];
// biome-ignore format: a table
const FORMS = ['::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '64:ff9b::a9fe:a9fe', '64:ff9b::169.254.170.2', '::169.254.169.254', '2002:a9fe:a9fe::1', '::ffff:100.100.100.200',
  '64:ff9b::6464:64c8', '2002:a83f:8110::', 'FD00:EC2:0:0::254'];
// biome-ignore format: a table
const OTHERS = ['127.0.0.1', '10.0.0.1', '168.63.129.15', '100.100.100.201', '192.0.0.191', '140.82.121.4', '64:ff9b::8c52:7904', '::1', '::', 'fd00::1', 'fd20:ce::253', '2606:50c0::1',
  '2002:a9ff::1', 'metadata', ''];

describe('a metadata service of a cloud', () => {
  it('is known by each of its addresses, in each form that an address is written in, and nothing beside it is', () => {
    for (const address of [...SERVICES, ...FORMS])
      expect([address, isMetadataAddress(address)]).toEqual([address, true]);
    for (const address of OTHERS) expect([address, isMetadataAddress(address)]).toEqual([address, false]);
  });

  it('is known in a URL, by address or name, however that is written', () => {
    for (const url of [
      'http://[fd00:ec2::254]/',
      'http://2852039166/',
      'http://0xa9.254.43518/',
      'http://[::ffff:169.254.169.254]:80',
      'http://METADATA.google.internal./',
      'http://metadata/',
    ])
      expect([url, isMetadataHost(new URL(url).hostname)]).toEqual([url, true]);
    for (const url of ['http://metadata.example/', 'http://localhost/', 'http://[::1]/'])
      expect([url, isMetadataHost(new URL(url).hostname)]).toEqual([url, false]);
  });

  it('is in the list once', () => {
    expect(new Set(METADATA_RANGES.map(({ network }) => network)).size).toBe(METADATA_RANGES.length);
  });
});
