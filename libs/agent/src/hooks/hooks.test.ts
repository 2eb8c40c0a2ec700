import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HookConfig } from '@slipway/contracts/events';
import { SlipwayError } from '@slipway/errors';
import { type ModelServer, type ModelTurn, startModelServer, until } from '@slipway/testing';
import type { HookPort } from '../ports.js';
import { runAgent } from '../run.js';
import { control, MemoryLog, SETTINGS, terminalObservation, testPorts } from '../testing.js';
import { judge } from './judge.js';

const terminal = (command: string): ModelTurn => ({ toolCalls: [{ name: 'terminal', arguments: { command } }] });
const finish: ModelTurn = { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] };
const command = (text: string, matcher = '*', more: object = {}) => [
  { matcher, hooks: [{ type: 'command', command: text, ...more }] },
];

/** Real commands, with their input on stdin. */
function bash(config: object): HookPort {
  return {
    config: HookConfig.parse(config),
    sessionId: 'session',
    workingDir: '/w',
    judge,
    async run(text, input, timeoutS, signal) {
      const child = spawn('bash', ['--norc', '-c', text], {
        stdio: ['pipe', 'pipe', 'pipe'],
        signal,
        timeout: timeoutS * 1_000,
      });
      const out = { stdout: '', stderr: '' };
      for (const stream of ['stdout', 'stderr'] as const) {
        child[stream].on('data', (chunk: Buffer) => {
          out[stream] += chunk.toString();
        });
      }
      child.stdin.on('error', () => {});
      child.stdin.end(JSON.stringify(input));
      const [code] = (await once(child, 'close')) as [number | null];
      return { exitCode: code ?? -1, timedOut: code === null, ...out };
    },
  };
}

describe('hooks', () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({ script: [] });
  });
  afterAll(() => server.close());

  function harness(script: readonly ModelTurn[], config: object) {
    server.use(script);
    const log = new MemoryLog();
    log.say('do it');
    const ran: string[] = [];
    const ports = testPorts(log, server, async (action) => {
      ran.push('command' in action ? String(action.command) : action.kind);
      return terminalObservation('ok');
    });
    return {
      log,
      ran,
      ports: { ...ports, hooks: bash(config) },
      control: control(),
      events: () => log.events.flatMap((event) => (event.kind === 'HookExecutionEvent' ? [event] : [])),
    };
  }
  const seen = () => JSON.stringify(server.requests.at(-1)?.body.messages);

  it('refuse a tool before it runs, with their reason for the model, by the names of Claude Code too', async () => {
    const check = `jq() { grep -o '"command":"[^"]*"' ; }; input=$(cat); case "$input" in *'rm -rf'*) echo "never delete: $(printf %s "$input" | grep -o '"hook_event_name":"[A-Za-z]*"')" >&2; exit 2;; esac`;
    const { log, ran, ports, control, events } = harness([terminal('rm -rf /w'), terminal('ls'), finish], {
      hooks: { PreToolUse: command(check, 'Bash|Edit') },
    });
    expect(await runAgent(ports, SETTINGS, control)).toBe('finished');
    expect(ran).toEqual(['ls']);
    expect(log.events.find((event) => event.kind === 'UserRejectObservation')).toMatchObject({
      rejection_source: 'hook',
      rejection_reason: 'never delete: "hook_event_name":"PreToolUse"',
    });
    expect(seen()).toContain('never delete');
    expect(events().map(({ tool_name: tool, blocked, exit_code: code }) => [tool, blocked, code])).toEqual([
      ['terminal', true, 2],
      ['terminal', false, 0],
    ]);
  });

  it('with a matcher that would take for ever are run, and hold up nothing', async () => {
    const { ran, ports, control, events } = harness([terminal('ls'), finish], {
      // On `terminal` the first goes through more ways than there is time for; the second is an ordinary expression,
      // the third another tool's.
      hooks: {
        PreToolUse: [
          ...command('true', '((((((([a-z]*)*)*)*)*)*)*)*-'),
          ...command('true', 't.*l'),
          ...command('true', 'Edit.*'),
        ],
      },
    });
    expect(await runAgent(ports, SETTINGS, control)).toBe('finished');
    expect(ran).toEqual(['ls']);
    // And for `finish`, on which the first is tried too.
    expect(
      events()
        .map(({ tool_name: tool }) => tool)
        .filter((tool) => tool === 'terminal'),
    ).toHaveLength(2);
  });

  it('say to the model what they think of an answer', async () => {
    const { log, ports, control } = harness([terminal('make'), finish], {
      post_tool_use: command(
        `grep -q '"tool_response"' && echo '{"decision":"block","reason":"run the linter"}'`,
        'terminal',
      ),
    });
    await runAgent(ports, SETTINGS, control);
    expect(log.events.find((event) => event.kind === 'ObservationEvent')).toMatchObject({
      extended_content: [{ text: expect.stringContaining('run the linter') }],
    });
    expect(seen()).toContain('run the linter');
  });

  it('refuse a message, which the model then never sees, and add to another', async () => {
    const { log, ports, control } = harness([finish], {
      user_prompt_submit: command(
        `if grep -q 'do it'; then echo 'not like this' >&2; exit 2; else echo 'The branch is main.'; fi`,
      ),
    });
    const asked = server.requests.length;
    expect(await runAgent(ports, SETTINGS, control)).toBe('finished');
    expect(server.requests.length).toBe(asked);
    log.say('say hello');
    expect(await runAgent(ports, SETTINGS, control)).toBe('finished');
    expect(seen()).not.toContain('do it');
    expect(seen()).toContain('say hello');
    expect(seen()).toContain('The branch is main.');
  });

  it('speak once at the beginning, and keep the agent at work until they are content, within bounds', async () => {
    const { log, ports, control, events } = harness(
      Array.from({ length: 10 }, () => finish),
      { session_start: command('echo welcome'), stop: command(`echo 'tests are red' >&2; exit 2`) },
    );
    expect(await runAgent(ports, SETTINGS, control)).toBe('finished');
    expect(events().filter(({ hook_event_type: type }) => type === 'Stop')).toHaveLength(3);
    expect(seen()).toContain('tests are red');
    expect(seen()).toContain('welcome');
    log.say('again');
    await runAgent({ ...ports, hooks: bash({ session_start: command('echo welcome') }) }, SETTINGS, control);
    expect(events().filter(({ hook_event_type: type }) => type === 'SessionStart')).toHaveLength(1);
  });

  it('do not stop the work when they fail, cannot be run or take too long, and the log says so', async () => {
    const { ran, ports, control, events } = harness([terminal('ls'), finish], {
      pre_tool_use: [...command('exit 1'), ...command('sleep 1e6', '*', { timeout: 0.05 }), ...command('true', '[')],
    });
    expect(await runAgent(ports, SETTINGS, control)).toBe('finished');
    expect(ran).toEqual(['ls']);
    expect(events().map(({ success, exit_code: code, error }) => [success, code, error === null])).toEqual([
      [false, 1, true],
      [false, -1, false],
    ]);
    const away = harness([terminal('ls'), finish], { pre_tool_use: command('true') });
    const broken = {
      ...away.ports.hooks,
      run: () => Promise.reject(new SlipwayError('sandbox.tool-unavailable', 'The tool process is away.')),
    };
    expect(await runAgent({ ...away.ports, hooks: broken }, SETTINGS, away.control)).toBe('finished');
    expect(away.events()[0]).toMatchObject({ success: false, blocked: false, error: 'The tool process is away.' });
  });

  it('may be a question to the model: its no refuses with its reason, anything else lets pass, and it counts by itself', async () => {
    const prompt = (text: string, more: object = {}) => [
      { matcher: 'Bash', hooks: [{ type: 'prompt', prompt: text, ...more }] },
    ];
    const answers: ModelTurn[] = [
      terminal('git push --force'),
      { text: 'Let me see.\n{"ok": false, "reason": "It rewrites what others have."}' },
      terminal('git status'),
      { text: 'I cannot say.' },
      finish,
    ];
    const { log, ran, ports, control, events } = harness(answers, {
      hooks: { PreToolUse: prompt('Is this harmless? $ARGUMENTS') },
    });
    const from = server.requests.length;
    expect(await runAgent(ports, SETTINGS, control)).toBe('finished');
    expect(ran).toEqual(['git status']);
    expect(log.events.find((event) => event.kind === 'UserRejectObservation')).toMatchObject({
      rejection_source: 'hook',
      rejection_reason: 'It rewrites what others have.',
    });
    expect(events().map(({ hook_command: what, success, blocked }) => [what, success, blocked])).toEqual([
      ['prompt: Is this harmless? $ARGUMENTS', true, true],
      ['prompt: Is this harmless? $ARGUMENTS', true, false],
    ]);
    const asked = server.requests[from + 1]?.body;
    expect(JSON.stringify(asked?.messages)).toMatch(/Is this harmless\? \{.*git push --force/);
    expect(asked?.['tools'] ?? []).toEqual([]);
    expect(Object.keys(ports.stats.value.usage_to_metrics ?? {}).sort()).toEqual(['agent', 'hook']);
    expect(JSON.stringify(server.requests.at(-1)?.body.messages)).not.toContain('Is this harmless');
  });

  it('that ask a model which fails or is too slow let the work go on, and the log says so', async () => {
    const hooks = {
      pre_tool_use: [
        {
          hooks: [
            { type: 'prompt', prompt: 'Fine?', timeout: 0.2 },
            { type: 'from the future', prompt: 'never run here' },
          ],
        },
      ],
    };
    const { ran, ports, control, events } = harness([terminal('ls'), { fault: 'hang' }, finish], hooks);
    expect(await runAgent(ports, SETTINGS, control)).toBe('finished');
    expect(ran).toEqual(['ls']);
    expect(events()).toMatchObject([
      { success: false, blocked: false, error: expect.stringContaining('did not answer the hook within 0.2 s') },
    ]);
  });

  it('are interrupted like everything else', async () => {
    const { log, ports, control } = harness([terminal('ls'), finish], { pre_tool_use: command('sleep 1e6') });
    const run = runAgent(ports, SETTINGS, control);
    await until('the action', () => log.outline.includes('ActionEvent'));
    control.stop.abort(new Error('stop'));
    expect(await run).toBe('interrupted');
    expect(log.outline.slice(-3)).toEqual(['AgentErrorEvent', 'InterruptEvent', 'execution_status=paused']);
  });
});
