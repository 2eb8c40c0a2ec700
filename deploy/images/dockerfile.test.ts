import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from '@jest/globals';
import { parseLock } from './image-lock.ts';
import { BUNDLES, type BundleName, builtBundle, IMAGE_CONFIG, NODE_PATH, nodeBinary, ROOT } from './image-parts.ts';
import { LOCK_FILE } from './sandbox-image.ts';

const text = readFileSync(path.join(import.meta.dirname, 'sandbox/Dockerfile'), 'utf8');
const image = text.slice(text.indexOf('FROM debian'));
const said = (instruction: string): string[] =>
  [...image.matchAll(new RegExp(`^${instruction} (.*)$`, 'gm'))].map(([, value = '']) => value);

describe('the Dockerfile', () => {
  it('configures the image as the build without Docker does', () => {
    assert.deepEqual(said('ENV'), IMAGE_CONFIG.Env);
    assert.deepEqual(said('USER'), [IMAGE_CONFIG.User]);
    assert.deepEqual(said('WORKDIR'), [IMAGE_CONFIG.WorkingDir]);
    assert.deepEqual(
      said('CMD').map((value) => JSON.parse(value)),
      [IMAGE_CONFIG.Cmd],
    );
    assert.deepEqual(
      said('LABEL'),
      Object.entries(IMAGE_CONFIG.Labels).map(([name, value]) => `${name}="${value}"`),
    );
  });

  it('copies only what there is in the checkout, and lets all of it into the context', () => {
    const ignored = readFileSync(path.join(import.meta.dirname, 'sandbox/Dockerfile.dockerignore'), 'utf8');
    const allowed = ignored
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const copied = [...text.matchAll(/^COPY (?!--from)(.*)$/gm)].flatMap(([, list = '']) =>
      list
        .split(' ')
        .filter((word) => !word.startsWith('--'))
        .slice(0, -1),
    );
    assert.ok(copied.length >= 8, copied.join(' '));
    for (const file of copied) {
      // Bundles are there after a build only.
      if (!file.endsWith('.cjs')) assert.ok(existsSync(path.join(ROOT, file)), file);
      assert.ok(
        allowed.some((pattern) => path.matchesGlob(file, pattern) || file.startsWith(`${pattern}/`)),
        `${file} is kept out by Dockerfile.dockerignore`,
      );
    }
  });

  it('puts Node and the bundles where pods look for them', () => {
    const { architecture } = parseLock(readFileSync(LOCK_FILE, 'utf8'));
    const copies = said('COPY').join('\n');
    assert.ok(copies.includes(`${path.relative(ROOT, nodeBinary(architecture).file)} ${NODE_PATH}`), copies);
    const bundles = (Object.keys(BUNDLES) as BundleName[])
      .map((name) => path.relative(ROOT, builtBundle(name)))
      .join(' ');
    assert.ok(copies.includes(`${bundles} ${path.dirname(BUNDLES['agent-server'])}/`), copies);
  });
});
