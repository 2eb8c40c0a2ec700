import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { t } from '../../messages/testing.ts';
import { lineOfFault } from './json-fault.ts';
import { readPasted } from './pasted-servers.ts';

const NONE = { servers: new Set<string>(), secrets: new Set<string>() };
const CANARY = 'sk-canary-0123456789abcdef';
const read = (json: unknown, taken = NONE) => {
  const pasted = readPasted(t, JSON.stringify(json), taken);
  if ('fault' in pasted) throw new Error(pasted.fault);
  return pasted.servers;
};
const one = (server: unknown, name = 'tracker') => {
  const [found] = read({ mcpServers: { [name]: server } });
  if (found === undefined) throw new Error('no server');
  return found;
};

describe('a pasted file of MCP servers', () => {
  it('is taken over as Claude writes it: programs, servers at an address, and what is switched off', () => {
    const servers = read({
      mcpServers: {
        files: { command: 'npx', args: ['-y', '@acme/files', '/tmp'], env: { MODE: 'quiet' } },
        tracker: { type: 'http', url: 'https://tracker.example/mcp' },
        old: { url: 'https://old.example/sse', disabled: true },
      },
    });
    expect(servers.map(({ server, problems }) => [server, problems])).toEqual([
      [
        {
          name: 'files',
          enabled: true,
          transport: 'stdio',
          command: 'npx',
          args: ['-y', '@acme/files', '/tmp'],
          env: { MODE: { value: 'quiet' } },
        },
        [],
      ],
      [{ name: 'tracker', enabled: true, transport: 'http', url: 'https://tracker.example/mcp', headers: {} }, []],
      [{ name: 'old', enabled: false, transport: 'sse', url: 'https://old.example/sse', headers: {} }, []],
    ]);
  });

  it('is taken over as OpenHands writes it: shttp, a token or a strategy as auth; as VS Code does: under servers; and as a bare map', () => {
    const bearer = { Authorization: { secret: 'A_AUTHORIZATION', prefix: 'Bearer ' } };
    expect(one({ transport: 'shttp', url: 'https://a.example', auth: CANARY }, 'a').server).toMatchObject({
      transport: 'http',
      headers: bearer,
    });
    expect(one({ url: 'https://a.example', auth: { strategy: 'bearer', value: CANARY } }, 'a').server).toMatchObject({
      headers: bearer,
    });
    expect(one({ url: 'https://a.example', auth: { strategy: 'api_key', value: CANARY } }, 'a').server).toMatchObject({
      headers: { 'x-api-key': { secret: 'A_X_API_KEY', prefix: '' } },
    });
    expect(one({ url: 'https://a.example', auth: 'oauth' }).problems).toEqual([expect.stringContaining('OAuth')]);
    for (const file of [{ servers: { a: { url: 'https://a.example' } } }, { a: { url: 'https://a.example' } }])
      expect(read(file)).toMatchObject([{ name: 'a', server: { transport: 'http' } }]);
  });

  it('has what looks like a proof kept as a secret, by a name of its own, and what names a variable named as it is', () => {
    const { server, secrets } = one({
      url: 'https://a.example',
      headers: {
        Authorization: `Bearer ${CANARY}`,
        'X-Team': 'core',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in such a file
        'X-Named': 'Bearer ${TRACKER_TOKEN}',
        'X-Trace': CANARY,
      },
    });
    expect(server).toMatchObject({
      headers: {
        Authorization: { secret: 'TRACKER_AUTHORIZATION', prefix: 'Bearer ' },
        'X-Team': { value: 'core' },
        'X-Named': { secret: 'TRACKER_TOKEN', prefix: 'Bearer ' },
        'X-Trace': { secret: 'TRACKER_X_TRACE', prefix: '' },
      },
    });
    expect(secrets).toEqual([
      { name: 'TRACKER_AUTHORIZATION', value: CANARY },
      { name: 'TRACKER_X_TRACE', value: CANARY },
    ]);
    const both = {
      mcpServers: { 'a b': { command: 'x', env: { KEY: 'one' } }, 'a-b': { command: 'x', env: { KEY: 'two' } } },
    };
    const names = read(both, { servers: new Set(), secrets: new Set(['A_B_KEY']) }).flatMap((each) =>
      each.secrets.map(({ name }) => name),
    );
    expect(names).toEqual(['A_B_KEY_2', 'A_B_KEY_3']);
  });

  it('says of each server what is wrong with it, and takes the others', () => {
    const servers = read(
      {
        mcpServers: {
          fine: { command: 'x' },
          taken: { command: 'x' },
          empty: {},
          strange: { type: 'websocket', url: 'wss://a.example' },
          text: 'npx',
          path: { command: 'x', env: { PATH: '/bin' } },
          // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in such a file
          asks: { command: 'x', env: { KEY: '${input:key}' } },
          more: { command: 'x', cwd: '/srv', timeout: 5 },
        },
      },
      { servers: new Set(['taken']), secrets: new Set() },
    );
    expect(servers.map(({ name, server, problems }) => [name, server !== null, problems.join(' ')])).toEqual([
      ['fine', true, ''],
      ['taken', false, 'A server with this name already exists.'],
      ['empty', false, 'Command: is missing.'],
      ['strange', false, 'type must be stdio, http or sse.'],
      ['text', false, 'This is not an object.'],
      ['path', false, expect.stringContaining('PATH: is a name that the shell')],
      ['asks', false, expect.stringContaining('KEY prompts for a value')],
      ['more', true, ''],
    ]);
    expect(servers.at(-1)?.left).toEqual(['cwd', 'timeout']);
  });

  it('that is none says at which line it stops, or what is missing in it', () => {
    const fault = (text: string) => {
      const pasted = readPasted(t, text, NONE);
      return 'fault' in pasted ? pasted.fault : null;
    };
    expect(fault('{\n  "mcpServers": {\n    "a": { "command": "x", }\n  }\n}')).toContain('see line 3');
    expect(fault('{ "mcpServers": {\n "a": }')).toContain('see line 2');
    expect(fault('{\n\n// a comment\n}')).toContain('see line 3');
    expect(fault('{"a": [1, 2,\n]}')).toContain('see line 2');
    expect(fault('{"a": "b\n"}')).toContain('see line 1');
    expect(fault('[]')).toContain('"mcpServers" is missing');
    expect(fault('{"mcpServers":[]}')).toContain('"mcpServers" is missing');
    expect(fault('{"mcpServers":{}}')).toContain('is empty');
  });

  it('of any size that is cut anywhere names its last line, and never a line that is right', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), (value, cut) => {
        const text = JSON.stringify({ value }, null, 2);
        const broken = text.slice(0, 1 + (cut % (text.length - 1)));
        expect(lineOfFault(broken)).toBe(broken.split('\n').length);
      }),
    );
  });

  it('warns of a proof in an address or among arguments, which everybody of the organization reads', () => {
    expect(
      [
        { url: `https://a.example/mcp?k=${CANARY}` },
        { command: 'npx', args: ['--api-key', 'x'] },
        { command: 'npx', args: [`--with=${CANARY}`] },
        { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/tmp'] },
        { url: 'https://a.example/mcp?team=core' },
      ].map((server) => one(server).open),
    ).toEqual([true, true, true, false, false]);
  });

  it('never loses a proof into plain text or into a word of ours, whatever the file is', () => {
    const place = fc.constantFrom('Authorization', 'X-Api-Key', 'X-Anything', 'TOKEN', 'ANY');
    const text = fc.constantFrom(CANARY, `Bearer ${CANARY}`, `token ${CANARY}`);
    const server = fc.oneof(
      fc.record({ command: fc.constant('x'), env: fc.dictionary(place, text) }),
      fc.record({
        url: fc.constantFrom('https://a.example', 'nonsense'),
        headers: fc.dictionary(place, text),
        auth: fc.oneof(text, fc.constant(null)),
      }),
    );
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), server, { minKeys: 1, maxKeys: 4 }),
        (mcpServers) => {
          for (const { secrets, ...rest } of read({ mcpServers })) {
            expect(JSON.stringify(rest)).not.toContain(CANARY);
            for (const { value } of secrets) expect(value).toBe(CANARY);
          }
        },
      ),
    );
    for (let cut = 1; cut < 60; cut += 7) {
      const broken = JSON.stringify({ mcpServers: { a: { command: 'x', env: { KEY: CANARY } } } }).slice(0, -cut);
      expect(JSON.stringify(readPasted(t, broken, NONE))).not.toContain(CANARY);
    }
  });
});
