import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type ConversationEvent } from '@slipway/contracts/events';
import { until } from '@slipway/testing';
import {
  app,
  finish,
  sandbox,
  say,
  setUpAgentServer,
  start,
  terminal,
  untilStatus,
} from './testing/agent-server-setup.js';

describe('routes of agent-server', () => {
  setUpAgentServer();

  it('answer what they do not know with a code and a sentence', async () => {
    expect((await sandbox.call('GET', `/api/conversations/${randomUUID()}`)).status).toBe(404);
    expect((await sandbox.call<{ code: string }>('GET', '/api/nothing')).body.code).toBe('resource.not-found');
    const notJson = await fetch(`${sandbox.url}/api/conversations`, {
      method: 'POST',
      headers: { 'x-session-api-key': sandbox.sessionKey },
      body: '{',
    });
    expect([notJson.status, ((await notJson.json()) as { code: string }).code]).toEqual([400, 'request.not-json']);
    const tooLarge = await fetch(`${sandbox.url}/api/conversations`, {
      method: 'POST',
      headers: { 'x-session-api-key': sandbox.sessionKey },
      body: 'x'.repeat(3 * 1024 * 1024),
    });
    expect(tooLarge.status).toBe(413);
    expect((await fetch(`${sandbox.url}/api/conversations/count`)).status).toBe(401);
    expect(
      (
        await fetch(`${sandbox.url}/api/conversations/count`, {
          headers: { authorization: `Bearer ${sandbox.sessionKey}` },
        })
      ).status,
    ).toBe(200);
  });

  it('page through events in both directions, by kind and by time', async () => {
    const id = await start([terminal('true'), finish()]);
    await say(id, 'go');
    await untilStatus('finished');
    const seen: string[] = [];
    let page: string | null = null;
    do {
      const query: string = page === null ? '' : `&page_id=${page}`;
      const { body } = await sandbox.call<{ items: ConversationEvent[]; next_page_id: string | null }>(
        'GET',
        `/api/conversations/${id}/events/search?limit=3&sort_order=TIMESTAMP_DESC${query}`,
      );
      seen.push(...body.items.map((event) => event.id));
      page = body.next_page_id;
    } while (page !== null);
    expect(seen.reverse()).toEqual(app.events.map((event) => event.id));
    expect((await sandbox.call('GET', `/api/conversations/${id}/events/count?kind=ActionEvent`)).body).toBe(2);
    expect((await sandbox.call('GET', `/api/conversations/${id}/events/search?limit=101`)).status).toBe(400);
  });

  it('run commands and hand files and git on to the tool process', async () => {
    await writeFile(path.join(sandbox.workspace, 'note.txt'), 'content of the note');
    const { body } = await sandbox.call<{ exit_code: number; stdout: string }>(
      'POST',
      '/api/bash/execute_bash_command',
      {
        command: 'cat note.txt; exit 3',
        timeout: 10,
      },
    );
    expect([body.exit_code, body.stdout]).toEqual([3, 'content of the note']);
    const file = await fetch(
      `${sandbox.url}/api/file/download?path=${encodeURIComponent(path.join(sandbox.workspace, 'note.txt'))}`,
      {
        headers: { 'x-session-api-key': sandbox.sessionKey },
      },
    );
    expect(await file.text()).toBe('content of the note');
    const form = new FormData();
    form.set('file', new Blob([Buffer.alloc(5 * 1024 * 1024, 7)]), 'large.bin');
    const target = encodeURIComponent(path.join(sandbox.workspace, 'large.bin'));
    const upload = await fetch(`${sandbox.url}/api/file/upload?path=${target}`, {
      method: 'POST',
      headers: { 'x-session-api-key': sandbox.sessionKey },
      body: form,
    });
    expect([upload.status, await upload.json()]).toEqual([200, expect.objectContaining({ success: true })]);
    const back = await fetch(`${sandbox.url}/api/file/download?path=${target}`, {
      headers: { 'x-session-api-key': sandbox.sessionKey },
    });
    expect((await back.arrayBuffer()).byteLength).toBe(5 * 1024 * 1024);
    const repo = path.join(sandbox.workspace, 'repo');
    await sandbox.call('POST', '/api/bash/execute_bash_command', {
      command: `git init -q ${repo} && cd ${repo} && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m start && echo new > a.txt`,
      timeout: 10,
    });
    const patch = await fetch(`${sandbox.url}/api/git/patch?path=${encodeURIComponent(repo)}`, {
      headers: { 'x-session-api-key': sandbox.sessionKey },
    });
    expect([patch.status, await patch.text()]).toEqual([200, expect.stringContaining('+new')]);
    const started = await sandbox.call<{ id: string }>('POST', '/api/bash/start_bash_command', {
      command: 'echo later',
      timeout: 10,
    });
    const output = await until(
      'its output',
      async () =>
        (
          await sandbox.call<{ items: Array<{ stdout: string }> }>(
            'GET',
            `/api/bash/bash_events/search?kind__eq=BashOutput&command_id__eq=${started.body.id}`,
          )
        ).body.items[0],
    );
    expect(output.stdout).toBe('later\n');
  });
});
