import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ModelServer, startModelServer, until } from '@slipway/testing';
import { TestSandbox } from '../testing/sandbox.js';
import { TestApp } from '../testing/test-app.js';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const FINISH = { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] };

describe('files of a message in a sandbox', () => {
  let sandbox: TestSandbox;
  let model: ModelServer;
  const apps: TestApp[] = [];
  beforeAll(async () => {
    [sandbox, model] = await Promise.all([TestSandbox.start(), startModelServer({ script: [] })]);
  });
  afterAll(() => Promise.all([sandbox.close(), model.close(), ...apps.map((app) => app.close())]));

  const place = (name: string): string => path.join(sandbox.workspace, '.slipway/attachments', name);
  const upload = async (name: string, content: Buffer): Promise<number> => {
    const answer = await fetch(`${sandbox.url}/api/file/upload?path=${encodeURIComponent(place(name))}`, {
      method: 'POST',
      headers: { ...sandbox.asApp, 'content-type': 'application/octet-stream' },
      body: new Uint8Array(content),
    });
    return answer.status;
  };
  const picture = (name: string) => ({
    id: randomUUID(),
    name,
    media_type: 'image/png',
    size_bytes: PNG.length,
    path: place(name),
  });
  /** What the model was asked, and what the app has of the message. */
  const asked = async (attachments: ReturnType<typeof picture>[], headers = sandbox.asApp) => {
    const app = await new TestApp().start();
    apps.push(app);
    model.use([FINISH]);
    const before = model.requests.length;
    const id = randomUUID();
    const started = await sandbox.call('POST', '/api/conversations', {
      conversation_id: id,
      agent: { llm: { model: 'openai/gpt-4.1', base_url: model.url, num_retries: 0 } },
      workspace: { working_dir: path.join(sandbox.workspace, 'project'), kind: 'LocalWorkspace' },
      slipway: { epoch: app.epoch, ingestUrl: app.url, ingestToken: 'token', head: 0, resumeRun: false },
    });
    expect(started.status).toBe(201);
    const said = { role: 'user', content: [{ type: 'text', text: 'look' }], run: true, attachments };
    expect((await sandbox.call('POST', `/api/conversations/${id}/events`, said, headers)).status).toBe(200);
    await until('the end of the run', () =>
      app.events.some((event) => event.kind === 'ConversationStateUpdateEvent' && event.value === 'finished'),
    );
    return {
      request: JSON.stringify(model.requests[before]?.body),
      message: app.events.find((event) => event.kind === 'MessageEvent' && event.source === 'user'),
    };
  };

  it('are shown to a model that sees pictures, and the log has where they lie and none of their bytes', async () => {
    expect(await upload('a.png', PNG)).toBe(200);
    const file = picture('a.png');
    const { request, message } = await asked([file]);
    expect(request).toContain(`data:image/png;base64,${PNG.toString('base64')}`);
    expect(message).toMatchObject({ attachments: [file] });
    expect(JSON.stringify(message)).not.toContain(PNG.toString('base64'));
  });

  it('are left out where the agent has written something else, or nothing is there', async () => {
    await upload('b.png', PNG);
    await writeFile(place('b.png'), 'no picture any more');
    const { request } = await asked([picture('b.png'), picture('missing.png')]);
    expect(request).not.toContain('data:image');
    expect(request).toContain('look');
  });

  it('are believed from the app alone', async () => {
    await upload('c.png', PNG);
    const { request, message } = await asked([picture('c.png')], { 'x-session-api-key': sandbox.sessionKey });
    expect(request).not.toContain('data:image');
    expect(message).not.toHaveProperty('attachments');
  });
});
