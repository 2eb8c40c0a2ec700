import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { APP_NAMES } from './apps/app-list.ts';
import { listed } from './image-list.ts';
import { ROOT } from './image-parts.ts';

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

describe('the list of images', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const names = listed(
    APP_NAMES.map((app) => ({ reference: `slipway/${app}:${version}`, digest: 'sha256:1', archivePath: '/1' })),
    { digest: 'sha256:2', archive: '/2' },
  ).map(({ name }) => name);

  it('is what the chart pulls by its defaults, and nothing else', () => {
    const values = parse(read('helm/slipway/values.yaml')) as Record<string, { image?: { repository?: string } }>;
    const { appVersion } = parse(read('helm/slipway/Chart.yaml')) as { appVersion: string };
    const pulled = Object.values(values).flatMap((value) =>
      typeof value === 'object' && value?.image?.repository ? [value.image.repository] : [],
    );
    expect(names).toEqual(expect.arrayContaining(pulled.map((repository) => `${repository}:${appVersion}`)));
    expect(names).toHaveLength(pulled.length);
  });
});
