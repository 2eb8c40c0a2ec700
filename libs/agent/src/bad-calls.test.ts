import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ModelServer, type ModelTurn, startModelServer } from '@slipway/testing';
import fc from 'fast-check';
import { runAgent } from './run.js';
import { control, MemoryLog, SETTINGS, terminalObservation, testPorts } from './testing.js';
import { mcpTool } from './tools/mcp.js';
import { STANDARD_TOOLS } from './tools/standard-tools.js';
import { Toolbox } from './tools/toolbox.js';

const call = (name: string, args: object | string) => ({ name, arguments: args as Record<string, unknown> });
const finish: ModelTurn = { toolCalls: [call('finish', { message: 'done' })] };

describe('calls that a model makes up', () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({ script: [] });
  });
  afterAll(() => server.close());

  async function run(turns: readonly ModelTurn[], tools = STANDARD_TOOLS) {
    server.use([...turns, finish]);
    const log = new MemoryLog();
    log.say('do it');
    const outcome = await runAgent(
      { ...testPorts(log, server, async () => terminalObservation('ok')), toolbox: new Toolbox(tools) },
      SETTINGS,
      control(),
    );
    const errors = log.events.flatMap((event) => (event.kind === 'AgentErrorEvent' ? [event.error] : []));
    return { outcome, errors, messages: server.requests.at(-1)?.body.messages ?? [] };
  }

  it('of tools with any name come back to the model under a name that every provider takes, each with its answer', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.string({ minLength: 1, maxLength: 300, unit: 'binary' }), { minLength: 1, maxLength: 5 }),
        async (names) => {
          const made = names.map((name) => `?${name.toWellFormed()}`);
          const { outcome, messages } = await run([{ toolCalls: made.map((name) => call(name, {})) }]);
          expect(outcome).toBe('finished');
          const calls = messages.flatMap(({ tool_calls: each }) => each ?? []);
          expect(calls).toHaveLength(made.length);
          for (const { function: fn } of calls) expect(fn.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
          expect(messages.filter(({ role }) => role === 'tool')).toHaveLength(made.length);
        },
      ),
      { numRuns: 8 },
    );
  });

  it('with thousands of faults, or a name of a megabyte, are answered in a few sentences', async () => {
    const tasks = Array.from({ length: 20_000 }, (_, index) => ({
      title: index,
      status: `x${index}`,
      [`key ${index}`]: 1,
    }));
    const { outcome, errors } = await run([
      {
        toolCalls: [call('task_tracker', { command: 'plan', task_list: tasks }), call('x'.repeat(1_000_000), {})],
        chunkLength: 1_000_000,
      },
    ]);
    expect(outcome).toBe('finished');
    expect(errors).toHaveLength(2);
    for (const error of errors) expect(error.length).toBeLessThan(4_000);
    expect(errors[0]).toMatch(/task_list\.0\.title: .*; and \d+ more faults$/);
  });

  it('of a server’s tool with arguments nested without end are refused with a sentence, and the agent goes on', async () => {
    const tool = mcpTool(
      { name: 's_t', server: 's', tool: 't', description: '', inputSchema: { type: 'object' } },
      's_t',
      () => {
        throw new Error('never called');
      },
    );
    const deep = `{"a": ${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    const { outcome, errors } = await run(
      [{ toolCalls: [call('s_t', deep)], chunkLength: 1_000_000 }],
      [...STANDARD_TOOLS, tool],
    );
    expect(outcome).toBe('finished');
    expect(errors).toEqual(['The arguments of s_t are nested too deep: at most 100 levels.']);
  });

  it('after nothing but blanks are asked for again, and blanks are in no prompt', async () => {
    const { outcome, messages } = await run([
      { text: ' \n\t' },
      { text: '\n', toolCalls: [call('terminal', { command: 'ls' })] },
    ]);
    expect(outcome).toBe('finished');
    expect(messages.filter(({ role }) => role === 'assistant').map(({ content }) => content)).toEqual([null]);
  });

  it('that a tool breaks on have an answer, the process logs why, and the agent goes on', async () => {
    const faults: unknown[] = [];
    server.use([{ toolCalls: [call('terminal', { command: 'ls' })] }, finish]);
    const log = new MemoryLog();
    log.say('do it');
    const ports = testPorts(log, server, () => Promise.reject(new TypeError('undefined is not a function')));
    expect(await runAgent({ ...ports, onFault: (fault) => void faults.push(fault) }, SETTINGS, control())).toBe(
      'finished',
    );
    expect(log.events.find(({ kind }) => kind === 'AgentErrorEvent')).toMatchObject({
      error: expect.stringContaining('a fault of its own'),
    });
    expect(faults).toEqual([expect.any(TypeError)]);
  });
});
