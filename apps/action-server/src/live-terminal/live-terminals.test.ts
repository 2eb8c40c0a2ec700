import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MAX_SHELLS, SHELL_SCROLLBACK_BYTES, SHELL_WINDOW_BYTES } from '@slipway/contracts/live';
import { until } from '@slipway/testing';
import { LiveClient } from '../testing/live-client.js';
import { type RunningServer, startActionServer } from '../testing/running-server.js';

describe('the live channel terminal', () => {
  let server: RunningServer;
  let list: LiveClient;
  beforeAll(async () => {
    server = await startActionServer();
    list = await LiveClient.open(server, 'terminal');
  });
  afterAll(() => server.close());

  async function openShell(size = { cols: 80, rows: 24 }): Promise<{ id: string; client: LiveClient }> {
    const asked = list.of('opened').length;
    list.send({ type: 'open-shell', ...size });
    const id = await until('the shell', () => list.of('opened')[asked]?.['shell'] as string | undefined, 20_000);
    return { id, client: await attach(id) };
  }
  const attach = (id: string): Promise<LiveClient> => LiveClient.open(server, `terminal?shell=${id}`);
  const leftOut = (client: LiveClient): number =>
    client.of('skipped').reduce((sum, message) => sum + Number(message['bytes']), 0);
  const close = (id: string): void => list.send({ type: 'close-shell', shell: id });
  const listed = (): Array<{ id: string; owner: string; exitCode: number | null }> =>
    (list.of('shells').at(-1)?.['shells'] ?? []) as never;

  it('is a real terminal that goes on without its reader, and shows whoever comes what it wrote before', async () => {
    const { id, client } = await openShell();
    expect(await client.message('attached')).toMatchObject({
      shell: { id, owner: 'person', cols: 80, rows: 24, exitCode: null },
      cut: false,
    });
    client.type('test -t 0 && echo "it is $((40 + 2)) on $TERM"; (sleep 0.2; echo "later $((1 + 1))")\r');
    await client.shown('it is 42 on xterm-256color');
    client.close();
    const other = await attach(id);
    await other.shown('it is 42 on');
    await other.shown('later 2');
    expect(other.of('caught-up')).toHaveLength(1);
    other.type('echo "still $((3 * 3))"\r');
    await other.shown('still 9');
    other.close();
    close(id);
  });

  it('reaches the outside through the proxy of every command, and says there that a terminal asks', async () => {
    const seen: string[] = [];
    const proxy = createServer((request, response) => {
      const [, credential = ''] = request.headers['proxy-authorization']?.split(' ') ?? [];
      seen.push(`${request.url} ${Buffer.from(credential, 'base64').toString()}`);
      response.end('refused');
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const url = `http://sandbox:secret@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const configured = await server.send(
      'POST',
      '/configure',
      JSON.stringify({ env: { http_proxy: url, HTTPS_PROXY: url } }),
    );
    expect(configured.status).toBe(200);
    const { id, client } = await openShell();
    client.type('curl -s http://asked.example/; echo " $HTTPS_PROXY"\r');
    await client.shown(`refused ${url.replace('sandbox:', 'sandbox.terminal:')}`);
    expect(seen).toEqual(['http://asked.example/ sandbox.terminal:secret']);
    close(id);
    await server.send('POST', '/configure', JSON.stringify({ env: {} }));
    proxy.close();
  });

  it('has one size for all viewers, and programs get it', async () => {
    const { id, client } = await openShell();
    const other = await attach(id);
    other.send({ type: 'resize', cols: 101, rows: 31 });
    expect(await client.message('resized')).toEqual({ type: 'resized', cols: 101, rows: 31 });
    client.type('echo "size $(stty size)"\r');
    await client.shown('size 31 101');
    await other.shown('size 31 101');
    client.close();
    other.close();
    close(id);
  });

  it('interrupts a program that has turned the key off', async () => {
    const { id, client } = await openShell();
    client.type('stty -isig; echo "up $((1 + 1))"; sleep 1000\r');
    await client.shown('up 2');
    // The shell itself ignores what comes before the program is there.
    await until(
      'the program has ended',
      () => {
        client.send({ type: 'interrupt' });
        client.type('echo "over $((1 + 2))"\r');
        return client.text.includes('over 3');
      },
      20_000,
    );
    client.close();
    close(id);
  });

  it('says that a shell has ended after its last byte, keeps it to be read, and takes it off the list when it is closed', async () => {
    const { id, client } = await openShell();
    client.type('echo "last $((2 + 2))"; exit 7\r');
    expect(await client.message('ended')).toEqual({ type: 'ended', exitCode: 7 });
    expect(client.text).toContain('last 4');
    const late = await attach(id);
    await late.shown('last 4');
    expect(await late.message('ended')).toEqual({ type: 'ended', exitCode: 7 });
    await until('the list', () => listed().find((shell) => shell.id === id)?.exitCode === 7);
    close(id);
    await until('it is off the list', () => listed().every((shell) => shell.id !== id));
    const gone = await attach(id);
    expect(await until('closed', () => gone.closed)).toMatchObject({ code: 4010 });
    client.close();
    late.close();
  });

  it('ends what a closed shell runs', async () => {
    const { id, client } = await openShell();
    client.type('sleep 987654\r');
    await until('it runs', async () => (await server.terminal('pgrep -fc "sleep 98765[4]"')).exit_code === 0, 20_000);
    close(id);
    expect(await client.message('ended')).toMatchObject({ type: 'ended' });
    await until(
      'it has ended',
      async () => (await server.terminal('pgrep -fc "sleep 98765[4]"')).exit_code !== 0,
      20_000,
    );
    client.close();
  });

  it('sends a stalled reader only a window, delays no other, and reports what was left out', async () => {
    const { id, client } = await openShell();
    const slow = await attach(id);
    slow.shows = false;
    await slow.message('attached');
    client.type('head -c 4000000 /dev/zero | tr \'\\0\' x | fold -w 79; echo; echo "end $((5 + 5))"\r');
    await client.shown('end 10');
    expect(slow.byteLength).toBeLessThanOrEqual(SHELL_WINDOW_BYTES);
    slow.shows = true;
    slow.seen();
    await slow.shown('end 10');
    expect(leftOut(slow)).toBeGreaterThan(0);
    // On a machine that has no time the quick one may get that answer, too.
    const whole = client.byteLength + leftOut(client);
    expect(whole).toBeGreaterThan(4_000_000);
    expect(slow.byteLength + leftOut(slow)).toBe(whole);
    const late = await attach(id);
    expect(await late.message('attached')).toMatchObject({ cut: true });
    await late.shown('end 10');
    expect(late.byteLength).toBeLessThanOrEqual(SHELL_SCROLLBACK_BYTES);
    for (const each of [client, slow, late]) each.close();
    close(id);
  });

  it('lets a program go on whose only reader has stopped to read', async () => {
    const { id, client } = await openShell();
    client.shows = false;
    client.type("head -c 3000000 /dev/zero | tr '\\0' x | fold -w 79; touch it-went-on\r");
    await until(
      'the program has ended',
      async () => (await server.terminal('test -e it-went-on')).exit_code === 0,
      30_000,
    );
    expect(client.byteLength).toBeLessThanOrEqual(SHELL_WINDOW_BYTES);
    client.close();
    close(id);
  });

  it('throws away what is typed into a program that does not read, past a bound, and says so', async () => {
    const { id, client } = await openShell();
    client.type('stty raw -echo; echo "raw $((6 + 6))"; sleep 1000\r');
    await client.shown('raw 12');
    for (let index = 0; index < 20; index += 1) client.type('y'.repeat(100_000));
    expect(await client.message('not-typed')).toMatchObject({ reason: expect.stringContaining('does not read') });
    client.close();
    close(id);
  });

  it('shows what the agent runs, as it runs and afterwards, and takes nothing that is typed there', async () => {
    const ended = server.terminal(
      'printf "one\\n"; while ! test -e go-on; do sleep 0.05; done; printf "two\\n"; false',
    );
    await until('it is on the list', () => listed().some((shell) => shell.id === 'agent-main'));
    const client = await attach('agent-main');
    await client.shown('one\n');
    expect(await client.message('attached')).toMatchObject({ shell: { owner: 'agent', title: 'main' } });
    client.type('touch typed-by-a-person\n');
    expect(await client.message('not-typed')).toMatchObject({ reason: expect.stringContaining('agent') });
    await server.send('POST', '/bash/execute', JSON.stringify({ command: 'touch go-on', timeout: 10 }));
    expect((await ended).exit_code).toBe(1);
    await client.shown('two\n\x1b[2m[exit 1]');
    expect((await server.terminal('test -e typed-by-a-person')).exit_code).toBe(1);
    const late = await attach('agent-main');
    await late.shown('two\n');
    expect(late.text).toContain('$ printf "one');
    client.close();
    late.close();
  });

  it('opens no more than so many at once, and gives the place of one that has ended to a new one', async () => {
    const opened: Array<{ id: string; client: LiveClient }> = [];
    while (listed().filter((shell) => shell.owner === 'person').length < MAX_SHELLS) opened.push(await openShell());
    list.send({ type: 'open-shell', cols: 80, rows: 24 });
    expect(await list.message('not-opened')).toMatchObject({ reason: expect.stringContaining('Close one first') });
    opened[0]?.client.type('exit\r');
    await opened[0]?.client.message('ended');
    opened.push(await openShell());
    for (const { id, client } of opened) {
      client.close();
      close(id);
    }
    await until('none is left', () => listed().every((shell) => shell.owner === 'agent'));
  });
});

describe('/live/<channel>', () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startActionServer();
  });
  afterAll(() => server.close());

  it('opens nothing without the token, and no channel that there is not', async () => {
    for (const [address, headers] of [
      ['terminal', {}],
      ['terminal', { 'x-session-api-key': 'wrong' }],
      ['nothing', undefined],
      ['__proto__', undefined],
    ] as const) {
      const client = await LiveClient.open(server, address, headers);
      expect(await until('closed', () => client.closed)).toMatchObject({ code: 1006 });
    }
  });

  it('ends a connection that sends what its channel does not know, and goes on', async () => {
    for (const frame of [
      '{not json',
      '[]',
      '{"type":"open-shell","cols":0,"rows":5}',
      '{"type":"open-shell","cols":80}',
      'null',
    ]) {
      const client = await LiveClient.open(server, 'terminal');
      client.socket.send(frame);
      expect(await until('closed', () => client.closed)).toMatchObject({ code: 1008 });
    }
    const good = await LiveClient.open(server, 'terminal');
    expect(await good.message('shells')).toMatchObject({ shells: [] });
    good.close();
  });
});
