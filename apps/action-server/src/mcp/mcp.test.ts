import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MCPToolObservation } from '@slipway/contracts/actions';
import type { McpServerState, McpTool, McpToolsResponse } from '@slipway/contracts/agent';
import { until } from '@slipway/testing';
import { allProcesses } from '../process/process-table.js';
import { type McpHttpServer, startMcpHttpServer } from '../testing/mcp-http-server.js';
import { type RunningServer, startActionServer, textOf } from '../testing/running-server.js';

const program = (name: string): string => fileURLToPath(new URL(`../testing/${name}.js`, import.meta.url));
const HONEST = { command: process.execPath, args: [program('mcp-stdio-server')] };
/** How the settings of a server name a secret. */
const named = (secret: string): string => `$\{${secret}}`;
const hostile = (mode: string) => ({ command: process.execPath, args: [program('mcp-hostile-server'), mode] });

describe('MCP servers of a conversation', () => {
  let server: RunningServer;
  let http: McpHttpServer;
  let sets = 0;
  beforeAll(async () => {
    [server, http] = await Promise.all([startActionServer(), startMcpHttpServer({ key: 'the-key-of-a-person' })]);
    const configured = await server.send(
      'POST',
      '/configure',
      JSON.stringify({ env: { SERVER_KEY: 'the-key-of-a-person', OTHER_SECRET: 'not-for-servers' } }),
    );
    expect(configured.status).toBe(200);
  });
  afterAll(async () => {
    await http.close();
    await server.close();
  });

  class Servers {
    readonly id = `set-${sets++}`;
    constructor(readonly servers: object) {}

    async use(): Promise<this> {
      const answer = await server.send(
        'PUT',
        `/mcp/servers?set=${this.id}`,
        JSON.stringify({ servers: this.servers, cwd: server.workspace }),
      );
      expect(answer.status).toBe(200);
      return this;
    }
    async look(after?: number): Promise<McpToolsResponse> {
      const answer = await server.send(
        'GET',
        `/mcp/tools?set=${this.id}${after === undefined ? '' : `&after=${after}`}`,
      );
      expect(answer.status).toBe(200);
      return (await answer.json()) as McpToolsResponse;
    }
    /** What is known once it holds. */
    when(what: string, holds: (listing: McpToolsResponse) => boolean): Promise<McpToolsResponse> {
      return until(
        what,
        async () => {
          const listing = await this.look();
          return holds(listing) ? listing : null;
        },
        45_000,
      );
    }
    settled(): Promise<McpToolsResponse> {
      return this.when(`${this.id} settled`, ({ servers }) => servers.every(({ state }) => state !== 'connecting'));
    }
    async call(tool: McpTool, args: object = {}, signal?: AbortSignal): Promise<MCPToolObservation> {
      const body = JSON.stringify({ name: tool.name, server: tool.server, tool: tool.tool, arguments: args });
      const answer = await server.send(
        'POST',
        `/mcp/call?set=${this.id}`,
        body,
        signal === undefined ? {} : { signal },
      );
      expect(answer.status).toBe(200);
      return ((await answer.json()) as { observation: MCPToolObservation }).observation;
    }
    async end(): Promise<void> {
      await server.send('DELETE', `/mcp/servers?set=${this.id}`);
    }
  }
  const toolOf = ({ tools }: McpToolsResponse, tool: string): McpTool => {
    const found = tools.find((each) => each.tool === tool);
    if (found === undefined) throw new Error(`no tool ${tool} among ${tools.map(({ name }) => name).join(', ')}`);
    return found;
  };
  const stateOf = ({ servers }: McpToolsResponse, name: string): McpServerState | undefined =>
    servers.find((each) => each.name === name);

  for (const [way, config] of [
    ['stdio', () => ({ ...HONEST, env: { TOKEN: named('SERVER_KEY') } })],
    [
      'streamable HTTP',
      () => ({
        url: `${http.url}/mcp`,
        transport: 'http',
        headers: { authorization: `Bearer ${named('SERVER_KEY')}` },
      }),
    ],
    [
      'server-sent events',
      () => ({ url: `${http.url}/sse`, auth: { strategy: 'bearer', value: named('SERVER_KEY') } }),
    ],
  ] as const)
    it(`are spoken to over ${way}: their tools, arguments of any name, errors, pictures and what they are convinced with`, async () => {
      const set = await new Servers({ helper: config() }).use();
      const listing = await set.settled();
      expect(stateOf(listing, 'helper')).toMatchObject({ state: 'ready', tools: 10, dropped: [] });
      const echo = toolOf(listing, 'echo');
      expect(echo).toMatchObject({
        name: 'helper_echo',
        description: 'Says it again.',
        inputSchema: { type: 'object', required: ['text'] },
      });
      expect(await set.call(echo, { text: 'hello' })).toMatchObject({
        kind: 'MCPToolObservation',
        tool_name: 'helper_echo',
        is_error: false,
      });
      expect(textOf(await set.call(echo, { text: 'hello' }))).toBe('hello');
      expect(textOf(await set.call(toolOf(listing, 'describe'), { kind: 'Pod', of: null }))).toBe(
        '{"kind":"Pod","of":null}',
      );
      expect(textOf(await set.call(toolOf(listing, 'told')))).toContain('the-key-of-a-person');
      const refused = await set.call(toolOf(listing, 'refuse'));
      expect([refused.is_error, textOf(refused)]).toEqual([true, 'There is no such ticket.']);
      const wrong = await set.call(echo, { text: 5 });
      expect([wrong.is_error, /text/.test(textOf(wrong))]).toEqual([true, true]);
      const shown = await set.call(toolOf(listing, 'picture'));
      expect(shown.content.filter(({ type }) => type === 'image')).toHaveLength(1);
      expect(textOf(shown)).toMatch(/a picture of image\/png that cannot be shown[\s\S]*# Notes/);
      await set.call(toolOf(listing, 'grow'));
      const grown = await set.when('another tool', ({ tools }) => tools.some(({ tool }) => tool === 'grown'));
      expect(textOf(await set.call(toolOf(grown, 'grown')))).toBe('here');
      await set.end();
    });

  it('are given no secret that their settings do not name', async () => {
    const set = await new Servers({ helper: { ...HONEST, env: { TOKEN: named('ABSENT:-nothing') } } }).use();
    expect(textOf(await set.call(toolOf(await set.settled(), 'told')))).toBe('token nothing, other undefined');
    await set.end();
  });

  it('that cannot be reached are reported with cause and next step, block nothing, and are tried again', async () => {
    const gone = await startMcpHttpServer();
    await gone.close();
    const set = await new Servers({
      absent: { command: 'no-such-program-anywhere' },
      ends: hostile('ends'),
      refused: { url: `${gone.url}/mcp` },
      closed: { url: `${http.url}/mcp`, auth: 'a-wrong-key' },
      elsewhere: { url: `${http.url}/elsewhere` },
      wanting: { ...HONEST, env: { TOKEN: named('A_NAME_THAT_COMES_LATER') } },
      browser: { url: `${http.url}/mcp`, auth: { strategy: 'oauth2' } },
      metadata: { url: 'http://169.254.169.254/mcp' },
      off: { ...HONEST, enabled: false },
      mute: hostile('mute'),
      good: HONEST,
    }).use();
    const listing = await set.when('all but one settled', ({ servers }) =>
      servers.every(({ name, state }) => state !== 'connecting' || name === 'mute'),
    );
    expect(stateOf(listing, 'absent')).toMatchObject({
      state: 'failed',
      reason: 'There is no program no-such-program-anywhere in the sandbox.',
    });
    expect(stateOf(listing, 'absent')?.nextStep).toContain('setup script');
    expect(stateOf(listing, 'ends')?.reason).toBe('It ended with exit code 3: the database is not there.');
    expect(stateOf(listing, 'refused')?.reason).toMatch(/cannot be reached: nothing listens there/);
    expect(stateOf(listing, 'closed')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('refused its credentials (401)'),
    });
    expect(stateOf(listing, 'elsewhere')?.reason).toMatch(/redirect/i);
    expect(stateOf(listing, 'wanting')).toMatchObject({
      state: 'off',
      reason: expect.stringContaining('A_NAME_THAT_COMES_LATER'),
    });
    expect(stateOf(listing, 'browser')).toMatchObject({ state: 'off', reason: expect.stringContaining('OAuth') });
    expect(stateOf(listing, 'metadata')?.state).toBe('off');
    expect(stateOf(listing, 'off')).toBeUndefined();
    // It is given up after a while, which a busy machine may reach before the others have settled.
    expect(['connecting', 'failed']).toContain(stateOf(listing, 'mute')?.state);
    expect(stateOf(listing, 'good')?.state).toBe('ready');
    expect(JSON.stringify(listing)).not.toContain('a-wrong-key');

    const back = await startMcpHttpServer({ port: Number(new URL(gone.url).port) });
    await set.when('the one that came back', (now) => stateOf(now, 'refused')?.state === 'ready');
    await server.send(
      'POST',
      '/configure',
      JSON.stringify({ env: { SERVER_KEY: 'the-key-of-a-person', A_NAME_THAT_COMES_LATER: 'here' } }),
    );
    await set.when('the one whose secret came', (now) => stateOf(now, 'wanting')?.state === 'ready');
    await back.close();
    await set.end();
  });

  it('report a change at once to waiting callers', async () => {
    const set = await new Servers({ good: HONEST }).use();
    const { revision } = await set.settled();
    const waits = set.look(revision);
    await server.send(
      'POST',
      `/mcp/call?set=${set.id}`,
      JSON.stringify({ name: 'good_die', server: 'good', tool: 'die', arguments: {} }),
    );
    expect((await waits).revision).not.toBe(revision);
    await set.end();
    expect((await server.send('GET', `/mcp/tools?set=${set.id}`)).status).toBe(404);
  });

  it('that die during a call leave an answer that says so, and are connected again', async () => {
    const set = await new Servers({
      program: HONEST,
      remote: { url: `${http.url}/mcp`, auth: 'the-key-of-a-person' },
      stream: { url: `${http.url}/sse`, auth: 'the-key-of-a-person' },
    }).use();
    const listing = await set.settled();
    const died = await set.call({ ...toolOf(listing, 'die'), server: 'program' });
    expect([died.is_error, textOf(died)]).toEqual([
      true,
      expect.stringMatching(/went away during the call; .* may or may not .* exit code 7/s),
    ]);
    const files = ['remote', 'stream'].map((name) => path.join(server.stateDirectory, name));
    const cut = Promise.all(
      files.map((file) => set.call({ ...toolOf(listing, 'wait'), server: path.basename(file) }, { file })),
    );
    await until('both at work', () => files.every((file) => existsSync(file)));
    http.cut();
    for (const { is_error, content } of await cut)
      expect([is_error, textOf({ content })]).toEqual([true, expect.stringContaining('went away during the call')]);
    const again = await set.when('all of them again', ({ servers }) => servers.every(({ state }) => state === 'ready'));
    for (const name of ['program', 'remote', 'stream'])
      expect(textOf(await set.call({ ...toolOf(again, 'echo'), server: name }, { text: name }))).toBe(name);
    await set.end();
  });

  it('hear within a second that a call is cancelled', async () => {
    const set = await new Servers({ good: HONEST }).use();
    const listing = await set.settled();
    const stop = new AbortController();
    const file = path.join(server.stateDirectory, 'cancelled');
    const call = set.call(toolOf(listing, 'wait'), { file }, stop.signal).catch((error: unknown) => error);
    await until('it is at work', () => existsSync(file));
    stop.abort();
    expect(await call).toBeInstanceOf(Error);
    await until('the server knows', () => readFileSync(file, 'utf8') === 'cancelled');
    expect(textOf(await set.call(toolOf(listing, 'echo'), { text: 'still there' }))).toBe('still there');
    await set.end();
  });

  it('that mean harm cost their own tools and nothing else', async () => {
    const modes = [
      'large',
      'endless',
      'notices',
      'nonsense',
      'error',
      'deep',
      'silent',
      'stderr',
      'banner',
      'forks',
      'garbage',
      'many',
      'strange',
    ];
    const set = await new Servers(
      Object.fromEntries(
        modes.map((mode) => [mode, { ...hostile(mode), ...(mode === 'silent' ? { timeout: 1 } : {}) }]),
      ),
    ).use();
    const listing = await set.settled();
    expect(stateOf(listing, 'garbage')).toMatchObject({
      state: 'failed',
      reason: 'It prints lines that are no messages of the protocol.',
    });
    expect(stateOf(listing, 'many')).toMatchObject({ state: 'ready', tools: 100 - 10 });
    expect(listing.tools).toHaveLength(100);
    const answers = await Promise.all(
      modes
        .slice(0, 9)
        .map(
          async (mode) =>
            [
              mode,
              await set.call({ name: `${mode}_work`, server: mode, tool: 'work', description: '', inputSchema: {} }),
            ] as const,
        ),
    );
    const said = new Map(
      answers.map(([mode, observation]) => [mode, { failed: observation.is_error, text: textOf(observation) }]),
    );
    expect(said.get('large')?.text.length).toBeLessThan(31_000);
    const saved = /all of it is in (\S+)/.exec(said.get('large')?.text ?? '')?.[1] ?? '';
    expect(readFileSync(saved, 'utf8').trim()).toHaveLength(10 * 1024 * 1024);
    expect(said.get('endless')).toEqual({ failed: true, text: expect.stringContaining('more than 16 MiB') });
    expect(said.get('nonsense')?.failed).toBe(true);
    expect(said.get('error')).toEqual({ failed: true, text: expect.stringContaining('ut of paper') });
    expect(said.get('error')?.text).not.toContain('\u001b');
    expect(said.get('deep')?.text).toContain('too deep');
    expect(said.get('silent')).toEqual({ failed: true, text: expect.stringContaining('did not answer in time') });
    for (const mode of ['notices', 'stderr', 'banner']) expect(said.get(mode)).toEqual({ failed: false, text: 'done' });
    expect((await server.send('GET', '/alive')).status).toBe(200);

    await until('what one of them started', () => allProcesses().filter(({ pid }) => isSleeper(pid)).length === 2);
    await set.end();
    await until(
      'the end of what the servers started',
      () => allProcesses().every(({ pid }) => !isSleeper(pid) && !isOfSet(pid)),
      30_000,
    );
  });

  it('offer tools whose names and schemas every provider takes', async () => {
    const set = await new Servers({ terminal: hostile('strange') }).use();
    const listing = await set.settled();
    const names = listing.tools.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(names).toContain('terminal_terminal');
    expect(listing.tools.map(({ tool }) => tool)).toEqual([
      'terminal',
      'with spaces & 🔥',
      'with spaces & 💧',
      'x'.repeat(200),
      'twice',
      'recursive',
      'choice',
      'long',
    ]);
    expect(toolOf(listing, 'choice').inputSchema).toEqual({ type: 'object', properties: { a: {} }, required: ['a'] });
    const { description } = toolOf(listing, 'long');
    expect(description.length).toBeLessThanOrEqual(4_000);
    expect([...description].filter((character) => /\p{Cc}|\p{Cf}/u.test(character))).toEqual([]);
    expect(stateOf(listing, 'terminal')?.dropped).toEqual([
      'twice: its name is there twice',
      'a tool without a usable name',
      'a tool without a usable name',
      'no-schema: it does not say what its arguments are',
      'list-schema: its arguments are no object',
      'deep: the schema of its arguments is too deep',
      'elsewhere: the schema of its arguments is in another document',
      'huge-schema: the schema of its arguments is larger than 32000 characters',
      expect.stringContaining('odd-argument: no provider takes the name of its argument'),
    ]);
    await set.end();
  });

  it('are tried once for who wants to know, and leave nothing behind', async () => {
    const test = async (body: object): Promise<unknown> =>
      (await server.send('POST', '/mcp/test', JSON.stringify(body))).json();
    expect(
      await test({
        server: { type: 'stdio', ...HONEST },
        timeout: 60,
        tool_call: { name: 'add', arguments: { a: 1, b: 2 } },
      }),
    ).toMatchObject({
      ok: true,
      tools: expect.arrayContaining(['echo', 'add']),
      tool_result: { is_error: false, text: '3' },
    });
    expect(
      await test({
        server: { type: 'sse', url: `${http.url}/sse`, auth: { strategy: 'bearer', value: named('SERVER_KEY') } },
      }),
    ).toMatchObject({
      ok: true,
    });
    expect(await test({ server: { type: 'stdio', ...hostile('mute') }, timeout: 0.3 })).toMatchObject({
      ok: false,
      error_kind: 'timeout',
    });
    expect(await test({ server: { type: 'http', url: 'http://127.0.0.1:1/mcp' } })).toMatchObject({
      ok: false,
      error_kind: 'connection',
    });
    await until('the end of the servers', () => allProcesses().every(({ pid }) => !isOfSet(pid)), 30_000);
  });

  /** Programs of this test's own server, whoever else runs some. */
  const commandOf = (pid: number): string => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch {
      return '';
    }
  };
  const environmentOf = (pid: number): string => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8');
    } catch {
      return '';
    }
  };
  const isMine = (pid: number): boolean =>
    environmentOf(pid).includes(`HOME=${path.dirname(server.workspace)}\0`) &&
    environmentOf(pid).includes('SLIPWAY_MCP_SERVER=');
  const isSleeper = (pid: number): boolean => /^sleep.100[01]/.test(commandOf(pid)) && isMine(pid);
  const isOfSet = (pid: number): boolean => commandOf(pid).includes('mcp-') && isMine(pid);
});
