import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleProgram } from '../../deploy/images/apps/app-bundle.ts';
import { datadogFolder } from '../../deploy/images/apps/datadog/datadog-folder.ts';

export const TRACED_APPS = ['app-server', 'worker', 'runtime-api'] as const;

/** Programs as an image has them: one file each, with nothing beside it but a package.json. */
export class TracedBundles {
  readonly folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-traced-'));
  readonly datadog: string;

  private constructor(datadog: string) {
    this.datadog = datadog;
  }

  static async make(): Promise<TracedBundles> {
    return new TracedBundles(await datadogFolder(AbortSignal.timeout(120_000)));
  }

  /** @returns the program's file. `entry` is relative to the checkout. */
  async add(name: string, entry = `apps/${name}/dist/main.js`): Promise<string> {
    const folder = mkdtempSync(path.join(this.folder, `${name}-`));
    writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
    const file = path.join(folder, 'main.js');
    writeFileSync(file, (await bundleProgram(entry, { datadog: this.datadog })).content);
    return file;
  }

  /** What the chart gives a container when Datadog is on. */
  environment(app: string, agentUrl: string, sampleRate: number): Record<string, string> {
    return {
      NODE_OPTIONS: `--import=${pathToFileURL(path.join(this.datadog, 'preload.mjs')).href}`,
      DD_TRACE_AGENT_URL: agentUrl,
      DD_SERVICE: `slipway-${app}`,
      DD_ENV: 'test',
      DD_VERSION: '0.1.0',
      DD_TRACE_SAMPLE_RATE: String(sampleRate),
      ...(app === 'app-server' ? { SLIPWAY_TRACES_EDGE: 'true' } : {}),
    };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
