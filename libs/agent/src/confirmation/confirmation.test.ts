import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AgentAction } from '@slipway/contracts/actions';
import { type ConfirmationSettings } from '@slipway/contracts/conversations';
import { type ConversationEvent } from '@slipway/contracts/events';
import { isAcceptedAndPending, pendingActions } from '@slipway/domain';
import { type ModelScript, type ModelServer, startModelServer } from '@slipway/testing';
import fc from 'fast-check';
import { stamp, statusUpdate } from '../events.js';
import { messagesOf } from '../prompt.js';
import { runAgent } from '../run.js';
import { control, MemoryLog, SETTINGS, terminalObservation, testPorts } from '../testing.js';
import { allows, asksFor, judge } from './needs.js';

const ALWAYS: ConfirmationSettings = { policy: { kind: 'AlwaysConfirm' }, analyzer: null, rules: [] };
const terminal = (command: string, more: object = {}) =>
  AgentAction.parse({ kind: 'TerminalAction', command, ...more });
const run = (command: string) => ({ name: 'terminal', arguments: { command } });
const FINISH = { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] };

describe('asking before acting', () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({ script: [] });
  });
  afterAll(() => server.close());

  function harness(script: ModelScript) {
    server.use(script);
    const log = new MemoryLog();
    log.say('do it');
    const executed: string[] = [];
    const ports = testPorts(log, server, async (action) => {
      executed.push((action as { command: string }).command);
      return terminalObservation('ok');
    });
    return { log, ports, executed };
  }
  /** An answer in the log, as a user's yes leaves it. */
  const accept = (log: MemoryLog, named: (id: string, index: number) => string = (id) => id): void => {
    const by = { clock: { now: () => new Date() }, ids: { uuid: () => crypto.randomUUID() } };
    const value = { accepted: true, action_ids: pendingActions(log.events).map(({ id }, index) => named(id, index)) };
    log.events.push(stamp(by, { kind: 'ConversationStateUpdateEvent', source: 'user', key: 'confirmation', value }));
  };
  const reject = (log: MemoryLog, reason: string): void => {
    const by = { clock: { now: () => new Date() }, ids: { uuid: () => crypto.randomUUID() } };
    for (const action of pendingActions(log.events))
      log.events.push(
        stamp(by, {
          kind: 'UserRejectObservation',
          source: 'environment',
          action_id: action.id,
          tool_name: action.tool_name,
          tool_call_id: action.tool_call_id,
          rejection_reason: reason,
          rejection_source: 'user',
        }),
      );
    log.events.push(statusUpdate(by, 'idle'));
  };

  it('carries out nothing of an answer before the user approves, then all of it, in order', async () => {
    const { log, ports, executed } = harness([{ toolCalls: [run('one'), run('two')] }, FINISH]);
    const settings = { ...SETTINGS, confirmation: ALWAYS };
    expect(await runAgent(ports, settings, control())).toBe('waiting');
    expect([executed, pendingActions(log.events).length, log.outline.at(-1)]).toEqual([
      [],
      2,
      'execution_status=waiting_for_confirmation',
    ]);
    accept(log);
    expect(await runAgent(ports, settings, control())).toBe('finished');
    expect([executed, pendingActions(log.events)]).toEqual([['one', 'two'], []]);
  });

  it('takes no run for a yes, however often it is started', async () => {
    const { log, ports, executed } = harness([{ toolCalls: [run('one'), run('two')] }, FINISH]);
    const settings = { ...SETTINGS, confirmation: ALWAYS };
    for (const _again of [1, 2, 3]) expect(await runAgent(ports, settings, control())).toBe('waiting');
    accept(log, (id, index) => (index === 0 ? id : crypto.randomUUID()));
    expect(await runAgent(ports, settings, control())).toBe('waiting');
    expect([executed, pendingActions(log.events).length]).toEqual([[], 2]);
  });

  it('gives the model the reason why a call was rejected, and it goes on from there', async () => {
    const { log, ports, executed } = harness([{ toolCalls: [run('rm -rf build')] }, FINISH]);
    const settings = { ...SETTINGS, confirmation: ALWAYS };
    await runAgent(ports, settings, control());
    reject(log, 'keep the build');
    expect(await runAgent(ports, settings, control())).toBe('finished');
    expect(executed).toEqual([]);
    expect(JSON.stringify(server.requests.at(-1)?.body.messages)).toContain('keep the build');
    expect(messagesOf(log.events).filter(({ role }) => role === 'tool').length).toBeGreaterThan(0);
  });

  it('asks for what is risky, says why in the log, and lets the others through', async () => {
    const { log, ports, executed } = harness([{ toolCalls: [run('ls')] }, { toolCalls: [run('git push --force')] }]);
    const confirmation: ConfirmationSettings = {
      policy: { kind: 'ConfirmRisky', threshold: 'HIGH', confirm_unknown: false },
      analyzer: { kind: 'PatternSecurityAnalyzer' },
      rules: [],
    };
    expect(await runAgent(ports, { ...SETTINGS, confirmation }, control())).toBe('waiting');
    expect(executed).toEqual(['ls']);
    const [waiting] = pendingActions(log.events);
    const analysis = log.events.findLast((event) => event.kind === 'SecurityAnalysisEvent');
    expect(analysis).toMatchObject({ risks: { [String(waiting?.id)]: 'HIGH' }, policy: 'ConfirmRisky' });
    expect(JSON.stringify(analysis)).toContain('overwrites or deletes what others have');
  });

  it('never asks for a thought, a plan or the end of the work', async () => {
    const { ports } = harness([{ toolCalls: [{ name: 'think', arguments: { thought: 'so' } }] }, FINISH]);
    expect(await runAgent(ports, { ...SETTINGS, confirmation: ALWAYS }, control())).toBe('finished');
  });

  it('answers at once a call that cannot be read, and still waits for the others', async () => {
    const { log, ports } = harness([{ toolCalls: [{ name: 'nonsense', arguments: {} }, run('one')] }, FINISH]);
    expect(await runAgent(ports, { ...SETTINGS, confirmation: ALWAYS }, control())).toBe('waiting');
    expect([
      pendingActions(log.events).length,
      log.events.filter((event) => event.kind === 'AgentErrorEvent').length,
    ]).toEqual([1, 1]);
  });

  it('knows an answer that came while no sandbox heard it', async () => {
    const { log, ports } = harness([{ toolCalls: [run('one')] }]);
    await runAgent(ports, { ...SETTINGS, confirmation: ALWAYS }, control());
    expect(isAcceptedAndPending(log.events)).toBe(false);
    const answered = (accepted: boolean, ids: string[]): ConversationEvent[] => [
      ...log.events,
      {
        id: crypto.randomUUID(),
        timestamp: '',
        source: 'user',
        kind: 'ConversationStateUpdateEvent',
        key: 'confirmation',
        value: { accepted, action_ids: ids },
      },
    ];
    const ids = pendingActions(log.events).map(({ id }) => id);
    expect([
      isAcceptedAndPending(answered(true, ids)),
      isAcceptedAndPending(answered(false, ids)),
      isAcceptedAndPending(answered(true, [])),
    ]).toEqual([true, false, false]);
  });
});

describe('who is asked', () => {
  it('asks from the threshold on, and for the unknown unless the policy says otherwise', () => {
    const risky = (threshold: 'LOW' | 'MEDIUM' | 'HIGH', confirm_unknown: boolean) =>
      ({ kind: 'ConfirmRisky', threshold, confirm_unknown }) as const;
    const risks = ['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH'] as const;
    expect(risks.map((risk) => asksFor(risky('HIGH', true), risk))).toEqual([true, false, false, true]);
    expect(risks.map((risk) => asksFor(risky('MEDIUM', false), risk))).toEqual([false, false, true, true]);
    expect(risks.map((risk) => asksFor({ kind: 'AlwaysConfirm' }, risk))).toEqual([true, true, true, true]);
    expect(risks.map((risk) => asksFor({ kind: 'NeverConfirm' }, risk))).toEqual([false, false, false, false]);
  });

  it('lets "always here" cover exactly this call, or a simple command that begins with these words', () => {
    const prefix = { tool_name: 'terminal', match: 'prefix', value: 'npm test' } as const;
    const covered = (command: string, risk: 'UNKNOWN' | 'HIGH' = 'UNKNOWN') =>
      allows(prefix, 'terminal', terminal(command), risk);
    expect(
      [
        'npm test',
        'npm test -- a',
        'npm testing',
        'npm test; rm -rf /',
        'npm test && x',
        'npm test $(x)',
        'npm test\nx',
      ].map((one) => covered(one)),
    ).toEqual([true, true, false, false, false, false, false]);
    expect(covered('npm test', 'HIGH')).toBe(false);
    expect(allows(prefix, 'terminal', terminal('npm test', { is_input: true }), 'LOW')).toBe(false);
    expect(allows({ tool_name: 'terminal', match: 'exact', value: 'a; b' }, 'terminal', terminal('a; b'), 'HIGH')).toBe(
      true,
    );
    expect(allows({ ...prefix, tool_name: 'browser' }, 'terminal', terminal('npm test'), 'LOW')).toBe(false);
  });

  it('never lets a rule cover a command that does more than its words', () => {
    const operator = fc.constantFrom(';', '&', '|', '<', '>', '`', '$', '(', '{', '\n', '\\');
    fc.assert(
      fc.property(fc.string(), operator, fc.string(), (before, middle, after) => {
        const rule = { tool_name: 'terminal', match: 'prefix', value: 'make' } as const;
        const settings: ConfirmationSettings = { policy: { kind: 'AlwaysConfirm' }, analyzer: null, rules: [rule] };
        const action = terminal(`make ${before}${middle}${after}x`);
        expect(judge(settings, { toolName: 'terminal', action, modelRisk: 'LOW' }).asks).toBe(true);
      }),
    );
  });
});
