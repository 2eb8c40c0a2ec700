import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import { loadConfig } from '../config.js';
import { debugFiles } from './debug-files.js';
import { PromptLog } from './prompt-log.js';

describe('the log of model calls for one developer', () => {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'slipway-llm-debug-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('is a file of text a call that only its owner reads, with secrets masked, and stays in its folder', async () => {
    const clock = { now: () => new Date('2026-01-02T03:04:05.678Z') };
    const log = new PromptLog({ store: debugFiles(directory), clock, logger: createLogger('test', 'silent') });
    log.start();
    await until('it is ready', () => log.wants('whoever'));
    const asked = Buffer.from(JSON.stringify({ messages: [{ content: 'one\ntwo, with sk-secret-0123456789abcdef' }] }));
    const call = {
      orgId: 'org_1',
      userId: null,
      model: 'm',
      outcome: 'ok',
      asked,
      answered: Buffer.from('data: {"a":1}\n\n'),
    };
    log.add({ ...call, conversationId: 'c', requestId: 'req_1' });
    log.add({ ...call, conversationId: '../../../etc/cron.d/x', requestId: 'req_2' });
    await log.close();
    const folder = path.join(directory, '2026-01-02');
    expect(readdirSync(directory)).toEqual(['2026-01-02']);
    const names = readdirSync(folder).sort();
    expect(names).toEqual([expect.stringMatching(/^03-04-05\.678Z_[.a-z]*_req_2\.txt$/), '03-04-05.678Z_c_req_1.txt']);
    const text = readFileSync(path.join(folder, names[1] ?? ''), 'utf8');
    expect(text).toMatch(
      /^at: 2026-01-02T03:04:05.678Z\norganization: org_1\nconversation: c\nrequest: req_1\nmodel: m\noutcome: ok\n/,
    );
    expect(text).toContain('one\ntwo, with sk-s[masked]');
    expect(text).toContain('=== answered ===\ndata: {"a":1}\n');
    expect(statSync(path.join(folder, names[1] ?? '')).mode & 0o077).toBe(0);
  });

  it('is refused in production', () => {
    const source = {
      DATABASE_URL: 'postgres://x',
      LLM_GATEWAY_MASTER_KEY: 'k'.repeat(40),
      LLM_DEBUG_LOG_DIR: directory,
    };
    expect(loadConfig(source)).toMatchObject({ LLM_DEBUG_LOG_DIR: directory });
    expect(() => loadConfig({ ...source, NODE_ENV: 'production' })).toThrow(/LLM_DEBUG_LOG_DIR/);
  });
});
