import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CallOutputResponse } from '@slipway/contracts/actions';
import { until } from '@slipway/testing';
import { type RunningServer, startActionServer } from '../testing/running-server.js';
import { CallOutput } from './call-output.js';
import { ShownOutput } from './shown-output.js';

describe('the output of a command that runs', () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startActionServer();
  });
  afterAll(() => server.close());

  const execute = (call: string, command: string) =>
    server.send(
      'POST',
      '/execute_action',
      JSON.stringify({ action: { kind: 'TerminalAction', command, timeout: 30 }, call }),
    );
  const output = async (call: string, after: number, now = false) => {
    const answer = await server.send('GET', `/action/output?call=${call}&after=${after}&now=${now}`);
    return answer.status === 200 ? CallOutputResponse.parse(await answer.json()) : null;
  };

  it('can be asked for line by line before the command has ended, with its colours', async () => {
    const answer = execute(
      'c1',
      "printf '\\033[31mone\\033[0m\\n'; until [ -e go ]; do sleep 0.05; done; echo two; rm go",
    );
    const first = await until('the first line', async () => {
      const chunk = await output('c1', 0);
      return chunk?.text.includes('one') ? chunk : null;
    });
    expect(first).toMatchObject({ text: '\u001b[31mone\u001b[0m\n', over: false });
    await server.terminal('touch go', { session: 'other' });
    let [text, after, over] = ['', first.end, false];
    while (!over) {
      const chunk = await output('c1', after);
      expect(chunk).not.toBeNull();
      [text, after, over] = [text + chunk?.text, chunk?.end ?? 0, chunk?.over ?? true];
    }
    expect(text).toBe('two\n');
    expect((await answer).status).toBe(200);
  });

  it('is empty for an unknown call', async () => {
    expect(await output('unknown', 0)).toBeNull();
  });
});

describe('what is shown of an output', () => {
  it('is bounded whatever a program prints, keeps the latest, and says what is left out', async () => {
    const call = new CallOutput();
    for (let line = 0; line < 100_000; line += 1) call.push(Buffer.from(`line ${line} of very many\n`));
    const { text } = await call.since(0, true, AbortSignal.timeout(1_000));
    expect(text.length).toBeLessThan(9_000);
    expect(text).toMatch(/^\n\[\.\.\. \d+ characters are not shown here \.\.\.\]\nline \d+ of/);
    expect(text.endsWith('line 99999 of very many\n')).toBe(true);
    call.end();
  });

  it('holds colours and lines of a terminal and no other control, wherever the bytes are cut', () => {
    const bytes = Buffer.from(
      '\u001b]0;title\u0007a\u001b[1;32mgrün\u001b[0m\u001b[2K\u001b[5C b\u0008\u0007\r50%\r100%\n',
    );
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const shown = new ShownOutput();
      expect(shown.push(bytes.subarray(0, cut)) + shown.push(bytes.subarray(cut))).toBe(
        'a\u001b[1;32mgrün\u001b[0m b\r50%\r100%\n',
      );
    }
  });
});
