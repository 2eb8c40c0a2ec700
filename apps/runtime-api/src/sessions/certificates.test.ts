import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readCertificates } from './certificates.js';

/** Roots that everybody knows stand for an authority's. */
const [ONE = '', TWO = ''] = rootCertificates;

describe('certificates of the broker’s authority', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-ca-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const read = (text: string): string => {
    const file = path.join(folder, 'ca.pem');
    writeFileSync(file, text);
    return readCertificates('EGRESS_CA_FILE', file);
  };

  it('are one or two in one form, however the file is written', () => {
    const both = read(`${ONE}\n${TWO}\n`);
    expect(both).toBe([ONE, TWO].map((pem) => new X509Certificate(pem).toString()).join(''));
    expect(read(`# the present one\r\n${ONE.replaceAll('\n', '\r\n')}\r\n\r\nsome words\n${TWO}`)).toBe(both);
  });

  it('are refused in words where there is none, one that is none, too many, a key, or no file', () => {
    expect(() => read('')).toThrow(/0 certificates/);
    expect(() => read(ONE.repeat(5).replaceAll('----------', '-----\n-----'))).toThrow(/5 certificates/);
    expect(() => read('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')).toThrow(/cannot be read/);
    expect(() => read(`${ONE}\n-----BEGIN EC PRIVATE KEY-----\nAAAA\n`)).toThrow(/private key/);
    const none = path.join(folder, 'none.pem');
    expect(() => readCertificates('EGRESS_CA_FILE', none)).toThrow(
      /EGRESS_CA_FILE: .*none\.pem cannot be read \(ENOENT\)/,
    );
    expect(readFileSync(path.join(folder, 'ca.pem'), 'utf8')).toContain('PRIVATE KEY');
  });
});
