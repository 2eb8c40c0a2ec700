import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type SandboxAction } from '@slipway/contracts/actions';
import { HookConfig } from '@slipway/contracts/events';
import { unansweredActions } from '@slipway/domain';
import { type ModelRequest, type ModelServer, type ModelTurn, startModelServer, until } from '@slipway/testing';
import { runAgent } from '../run.js';
import { control, MemoryLog, SETTINGS, terminalObservation, testPorts } from '../testing.js';
import { judge } from './judge.js';

const call = (name: string, args: object): ModelTurn => ({
  toolCalls: [{ name, arguments: args as Record<string, unknown> }],
});
const terminal = (command: string): ModelTurn => call('terminal', { command });
const finish = (message = 'done'): ModelTurn => call('finish', { message });
const ofJudge = (request: ModelRequest): boolean => request.headers['x-slipway-purpose'] === 'sub-agent';
const answersIn = (request: ModelRequest): number =>
  (request.body.messages ?? []).filter(({ role }) => role === 'tool').length;

describe('a hook of type agent', () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({ script: [] });
  });
  afterAll(() => server.close());

  function harness(
    parent: ModelTurn[],
    judgeSays: (request: ModelRequest) => ModelTurn,
    hook: object,
    settings = SETTINGS,
  ) {
    const from = server.requests.length;
    server.use((request) => (ofJudge(request) ? judgeSays(request) : (parent.shift() ?? finish())));
    const log = new MemoryLog();
    log.say('do it');
    const executed: SandboxAction[] = [];
    const ports = testPorts(log, server, async (action) => {
      executed.push(action);
      return terminalObservation('CONTENT OF THE FILE');
    });
    const config = HookConfig.parse({
      hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'agent', ...hook }] }] },
    });
    const hooks = {
      config,
      sessionId: 's',
      workingDir: '/w',
      judge,
      run: () => Promise.reject(new Error('no command was given')),
    };
    const stop = control();
    return {
      log,
      ports,
      stop,
      executed,
      run: () => runAgent({ ...ports, hooks }, settings, stop),
      events: () => log.events.flatMap((event) => (event.kind === 'HookExecutionEvent' ? [event] : [])),
      judged: () => server.requests.slice(from).filter(ofJudge),
      commands: () => executed.flatMap((action) => (action.kind === 'TerminalAction' ? [action.command] : [])),
    };
  }

  it('reads files, and its no refuses the call with its reason; nothing of its steps is in the context of the agent', async () => {
    const { run, log, executed, events, judged, commands, ports } = harness(
      [terminal('git push --force'), finish()],
      (request) =>
        answersIn(request) === 0
          ? call('file_editor', { command: 'view', path: '/w/RULES' })
          : finish('I looked {at it}.\n{"ok": false, "reason": "RULES forbid it."}'),
      { prompt: 'Do the RULES allow this? $ARGUMENTS' },
    );
    expect(await run()).toBe('finished');
    expect(commands()).toEqual([]);
    expect(executed).toMatchObject([{ kind: 'FileEditorAction', command: 'view', path: '/w/RULES' }]);
    expect(log.events.find((event) => event.kind === 'UserRejectObservation')).toMatchObject({
      rejection_source: 'hook',
      rejection_reason: 'RULES forbid it.',
    });
    expect(events()).toMatchObject([
      { hook_command: 'agent: Do the RULES allow this? $ARGUMENTS', success: true, blocked: true },
    ]);
    expect(JSON.stringify(judged()[0]?.body.messages)).toMatch(/Do the RULES allow this\? \{.*git push --force/);
    expect(JSON.stringify(server.requests.at(-1)?.body.messages)).not.toContain('CONTENT OF THE FILE');
    expect(Object.keys(ports.stats.value.usage_to_metrics ?? {}).sort()).toEqual(['agent', 'hook']);
    expect(unansweredActions(log.events)).toEqual([]);
  });

  it('has no tool that changes anything, whatever it names or tries, and is asked about by no hook itself', async () => {
    const { run, executed, judged, commands } = harness(
      [terminal('make'), finish()],
      (request) =>
        [terminal('rm -rf /w'), call('file_editor', { command: 'create', path: '/w/x', file_text: 'x' })][
          answersIn(request)
        ] ?? finish('{"decision": "allow"}'),
      { system_prompt: 'Is it safe?', tools: ['terminal', 'FileEditorTool', 'GrepTool'] },
      { ...SETTINGS, confirmation: { ...SETTINGS.confirmation, policy: { kind: 'NeverConfirm' } } },
    );
    expect(await run()).toBe('finished');
    expect(commands()).toEqual(['make']);
    expect(executed).toHaveLength(1);
    const tools = ((judged()[0]?.body['tools'] ?? []) as Array<{ function: { name: string } }>).map(
      (tool) => tool.function.name,
    );
    expect(tools.sort()).toEqual(['file_editor', 'finish', 'grep']);
    expect(judged()).toHaveLength(3);
    expect(String(judged()[0]?.body.messages?.[0]?.content)).toMatch(/^Is it safe\?/);
  });

  it('that uses up its steps, or its time, lets the call pass, and the log says so', async () => {
    for (const [hook, says, words] of [
      [
        { prompt: 'Fine?', max_iterations: 2 },
        (request: ModelRequest) => call('glob', { pattern: `${answersIn(request)}` }),
        'its 2 steps',
      ],
      [{ prompt: 'Fine?', timeout: 0.3 }, (): ModelTurn => ({ fault: 'hang' }), 'within 0.3 s'],
      [{ prompt: 'Fine?' }, (): ModelTurn => ({ fault: 'status', status: 401 }), 'came to no judgement'],
    ] as const) {
      const { run, events, commands } = harness([terminal('ls'), finish()], says, hook);
      expect(await run()).toBe('finished');
      expect(commands()).toEqual(['ls']);
      expect(events()).toMatchObject([{ success: false, blocked: false, error: expect.stringContaining(words) }]);
    }
  });

  it('works on the budget of the conversation, and not beyond it', async () => {
    const { run, ports, judged } = harness(
      [terminal('ls'), finish()],
      (request) => call('glob', { pattern: `${answersIn(request)}` }),
      { prompt: 'Fine?', max_iterations: 50 },
      { ...SETTINGS, maxCostUsd: 0.5 },
    );
    Object.assign(ports, { costOf: () => 0.1 });
    expect(await run()).toBe('paused');
    expect(judged()).toHaveLength(4);
  });

  it('is interrupted with the run', async () => {
    const { run, log, stop, judged } = harness([terminal('ls'), finish()], () => ({ fault: 'hang' }), {
      prompt: 'Fine?',
    });
    const running = run();
    await until('the judge to think', () => judged().length === 1);
    stop.stop.abort(new Error('stop'));
    expect(await running).toBe('interrupted');
    expect(log.outline.slice(-3)).toEqual(['AgentErrorEvent', 'InterruptEvent', 'execution_status=paused']);
  });
});
