import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { missingForHelm } from '@slipway/testing/helm';
import { describeUnless } from '@slipway/testing/jest';
import { parse } from 'yaml';
import { CHART, helm, ROOT } from './chart.ts';

describeUnless(missingForHelm())('the chart as a package', () => {
  it('holds what its templates read, and nothing of its tests, in the version of package.json', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-package-'));
    try {
      const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
      const { code, said } = await helm(['package', CHART, '--destination', folder]);
      expect([code, code === 0 ? '' : said]).toEqual([0, '']);
      const archive = path.join(folder, `slipway-${version}.tgz`);
      const files = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).trim().split('\n');
      expect(files).toEqual(
        expect.arrayContaining([
          'slipway/files/alerts.yaml',
          'slipway/files/tests/ready.mjs',
          'slipway/values.schema.json',
        ]),
      );
      expect(files.filter((file) => /^slipway\/tests\/|README\.header/.test(file))).toEqual([]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('says where it is from, who keeps it, its icon, and has a changelog of its version', () => {
    const chart = parse(readFileSync(path.join(CHART, 'Chart.yaml'), 'utf8')) as Record<string, unknown>;
    for (const key of ['home', 'icon', 'sources', 'keywords', 'maintainers', 'kubeVersion'])
      expect([key, chart[key]]).toEqual([key, expect.anything()]);
    const icon = Buffer.from(String(chart['icon']).replace('data:image/svg+xml;base64,', ''), 'base64').toString();
    expect(icon).toBe(readFileSync(path.join(ROOT, 'apps/web/src/app/icon.svg'), 'utf8'));
    expect(readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8')).toContain(String(chart['appVersion']));
  });
});
