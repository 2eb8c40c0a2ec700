import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LIVE_OPEN } from '@slipway/contracts/live';
import { until } from '@slipway/testing';
import { type RawData, WebSocket } from 'ws';
import { TestSandbox } from '../testing/sandbox.js';

interface Message {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A user's page: it authenticates with its first frame, and shows what comes. */
class Page {
  readonly messages: Message[] = [];
  text = '';
  closed: { readonly code: number; readonly reason: string } | undefined;
  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: RawData, binary: boolean) => {
      if (binary) this.text += (data as Buffer).toString();
      else this.messages.push(JSON.parse(String(data)) as Message);
    });
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: String(reason) };
    });
    socket.on('error', () => {});
  }

  static open(sandbox: TestSandbox, address: string, key: string | null = sandbox.sessionKey): Page {
    const socket = new WebSocket(`${sandbox.url.replace('http', 'ws')}/sockets/live/${address}`);
    const page = new Page(socket);
    if (key !== null) socket.once('open', () => socket.send(JSON.stringify({ type: 'auth', session_api_key: key })));
    return page;
  }

  of(type: string): Message | undefined {
    return this.messages.findLast((message) => message.type === type);
  }

  message(type: string): Promise<Message> {
    return until(`the message ${type}`, () => this.of(type), 20_000);
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  type(text: string): void {
    this.socket.send(Buffer.from(text));
  }

  shown(text: string): Promise<unknown> {
    return until(JSON.stringify(text), () => this.text.includes(text), 20_000);
  }
}

const SECRET = 'hunter2-very-secret-value';

describe('/sockets/live/<channel>', () => {
  let sandbox: TestSandbox;
  beforeAll(async () => {
    sandbox = await TestSandbox.start();
    await sandbox.call('POST', '/api/slipway/secrets', { variables: { DEPLOY_KEY: SECRET }, git: [] });
  });
  afterAll(() => sandbox.close());

  async function openShell(): Promise<Page> {
    const list = Page.open(sandbox, 'terminal');
    // Right after the credential, before anything has answered.
    list.socket.once('open', () => list.send({ type: 'open-shell', cols: 80, rows: 24 }));
    const { shell } = await list.message('opened');
    expect(list.messages[0]).toEqual(LIVE_OPEN);
    list.socket.terminate();
    const page = Page.open(sandbox, `terminal?shell=${String(shell)}`);
    await page.message('attached');
    return page;
  }

  it('what a user does there counts as use, and what their page says of it by itself does not', async () => {
    const idle = async (): Promise<number | null> =>
      ((await (await fetch(`${sandbox.url}/server_info`)).json()) as { person_idle_time: number | null })
        .person_idle_time;
    const tree = Page.open(sandbox, 'files');
    await tree.message(LIVE_OPEN.type);
    // As the page does each time that names have changed.
    tree.send({ type: 'list', id: 1, path: '', offset: 0, limit: 10 });
    await tree.message('listed');
    tree.socket.terminate();
    expect(await idle()).toBeNull();
    const page = await openShell();
    await page.message('caught-up');
    page.send({ type: 'seen', at: 0 });
    await until('a second has passed since it was opened', async () => ((await idle()) ?? 0) >= 1, 20_000);
    // Typed again at each poll: on a slow machine a second passes between the two.
    const typed = async (): Promise<boolean> => {
      page.type(' ');
      return (await idle()) === 0;
    };
    await until('what is typed counts', typed, 20_000);
    page.socket.terminate();
  });

  it('joins a user to a channel of the tool process, with its environment, and hides secrets in what it shows, also one that comes in two frames', async () => {
    const page = await openShell();
    await page.message('caught-up');
    expect(page.messages.map(({ type }) => type)).toEqual(['live-open', 'attached', 'caught-up']);
    page.type('echo "is $DEPLOY_KEY, $(printenv GREETING)"\r');
    await page.shown('is <secret:DEPLOY_KEY>, hello from the claim');
    // The second half is written when the first one has been shown, in a frame of its own.
    page.type(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is bash's
      'printf %s "two ${DEPLOY_KEY:0:9}"; until test -e go-on; do sleep 0.05; done; printf "%s end\\n" "${DEPLOY_KEY:9}"\r',
    );
    await page.shown('\rtwo hun');
    await writeFile(path.join(sandbox.workspace, 'go-on'), '');
    await page.shown('<secret:DEPLOY_KEY> end');
    expect(page.text).not.toContain(SECRET);
    expect(page.text).not.toContain(SECRET.slice(9));
    expect(page.text).not.toContain('two hunt');
    page.socket.terminate();
  });

  it('closes with 4001 without a credential, and with 4004 for a channel that there is not', async () => {
    for (const [page, code] of [
      [Page.open(sandbox, 'terminal', 'wrong'), 4001],
      [Page.open(sandbox, 'nothing'), 4004],
      [Page.open(sandbox, 'terminal?shell=nothing'), 4010],
    ] as const)
      expect(await until('closed', () => page.closed, 20_000)).toMatchObject({ code });
  });

  it('lets no more through than the user’s end takes, and holds up nobody else', async () => {
    const page = await openShell();
    // Asks for everything and reads nothing of it.
    page.socket.pause();
    page.type("head -c 3000000 /dev/zero | tr '\\0' x; touch flooded\r");
    await until(
      'the program has ended',
      async () =>
        (
          await sandbox.call<{ exit_code: number }>('POST', '/api/bash/execute_bash_command', {
            command: 'test -e flooded',
          })
        ).body.exit_code === 0,
      30_000,
    );
    const other = await openShell();
    other.type('echo "here $((20 + 1))"\r');
    await other.shown('here 21');
    page.socket.terminate();
    other.socket.terminate();
  });

  it('closes with 1011 when the tool process goes away, and works again once it is back', async () => {
    const page = await openShell();
    await sandbox.kill('actionServer');
    expect(await until('closed', () => page.closed, 20_000)).toMatchObject({ code: 1011 });
    const early = Page.open(sandbox, 'terminal');
    expect(await until('closed', () => early.closed, 20_000)).toMatchObject({ code: 1011 });
    await sandbox.startActionServer();
    const again = await openShell();
    again.type('echo "back, $DEPLOY_KEY"\r');
    await again.shown('back, <secret:DEPLOY_KEY>');
    again.socket.terminate();
  });
});
