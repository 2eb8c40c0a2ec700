import { describe, expect, it } from '@jest/globals';
import { type ErrorCode } from '@slipway/contracts/errors';
import { type EventOf } from '@slipway/contracts/events';
import { type ModelFault, type ModelTurn, until } from '@slipway/testing';
import { begin, expectExplained, harnessName, open, sayHello } from './bad-input-setup.ts';
import { LLM_KEY } from './open-stack.ts';
import { finish, terminal } from './script-book.ts';
import type { Talk } from './talk.ts';

/** What a model may answer: noise, refusals, silence, and calls of tools that mean nothing. */
export function badAnswers(): void {
  describe('from the model', () => {
    const GOOD: ModelTurn = { text: 'Now it works.' };
    const lastError = (talk: Talk): EventOf<'ConversationErrorEvent'> | undefined =>
      talk.of('ConversationErrorEvent').at(-1);
    async function expectGivenUp(fault: ModelFault, code: ErrorCode, words: RegExp): Promise<Talk> {
      const talk = await begin([fault]);
      await talk.ended('error');
      expectExplained(lastError(talk), code, words);
      // The agent may be quicker than the last step of the start.
      await until('the conversation reads as failed', async () => (await talk.get()).status === 'failed');
      await sayHello(talk);
      return talk;
    }

    const passing: Array<[string, ModelFault]> = [
      ['nonsense', { fault: 'nonsense' }],
      ['JSON that breaks off', { fault: 'malformed-json' }],
      ['a stream of broken frames', { fault: 'malformed-sse' }],
      ['one endless line', { fault: 'huge-line' }],
      ['a page of HTML', { fault: 'wrong-content-type' }],
      ['half an answer and a broken connection', { fault: 'cut-mid-stream', text: 'half of an ans' }],
      ['a connection that breaks at once', { fault: 'cut' }],
      ['an error in the middle of its stream', { fault: 'error-in-stream', text: 'half' }],
      ['a 500', { fault: 'status', status: 500 }],
      ['a 429 that asks to wait a second', { fault: 'status', status: 429, retryAfterSeconds: 1 }],
      ['nothing, until its time is over', { fault: 'hang' }],
      ['half an answer and then nothing', { fault: 'hang-mid-stream', text: 'half' }],
    ];
    for (const [what, fault] of passing) {
      it.concurrent(`${what} is tried again, and leaves nothing of itself in the log`, async () => {
        const name = harnessName();
        const talk = await open.talk(name, (_request, number) => (number === 1 ? fault : GOOD));
        await talk.ended('finished');
        const said = talk.of('MessageEvent').filter(({ source }) => source === 'agent');
        // Frames that are noise around a good answer are an answer.
        expect(said.map(({ llm_message: message }) => message.content[0]?.text)).toEqual([
          fault.fault === 'malformed-sse' ? expect.any(String) : 'Now it works.',
        ]);
        expect(talk.of('ConversationErrorEvent')).toEqual([]);
        await talk.expectWholeLog();
      });
    }

    it.concurrent('nonsense without end is given up with a sentence, and the next message is answered', async () => {
      await expectGivenUp({ fault: 'nonsense' }, 'model.bad-response', /model/);
    });

    it.concurrent('500s without end are given up with a sentence, and the next message is answered', async () => {
      await expectGivenUp(
        { fault: 'status', status: 500, message: 'The engine is on fire.' },
        'model.unavailable',
        /engine is on fire/,
      );
    });

    it.concurrent('a refused key ends the run at once, without the key in the sentence', async () => {
      const talk = await expectGivenUp(
        { fault: 'status', status: 401, message: `Incorrect API key provided: ${LLM_KEY}.` },
        'model.auth',
        /refused the key/,
      );
      expect(JSON.stringify(talk.events)).not.toContain(LLM_KEY);
    });

    it.concurrent('used-up credit ends the run at once', async () => {
      await expectGivenUp(
        { fault: 'status', status: 429, code: 'insufficient_quota', message: 'You exceeded your current quota.' },
        'model.quota',
        /quota/,
      );
    });

    it.concurrent('malformed arguments and a tool that there is not are reported to the model, which goes on', async () => {
      const name = harnessName();
      const talk = await open.talk(name, [
        { text: 'Let me see.', toolCalls: [{ name: 'terminal', arguments: '{"command": "ls' }] },
        { toolCalls: [{ name: 'launch_rocket', arguments: {} }] },
        { toolCalls: [{ name: 'terminal', arguments: { command: 7 } }] },
        finish('It went well in the end.'),
      ]);
      await talk.ended('finished');
      expect(talk.of('AgentErrorEvent').map(({ tool_name, error }) => [tool_name, error])).toEqual([
        ['terminal', expect.stringMatching(/not valid JSON/)],
        ['launch_rocket', expect.stringMatching(/no tool "launch_rocket"\. The tools are: terminal/)],
        ['terminal', expect.stringMatching(/not valid: command/)],
      ]);
      const last = open.book.requestsOf(name).at(-1)?.body.messages ?? [];
      expect(last.filter(({ role }) => role === 'tool')).toHaveLength(3);
      await sayHello(talk);
    });

    it.concurrent('one call over and over is stopped as stuck, and a message that says otherwise goes on', async () => {
      const talk = await begin([terminal('echo again')]);
      await talk.ended('stuck');
      expectExplained(lastError(talk), 'agent.stuck', /same thing 5 times/);
      await sayHello(talk);
    });
  });
}
