import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { byAnswersSoFar, textOfMessage } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import { call, expectWhole, finish, kinds, type Scenario, statuses, terminal } from './scenario.ts';
import { missing, sdk, setUpSdk, world } from './sdk-setup.ts';
import { workspaces } from './workspaces.ts';

describeUnless(missing)("OpenHands' SDK, unmodified", () => {
  setUpSdk();

  it('lets the agent work with its tools, and knows every event once, in its own classes', async () => {
    const file = path.join(world.sandbox.workspace, 'hello.txt');
    const turns = [
      call(
        'task_tracker',
        { command: 'plan', task_list: [{ title: 'write a file', notes: '', status: 'in_progress' }] },
        'First a plan.',
      ),
      terminal('echo from the terminal; exit_code() { return 4; }; exit_code'),
      call('file_editor', { command: 'create', path: file, file_text: 'hello\n' }),
      call('file_editor', { command: 'str_replace', path: file, old_str: 'hello', new_str: 'good day' }),
      call('file_editor', { command: 'view', path: file }),
      call('think', { thought: 'It is there.' }),
      finish('The file is there.'),
    ];
    const result = await sdk.run<Scenario & { tokens: number; agent_tools: string[]; key: string | null }>(
      'with_tools',
      {
        sandbox: world.playing(byAnswersSoFar(turns)),
        message: 'Write a file.',
      },
    );
    expect(result.status).toBe('finished');
    expect(kinds(result)).toEqual([
      'SystemPromptEvent',
      'MessageEvent',
      ...turns.flatMap(() => ['ActionEvent', 'ObservationEvent']),
    ]);
    expect(statuses(result)).toEqual(['running', 'finished']);
    expect(
      result.events
        .filter(({ kind }) => kind === 'ObservationEvent')
        .map(({ observation }) => (observation as { kind: string }).kind),
    ).toEqual(
      ['TaskTracker', 'Terminal', 'FileEditor', 'FileEditor', 'FileEditor', 'Think', 'Finish'].map(
        (family) => `${family}Observation`,
      ),
    );
    expect(await readFile(file, 'utf8')).toBe('good day\n');
    expect(result.tokens).toBeGreaterThan(0);
    expect(result.agent_tools).toEqual(['terminal', 'file_editor', 'task_tracker']);
    expect(result.key).toBeNull();
    expectWhole(result);
  });

  it('is given the tools that it asks for and no others', async () => {
    const result = await sdk.run<Scenario>('with_tools', {
      sandbox: world.playing([terminal('true'), finish()]),
      message: 'Go.',
      tools: ['file_editor'],
    });
    const offered = world.model.requests.at(-1)?.body['tools'] as Array<{ function: { name: string } }> | undefined;
    expect(offered?.map((tool) => tool.function.name).sort()).toEqual(['file_editor', 'finish', 'think']);
    expect(kinds(result)).toContain('AgentErrorEvent');
    expectWhole(result);
  });

  it('reads what searches, patches and a second terminal answer', async () => {
    await writeFile(path.join(world.sandbox.workspace, 'poem.txt'), 'a heron\nstands\n');
    const turns = [
      call('glob', { pattern: '*.txt', path: world.sandbox.workspace }),
      call('grep', { pattern: 'heron', path: world.sandbox.workspace }),
      call('apply_patch', {
        patch: '*** Begin Patch\n*** Update File: poem.txt\n@@\n a heron\n-stands\n+flies\n*** End Patch\n',
      }),
      terminal('echo elsewhere', { session: 'second' }),
      finish(),
    ];
    const result = await sdk.run<Scenario>('with_tools', {
      sandbox: world.playing(byAnswersSoFar(turns)),
      message: 'Look around.',
      tools: 'more',
    });
    expect(
      result.events
        .filter(({ kind }) => kind === 'ObservationEvent')
        .map(({ observation }) => (observation as { kind: string }).kind),
    ).toEqual(['Glob', 'Grep', 'ApplyPatch', 'Terminal', 'Finish'].map((family) => `${family}Observation`));
    expect(await readFile(path.join(world.sandbox.workspace, 'poem.txt'), 'utf8')).toBe('a heron\nflies\n');
    expectWhole(result);
  });

  it('gives the agent tools of MCP servers, also when one of them is not there', async () => {
    const secret = 'a-token-of-the-helper-0815';
    const helper = {
      command: process.execPath,
      args: [path.join(import.meta.dirname, '../../apps/action-server/dist/testing/mcp-stdio-server.js')],
      env: { TOKEN: secret },
    };
    const result = await sdk.run<Scenario & { tried: object; classes: string[] }>('with_mcp', {
      sandbox: world.playing(
        byAnswersSoFar([
          call('helper_echo', { text: 'over there' }),
          call('helper_told', {}),
          call('helper_refuse', {}),
          finish(),
        ]),
      ),
      message: 'Ask the helper.',
      servers: { helper, absent: { command: 'no-such-program-anywhere' } },
    });
    expect(result.status).toBe('finished');
    expect(result.classes).toEqual([
      'MCPToolObservation',
      'MCPToolObservation',
      'MCPToolObservation',
      'FinishObservation',
    ]);
    const answers = result.events
      .filter(({ kind }) => kind === 'ObservationEvent')
      .map(({ observation }) => observation as { is_error?: boolean });
    expect(JSON.stringify(answers[0])).toContain('over there');
    expect(answers[2]?.is_error).toBe(true);
    expect(result.tried).toMatchObject({ ok: true, tool_result: { is_error: false, text: '3' } });
    expect(world.model.requests.at(-1)?.raw.toString()).toContain('no-such-program-anywhere in the sandbox');
    expect(JSON.stringify(result)).not.toContain(secret);
    const shown = result.events.findLast(({ kind }) => kind === 'SystemPromptEvent')?.['tools'] as
      | Array<{ title?: string }>
      | undefined;
    expect(shown?.map(({ title }) => title)).toEqual(
      expect.arrayContaining(['terminal', 'helper_echo', 'helper_told']),
    );
    expectWhole(result);
  });

  it('lets the agent delegate to others, and reads both commands in its own classes', async () => {
    const spawned = { command: 'spawn', ids: ['left', 'right'], agent_types: ['default', 'explore'] };
    const tasks = { left: 'look left', right: 'look right' };
    const parent = byAnswersSoFar([
      call('delegate', spawned),
      call('delegate', { command: 'delegate', tasks }),
      finish(),
    ]);
    const result = await sdk.run<Scenario>('with_tools', {
      sandbox: world.playing((request) =>
        request.headers['x-slipway-purpose'] === 'sub-agent'
          ? finish(`I did: ${textOfMessage((request.body.messages ?? []).at(-1) as never)}`)
          : parent(request),
      ),
      message: 'Look both ways.',
      tools: ['terminal', 'DelegateTool'],
    });
    expect(result.status).toBe('finished');
    const actions = result.events.filter(({ kind }) => kind === 'ActionEvent').map(({ action }) => action);
    expect(actions.slice(0, 2)).toEqual([
      { kind: 'DelegateAction', ...spawned },
      { kind: 'DelegateAction', command: 'delegate', tasks },
    ]);
    const answers = result.events
      .filter(({ kind }) => kind === 'ObservationEvent')
      .map(({ observation }) => observation as { kind: string; command?: string });
    expect(answers.slice(0, 2).map(({ kind, command }) => [kind, command])).toEqual([
      ['DelegateObservation', 'spawn'],
      ['DelegateObservation', 'delegate'],
    ]);
    expect(JSON.stringify(answers[1])).toContain('Agent right: I did: look right');
    expectWhole(result);
  });

  it('hears the text while it is written', async () => {
    const result = await sdk.run<Scenario & { text: string }>('streamed', {
      sandbox: world.playing([{ text: 'A sentence that comes in pieces.', chunkLength: 5, chunkDelayMs: 5 }]),
      message: 'Say something.',
    });
    expect('A sentence that comes in pieces.').toContain(result.text);
    expect(result.text).not.toBe('');
    expect(kinds(result)).toEqual(['SystemPromptEvent', 'MessageEvent', 'MessageEvent']);
  });

  it('is asked before the agent acts: a refusal with its reason reaches the agent, an answer lets it go on', async () => {
    const result = await sdk.run<Scenario & { statuses: string[]; policy: string }>('confirmed', {
      sandbox: world.playing(byAnswersSoFar([terminal('echo refused'), terminal('echo allowed'), finish()])),
      message: 'Do something.',
    });
    expect(result.statuses).toEqual(['waiting_for_confirmation', 'waiting_for_confirmation', 'finished']);
    expect(result.policy).toBe('AlwaysConfirm');
    expect(kinds(result).filter((kind) => kind !== 'SecurityAnalysisEvent')).toEqual([
      'SystemPromptEvent',
      'MessageEvent',
      'ActionEvent',
      'UserRejectObservation',
      'ActionEvent',
      'ObservationEvent',
      'ActionEvent',
      'ObservationEvent',
    ]);
    expect(result.events.find(({ kind }) => kind === 'UserRejectObservation')).toMatchObject({
      rejection_reason: 'not like this',
      rejection_source: 'user',
    });
    expect(world.model.requests.at(-1)?.raw.toString()).toContain('not like this');
    expectWhole(result);
  });

  it('is asked only before what is risky', async () => {
    const result = await sdk.run<Scenario & { waiting: string }>('risky', {
      sandbox: world.playing(
        byAnswersSoFar([
          terminal('echo harmless', { security_risk: 'LOW' }),
          terminal('echo harm', { security_risk: 'HIGH' }),
          finish(),
        ]),
      ),
      message: 'Do both.',
    });
    expect(result.waiting).toBe('waiting_for_confirmation');
    expect(result.status).toBe('finished');
    expectWhole(result);
  });

  it('sends secrets that commands have and no caller reads', async () => {
    const secret = 'a-value-that-nobody-may-read-4711';
    const result = await sdk.run<Scenario>('with_secrets', {
      sandbox: world.playing(
        byAnswersSoFar([terminal('echo "it is $API_TOKEN"; echo -n "$API_TOKEN" | wc -c'), finish()]),
      ),
      message: 'Print it.',
      secrets: { API_TOKEN: secret },
    });
    const [observation] = result.events.filter(({ kind }) => kind === 'ObservationEvent');
    expect(JSON.stringify(observation)).toContain('it is <secret:API_TOKEN>');
    expect(JSON.stringify(observation)).toContain(String(secret.length));
    expect(JSON.stringify(result)).not.toContain(secret);
    expectWhole(result);
  });

  it('forks: the new one knows what the old one knew, and each goes its own way', async () => {
    const result = await sdk.run<
      Scenario & { before: string[]; began: string[]; tokens: number; info: object; fork: Scenario; part: string[] }
    >('forked', {
      sandbox: world.playing(byAnswersSoFar([terminal('echo of one'), finish()])),
      first: 'Remember the word heron.',
      second: 'What was the word?',
    });
    const known = result.before.filter((id) => result.began.includes(id));
    expect(result.began).toEqual(known);
    expect(result.tokens).toBe(0);
    expect(result.info).toEqual({
      title: 'another way',
      tags: { team: 'red' },
      forked_from_conversation_id: result.id,
    });
    expect(result.fork.log.length).toBeGreaterThan(result.began.length);
    expect(result.log).toEqual(result.before);
    expect(result.part.slice(0, 2)).toEqual(result.before.slice(0, 2));
    expect(world.model.requests.at(-1)?.raw.toString()).toContain('heron');
    expectWhole(result);
  });

  it('asks the agent beside its task, and has its history shortened', async () => {
    const result = await sdk.run<Scenario & { answer: string; asked: string[] }>('condensed', {
      sandbox: world.playing((request) => {
        const messages = request.body.messages ?? [];
        const said = messages.map(textOfMessage).join('\n');
        if (said.includes('How far are you?')) return { text: 'Half of it.' };
        return (request.body['tools'] as unknown[] | undefined)?.length
          ? byAnswersSoFar([...Array.from({ length: 6 }, (_, n) => terminal(`echo step ${n}`)), finish()])(request)
          : { text: 'Steps 0 to 5 are done.' };
      }),
      message: 'Make six steps.',
      question: 'How far are you?',
    });
    expect(result.answer).toBe('Half of it.');
    // What it cost is in the log, and nothing of what was said.
    expect(result.asked.filter((kind) => kind !== 'ConversationStateUpdateEvent')).toEqual([]);
    expect(kinds(result).slice(-2)).toEqual(['CondensationRequest', 'Condensation']);
    expectWhole(result);
  });

  it('pauses after the step under way and goes on from there', async () => {
    const result = await sdk.run<Scenario & { kinds: string[] }>('paused', {
      sandbox: world.playing(byAnswersSoFar([terminal('sleep 1; echo first'), terminal('echo second'), finish()])),
      message: 'Two steps.',
    });
    expect(result.kinds).toContain('PauseEvent');
    expect(result.status).toBe('finished');
    expect(kinds(result).filter((kind) => kind === 'ObservationEvent')).toHaveLength(3);
    expectWhole(result);
  });

  it('interrupts a command', async () => {
    const result = await sdk.run<Scenario & { took: number }>('interrupted', {
      sandbox: world.playing([terminal('sleep 600')]),
      message: 'Wait.',
    });
    expect(result.took).toBeLessThan(10);
    expect(kinds(result)).toContain('InterruptEvent');
    expect(result.status).toBe('paused');
    expectWhole(result);
  });

  it('loses and doubles nothing when its connection breaks in mid-run', async () => {
    const turns = [...Array.from({ length: 8 }, (_, n) => terminal(`echo ${n}`)), finish()];
    const script = byAnswersSoFar(turns);
    let asked = 0;
    const result = await sdk.run<Scenario>('cut_off', {
      sandbox: world.playing((request) => {
        asked += 1;
        if (asked === 3 || asked === 6) world.cut();
        return script(request);
      }),
      message: 'Count.',
    });
    expect(result.status).toBe('finished');
    expect(kinds(result).filter((kind) => kind === 'ActionEvent')).toHaveLength(turns.length);
    expectWhole(result);
  });

  it('names a conversation, and finds it again by its id', async () => {
    const result = await sdk.run<Scenario & { title: string; made: string; attached: string[] }>('named', {
      sandbox: world.playing((request) =>
        request.body['tools'] === undefined ? { text: 'A walk by the sea' } : finish(),
      ),
      message: 'Tell of a walk by the sea.',
    });
    expect(result.title).toBe('a name of a person');
    expect(result.made).toBe('A walk by the sea');
    expect(result.attached).toEqual(
      result.events.filter(({ kind }) => kind !== 'ConversationStateUpdateEvent').map(({ id }) => id),
    );
    expectWhole(result);
  });

  it('goes back to an event, after which the agent has forgotten and the log has not', async () => {
    const turns = [terminal('echo one'), terminal('echo two'), finish()];
    const result = await sdk.run<Scenario & { kinds: string[]; refused: string }>('gone_back', {
      sandbox: world.playing(byAnswersSoFar(turns)),
      message: 'Count.',
      again: 'Count on.',
    });
    expect(result.kinds.filter((kind) => kind === 'Condensation')).toHaveLength(1);
    const asked = world.model.requests.find(({ raw }) => raw.toString().includes('Count on.'))?.raw.toString();
    expect(asked).toContain('echo one');
    expect(asked).not.toContain('echo two');
    expect(result.refused).toBe('conversation.forgotten');
    expectWhole(result);
  });

  it('brings hooks that keep the agent from acting, and reads what they said', async () => {
    const result = await sdk.run<Scenario & { classes: string[]; kept: string }>('hooked', {
      sandbox: world.playing(byAnswersSoFar([terminal('touch not-made.txt'), finish()])),
      message: 'Make it.',
      command: 'echo "not in this house" >&2; exit 2',
    });
    expect(result.status).toBe('finished');
    expect(result.classes).toContain('HookExecutionEvent');
    expect(result.kept).toContain('not in this house');
    expect(JSON.stringify(result.events)).toContain('not in this house');
    await expect(readFile(path.join(world.sandbox.workspace, 'not-made.txt'))).rejects.toThrow('ENOENT');
    expectWhole(result);
  });

  it('learns why a run ended when its model refuses', async () => {
    const result = await sdk.run<Scenario & { failure: string; classes: string[] }>('failed', {
      sandbox: world.playing(() => ({ fault: 'status', status: 401 })),
      message: 'Go.',
    });
    expect(result.status).toBe('error');
    expect(result.classes).toContain('ConversationErrorEvent');
    expect(result.failure).toContain('model.auth');
    expectWhole(result);
  });

  it('reads every property of the state in its own classes', async () => {
    const result = await sdk.run<Scenario & { words: Record<string, unknown> }>('every_word_of_its_state', {
      sandbox: world.playing(byAnswersSoFar([finish()])),
      message: 'Nothing.',
      secrets: { API_TOKEN: 'a-value-that-nobody-may-read-0815' },
    });
    expect(result.words).toEqual({
      id: true,
      status: 'finished',
      policy: 'NeverConfirm',
      analyzer: 'LLMSecurityAnalyzer',
      skills: [[], []],
      agent: 'Agent',
      workspace: true,
      directory: true,
      stats: 'ConversationStats',
      hooks: null,
      secrets: 'SecretRegistry',
      events: ['SystemPromptEvent', 'ConversationStateUpdateEvent', true, 2],
      dumped: true,
      'without analyzer': null,
      plugin: [501, expect.stringContaining('image')],
    });
    expectWhole(result);
  });

  it('lists, counts and deletes', async () => {
    const result = await sdk.run<{ listed: boolean; count: number }>('deleted', {
      sandbox: world.playing([]),
      message: 'Nothing.',
    });
    expect(result.listed).toBe(true);
    expect(result.count).toBeGreaterThan(0);
  });

  workspaces();
});
