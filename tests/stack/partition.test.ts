import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Conversation } from '@slipway/contracts/conversations';
import type { Problem } from '@slipway/contracts/errors';
import type { Runtime } from '@slipway/contracts/sandboxes';
import { type ModelRequest, type ModelTurn, SilentProxy, until } from '@slipway/testing';
import { OpenStack } from './open-stack.ts';
import { finish, terminal } from './script-book.ts';
import type { Talk } from './talk.ts';

/** Thoughts of one answer; each is two lines of the log. */
const THOUGHTS = 100;
/** Answers of the one who thinks: far more lines than may wait for the app. */
const ANSWERS = 18;
/** Lines that may wait before the agent does (agent-server's outbox). */
const MAX_UNACKED = 2_000;
/** The lease of 10 s, three probes of 2 s, and a machine that is slow. Milliseconds. */
const NEXT_EPOCH_MS = 60_000;
/**
 * Longest from the end of the cut to the next line that a user sees. Milliseconds; 5 s are promised, and the remainder
 * is for a busy machine.
 */
const RECOVERY_MS = 15_000;

jest.setTimeout(240_000);

describe('the network between app-server and the sandboxes is cut for longer than a lease, without a word to either', () => {
  let open: OpenStack;
  /** What sandboxes send to app-server. */
  let ingest: SilentProxy;
  /** What worker asks of runtime-api. */
  let runtime: SilentProxy;
  /** What app-server and worker ask of one sandbox. */
  let toSandbox: SilentProxy;
  /** Its sandbox is reachable by worker, and only its events do not arrive. */
  let reachable: Talk;
  /** Its sandbox is unreachable, and cannot be ended. */
  let cutOff: Talk;
  let ending = false;
  let cut = false;
  /** What a user asks of the unreachable sandbox. */
  let changes: Promise<Response>;
  /** Answers of the model and stored lines that it had when others could reach it again. */
  let ofFirst = { answers: 0, lines: 0 };
  const sandboxes = new Map<Talk, Runtime>();

  beforeAll(async () => {
    open = await OpenStack.open({
      between: async (addressOf) => {
        ingest = await SilentProxy.open(addressOf('app-server'));
        runtime = await SilentProxy.open(addressOf('runtime-api'));
        return { worker: { SANDBOX_INGEST_URL: origin(ingest), RUNTIME_API_URL: origin(runtime) } };
      },
    });
  });
  afterAll(async () => {
    for (const proxy of [ingest, runtime, toSandbox]) proxy?.heal();
    await open?.close();
    for (const proxy of [ingest, runtime, toSandbox]) await proxy?.close();
  });

  const thinks = (_request: ModelRequest, number: number): ModelTurn | Promise<ModelTurn> => {
    if (number > ANSWERS) return finish();
    const turn = {
      toolCalls: Array.from({ length: THOUGHTS }, (_, index) => ({
        name: 'think',
        arguments: { thought: `${number}.${index}` },
      })),
    };
    // After the second one it waits for the cut, so that all the others are written behind it.
    return number === 3 ? until('the cut', () => cut).then(() => turn) : turn;
  };
  const counts = (): ModelTurn =>
    ending ? finish() : terminal('sleep 0.3; echo step >> steps.txt; wc -l < steps.txt');

  /** Of the sandbox that the conversation had at the cut. */
  const outboxOf = (talk: Talk): ReturnType<OpenStack['outboxOf']> =>
    open.outboxOf(talk, sandboxes.get(talk) as Runtime);
  const rowOf = async (talk: Talk): Promise<{ epoch: number; head: number; ofFirstEpoch: number }> => {
    const rows = await open.query<{ epoch: number; head: number; ofFirstEpoch: number }>(
      `SELECT epoch, head::int, (SELECT count(*)::int FROM app.event e WHERE e.conversation_id = c.id AND e.epoch = 1) AS "ofFirstEpoch"
         FROM app.conversation c WHERE id = $1`,
      [talk.id],
    );
    return rows[0] ?? { epoch: 0, head: 0, ofFirstEpoch: 0 };
  };

  it('before it, two conversations are at work', async () => {
    [reachable, cutOff] = await Promise.all([open.talk('reachable', thinks), open.talk('cutOff', counts)]);
    for (const talk of [reachable, cutOff]) {
      await until('the agent works', () => talk.of('ObservationEvent').length > 2, 60_000);
      sandboxes.set(talk, await open.sandboxOf(talk));
    }
    toSandbox = await SilentProxy.open(sandboxes.get(cutOff)?.url ?? '');
    await open.query('UPDATE app.conversation SET sandbox_url = $2 WHERE id = $1', [cutOff.id, origin(toSandbox)]);
  });

  it('in it each agent goes on, until so much waits for the app that it waits too; the user sees that they work', async () => {
    for (const proxy of [ingest, toSandbox]) proxy.silence();
    runtime.refuse();
    cut = true;
    const asked = open.book.requestsOf('cutOff').length;
    changes = open.user.fetch(`${cutOff.path}/changes`);
    await until(
      'the one that is cut off goes on',
      () => open.book.requestsOf('cutOff').length > asked + 3,
      RECOVERY_MS,
    );
    await until(
      'too much waits of the other one',
      async () => (await outboxOf(reachable)).pending > MAX_UNACKED,
      60_000,
    );
    for (const talk of [reachable, cutOff])
      expect(await talk.get()).toMatchObject({ status: 'working', sandboxStatus: 'RUNNING' });
  });

  it('requests to an unreachable sandbox are refused with a sentence; after the lease, one that answers a probe keeps the conversation, and one that does not is followed by the next epoch', async () => {
    const answer = await changes;
    expect([answer.status, await answer.json()]).toMatchObject([
      502,
      { code: 'sandbox.unreachable', retry: 'later' } satisfies Partial<Problem>,
    ]);
    await until('the next epoch', async () => (await rowOf(cutOff)).epoch === 2, NEXT_EPOCH_MS);
    const started = (await until('the person sees that it starts again', async () => {
      const now = await cutOff.get();
      return now.status === 'starting' && now;
    })) as Conversation;
    expect(started.start).toMatchObject({ status: 'WAITING_FOR_SANDBOX' });
    expect([(await rowOf(reachable)).epoch, (await reachable.get()).status]).toEqual([1, 'working']);
    // It waits: what is under way when the limit is passed is two lines a thought and a few.
    expect((await outboxOf(reachable)).pending).toBeLessThan(MAX_UNACKED + 2 * (THOUGHTS + 20));
    expect(open.book.requestsOf('reachable').length).toBeLessThan(ANSWERS);
  });

  it('healed, what the sandbox of the epoch before has sent and goes on to send is refused, and it stops', async () => {
    const before = await rowOf(cutOff);
    expect(await outboxOf(cutOff)).toMatchObject({ epoch: 1, fenced: false });
    ingest.heal();
    await until('it knows', async () => (await outboxOf(cutOff)).fenced, RECOVERY_MS);
    ofFirst = { answers: open.book.requestsOf('cutOff').length, lines: (await rowOf(cutOff)).ofFirstEpoch };
    expect(ofFirst.lines).toBe(before.ofFirstEpoch);
    for (const proxy of [runtime, toSandbox]) proxy.heal();
  });

  it('the one that was reachable goes on at once, and its log has each line once', async () => {
    await until('its lines come', () => reachable.watcher.lastSeq > MAX_UNACKED, RECOVERY_MS);
    await reachable.ended('finished', undefined, 90_000);
    await reachable.expectWholeLog();
    const thoughts = reachable
      .of('ActionEvent')
      .flatMap(({ action }) => (action.kind === 'ThinkAction' ? [String(action['thought'])] : []));
    const all = Array.from({ length: ANSWERS }, (_, answer) =>
      Array.from({ length: THOUGHTS }, (_, index) => `${answer + 1}.${index}`),
    ).flat();
    expect(thoughts).toEqual(all);
    expect(new Set(reachable.watcher.log.map(({ epoch }) => epoch))).toEqual(new Set([1]));
  });

  it('the other one goes on in a new sandbox with all that the old one had done: no step lost, none twice, none of it under the old epoch', async () => {
    await until('the new one works', () => open.book.requestsOf('cutOff').length > ofFirst.answers + 2, NEXT_EPOCH_MS);
    ending = true;
    await cutOff.ended('finished', undefined, 60_000);
    await cutOff.expectWholeLog();
    const epochs = cutOff.watcher.log.map(({ epoch }) => epoch);
    expect(epochs).toEqual([...epochs].sort((a, b) => a - b));
    expect(epochs.filter((epoch) => epoch === 1).length).toBe(ofFirst.lines);
    const steps = cutOff.printedNumbers;
    // The step under way when its sandbox was stopped may have been made and has no count.
    const interrupted = cutOff.of('AgentErrorEvent').length;
    expect(interrupted).toBeLessThan(3);
    expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b));
    expect((steps.at(-1) ?? 0) - steps.length).toBeLessThanOrEqual(interrupted);
    expect(steps.length).toBeGreaterThanOrEqual(ofFirst.answers - 2);
  });
});

/** Without the slash at the end. */
const origin = (proxy: SilentProxy): string => new URL(proxy.url).origin;
