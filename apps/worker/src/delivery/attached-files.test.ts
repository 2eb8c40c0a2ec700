import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inOrg } from '@slipway/db/sql';
import { type Harness, ORG, openHarness } from '../testing/harness.js';

/** More than one slice of a read. */
const LONG = 'a line of the log, and what follows it\n'.repeat(40_000);

describe('files of messages', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHarness();
  });
  afterAll(() => harness.close());

  const attach = async (conversation: string, message: string, name: string, content: string): Promise<string> => {
    const id = randomUUID();
    await inOrg(harness.pool, ORG, (client) =>
      client.query(
        `INSERT INTO app.attachment (id, org_id, conversation_id, name, media_type, bytes, content, created_by, created_by_label, message_id)
         VALUES ($1, $2, $3, $4, 'text/plain', length($5::bytea), $5, 'u', 'u', $6)`,
        [id, ORG, conversation, name, Buffer.from(content), message],
      ),
    );
    return id;
  };
  const sandboxOf = (id: string) => {
    const sandbox = harness.peers.sessions.get(id)?.sandbox;
    if (sandbox == null) throw new Error('there is no sandbox');
    return sandbox;
  };
  const pathOf = async (id: string, file: string, name: string): Promise<string> =>
    path.join(path.dirname((await harness.row(id)).workingDir ?? ''), '.slipway/attachments', file, name);

  it('lie in the sandbox, beside the repository, before the message that names them', async () => {
    const { id, message } = await harness.create();
    const log = await attach(id, message, 'build log.txt', LONG);
    let writtenBefore = false;
    harness.peers.onRequest = (request, moment) => {
      if (request === 'agent POST /api/conversations/:id/events' && moment === 'before')
        writtenBefore = sandboxOf(id).files.size === 1;
    };
    await harness.start(id);
    harness.peers.onRequest = () => {};
    const place = await pathOf(id, log, 'build log.txt');
    expect(sandboxOf(id).files.get(place)?.content).toBe(LONG);
    expect(writtenBefore).toBe(true);
    expect(sandboxOf(id).handedOver[0]).toMatchObject({
      event_id: message,
      content: [{ type: 'text' }, { type: 'text', text: `\n\nAttached files:\n- ${place} (text/plain, 1.5 MB)` }],
      attachments: [{ id: log, name: 'build log.txt', media_type: 'text/plain', size_bytes: LONG.length, path: place }],
    });
  });

  it('are written again with a message that is handed over again, which the agent takes in once', async () => {
    const { id } = await harness.create();
    await harness.start(id);
    const message = await harness.send(id, 'look at this');
    const file = await attach(id, message, 'a.txt', 'a');
    let broken = false;
    harness.peers.onRequest = (request, moment) => {
      if (request !== 'agent POST /api/conversations/:id/events' || moment !== 'after' || broken) return;
      broken = true;
      // The answer is lost: worker cannot know that the message came.
      throw new Error('cut');
    };
    await harness.start(id).catch(() => {});
    await harness.start(id);
    harness.peers.onRequest = () => {};
    expect(broken).toBe(true);
    const sandbox = sandboxOf(id);
    expect(sandbox.messages.filter((each) => each === message)).toHaveLength(1);
    expect(sandbox.files.get(await pathOf(id, file, 'a.txt'))?.content).toBe('a');
  });

  it('are all there again in a new workspace, those of earlier messages too', async () => {
    const { id, message } = await harness.create();
    const first = await attach(id, message, 'first.txt', 'first');
    await harness.start(id);
    await harness.peers.endSandbox(id, 'the sandbox ended: its pod was deleted');
    await harness.expireLease(id);
    const next = await harness.send(id, 'after the loss');
    const second = await attach(id, next, 'second.txt', 'second');
    await harness.start(id);
    const { files, messages } = sandboxOf(id);
    expect(messages).toEqual([next]);
    expect(files.get(await pathOf(id, first, 'first.txt'))?.content).toBe('first');
    expect(files.get(await pathOf(id, second, 'second.txt'))?.content).toBe('second');
  });
});
