import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { skipTest } from '@slipway/testing/jest';
import { run } from '@slipway/testing/programs';
import { type ApiServer, ENDING, openApiServer } from './open-api-server.ts';
import { schemathesis } from './schemathesis-program.ts';

/**
 * Requests an operation beside those of its examples and of each limit of its schema. `SCHEMATHESIS_EXAMPLES=200` for a
 * night.
 */
const EXAMPLES = Number(process.env['SCHEMATHESIS_EXAMPLES'] ?? 6);
/** Longest for both callers. Seconds. */
const SECONDS = Number(process.env['SCHEMATHESIS_SECONDS'] ?? 45);
const CHECKS =
  'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance';
describe('the REST API, called within its document and outside of it', () => {
  let server: ApiServer;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-api-schema-'));
    server = await openApiServer();
  });
  afterAll(async () => {
    await server?.app.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  for (const { who, proof, share, ends } of [
    { who: 'a program with a key of the owner', proof: 'apiKey', share: 0.7, ends: false },
    { who: 'the owner in a browser', proof: 'session', share: 0.2, ends: false },
    { who: 'an owner whose proof may end on the way', proof: 'session', share: 0.1, ends: true },
  ] as const)
    it(
      `answers ${who} with nothing but what the document says, and never fails`,
      async () => {
        const found = await schemathesis();
        if ('missing' in found) return skipTest(found.missing);
        const file = path.join(folder, `${proof}-${ends}.json`);
        const { operations } = await server.writeDocument(file, proof, (operation) => ENDING.has(operation) === ends);
        expect(operations).toBeGreaterThanOrEqual(ends ? ENDING.size : 10);
        const headers: Readonly<Record<string, string>> =
          proof === 'apiKey'
            ? { authorization: `Bearer ${server.token}` }
            : { cookie: server.owner.cookie, origin: server.app.url };
        const { code, output } = await run(
          found.program,
          [
            ...[
              'run',
              file,
              '--url',
              server.app.url,
              '--checks',
              CHECKS,
              '--phases',
              'examples,coverage,fuzzing',
              '--max-examples',
              String(EXAMPLES),
            ],
            ...[
              '--generation-deterministic',
              '--generation-with-security-parameters',
              'false',
              '--suppress-health-check',
              'all',
            ],
            ...['--continue-on-failure', '--no-shrink', '--no-color', '--warnings', 'off'],
            ...['--request-timeout', '20', '--max-time', String(Math.ceil(SECONDS * share))],
            ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
          ],
          { timeoutMs: (SECONDS + 120) * 1000, cwd: folder },
        );
        if (code !== 0) throw new Error(output.slice(-20_000));
        const [, cases = '0'] = /(\d+) generated/.exec(output) ?? [];
        console.log(`${operations} operations, ${cases} requests`);
        expect(Number(cases)).toBeGreaterThan(operations);
        // Nothing that was asked has ended the caller's own right to ask, after which every answer would be the same.
        if (!ends) expect((await fetch(`${server.app.url}/api/v1/me`, { headers })).status).toBe(200);
      },
      (SECONDS + 300) * 1000,
    );
});
