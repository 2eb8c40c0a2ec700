import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { checkArrows } from './arrows.ts';

const ROOT = path.resolve(import.meta.dirname, '..');

describe('the arrows between projects', () => {
  let root: string;
  /** A copy of the manifests, with one small source in each project. */
  beforeAll(() => {
    root = mkdtempSync(path.join(os.tmpdir(), 'slipway-arrows-'));
    for (const kind of ['libs', 'apps']) {
      for (const name of readdirSync(path.join(ROOT, kind))) {
        mkdirSync(path.join(root, kind, name, 'src'), { recursive: true });
        cpSync(path.join(ROOT, kind, name, 'package.json'), path.join(root, kind, name, 'package.json'));
      }
    }
  });
  afterAll(() => rmSync(root, { recursive: true }));

  const plant = (files: Record<string, string>): string[] => {
    for (const [file, source] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
      writeFileSync(path.join(root, file), source);
    }
    const found = checkArrows(root);
    for (const file of Object.keys(files)) rmSync(path.join(root, file));
    return found;
  };

  it('hold in this repository', () => expect(checkArrows(ROOT)).toEqual([]));

  it('let a clean source pass', () =>
    expect(
      plant({
        'apps/worker/src/a.ts': "import { Db } from '@slipway/db/sql';\nimport { b } from './b.js';\nb(Db);",
        'apps/worker/src/b.ts': 'export const b = console.log;',
      }),
    ).toEqual([]));

  for (const [what, file, source, says] of [
    [
      'an app that imports an app',
      'apps/worker/src/a.ts',
      "import '@slipway/app-server';",
      'no project imports an app',
    ],
    [
      'a library that imports an app',
      'libs/domain/src/a.ts',
      "export { x } from '@slipway/worker';",
      'no project imports an app',
    ],
    [
      'a call of a tenant’s address past libs/outside',
      'apps/worker/src/webhooks/a.ts',
      'export const sent = fetch(url);',
      'libs/outside',
    ],
    [
      'undici where a tenant’s address is called',
      'apps/app-server/src/integrations/a.ts',
      "import { request } from 'undici';",
      'libs/outside',
    ],
    [
      'a library that imports upwards',
      'libs/contracts/src/a.ts',
      "import type { Db } from '@slipway/db/sql';",
      'contracts',
    ],
    [
      'a path that the package does not offer',
      'apps/worker/src/a.ts',
      "import x from '@slipway/db/src/db.js';",
      'does not offer',
    ],
    [
      'a relative path into another project',
      'apps/worker/src/a.ts',
      "import x from '../../../libs/db/src/db.js';",
      'another project',
    ],
    [
      'an import of several lines',
      'apps/worker/src/a.ts',
      "import {\n  x,\n  // a comment\n  y,\n} from '@slipway/app-server';",
      'no project imports an app',
    ],
    ['a dynamic import', 'apps/worker/src/a.ts', "await import('@slipway/app-server');", 'no project imports an app'],
    ['web that imports the database', 'apps/web/src/a.tsx', "import { Db } from '@slipway/db/sql';", 'db'],
    [
      'a sandbox process that imports the database',
      'apps/agent-server/src/a.ts',
      "import { Db } from '@slipway/db/sql';",
      'db',
    ],
    [
      'Prisma’s client outside of libs/db',
      'apps/worker/src/a.ts',
      "import { PrismaClient } from '@prisma/client';",
      'libs/db',
    ],
    [
      'the Kubernetes client outside of its adapter',
      'apps/runtime-api/src/a.ts',
      "import * as k8s from '@kubernetes/client-node';",
      'Kubernetes adapter',
    ],
    ['Nest in the rules', 'libs/domain/src/a.ts', "import { Injectable } from '@nestjs/common';", 'no framework'],
    [
      'the testing library in a source',
      'apps/worker/src/a.ts',
      "import { until } from '@slipway/testing';",
      'only tests',
    ],
    [
      'a dependency that the manifest does not name',
      'libs/domain/src/a.ts',
      "import { SlipwayError } from '@slipway/errors';",
      'package.json',
    ],
    [
      'the environment in a feature',
      'apps/worker/src/start/a.ts',
      'export const url = process.env.DATABASE_URL;',
      'process.env',
    ],
    [
      'a trace header of a request',
      'apps/worker/src/a.ts',
      "fetch(url, { headers: { a: 'b', traceparent: '00' } });",
      'traceHeaders',
    ],
    [
      'a trace header of a constant',
      'apps/app-server/src/a.ts',
      "const moreHeaders = { 'traceparent': '00' };",
      'traceHeaders',
    ],
    [
      'a trace header that is set later',
      'libs/integrations/src/a.ts',
      "request.setHeader('traceparent', '00');",
      'traceHeaders',
    ],
    ['a trace header that is assigned', 'libs/sandbox/src/a.ts', "headers['traceparent'] = '00';", 'traceHeaders'],
    [
      'a trace header made by hand',
      'apps/runtime-api/src/a.ts',
      `export const row = { traceparent: \`00-\${trace}-\${span}-01\` };`,
      'currentTraceparent',
    ],
    [
      'a tracer outside of libs/telemetry',
      'apps/app-server/src/a.ts',
      "import { trace } from '@opentelemetry/api';",
      'libs/telemetry',
    ],
    ['a file that imports itself', 'apps/worker/src/a.ts', "import './a.js';", 'cycle'],
  ] as const) {
    it(`name ${what}`, () =>
      expect(plant({ [file]: source })).toEqual([expect.stringMatching(new RegExp(`^${file}: .*${says}`))]));
  }

  it('fail on an import cycle, of types alone too', () => {
    const cycle = {
      'apps/worker/src/a.ts': "import { b } from './b.js';\nexport const a = b;",
      'apps/worker/src/b.ts': "import { c } from './c.js';\nexport const b = c;",
      'apps/worker/src/c.ts': "export { a as c } from './a.js';",
    };
    expect(plant(cycle)).toEqual(['apps/worker/src/a.ts: is in an import cycle: a.ts → b.ts → c.ts → a.ts']);
    expect(
      plant({ ...cycle, 'apps/worker/src/c.ts': "import type { a } from './a.js';\nexport let c: typeof a;" }),
    ).toEqual(['apps/worker/src/a.ts: is in an import cycle: a.ts → b.ts → c.ts → a.ts']);
  });

  it('let a trace be stored, and be read from a request', () =>
    expect(
      plant({
        'apps/worker/src/a.ts':
          "import { currentTraceparent, traceHeaders } from '@slipway/telemetry';\nexport const row = { traceparent: currentTraceparent(), headers: { ...traceHeaders() } };\nexport const read = (headers: { traceparent: string }): string => headers['traceparent'];",
      }),
    ).toEqual([]));

  it('are not mistaken for a comment or a text', () =>
    expect(
      plant({
        'apps/worker/src/a.ts':
          "// import x from '@slipway/app-server';\nexport const text = \"import '@slipway/app-server';\";",
      }),
    ).toEqual([]));
});
