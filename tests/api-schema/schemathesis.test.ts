import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { expect } from 'expect';
import { type ApiServer, openApiServer } from './open-api-server.ts';
import { run, schemathesis } from './schemathesis-program.ts';

/** Requests an operation beside those of its examples and of each limit of its schema. `SCHEMATHESIS_EXAMPLES=200` for a night. */
const EXAMPLES = Number(process.env['SCHEMATHESIS_EXAMPLES'] ?? 6);
/** Longest for one caller. Seconds. */
const SECONDS = Number(process.env['SCHEMATHESIS_SECONDS'] ?? 40);
const CHECKS = 'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance';
/** Would end the caller's own sessions, after which every answer is that there is nobody. */
const WITHOUT = new Set(['me.sessions.end-all']);

describe('the REST API, asked for what its document allows and for what it does not', () => {
  let server: ApiServer;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-api-schema-'));
    server = await openApiServer(WITHOUT);
  });
  after(async () => {
    await server?.app.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  for (const [who, proof] of [
    ['a program with a key of the owner', 'apiKey'],
    ['the owner in a browser', 'session'],
  ] as const)
    it(`answers ${who} with nothing but what the document says, and never fails`, { timeout: (SECONDS + 300) * 1000 }, async (context: TestContext) => {
      const found = await schemathesis();
      if ('lack' in found) return context.skip(found.lack);
      const file = path.join(folder, `${proof}.json`);
      const { operations } = await server.writeDocument(file, proof);
      expect(operations).toBeGreaterThan(10);
      const headers = proof === 'apiKey' ? [`Authorization: Bearer ${server.token}`] : [`Cookie: ${server.owner.cookie}`, `Origin: ${server.app.url}`];
      const { code, output } = await run(
        found.program,
        [
          ...['run', file, '--url', server.app.url, '--checks', CHECKS, '--phases', 'examples,coverage,fuzzing', '--max-examples', String(EXAMPLES)],
          ...['--generation-deterministic', '--generation-with-security-parameters', 'false', '--suppress-health-check', 'all'],
          ...['--continue-on-failure', '--no-shrink', '--no-color', '--warnings', 'off', '--request-timeout', '20', '--max-time', String(SECONDS)],
          ...headers.flatMap((header) => ['-H', header]),
        ],
        (SECONDS + 120) * 1000,
        folder,
      );
      if (code !== 0) throw new Error(output.slice(-20_000));
      context.diagnostic(output.trim().split('\n').slice(-12).join(' | '));
      expect(
        await (await fetch(`${server.app.url}/api/v1/me`, { headers: Object.fromEntries(headers.map((header) => header.split(': ') as [string, string])) }))
          .status,
      ).toBe(200);
    });
});
