import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { ConversationEvent } from '@slipway/contracts/events';
import { itUnless, skipTest } from '@slipway/testing/jest';
import { EventLog } from './event-log.js';

function message(text: string, id: string = randomUUID()): ConversationEvent {
  return {
    id,
    timestamp: new Date().toISOString(),
    source: 'user',
    kind: 'MessageEvent',
    llm_message: { role: 'user', content: [{ type: 'text', text }] },
  };
}

async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-log-'));
  try {
    await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

describe('the log file', () => {
  it('is read back as it was written, in the order of the calls', async () => {
    await inDirectory(async (directory) => {
      const log = await EventLog.open(directory);
      const events = Array.from({ length: 200 }, (_, index) => message(`number ${index} ✓\n`));
      await Promise.all(events.map((event) => log.append([event])));
      await log.dispose();
      const again = await EventLog.open(directory);
      expect(again.events).toEqual(events);
      await again.dispose();
    });
  });

  it('cuts a torn last line off, and goes on after the last whole one', async () => {
    await inDirectory(async (directory) => {
      const log = await EventLog.open(directory);
      await log.append([message('whole')]);
      await log.dispose();
      await appendFile(path.join(directory, 'events.jsonl'), '{"id":"torn","kin');
      const again = await EventLog.open(directory);
      expect(again.events).toHaveLength(1);
      await again.append([message('next')]);
      await again.dispose();
      const last = await EventLog.open(directory);
      expect(last.events.map((event) => event.kind === 'MessageEvent' && event.llm_message.content[0]?.text)).toEqual([
        'whole',
        'next',
      ]);
      await last.dispose();
    });
  });

  it('holds an id once, also when it comes twice at once', async () => {
    await inDirectory(async (directory) => {
      const log = await EventLog.open(directory);
      const event = message('once');
      await Promise.all([log.append([event]), log.append([event]), log.append([event, message('other')])]);
      await log.append([event]);
      expect(log.events).toHaveLength(2);
      expect((await readFile(path.join(directory, 'events.jsonl'), 'utf8')).trim().split('\n')).toHaveLength(2);
      await log.dispose();
    });
  });

  it('puts the platform’s log first and keeps the lines missing in it', async () => {
    await inDirectory(async (directory) => {
      const log = await EventLog.open(directory);
      const [sent, unsent] = [message('sent'), message('unsent')];
      await log.append([sent, unsent]);
      const start = message('from the platform');
      expect(await log.rebase([start, sent])).toBe(2);
      await log.append([message('new')]);
      await log.dispose();
      const again = await EventLog.open(directory);
      expect(again.events.map((event) => event.id).slice(0, 3)).toEqual([start.id, sent.id, unsent.id]);
      expect(again.events).toHaveLength(4);
      await again.dispose();
    });
  });

  itUnless(process.getuid?.() !== 0 ? 'a small file system can only be mounted by root' : false)(
    'refuses on a full disk, keeps what was acknowledged and the last words, and goes on when there is room',
    async () => {
      await inDirectory(async (parent) => {
        try {
          execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', parent]);
        } catch (error) {
          return skipTest(`no small file system here: ${String((error as Error).message).split('\n')[0]}`);
        }
        try {
          const ballast = path.join(parent, 'ballast');
          const log = await EventLog.open(path.join(parent, 'conversation'));
          await log.append([message('kept')]);
          await writeFile(ballast, Buffer.alloc(48 * 1024)).catch(() => {});
          await expect(log.append([message('x'.repeat(40_000))])).rejects.toMatchObject({ code: 'sandbox.disk-full' });
          const lastWords = message('y'.repeat(30_000));
          await log.appendLast([lastWords]);
          expect(log.events.at(-1)?.id).toBe(lastWords.id);
          await unlink(ballast);
          await log.append([message('afterwards')]);
          await log.dispose();
          const again = await EventLog.open(path.join(parent, 'conversation'));
          expect(
            again.events.map(
              (event) => event.kind === 'MessageEvent' && event.llm_message.content[0]?.text.slice(0, 5),
            ),
          ).toEqual(['kept', 'yyyyy', 'after']);
          await again.dispose();
        } finally {
          execFileSync('umount', [parent]);
        }
      });
    },
  );
});
