import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { skipTest } from '@slipway/testing/jest';
import { ShellEnvironment } from '../terminal/shell-environment.js';
import { TrustBundle } from '../terminal/trust-bundle.js';
import { ProxyRelay } from './proxy-relay.js';
import { trustStoreOf } from './trust-store.js';

const run = promisify(execFile);
const OURS = rootCertificates[0] ?? '';

describe('Java in a sandbox behind egress-proxy', () => {
  let folder: string;
  let relay: ProxyRelay;
  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-java-'));
    relay = new ProxyRelay();
  });
  afterEach(() => {
    relay.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const environment = (): ShellEnvironment => {
    const own = { PATH: process.env['PATH'] ?? '' };
    return new ShellEnvironment(own, new TrustBundle(path.join(folder, 'trust'), own), relay);
  };

  it('trusts what the sandbox trusts: keytool reads every root of the file', async () => {
    const file = path.join(folder, 'roots.jks');
    const damaged = '-----BEGIN CERTIFICATE-----\nbm8gY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----';
    writeFileSync(file, trustStoreOf([...rootCertificates, damaged].join('\n')));
    const listed = await run('keytool', [
      '-list',
      '-keystore',
      file,
      '-storepass',
      'changeit',
      '-storetype',
      'JKS',
    ]).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (listed === null) return skipTest('keytool is not installed: apt-get install openjdk-17-jdk-headless');
    expect(listed.stdout).toContain(`contains ${rootCertificates.length} entries`);
    expect(listed.stdout.match(/trustedCertEntry/g)).toHaveLength(rootCertificates.length);
  });

  it('has options where there is a proxy or an authority, and none else; what the user sets stays', async () => {
    const shell = environment();
    const options = (): string | undefined => shell.variables()['JAVA_TOOL_OPTIONS'];
    shell.configure({ HTTPS_PROXY: 'http://proxy.company.example:8080' });
    expect(options()).toBeUndefined();
    shell.configure({ SLIPWAY_EGRESS_CA: OURS });
    expect(options()).toMatch(/^-Djavax\.net\.ssl\.trustStore=\S+\.jks -Djavax\.net\.ssl\.trustStoreType=JKS$/);
    const proxied = { HTTPS_PROXY: 'http://sandbox:secret-of-it@10.0.0.1:3128', NO_PROXY: 'localhost,::1,.svc, a b' };
    shell.configure(proxied);
    await until('the relay listens', () => relay.port !== null);
    expect(options()).toBe(
      `-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=${relay.port} -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=${relay.port} -Dhttp.nonProxyHosts=localhost|[::1]|*.svc -Daether.connector.http.useSystemProperties=true`,
    );
    shell.configure({ ...proxied, JAVA_TOOL_OPTIONS: '-Xmx1g' });
    expect(options()).toBe('-Xmx1g');
    shell.configure({});
    expect(options()).toBeUndefined();
  });
});
