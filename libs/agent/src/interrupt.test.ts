import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ModelServer, type ModelTurn, startModelServer, until } from '@slipway/testing';
import { messagesOf } from './prompt.js';
import { runAgent } from './run.js';
import { control, MemoryLog, SETTINGS, terminalObservation, testPorts } from './testing.js';

const terminal = (command: string): ModelTurn => ({ toolCalls: [{ name: 'terminal', arguments: { command } }] });
const finish: ModelTurn = { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] };
/** What ends only by its signal. */
const never = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

/** None of these would end by itself: that the run ends is what the interrupt did. */
describe('an interrupt ends a run', () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({ script: [] });
  });
  afterAll(() => server.close());

  const MOMENTS: Readonly<
    Record<string, { script: readonly ModelTurn[]; tool?: 'hangs'; port?: 'delay' | 'room'; condenser?: true }>
  > = {
    'before the first byte of the model': { script: [{ fault: 'hang' }] },
    'in the middle of its stream': { script: [{ fault: 'hang-mid-stream', text: 'I am about to' }] },
    'while a tool runs': { script: [terminal('sleep 1e6')], tool: 'hangs' },
    'while it waits before another attempt': { script: [{ fault: 'status', status: 500 }], port: 'delay' },
    'while the app is behind': { script: [], port: 'room' },
    'while the condenser summarizes': { script: [terminal('ls'), terminal('pwd'), { fault: 'hang' }], condenser: true },
  };

  for (const [moment, { script, tool, port, condenser }] of Object.entries(MOMENTS)) {
    it(`${moment}, and the log says so and can be gone on from`, async () => {
      server.use(script);
      const asked = server.requests.length;
      const log = new MemoryLog();
      log.say('do it');
      const reached = { port: false, tool: false };
      const ports = testPorts(log, server, (_action, signal) => {
        reached.tool = true;
        return tool === 'hangs' ? never(signal) : Promise.resolve(terminalObservation('ok'));
      });
      const hangs = (signal: AbortSignal): Promise<never> => {
        reached.port = true;
        return never(signal);
      };
      const patient = {
        ...ports,
        ...(port === 'delay' ? { delay: (_ms: number, signal: AbortSignal) => hangs(signal) } : {}),
        ...(port === 'room'
          ? {
              log: {
                events: log.events,
                append: log.append.bind(log),
                appendLast: log.appendLast.bind(log),
                room: hangs,
              },
            }
          : {}),
      };
      const settings = condenser
        ? { ...SETTINGS, condenser: { automatic: true, maxTokens: null, maxEvents: 4 } }
        : SETTINGS;
      const stop = control();
      const run = runAgent(patient, settings, stop);
      await until(moment, () =>
        tool ? reached.tool : port ? reached.port : server.requests.length - asked === script.length,
      );
      stop.stop.abort(new Error('stop'));
      expect(await run).toBe('interrupted');
      expect(log.outline.slice(-2)).toEqual(['InterruptEvent', 'execution_status=paused']);
      server.use([finish]);
      expect(await runAgent(ports, SETTINGS, control())).toBe('finished');
      const roles = messagesOf(log.events).map(({ role }) => role);
      expect(roles.filter((role) => role === 'tool')).toHaveLength(
        log.events.filter((event) => event.kind === 'ActionEvent').length,
      );
    });
  }
});
