import { describe, expect, it } from '@jest/globals';
import { t } from '../../messages/testing.ts';
import { logOf, message } from '../conversation/sample-events.ts';
import { promptVersions } from './prompt-versions.ts';

const prompted = (text: string, tools: unknown[]) => ({
  kind: 'SystemPromptEvent' as const,
  system_prompt: { type: 'text', text },
  tools,
});
const TERMINAL = {
  title: 'terminal',
  description: 'Runs a command.',
  kind: 'TerminalTool',
  meta: {
    parameters: {
      type: 'object',
      properties: { command: { type: 'string', description: 'What to run.' }, timeout: { type: ['number', 'null'] } },
      required: ['command'],
    },
  },
};
const ofServer = (name: string, inputSchema: unknown = {}) => ({
  title: name,
  description: 'Of a server.',
  kind: 'MCPToolDefinition',
  mcp_tool: { name, inputSchema },
});

describe('versions of prompt and tools', () => {
  it('is the prompt and each tool with its parameters, whoever lists them', () => {
    const schema = {
      properties: {
        ids: { type: 'array', items: { type: 'integer' } },
        state: { enum: ['open', 'closed'] },
        either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        free: {},
      },
    };
    const [version] = promptVersions(
      t,
      logOf([message('user', 'Hello'), prompted('Be kind.', [TERMINAL, ofServer('find', schema)])]),
    );
    expect(version).toMatchObject({ seq: 2, prompt: 'Be kind.', change: '' });
    expect(version?.tools).toEqual([
      {
        name: 'terminal',
        description: 'Runs a command.',
        parameters: [
          { name: 'command', type: 'string', required: true, description: 'What to run.' },
          { name: 'timeout', type: 'number | null', required: false, description: '' },
        ],
      },
      {
        name: 'find',
        description: 'Of a server.',
        parameters: [
          { name: 'ids', type: 'integer[]', required: false, description: '' },
          { name: 'state', type: '"open" | "closed"', required: false, description: '' },
          { name: 'either', type: 'string | null', required: false, description: '' },
          { name: 'free', type: 'any', required: false, description: '' },
        ],
      },
    ]);
  });

  it('is the newest first, and each says what is other than before it', () => {
    const many = ['a', 'b', 'c', 'd'].map((name) => ofServer(name));
    const versions = promptVersions(
      t,
      logOf([
        prompted('One.', [TERMINAL]),
        prompted('One.', [TERMINAL, ...many]),
        message('user', 'Hello'),
        prompted('Two.', [{ ...TERMINAL, description: 'Other.' }, ofServer('a')]),
        prompted('Two.', [{ ...TERMINAL, description: 'Other.' }, ofServer('a')]),
      ]),
    );
    expect(versions.map(({ seq, change }) => [seq, change])).toEqual([
      [5, ''],
      [4, 'the prompt changed; 3 tools removed: b, c, d; 1 tool changed: terminal'],
      [2, '4 tools added: a, b, c…'],
      [1, ''],
    ]);
  });

  it('is shown as far as it can be read, however strangely tools are listed', () => {
    let deep: unknown = { type: 'string' };
    for (let level = 0; level < 10_000; level += 1) deep = { type: 'array', items: deep };
    const strange = [
      null,
      7,
      'terminal',
      {},
      { title: '', kind: 'X', mcp_tool: 'no', meta: [] },
      { title: 't', mcp_tool: { inputSchema: { properties: { deep, none: null } } } },
    ];
    const [version] = promptVersions(t, logOf([prompted('', strange)]));
    expect(version?.tools.map(({ name, parameters }) => [name, parameters?.map(({ type }) => type) ?? null])).toEqual([
      ['without a name', null],
      ['without a name', null],
      ['without a name', null],
      ['without a name', null],
      ['X', null],
      ['t', ['array[][][][]', 'any']],
    ]);
  });
});
