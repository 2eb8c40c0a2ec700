import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createLogger } from '@slipway/telemetry';
import { expect } from 'expect';
import { maskSecrets } from './mask-secrets.js';
import { MAX_LOGGED, PromptLog } from './prompt-log.js';

let directory: string;
before(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-prompts-'));
});
after(() => rm(directory, { recursive: true, force: true }));

describe('maskSecrets', () => {
  for (const secret of [
    'sk-proj-abcdefghijklmnop1234',
    'ghp_abcdefghijklmnop1234',
    'slp_llm_0123456789abcdef0123456789',
    'AKIAIOSFODNN7EXAMPLE',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl',
  ]) {
    it(`takes ${secret.slice(0, 8)}… out of a text, of JSON in it and of a command`, () => {
      for (const text of [`it is ${secret}.`, JSON.stringify({ content: `{"key":"${secret}"}` }), `curl -H "Authorization: Bearer ${secret}" x`])
        expect(maskSecrets(text)).not.toContain(secret.slice(6));
    });
  }

  it('takes passwords of addresses, assignments and private keys, and leaves code as it is', () => {
    expect(maskSecrets('postgres://me:hunter22@db/x')).not.toContain('hunter22');
    expect(maskSecrets('password = "correct-horse"')).not.toContain('correct-horse');
    expect(maskSecrets('-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----')).not.toContain('MIIabc');
    const code = 'const total = items.reduce((sum, item) => sum + item.price, 0); // https://example.org/a:b@c';
    expect(maskSecrets(code)).toBe(code);
  });
});

describe('PromptLog', () => {
  it('writes a line a call for those who want it, bounded and masked, and lets days go that are too old', async () => {
    await mkdir(path.join(directory, 'org_1'));
    for (const day of ['2026-11-01', '2026-11-20']) await writeFile(path.join(directory, 'org_1', `${day}.jsonl`), '');
    const log = new PromptLog({
      directory,
      orgs: new Set(['org_1']),
      days: 7,
      clock: { now: () => new Date('2026-11-22T10:00:00Z') },
      logger: createLogger('test', 'silent'),
    });
    expect([log.wants('org_1'), log.wants('org_2')]).toEqual([true, false]);
    const call = { orgId: 'org_1', conversationId: 'c', requestId: 'r', model: 'm', outcome: 'ok' };
    log.add({ ...call, asked: Buffer.from('use sk-secret-0123456789abcdef'), answered: Buffer.alloc(MAX_LOGGED * 2, 0x61) });
    log.add({ ...call, asked: Buffer.from('second'), answered: Buffer.from('') });
    await log.close();
    expect(await readdir(path.join(directory, 'org_1'))).toEqual(['2026-11-20.jsonl', '2026-11-22.jsonl']);
    const lines = (await readFile(path.join(directory, 'org_1', '2026-11-22.jsonl'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ asked }) => asked)).toEqual(['use sk-s[masked]', 'second']);
    expect(lines[0].answered).toHaveLength(MAX_LOGGED);
  });
});
