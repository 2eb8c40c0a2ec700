import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { bundleProgram } from '../../deploy/images/apps/app-bundle.ts';
import { datadogFolder } from '../../deploy/images/apps/datadog/datadog-folder.ts';
import { ROOT } from '../../deploy/images/image-parts.ts';

const ENTRY = 'apps/worker/dist/main.js';

jest.setTimeout(180_000);

describe('a bundle that dd-trace can see into', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-other-checkout-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is the same to the byte from two checkouts, and names neither them nor their repository', async () => {
    const datadog = await datadogFolder(AbortSignal.timeout(120_000));
    const here = await bundleProgram(ENTRY, { datadog });
    const other = path.join(folder, 'checkout');
    const elsewhere = path.join(folder, 'tracer');
    cpSync(datadog, elsewhere, { recursive: true });
    for (const file of [
      'package.json',
      'tsconfig.base.json',
      'apps/worker/package.json',
      'apps/worker/tsconfig.json',
      'apps/worker/dist',
      ...here.packages.filter((name) => name.startsWith('node_modules/')),
    ])
      cpSync(path.join(ROOT, file), path.join(other, file), { recursive: true });
    mkdirSync(path.join(other, 'node_modules/@slipway'), { recursive: true });
    for (const library of readdirSync(path.join(ROOT, 'libs'))) {
      for (const part of ['package.json', 'tsconfig.json', 'dist'])
        cpSync(path.join(ROOT, 'libs', library, part), path.join(other, 'libs', library, part), { recursive: true });
      symlinkSync(`../../libs/${library}`, path.join(other, 'node_modules/@slipway', library));
    }
    const there = await bundleProgram(ENTRY, { datadog: elsewhere, root: other });
    expect(there.content.equals(here.content)).toBe(true);
    const text = String(here.content);
    for (const hook of ['dd-trace:bundler:load', 'orchestrion:bullmq:Worker_callProcessJob'])
      expect(text).toContain(hook);
    const remote = /url = (.+)/.exec(gitConfig())?.[1];
    for (const word of [ROOT, other, os.homedir(), 'DD_GIT_', ...(remote === undefined ? [] : [remote])])
      expect([word, text.includes(word)]).toEqual([word, false]);
  });
});

function gitConfig(): string {
  try {
    return readFileSync(path.join(ROOT, '.git/config'), 'utf8');
  } catch {
    return '';
  }
}
