import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConversationEvent } from '@slipway/contracts/events';
import type { ChatMessage } from '@slipway/llm';
import { type ModelRequest, type ModelServer, type ModelTurn, startModelServer, until } from '@slipway/testing';
import fc from 'fast-check';
import { askAgent } from '../ask/ask-agent.js';
import { messagesOf, unitsOf } from '../prompt.js';
import { runAgent } from '../run.js';
import { lastStats, listedStats } from '../stats.js';
import { control, MemoryLog, SETTINGS, terminalObservation, testPorts } from '../testing.js';
import { condense, condenseAsAsked } from './condense.js';
import { planCondensation } from './plan.js';
import { tokensOfMessages, tokensOfText } from './tokens.js';
import { transcriptOf } from './transcript.js';

const terminal = (command: string): ModelTurn => ({ toolCalls: [{ name: 'terminal', arguments: { command } }] });
const finish: ModelTurn = { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] };
const forSummary = (request: ModelRequest): boolean => request.headers['x-slipway-purpose'] === 'condenser';
const TOO_LONG: ModelTurn = {
  fault: 'status',
  status: 400,
  code: 'context_length_exceeded',
  message: 'maximum context length',
};

describe('the condenser', () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({ script: [] });
  });
  afterAll(() => server.close());

  function harness(script: (request: ModelRequest) => ModelTurn, output = 'x'.repeat(4_000)) {
    const from = server.requests.length;
    server.use(script);
    const log = new MemoryLog();
    log.say('Rewrite the parser and keep its tests green.');
    let step = 0;
    const ports = testPorts(log, server, async () => {
      step += 1;
      return terminalObservation(`${step} ${output}`);
    });
    return { log, ports, control: control(), requests: () => server.requests.slice(from) };
  }
  const condensations = (log: MemoryLog) => log.events.filter((event) => event.kind === 'Condensation');
  const withLimit = (maxTokens: number) => ({
    ...SETTINGS,
    stuckDetection: false,
    condenser: { automatic: true, maxTokens, maxEvents: null },
  });

  it('keeps a long task near the limit, the first message in every prompt, and counts its own cost', async () => {
    let steps = 0;
    const { log, ports, control, requests } = harness((request) => {
      if (forSummary(request)) return { text: 'The parser is half done.' };
      steps += 1;
      return steps > 25 ? finish : terminal(`make step${steps}`);
    });
    expect(await runAgent(ports, withLimit(8_000), control)).toBe('finished');
    expect(condensations(log).length).toBeGreaterThan(1);
    for (const request of requests().filter((each) => !forSummary(each))) {
      expect(request.body.messages?.[0]?.content).toContain('Rewrite the parser');
      expect(tokensOfText(JSON.stringify(request.body.messages))).toBeLessThan(11_000);
      expectWhole(request.body.messages ?? []);
    }
    expect(JSON.stringify(requests().at(-1)?.body.messages)).toContain('The parser is half done.');
    const { usage_to_metrics: metrics, accumulated_cost: cost } = lastStats(log.events);
    expect(Object.keys(metrics ?? {}).sort()).toEqual(['agent', 'condenser']);
    expect(cost).toBeCloseTo(
      (metrics?.['agent']?.accumulated_cost ?? 0) + (metrics?.['condenser']?.accumulated_cost ?? 0),
      6,
    );
    expect(metrics?.['condenser']?.accumulated_cost).toBeGreaterThan(0);
    expect(listedStats(log.events).usage_to_metrics?.['agent']).toMatchObject({
      costs: expect.any(Array),
      token_usages: { length: 26 },
    });
  });

  it('shortens a conversation that the model refuses as too long, and goes on', async () => {
    let refused = false;
    const { log, ports, control } = harness((request) => {
      if (forSummary(request)) return { text: 'SUMMARY' };
      if (messagesIn(request) > 8 && !refused) {
        refused = true;
        return TOO_LONG;
      }
      return refused ? finish : terminal('ls');
    });
    expect(await runAgent(ports, { ...SETTINGS, stuckDetection: false }, control)).toBe('finished');
    expect(condensations(log)).toHaveLength(1);
    expect(condensations(log)[0]?.summary).toContain('SUMMARY');
  });

  it('gives up as stuck when the model refuses it however short it is, and asks no more than three times', async () => {
    const { log, ports, control, requests } = harness((request) =>
      forSummary(request) ? { text: 'SUMMARY' } : messagesIn(request) > 3 || condensed ? TOO_LONG : terminal('ls'),
    );
    let condensed = false;
    log.before = (events) => {
      condensed ||= events.some((event) => event.kind === 'Condensation');
    };
    expect(await runAgent(ports, SETTINGS, control)).toBe('stuck');
    expect(log.events.find((event) => event.kind === 'ConversationErrorEvent')?.detail).toContain(
      'longer than the model can read',
    );
    expect(requests().filter((each) => !forSummary(each)).length).toBeLessThanOrEqual(5);
    log.say('go on');
    server.use([finish]);
    expect(await runAgent(ports, SETTINGS, { ...control, pauseRequested: () => false })).toBe('finished');
  });

  it('leaves a note with the user’s words, the plan and the files when no summary can be made', async () => {
    const { log, ports, control } = harness((request) =>
      forSummary(request) ? { fault: 'status', status: 400, message: 'no' } : terminal('ls'),
    );
    const plan = {
      toolCalls: [
        {
          name: 'task_tracker',
          arguments: { command: 'plan', task_list: [{ title: 'split the lexer', status: 'in_progress' }] },
        },
      ],
    };
    const look = { toolCalls: [{ name: 'file_editor', arguments: { command: 'view', path: '/w/lexer.ts' } }] };
    server.use([plan, look, { text: 'Which dialect?' }]);
    await runAgent(ports, SETTINGS, control);
    log.say('The strict one, please.');
    server.use([terminal('ls'), finish]);
    await runAgent(ports, SETTINGS, control);
    server.use((request) => (forSummary(request) ? { fault: 'status', status: 400, message: 'no' } : finish));
    expect(await condense(ports, SETTINGS, 'everything', control.signal)).toBe(true);
    const summary = condensations(log)[0]?.summary ?? '';
    for (const fact of [
      'no summary of them could be made',
      'The strict one, please.',
      'split the lexer',
      '/w/lexer.ts',
    ])
      expect(summary).toContain(fact);
    expect(messagesOf(log.events).map(({ role }) => role)).toEqual(['user', 'user']);
  });

  it('is done when it is asked for, and the request is answered also when there is nothing to forget or it is stopped', async () => {
    const { log, ports, control } = harness(() => ({ text: 'SUMMARY' }));
    const ask = (): void =>
      void log.events.push({
        id: randomUUID(),
        timestamp: new Date().toISOString(),
        source: 'environment',
        kind: 'CondensationRequest',
      });
    ask();
    expect(await condenseAsAsked(ports, SETTINGS, control.signal)).toBe(false);
    expect(condensations(log)).toMatchObject([{ forgotten_event_ids: [], summary: null }]);
    server.use([terminal('ls'), { text: 'There it is.' }]);
    await runAgent(ports, SETTINGS, control);
    ask();
    server.use([{ fault: 'hang' }]);
    const before = server.requests.length;
    const stopped = condenseAsAsked(ports, SETTINGS, control.signal);
    await until('the call of the condenser', () => server.requests.length > before);
    control.stop.abort(new Error('stop'));
    await expect(stopped).rejects.toThrow('stop');
    expect(condensations(log)).toHaveLength(2);
    expect(messagesOf(log.events)).toHaveLength(4);
    ask();
    server.use([{ text: 'SUMMARY' }]);
    expect(await condenseAsAsked(ports, SETTINGS, new AbortController().signal)).toBe(true);
    expect(JSON.stringify(messagesOf(log.events))).toContain('SUMMARY');
  });

  it('answers a question beside the task, with nothing of it in the log but its cost', async () => {
    const { log, ports, control } = harness(() => terminal('ls'));
    server.use([terminal('ls'), finish]);
    await runAgent(ports, SETTINGS, control);
    const before = log.outline;
    server.use([{ text: 'I listed the files.' }]);
    expect(await askAgent(ports, SETTINGS, 'What did you do?', control.signal)).toBe('I listed the files.');
    expect(JSON.stringify(server.requests.at(-1)?.body.messages?.at(-1))).toContain('What did you do?');
    expect(log.outline).toEqual([...before, 'stats']);
    expect(lastStats(log.events).usage_to_metrics).toHaveProperty('ask-agent');
    server.use([terminal('rm -rf /')]);
    expect(await askAgent(ports, SETTINGS, 'And now?', control.signal)).toContain('wanted to use terminal');
    expect(log.outline).toEqual([...before, 'stats', 'stats']);
  });

  it('never splits a call from its answer, and keeps the task, what is under way and what is unanswered, however often it is done', () => {
    fc.assert(
      fc.property(
        fc.array(STEP, { minLength: 1, maxLength: 14 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 3 }),
        (steps, tails) => {
          const log = logOf(steps);
          const whole = messagesOf(log);
          const last = unitsOf(log).at(-1);
          for (const tail of tails) {
            const units = unitsOf(log);
            const plan = planCondensation(units, Math.floor(tail * tokensOfText(JSON.stringify(whole))));
            if (plan === null) break;
            log.push(
              condensation(
                plan.units.flatMap(({ eventIds }) => eventIds),
                plan.offset,
              ),
            );
            const messages = messagesOf(log);
            expectWhole(messages.map(asWire));
            expect(messages.slice(0, 2)).toEqual(whole.slice(0, 2));
            expect(messages.filter(({ content }) => content?.includes('SUMMARY') === true)).toHaveLength(1);
            expect(messages.length).toBeLessThan(whole.length + 1);
            if (last?.open === true || last?.kind === 'message')
              expect(messages.slice(-last.messages.length)).toEqual(last.messages);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('counts pictures as what they cost, not as what they weigh', () => {
    const tool = (images: string[]): ChatMessage => ({ role: 'tool', toolCallId: 'c', content: 'seen', images });
    const picture = `data:image/png;base64,${'A'.repeat(500_000)}`;
    const [without, withOne] = [tokensOfMessages([tool([])]), tokensOfMessages([tool([picture])])];
    expect(withOne - without).toBeGreaterThan(1_000);
    expect(withOne - without).toBeLessThan(3_000);
  });

  it('writes a transcript that stays within its bound, whatever the steps hold', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 100, max: 5_000 }),
        (lengths, max) => {
          const units = unitsOf(
            logOf(
              lengths.map((length) => ({
                calls: [{ output: 'é'.repeat(length), answered: true }],
                text: 't',
                user: false,
                unread: 0,
              })),
            ),
          );
          expect(tokensOfText(transcriptOf(units, max))).toBeLessThan(max + 50);
        },
      ),
      { numRuns: 30 },
    );
  });
});

interface SampleStep {
  readonly user: boolean;
  readonly text: string;
  /** Calls that could not be read. */
  readonly unread: number;
  readonly calls: ReadonlyArray<{ readonly output: string; readonly answered: boolean }>;
}
const STEP: fc.Arbitrary<SampleStep> = fc.record({
  user: fc.boolean(),
  text: fc.string({ maxLength: 20 }),
  unread: fc.integer({ min: 0, max: 2 }),
  calls: fc.array(fc.record({ output: fc.string({ maxLength: 200 }), answered: fc.constant(true) }), { maxLength: 3 }),
});

/** A log as a run writes it. Where `user` is true a message arrives during the step and is taken in after it. */
function logOf(steps: readonly SampleStep[]): ConversationEvent[] {
  const log: ConversationEvent[] = [];
  let number = 0;
  const add = (body: object): string => {
    number += 1;
    const id = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
    log.push({ id, timestamp: '2026-01-01T00:00:00.000Z', source: 'agent', ...body } as ConversationEvent);
    return id;
  };
  const say = (text: string): string =>
    add({ kind: 'MessageEvent', source: 'user', llm_message: { role: 'user', content: [{ type: 'text', text }] } });
  const take = (id: string): string =>
    add({ kind: 'ConversationStateUpdateEvent', source: 'environment', key: 'last_user_message_id', value: id });
  add({ kind: 'SystemPromptEvent', system_prompt: { type: 'text', text: 'system' }, tools: [] });
  take(say('the task'));
  for (const [index, step] of steps.entries()) {
    add({ kind: 'ConversationStateUpdateEvent', source: 'environment', key: 'stats', value: {} });
    const said = step.user ? say(`more ${index}`) : null;
    const response = `r${index}`;
    if (step.calls.length === 0 && step.unread === 0)
      add({
        kind: 'MessageEvent',
        llm_message: { role: 'assistant', content: [{ type: 'text', text: step.text }] },
        llm_response_id: response,
      });
    for (let unread = 0; unread < step.unread; unread += 1)
      add({ kind: 'AgentErrorEvent', tool_name: 'x', tool_call_id: `u${index}.${unread}`, error: 'no such tool' });
    for (const [at, { output }] of step.calls.entries()) {
      const call = `c${index}.${at}`;
      const action = add({
        kind: 'ActionEvent',
        thought: at === 0 ? [{ type: 'text', text: step.text }] : [],
        action: { kind: 'TerminalAction', command: 'ls' },
        tool_name: 'terminal',
        tool_call_id: call,
        tool_call: { id: call, name: 'terminal', arguments: '{}' },
        llm_response_id: response,
        security_risk: 'LOW',
      });
      if (index === steps.length - 1 && step.text.length % 2 === 1) continue;
      add({
        kind: 'ObservationEvent',
        source: 'environment',
        action_id: action,
        tool_name: 'terminal',
        tool_call_id: call,
        observation: terminalObservation(output),
      });
    }
    if (said !== null) take(said);
  }
  return log;
}

function condensation(forgotten: string[], offset: number): ConversationEvent {
  return {
    id: randomUUID(),
    timestamp: '2026-01-01T00:00:00.000Z',
    source: 'environment',
    kind: 'Condensation',
    forgotten_event_ids: forgotten,
    summary: 'SUMMARY',
    summary_offset: offset,
    llm_response_id: 'r',
  };
}

interface WireMessage {
  readonly role?: string;
  readonly tool_calls?: ReadonlyArray<{ readonly id?: string }>;
  readonly tool_call_id?: string;
}
const asWire = (message: ChatMessage): WireMessage =>
  message.role === 'assistant'
    ? { role: 'assistant', tool_calls: message.toolCalls }
    : message.role === 'tool'
      ? { role: 'tool', tool_call_id: message.toolCallId }
      : { role: message.role };

/** Every call is followed by its answer and every answer follows its call, as providers want it. */
function expectWhole(messages: readonly WireMessage[]): void {
  let expected: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      expect(message.tool_call_id).toBe(expected.shift());
      continue;
    }
    expect(expected).toEqual([]);
    expected = (message.tool_calls ?? []).map(({ id }) => id ?? '');
  }
  expect(expected).toEqual([]);
}

function messagesIn(request: ModelRequest): number {
  return request.body.messages?.length ?? 0;
}
