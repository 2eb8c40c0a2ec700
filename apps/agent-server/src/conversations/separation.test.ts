import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { ConversationInfo } from '@slipway/contracts/agent';
import type { ConversationEvent, EventOf } from '@slipway/contracts/events';
import { type ModelServer, type ModelTurn, startModelServer, until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import { TestSandbox } from '../testing/sandbox.js';
import { TestApp } from '../testing/test-app.js';

/** Two users of this run alone: what is counted and killed by user then belongs to this run. */
const AGENT = 20_000 + (process.pid % 20_000) * 2;
const TOOLS = AGENT + 1;
const GROUP = 10_000;
/** Processes and threads that the tools may have, as `podPidsLimit` bounds a pod. */
const MAX_PROCESSES = 200;
const RUN_MS = 90_000;

/**
 * Each line of its answer is an attempt and `refused` or `done`. Arguments: process id of agent-server, its directory,
 * its port. The numbers of system calls are those of x86_64 and of arm64.
 */
const PROBE = String.raw`
try() { local what=$1; shift; if "$@" >/dev/null 2>&1; then echo "$what: done"; else echo "$what: refused"; fi; }
pid=$1 state=$2 port=$3
try 'read its environment' cat /proc/$pid/environ
try 'read the map of its memory' cat /proc/$pid/maps
try 'open its memory' perl -e 'open(my $f, "+<", "/proc/$ARGV[0]/mem") or exit 1' $pid
try 'list its open files' ls /proc/$pid/fd
try 'look through its folder' ls /proc/$pid/cwd/
try 'look through its root' ls /proc/$pid/root/
try 'see its system call' cat /proc/$pid/syscall
call() { perl -MErrno -e 'my $arm = (POSIX::uname())[4] =~ /aarch64/;' -MPOSIX -e "$1" $pid; }
try 'trace it' call 'exit 1 if syscall($arm ? 117 : 101, 16, $ARGV[0] + 0, 0, 0) < 0; waitpid($ARGV[0], 0); syscall($arm ? 117 : 101, 17, $ARGV[0] + 0, 0, 0); exit 0'
try 'read its memory by a call' call 'my $b = "\0" x 8; my $l = pack("QQ", unpack("Q", pack("P", $b)), 8); my $r = pack("QQ", 4096, 8); exit(syscall($arm ? 270 : 310, $ARGV[0] + 0, $l, 1, $r, 1, 0) < 0 && $!{EPERM})'
try 'take one of its sockets' call 'my $p = syscall(434, $ARGV[0] + 0, 0); exit 1 if $p < 0; for my $n (0 .. 40) { exit 0 if syscall(438, $p, $n, 0) >= 0 } exit 1'
try 'signal it' kill -0 $pid
try 'slow it down' renice -n 5 -p $pid
try 'list its files' ls $state
try 'read its files' cat $state/activation.json
try 'write into its files' touch $state/from-the-tools
try 'put its files away' mv $state $state.away
api() { exec 3<>/dev/tcp/127.0.0.1/$port && printf 'GET /api/conversations/count HTTP/1.1\r\nhost: x\r\nconnection: close\r\n%s\r\n' "$1" >&3 && head -1 <&3 | grep -q ' 200 '; }
try 'ask its interface without a key' api ''
try 'ask its interface with the key of the tools' api "x-session-api-key: $(tr '\0' '\n' < /proc/$PPID/environ | sed -n 's/^ACTION_SERVER_TOKEN=//p')
"
echo 'all tried'
`;

const missing =
  process.platform !== 'linux' || process.getuid?.() !== 0
    ? 'only root on Linux can start the two as two users'
    : false;

/**
 * Without containers around them: in a pod each has, beside its user, a process table and a root of its own
 * (`in-container.test.ts`, `tests/cluster/isolation.test.ts`).
 */
describeUnless(missing)('agent-server and action-server as two users in one table of processes', () => {
  let sandbox: TestSandbox;
  let model: ModelServer;
  const apps: TestApp[] = [];
  const llmKey = `llm-${randomBytes(20).toString('hex')}`;
  const ingestToken = `ingest-${randomBytes(20).toString('hex')}`;
  const at = (name: string): string => path.join(sandbox.directory, name);
  const as = (user: number, more: readonly string[] = []): string[] => [
    ...more,
    'setpriv',
    ...[
      '--reuid',
      `${user}`,
      '--regid',
      `${GROUP}`,
      '--clear-groups',
      '--no-new-privs',
      '--inh-caps=-all',
      '--bounding-set=-all',
    ],
  ];

  beforeAll(async () => {
    sandbox = await TestSandbox.create();
    chmodSync(sandbox.directory, 0o755);
    for (const [name, user, mode] of [
      ['state', AGENT, 0o700],
      ['action-state', TOOLS, 0o700],
      ['home', TOOLS, 0o700],
      ['workspace', TOOLS, 0o2775],
    ] as const) {
      mkdirSync(at(name), { recursive: true });
      chownSync(at(name), user, GROUP);
      chmodSync(at(name), mode);
    }
    sandbox.wrap = (which, command) =>
      which === 'agentServer'
        ? [...as(AGENT), ...command]
        : ['env', `HOME=${at('home')}`, ...as(TOOLS, ['prlimit', `--nproc=${MAX_PROCESSES}`]), ...command];
    model = await startModelServer({ script: [] });
    await sandbox.startActionServer();
    await sandbox.startAgentServer();
    expect((await sandbox.activate({})).status).toBe(200);
  });
  afterAll(async () => {
    // A bomb that a failed test has left keeps its places while it is held, so that nothing takes them.
    for (const signal of ['SIGSTOP', 'SIGSTOP', 'SIGKILL'] as const)
      for (const pid of ofTools()) if (pid !== sandbox.actionServer?.pid) killQuietly(pid, signal);
    await sandbox.close();
    await model.close();
    for (const app of apps) await app.close();
  });

  const idsOf = (pid: number | undefined): string[] =>
    [...readFileSync(`/proc/${pid}/status`, 'utf8').matchAll(/^(?:Uid|Gid):\t(\d+)/gm)].map(([, id]) => id ?? '');
  const ofTools = (): number[] =>
    readdirSync('/proc').flatMap((name) => {
      try {
        const isTheirs = /^\d+$/.test(name) && statSync(`/proc/${name}`).uid === TOOLS;
        return isTheirs && !/\) [ZX] /.test(readFileSync(`/proc/${name}/stat`, 'utf8')) ? [Number(name)] : [];
      } catch {
        return [];
      }
    });

  /** One task; the app then has all that the sandbox has. */
  async function run(
    turns: readonly ModelTurn[],
    whileItRuns: () => Promise<void> = async () => {},
  ): Promise<{ observed: string[]; events: ConversationEvent[] }> {
    const app = await new TestApp().start();
    apps.push(app);
    model.use(turns);
    const { body } = await sandbox.call<{ id: string }>('POST', '/api/conversations', {
      conversation_id: randomUUID(),
      agent: { llm: { model: 'openai/scripted', base_url: model.url, api_key: llmKey, num_retries: 0 } },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
      slipway: { epoch: app.epoch, ingestUrl: app.url, ingestToken, head: 0, resumeRun: false },
      initial_message: { role: 'user', content: [{ type: 'text', text: 'Do it.' }], run: true },
    });
    await whileItRuns();
    const info = async (): Promise<ConversationInfo> =>
      (await sandbox.call<ConversationInfo>('GET', `/api/conversations/${body.id}`)).body;
    await until('the end of the task', async () => (await info()).execution_status === 'finished', RUN_MS);
    const count = (await sandbox.call<number>('GET', `/api/conversations/${body.id}/events/count`)).body;
    await until('the app has every event', () => app.events.length === count, RUN_MS);
    const answers = app.events.filter(
      (event): event is EventOf<'ObservationEvent'> | EventOf<'AgentErrorEvent'> =>
        event.kind === 'ObservationEvent' || event.kind === 'AgentErrorEvent',
    );
    const observed = answers.map((event) =>
      event.kind === 'AgentErrorEvent'
        ? `error: ${event.error}`
        : event.observation.content.map(({ text }) => text).join(''),
    );
    return { observed, events: app.events };
  }
  const terminal = (command: string, more: object = {}): ModelTurn => ({
    toolCalls: [{ name: 'terminal', arguments: { command, ...more } }],
  });
  const finish: ModelTurn = { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] };

  it('a command of the agent gets at no memory, file, environment, key or socket of agent-server', async () => {
    const pid = sandbox.agentServer?.pid;
    expect([idsOf(pid), idsOf(sandbox.actionServer?.pid)]).toEqual([
      [`${AGENT}`, `${GROUP}`],
      [`${TOOLS}`, `${GROUP}`],
    ]);
    writeFileSync(at('workspace/probe.sh'), PROBE);
    const arguments_ = [`${pid}`, sandbox.stateDir, new URL(sandbox.url).port];
    const { observed } = await run([terminal(`id -u; bash probe.sh ${arguments_.join(' ')}`, { timeout: 60 }), finish]);
    const lines = (observed[0] ?? '').trim().split('\n');
    expect([lines[0], lines.at(-1)]).toEqual([`${TOOLS}`, 'all tried']);
    const outcomes = lines.slice(1, -1);
    expect(outcomes.length).toBeGreaterThan(15);
    expect(outcomes.filter((line) => !line.endsWith(': refused'))).toEqual([]);
    // The attempts are able to do what they try: to root, who may, the same is done but for what needs the session key.
    const byRoot = execFileSync('bash', [at('workspace/probe.sh'), ...arguments_], {
      encoding: 'utf8',
      timeout: 60_000,
    })
      .trim()
      .split('\n');
    execFileSync('mv', [`${sandbox.stateDir}.away`, sandbox.stateDir]);
    expect(byRoot.filter((line) => line.endsWith(': refused'))).toEqual([
      'ask its interface without a key: refused',
      'ask its interface with the key of the tools: refused',
    ]);
    expect((await sandbox.call('GET', '/api/conversations/count')).status).toBe(200);
  });

  it('no key of agent-server stands anywhere that the user of the tools can read', () => {
    const keys = [sandbox.sessionKey, llmKey, ingestToken];
    const search = (user: number, what: readonly string[]): string => {
      const [command = '', ...argv] = as(user);
      const places = `/proc/[0-9]*/environ /proc/[0-9]*/cmdline '${sandbox.directory}'`;
      const { stdout } = spawnSync(
        command,
        [...argv, 'bash', '-c', `grep -rlaF -f - ${places} 2>/dev/null; echo searched`],
        {
          input: what.join('\n'),
          encoding: 'utf8',
        },
      );
      return stdout.trim();
    };
    expect(search(TOOLS, keys)).toBe('searched');
    // It finds what is there: the one token that both share, in the environment of the tools alone.
    expect(search(TOOLS, [sandbox.token])).toMatch(
      new RegExp(`^/proc/${sandbox.actionServer?.pid}/environ\nsearched$`),
    );
    expect(search(AGENT, [sandbox.token])).toContain(`/proc/${sandbox.agentServer?.pid}/environ`);
  });

  it('a million lines, a fork bomb, a killed shell and killed tools leave the conversation at work, its events whole and its log bounded', async () => {
    const before = ofTools().length;
    const { observed, events } = await run(
      [
        terminal('seq 1 1000000'),
        terminal('bomb() { bomb | bomb & }; bomb; while :; do (:) ; done', { timeout: 2 }),
        terminal('echo after the bomb', { reset: true, timeout: 60 }),
        terminal('kill -9 $$'),
        terminal('echo after the shell'),
        terminal('kill -9 $PPID'),
        terminal('echo after the tools'),
        finish,
      ],
      async () => {
        await until('the tools are killed', () => sandbox.actionServer?.signalCode === 'SIGKILL', RUN_MS);
        await sandbox.startActionServer();
      },
    );
    expect(observed[0]).toMatch(/^1\n2\n[\s\S]*characters cut here[\s\S]*\n1000000$/);
    expect(observed[1]).toMatch(/Resource temporarily unavailable/);
    expect(observed.slice(2, 7)).toEqual([
      expect.stringMatching(/after the bomb/),
      '',
      'after the shell',
      expect.stringMatching(/^error: The tool process stopped while it was at work/),
      'after the tools',
    ]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    expect(Buffer.byteLength(JSON.stringify(events))).toBeLessThan(500_000);
    await until('nothing of the bomb is left', () => ofTools().length <= before + 5, RUN_MS);
  });
});

function killQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
