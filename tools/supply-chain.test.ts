import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { fillHashes } from './lock-hashes.ts';
import { pinned } from './pin-images.ts';
import { installedOn, unhashedPackages } from './unhashed-packages.mjs';

const ROOT = path.resolve(import.meta.dirname, '..');
const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-lock-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function lockWith(packages: Readonly<Record<string, unknown>>): string {
  const file = path.join(folder, 'package-lock.json');
  writeFileSync(file, JSON.stringify({ lockfileVersion: 3, packages }));
  return file;
}

describe('packages without a hash', () => {
  const file = () =>
    lockWith({
      '': { name: 'root' },
      'apps/own': { version: '0.1.0' },
      'node_modules/@own/lib': { resolved: 'libs/lib', link: true },
      'node_modules/hashed': { version: '1.0.0', integrity: 'sha512-x' },
      'node_modules/tool-darwin-arm64': { version: '1.2.3', os: ['darwin'], cpu: ['arm64'] },
      'node_modules/a/node_modules/plain': { version: '2.0.0' },
    });

  it('are named with the platform that installs them unverified', () => {
    const found = unhashedPackages(file());
    expect(found.map(({ name, version }) => `${name}@${version}`)).toEqual(['tool-darwin-arm64@1.2.3', 'plain@2.0.0']);
    expect(installedOn(found, 'darwin', 'arm64').map(({ name }) => name)).toEqual(['tool-darwin-arm64', 'plain']);
    expect(installedOn(found, 'linux', 'x64').map(({ name }) => name)).toEqual(['plain']);
  });

  it('get the hash that the registry has, and missing ones are named', async () => {
    const lock = file();
    const missing = await fillHashes(lock, async (name) => (name === 'plain' ? 'sha512-y' : null));
    expect(missing.map(({ name }) => name)).toEqual(['tool-darwin-arm64']);
    expect(unhashedPackages(lock).map(({ name }) => name)).toEqual(['tool-darwin-arm64']);
  });

  it('are never among those that a Linux server of x64 installs', () => {
    const own = unhashedPackages(path.join(ROOT, 'package-lock.json')).filter(({ name }) => !name.includes('musl'));
    expect(installedOn(own, 'linux', 'x64')).toEqual([]);
  });
});

describe('base images', () => {
  const digest = `sha256:${'a'.repeat(64)}`;

  it('are pinned by digest, again to the newest one, and stages are left alone', async () => {
    const once = await pinned(
      'FROM node:24-bookworm-slim AS build\nFROM scratch AS files\nFROM build\nFROM debian:12-slim\n',
      async () => digest,
    );
    expect(once).toBe(
      `FROM node:24-bookworm-slim@${digest} AS build\nFROM scratch AS files\nFROM build\nFROM debian:12-slim@${digest}\n`,
    );
    const newer = `sha256:${'b'.repeat(64)}`;
    expect(await pinned(once, async () => newer)).toBe(once.replaceAll(digest, newer));
  });

  it('are not written when a registry answers what is no digest', async () => {
    await expect(pinned('FROM debian:12-slim\n', async () => 'unauthorized')).rejects.toThrow('debian:12-slim');
  });
});

describe('the services', () => {
  it('ask for the Node that they run on', () => {
    const engines = globSync('apps/*/package.json', { cwd: ROOT }).map((file) => [
      file,
      JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')).engines?.node,
    ]);
    expect(engines.length).toBeGreaterThan(8);
    expect(engines.filter(([, node]) => node !== '>=24')).toEqual([]);
  });
});

describe('the API of OpenTelemetry', () => {
  it('is installed once, below 1.10: with a second copy or a newer one a preloaded tracer sends no spans, without an error', () => {
    const { packages } = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Readonly<Record<string, { readonly version?: string }>>;
    };
    const copies = Object.entries(packages).filter(([folder]) => folder.endsWith('node_modules/@opentelemetry/api'));
    expect(copies.map(([, { version }]) => version)).toEqual(['1.9.1']);
  });
});
