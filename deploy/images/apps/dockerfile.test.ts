import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from '@jest/globals';
import { appConfig } from '../app-image.ts';
import { ROOT } from '../image-parts.ts';
import { APP_NAMES, APPS, type AppName } from './app-list.ts';

const text = readFileSync(path.join(import.meta.dirname, 'Dockerfile'), 'utf8');
const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };

/** The stages that the image of an app is made of, with the arguments of its build put in. */
function stagesOf(app: AppName): string {
  const stage = (name: string): string =>
    new RegExp(`^FROM \\S+ AS ${name}$([\\s\\S]*?)(?=^FROM |(?![\\s\\S]))`, 'm').exec(text)?.[1] ?? '';
  const given: Readonly<Record<string, string>> = { APP: app, PORT: String(APPS[app].port), VERSION: version };
  return `${stage('files')}${stage(app === 'web' ? 'web' : 'app')}`.replace(
    /\$\{(\w+)\}/g,
    (_, name: string) => given[name] ?? '',
  );
}

describe('the Dockerfile of the apps', () => {
  for (const app of APP_NAMES) {
    it(`configures ${app} as the build without Docker does`, () => {
      const image = stagesOf(app);
      const said = (instruction: string): string[] =>
        [...image.matchAll(new RegExp(`^${instruction} (.*)$`, 'gm'))].map(([, value = '']) => value);
      const config = appConfig(app, APPS[app], version);
      assert.deepEqual(said('ENV'), config.Env);
      assert.deepEqual(
        [said('USER'), said('WORKDIR'), said('STOPSIGNAL')],
        [[config.User], [config.WorkingDir], [config.StopSignal]],
      );
      assert.deepEqual(said('EXPOSE'), Object.keys(config.ExposedPorts ?? {}));
      assert.deepEqual(JSON.parse(said('ENTRYPOINT')[0] ?? 'null'), config.Entrypoint);
      const labels = Object.fromEntries(said('LABEL').map((line) => [line.split('=')[0]!, line.split('"')[1]!]));
      const { 'org.opencontainers.image.description': _, ...expected } = config.Labels;
      assert.deepEqual(labels, expected);
    });
  }

  it('takes the version of this checkout and the ports of the apps from their sources', () => {
    assert.match(text, new RegExp(`^ARG VERSION=${version.replaceAll('.', '\\.')}$`, 'm'));
    for (const app of APP_NAMES)
      assert.match(text, new RegExp(`(APP=${app} --build-arg PORT=|${app} )${APPS[app].port}\\b`), app);
  });

  it('makes the contents by a program that is in the checkout', () => {
    const program = /node_modules\/\.bin\/node (\S+\.ts)/.exec(text)?.[1] ?? '';
    assert.ok(program !== '' && existsSync(path.join(ROOT, program)), program);
  });
});
