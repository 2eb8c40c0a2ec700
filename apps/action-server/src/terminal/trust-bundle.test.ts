import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ShellEnvironment } from './shell-environment.js';
import { TrustBundle } from './trust-bundle.js';

/** Two of the roots that everybody knows stand for the broker's, and for an image's. */
const [OURS = '', OF_IMAGE = '', EXTRA = ''] = rootCertificates;
const NAMES = [
  'SSL_CERT_FILE', 'CURL_CA_BUNDLE', 'REQUESTS_CA_BUNDLE', 'PIP_CERT', 'NODE_EXTRA_CA_CERTS', 'GIT_SSL_CAINFO',
  'CARGO_HTTP_CAINFO', 'AWS_CA_BUNDLE', 'DENO_CERT', 'NPM_CONFIG_CAFILE',
]; // biome-ignore format: a list reads better in lines

describe('what a sandbox trusts where credentials are brokered', () => {
  let folder: string;
  let trust: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-trust-'));
    trust = path.join(folder, 'trust');
    writeFileSync(path.join(folder, 'image.pem'), OF_IMAGE);
    writeFileSync(path.join(folder, 'extra.pem'), EXTRA);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const environmentOf = (own: Record<string, string> = {}): ShellEnvironment => {
    const given = { PATH: process.env['PATH'] ?? '', ...own };
    return new ShellEnvironment(given, new TrustBundle(trust, given));
  };
  const certificates = (file = ''): string[] =>
    (readFileSync(file, 'utf8').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
      (pem) => new X509Certificate(pem).fingerprint256,
    );
  const fingerprint = (pem: string): string => new X509Certificate(pem).fingerprint256;

  it('is the image’s roots, those that were added, and the broker’s, in one file that nobody writes to', () => {
    const environment = environmentOf({
      SSL_CERT_FILE: path.join(folder, 'image.pem'),
      NODE_EXTRA_CA_CERTS: path.join(folder, 'extra.pem'),
    });
    environment.configure({ SLIPWAY_EGRESS_CA: OURS });
    const file = environment.variables()['SSL_CERT_FILE'] ?? '';
    expect(path.dirname(file)).toBe(trust);
    expect(certificates(file)).toEqual([OF_IMAGE, EXTRA, OURS].map(fingerprint));
    expect(statSync(file).mode & 0o777).toBe(0o444);
    expect(certificates(environment.variables()['SLIPWAY_EGRESS_CA_FILE'])).toEqual([fingerprint(OURS)]);
  });

  it('is named by every variable that programs read, in the agent’s shell, a user’s one and that of MCP servers', () => {
    const environment = environmentOf();
    environment.configure({ SLIPWAY_EGRESS_CA: OURS });
    for (const variables of [environment.variables(), environment.forPeople(), environment.unattended()]) {
      expect(new Set(NAMES.map((name) => variables[name]))).toEqual(new Set([variables['SSL_CERT_FILE']]));
      expect(certificates(variables['SSL_CERT_FILE']).length).toBeGreaterThan(10);
      // It is long, and in the file.
      expect(variables['SLIPWAY_EGRESS_CA']).toBeUndefined();
    }
    const said = execFileSync('bash', ['-c', 'cat "$GIT_SSL_CAINFO" | tail -n 30'], { env: environment.variables() });
    expect(said.toString()).toContain(OURS.trim().split('\n').at(-2));
  });

  it('gives way to what the user’s environment names, variable by variable', () => {
    const environment = environmentOf();
    environment.configure({ SLIPWAY_EGRESS_CA: OURS, PIP_CERT: '/mine.pem', SSL_CERT_FILE: '' });
    const { PIP_CERT, SSL_CERT_FILE, CURL_CA_BUNDLE = '' } = environment.variables();
    expect([PIP_CERT, SSL_CERT_FILE, path.dirname(CURL_CA_BUNDLE)]).toEqual(['/mine.pem', '', trust]);
  });

  it('is there again after a command has removed it, and changes its name with what it holds', () => {
    const environment = environmentOf();
    environment.configure({ SLIPWAY_EGRESS_CA: OURS });
    const first = environment.variables()['SSL_CERT_FILE'] ?? '';
    rmSync(trust, { recursive: true });
    expect(environment.variables()['SSL_CERT_FILE']).toBe(first);
    expect(certificates(first)).toContain(fingerprint(OURS));
    environment.configure({ SLIPWAY_EGRESS_CA: `${OURS}\n${EXTRA}` });
    const second = environment.variables()['SSL_CERT_FILE'] ?? '';
    expect(second).not.toBe(first);
    expect(certificates(second).slice(-2)).toEqual([OURS, EXTRA].map(fingerprint));
  });

  it('leaves everything as it is where no credential is brokered, or the file cannot be written', () => {
    const environment = environmentOf();
    expect(Object.keys(environment.variables()).filter((name) => NAMES.includes(name))).toEqual([]);
    writeFileSync(trust, 'a file, where the folder should be');
    environment.configure({ SLIPWAY_EGRESS_CA: OURS, GOOD: 'kept' });
    expect(environment.variables()).toMatchObject({ GOOD: 'kept', SLIPWAY_LEFT_OUT: 'SLIPWAY_EGRESS_CA' });
    expect(environment.variables()['SSL_CERT_FILE']).toBeUndefined();
    rmSync(trust);
    expect(environment.variables()['SSL_CERT_FILE']).toBeDefined();
    expect(environment.variables()['SLIPWAY_LEFT_OUT']).toBeUndefined();
  });

  it('takes Node’s roots where the image’s are no certificates', () => {
    mkdirSync(path.join(folder, 'none'));
    const { privateKey } = generateKeyPairSync('ed25519');
    const wrong = path.join(folder, 'none/key.pem');
    writeFileSync(wrong, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    chmodSync(wrong, 0o600);
    const environment = environmentOf({ SSL_CERT_FILE: wrong });
    environment.configure({ SLIPWAY_EGRESS_CA: OURS });
    const text = readFileSync(environment.variables()['SSL_CERT_FILE'] ?? '', 'utf8');
    expect(text).not.toContain('PRIVATE KEY');
    expect(text).toContain(OURS.trim());
  });
});
