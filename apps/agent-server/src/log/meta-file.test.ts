import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import type { ConversationMeta } from '../settings/conversation-settings.js';
import { MetaFile } from './meta-file.js';

describe('MetaFile of a conversation that is closed and deleted', () => {
  const opened = async (): Promise<{ file: MetaFile; directory: string; warned: string[] }> => {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-meta-'));
    const warned: string[] = [];
    const logger = createLogger('test', 'silent');
    logger.warn = ((_fields: object, message: string) => void warned.push(message)) as typeof logger.warn;
    return { file: new MetaFile(directory, { id: 'c' } as ConversationMeta, logger), directory, warned };
  };
  /** Another one's write is done: those that began before it have been tried. */
  const othersWritten = async (): Promise<void> => {
    const { file, directory } = await opened();
    file.change({});
    await until('it is written', () => existsSync(path.join(directory, 'meta.json')));
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  };

  it('writes nothing of a change that comes after the close, so that the folder stays away', async () => {
    const { file, directory, warned } = await opened();
    file.close();
    await rm(directory, { recursive: true });
    file.change({});
    file.changeSoon({});
    await othersWritten();
    expect([existsSync(directory), warned]).toEqual([false, []]);
  });

  it('does not warn of a write that was under way', async () => {
    for (let round = 0; round < 30; round += 1) {
      const { file, directory, warned } = await opened();
      file.change({});
      file.close();
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
      await othersWritten();
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
      expect(warned).toEqual([]);
    }
  });
});
