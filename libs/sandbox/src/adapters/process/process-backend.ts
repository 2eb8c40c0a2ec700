import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { SlipwayError } from '@slipway/errors';
import type {
  ListedSandbox,
  RemoveOptions,
  SandboxBackend,
  SandboxObservation,
  SandboxSpec,
} from '../../sandbox-backend.js';
import { ProcessExits } from './process-exits.js';
import { isAlive, killAll } from './process-identity.js';
import { withLock } from './sandbox-lock.js';
import { readRecord, type SandboxRecord, type ServerProcess, writeRecord } from './sandbox-record.js';
import { isPortFree, launchServer } from './server-process.js';

export interface ProcessBackendConfig {
  readonly directory: string;
  readonly agentServerCommand: readonly string[];
  readonly actionServerCommand: readonly string[];
  /** SPKI DER, base64. */
  readonly activationPublicKey: string;
  readonly nodeEnv: 'development' | 'test' | 'production';
  readonly logLevel: string;
  /** This process's own environment, of which `INHERITED` passes. */
  readonly hostEnvironment: Readonly<Record<string, string | undefined>>;
}

/** What a sandbox takes over from the host's environment. Everything else, secrets among it, stays here. */
const INHERITED = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'SHELL', 'USER', 'LOGNAME'] as const;
/** Time that a sandbox's servers get to end by themselves: agent-server writes its log file out. Milliseconds. */
const GRACE_MS = 2_000;
const RESTART_REASONS_KEPT = 10;
const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/**
 * Sandboxes as processes of this machine, for a developer's own: no isolation at all, so it refuses production.
 *
 *   sandboxes/<name>/   sandbox.json, lock, logs, state/ (agent-server's, with `conversations` a link into the
 *                       workspace's folder), tools/ (action-server's), tmp/
 *   workspaces/<name>/  workspace/ (the repository), home/, conversations/ (agent-server's logs), port
 *
 * A workspace is never moved or copied: another sandbox is started over the same folder, so paths inside stay what they
 * were.
 */
export class ProcessBackend implements SandboxBackend {
  private readonly template: string;
  private readonly exits = new ProcessExits(() => this.changed());
  private readonly listeners = new Set<() => void>();

  /** @throws SlipwayError `config.invalid` in production. */
  constructor(private readonly config: ProcessBackendConfig) {
    if (config.nodeEnv === 'production')
      throw new SlipwayError(
        'config.invalid',
        'SANDBOX_BACKEND=process runs agents without isolation; it refuses NODE_ENV=production',
      );
    this.template = templateOf(config);
  }

  /** One for every kind: a process has no size. */
  templateOf(): string {
    return this.template;
  }

  /** A developer sees it in runtime-api's log; a folder has no labels. */
  async note(): Promise<void> {}

  async ensure(spec: SandboxSpec, signal: AbortSignal): Promise<void> {
    await this.change(spec.name, signal, async (directory) => {
      const before = await readRecord(directory);
      if (before !== null && before.phase !== 'starting') return;
      // What an attempt that was killed in the middle has left.
      if (before !== null) await this.kill(before, 0);
      const record: SandboxRecord = {
        name: spec.name,
        slotId: spec.slotId,
        uid: before?.uid ?? randomUUID(),
        createdAt: new Date().toISOString(),
        workspace: spec.name,
        token: randomBytes(32).toString('base64url'),
        phase: 'starting',
        endReason: null,
        agentServer: null,
        actionServer: null,
        restarts: { count: 0, reasons: [] },
      };
      await writeRecord(directory, record);
      await this.makeWorkspace(spec.name);
      await this.launch(record, signal);
    });
  }

  async observe(name: string, signal: AbortSignal): Promise<SandboxObservation> {
    stopAt(signal);
    const record = await readRecord(this.sandboxDirectory(name));
    return record === null ? { state: 'gone' } : this.look(record);
  }

  async list(signal: AbortSignal): Promise<readonly ListedSandbox[]> {
    stopAt(signal);
    const records = await Promise.all(
      (await names(path.join(this.config.directory, 'sandboxes'))).map((name) =>
        readRecord(this.sandboxDirectory(name)),
      ),
    );
    return Promise.all(
      records
        .filter((record) => record !== null)
        .map(async (record) => ({ name: record.name, uid: record.uid, observation: await this.look(record) })),
    );
  }

  /** The workspace is a folder of its own that outlives the sandbox: it is always kept. */
  async remove(
    name: string,
    uid: string,
    signal: AbortSignal,
    { onKept }: RemoveOptions = {},
  ): Promise<'gone' | 'kept'> {
    const removed = (await exists(this.sandboxDirectory(name))) ? await this.removeFolder(name, uid, signal) : 'gone';
    if (removed === 'gone') await onKept?.(null);
    return removed;
  }

  private removeFolder(name: string, uid: string, signal: AbortSignal): Promise<'gone' | 'kept'> {
    return this.change(name, signal, async (directory) => {
      const record = await readRecord(directory);
      if (record !== null && record.uid !== uid) return 'kept';
      if (record !== null) await this.kill(record, GRACE_MS);
      await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
      this.changed();
      return 'gone';
    });
  }

  async attachWorkspace(name: string, workspace: string, signal: AbortSignal): Promise<void> {
    // One that was deleted half way, by us or by a program in it, is none either.
    if (!(await exists(path.join(this.workspaceDirectory(workspace), 'workspace'))))
      throw new SlipwayError('sandbox.start-failed', 'The workspace of this session is no longer on this machine.', {
        extensions: { workspace: 'missing' },
      });
    await this.change(name, signal, async (directory) => {
      const before = await readRecord(directory);
      if (before === null || before.phase === 'ended')
        throw new SlipwayError('sandbox.start-failed', 'The sandbox ended before it got its workspace.');
      if (before.workspace === workspace && before.phase === 'running') return;
      const record: SandboxRecord = { ...before, workspace, phase: 'starting' };
      await writeRecord(directory, record);
      await this.kill(before, 0);
      await this.launch(record, signal);
    });
  }

  async listWorkspaces(signal: AbortSignal): Promise<readonly string[]> {
    stopAt(signal);
    return names(path.join(this.config.directory, 'workspaces'));
  }

  async deleteWorkspace(workspace: string, signal: AbortSignal): Promise<void> {
    stopAt(signal);
    // Read-only folders (Go's module cache) would make rm fail.
    await rm(this.workspaceDirectory(workspace), { recursive: true, force: true, maxRetries: 5, retryDelay: 20 }).catch(
      (error: unknown) => {
        throw new SlipwayError('sandbox.unreachable', 'The workspace could not be deleted.', { cause: error });
      },
    );
  }

  /**
   * Starts a dead action-server again, on its port and with its token; notes the end of a sandbox whose agent-server
   * has died, and ends what is left of it.
   */
  async tend(signal: AbortSignal): Promise<void> {
    stopAt(signal);
    const looks = (await names(path.join(this.config.directory, 'sandboxes'))).map((name) =>
      this.tendOne(name, signal),
    );
    const failed = (await Promise.allSettled(looks)).find((look) => look.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private async tendOne(name: string, signal: AbortSignal): Promise<void> {
    const seen = await readRecord(this.sandboxDirectory(name));
    if (seen === null || seen.phase !== 'running' || (await this.allAlive(seen))) return;
    await this.change(name, signal, async (directory) => {
      const record = await readRecord(directory);
      if (record === null || record.phase !== 'running') return;
      if (record.agentServer === null || !(await isAlive(record.agentServer)))
        await this.end(record, record.agentServer);
      else if (record.actionServer !== null && !(await isAlive(record.actionServer)))
        await this.restartTools(record, record.actionServer, signal);
    });
    this.changed();
  }

  private async restartTools(record: SandboxRecord, dead: ServerProcess, signal: AbortSignal): Promise<void> {
    const reason = `${new Date().toISOString()} action-server ${await this.exits.howEnded(dead)}`;
    const restarts = {
      count: record.restarts.count + 1,
      reasons: [...record.restarts.reasons, reason].slice(-RESTART_REASONS_KEPT),
    };
    try {
      const actionServer = await this.launchTools({ ...record, restarts }, dead.port, signal);
      await writeRecord(this.sandboxDirectory(record.name), { ...record, restarts, actionServer });
    } catch (error) {
      // Tried again at the next check; agent-server answers tool calls with `sandbox.tool-unavailable` meanwhile.
      await writeRecord(this.sandboxDirectory(record.name), { ...record, restarts });
      throw error;
    }
  }

  private async end(record: SandboxRecord, dead: ServerProcess | null): Promise<void> {
    const endReason = `the sandbox ended: agent-server ${await this.exits.howEnded(dead)}`;
    await this.kill(record, 0);
    await writeRecord(this.sandboxDirectory(record.name), { ...record, phase: 'ended', endReason });
  }

  /** Both servers, tools first: agent-server gets their address. On failure the sandbox has ended, with the reason. */
  private async launch(record: SandboxRecord, signal: AbortSignal): Promise<void> {
    const directory = this.sandboxDirectory(record.name);
    try {
      await rm(path.join(directory, 'state'), { recursive: true, force: true });
      for (const folder of ['state', 'tools', 'tmp'])
        await mkdir(path.join(directory, folder), { recursive: true, mode: 0o700 });
      await symlink(
        path.join(this.workspaceDirectory(record.workspace), 'conversations'),
        path.join(directory, 'state', 'conversations'),
      );
      const actionServer = await this.launchTools(record, 0, signal);
      await writeRecord(directory, { ...record, actionServer });
      const portFile = path.join(this.workspaceDirectory(record.workspace), 'port');
      // A session that comes back keeps its port unless it is taken: clients keep the address.
      const lastPort = Number(await readFile(portFile, 'utf8').catch(() => '0'));
      const port = Number.isInteger(lastPort) && lastPort > 1023 && (await isPortFree(lastPort)) ? lastPort : 0;
      const agentServer = await launchServer(
        {
          role: 'agent-server',
          command: this.config.agentServerCommand,
          cwd: this.workspacePath(record),
          environment: {
            ...this.environment(record),
            PORT: String(port),
            STATE_DIR: path.join(directory, 'state'),
            POD_UID: record.uid,
            ACTIVATION_PUBLIC_KEY: this.config.activationPublicKey,
            ACTION_SERVER_URL: `http://127.0.0.1:${actionServer.port}`,
            ACTION_SERVER_TOKEN: record.token,
          },
          logFile: path.join(directory, 'agent-server.log'),
          listeningFile: path.join(directory, 'state', 'listening.json'),
          onStart: this.exits.watch,
        },
        signal,
      );
      await writeFile(portFile, String(agentServer.port), { mode: 0o600 });
      await writeRecord(directory, { ...record, actionServer, agentServer, phase: 'running' });
    } catch (error) {
      await this.kill(record, 0);
      const reason =
        error instanceof SlipwayError ? error.detail : signal.aborted ? 'its start was given up' : String(error);
      await writeRecord(directory, { ...record, phase: 'ended', endReason: `the sandbox ended: ${reason}` });
      throw error;
    }
  }

  private launchTools(record: SandboxRecord, port: number, signal: AbortSignal): Promise<ServerProcess> {
    const directory = this.sandboxDirectory(record.name);
    const state = path.join(directory, 'tools');
    return launchServer(
      {
        role: 'action-server',
        command: this.config.actionServerCommand,
        cwd: this.workspacePath(record),
        // Here the ports of a pod's servers are anybody's, and 8000 is where many servers for development listen.
        environment: {
          ...this.environment(record),
          PORT: String(port),
          STATE_DIR: state,
          ACTION_SERVER_TOKEN: record.token,
          BROWSER_REFUSED_PORTS: '',
        },
        logFile: path.join(directory, 'action-server.log'),
        listeningFile: path.join(state, 'action-server.json'),
        onStart: this.exits.watch,
      },
      signal,
    );
  }

  private environment(record: SandboxRecord): Record<string, string> & { HOME: string; TMPDIR: string } {
    const inherited: Record<string, string> = {};
    for (const name of INHERITED) {
      const value = this.config.hostEnvironment[name];
      if (value !== undefined) inherited[name] = value;
    }
    return {
      ...inherited,
      HOST: '127.0.0.1',
      LOG_LEVEL: this.config.logLevel,
      HOME: path.join(this.workspaceDirectory(record.workspace), 'home'),
      HOME_DIR: path.join(this.workspaceDirectory(record.workspace), 'home'),
      TMPDIR: path.join(this.sandboxDirectory(record.name), 'tmp'),
      SLOT_ID: record.slotId,
      WORKSPACE_DIR: this.workspacePath(record),
    };
  }

  private async look(record: SandboxRecord): Promise<Exclude<SandboxObservation, { state: 'gone' }>> {
    if (record.phase === 'ended')
      return { state: 'ended', uid: record.uid, reason: record.endReason ?? 'the sandbox ended' };
    if (record.phase === 'starting' || record.agentServer === null)
      return { state: 'pending', message: 'its processes are starting' };
    if (!(await isAlive(record.agentServer)))
      return {
        state: 'ended',
        uid: record.uid,
        reason: `the sandbox ended: agent-server ${await this.exits.howEnded(record.agentServer)}`,
      };
    return {
      state: 'running',
      uid: record.uid,
      address: `http://127.0.0.1:${record.agentServer.port}`,
      restarts: record.restarts,
    };
  }

  private async allAlive(record: SandboxRecord): Promise<boolean> {
    return (
      record.agentServer !== null &&
      record.actionServer !== null &&
      (await isAlive(record.agentServer)) &&
      (await isAlive(record.actionServer))
    );
  }

  private kill(record: SandboxRecord, graceMs: number): Promise<void> {
    const leaders = [record.agentServer, record.actionServer].filter((leader) => leader !== null);
    const { HOME, TMPDIR } = this.environment(record);
    return killAll(leaders, { slotId: record.slotId, variables: [`HOME=${HOME}`, `TMPDIR=${TMPDIR}`] }, graceMs);
  }

  private async makeWorkspace(name: string): Promise<void> {
    for (const folder of ['workspace', 'home', 'conversations'])
      await mkdir(path.join(this.workspaceDirectory(name), folder), { recursive: true, mode: 0o700 });
  }

  private workspacePath(record: SandboxRecord): string {
    return path.join(this.workspaceDirectory(record.workspace), 'workspace');
  }

  private sandboxDirectory(name: string): string {
    return path.join(this.config.directory, 'sandboxes', checked(name));
  }

  private workspaceDirectory(name: string): string {
    return path.join(this.config.directory, 'workspaces', checked(name));
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }

  private async change<T>(name: string, signal: AbortSignal, work: (directory: string) => Promise<T>): Promise<T> {
    stopAt(signal);
    const directory = this.sandboxDirectory(name);
    try {
      return await withLock(path.join(this.config.directory, 'locks', checked(name)), signal, () => work(directory));
    } catch (error) {
      if (error instanceof SlipwayError) throw error;
      throw new SlipwayError(
        'sandbox.unreachable',
        signal.aborted ? 'The sandbox took too long.' : 'The sandbox could not be changed.',
        { cause: error },
      );
    }
  }
}

/**
 * Ends every sandbox under a backend's folder, for a launcher that stops. Workspaces stay; sessions find them again.
 * The runtime-api of this folder must have ended before.
 */
export async function endAllSandboxes(config: ProcessBackendConfig, signal: AbortSignal): Promise<number> {
  const backend = new ProcessBackend(config);
  const sandboxes = await backend.list(signal);
  await Promise.all(sandboxes.map(({ name, uid }) => backend.remove(name, uid, signal)));
  return sandboxes.length;
}

/** Commands, key, and the age of the programs: a rebuilt agent-server makes a new template. */
function templateOf(config: ProcessBackendConfig): string {
  const hash = createHash('sha256').update(
    JSON.stringify([config.agentServerCommand, config.actionServerCommand, config.activationPublicKey]),
  );
  for (const argument of [...config.agentServerCommand, ...config.actionServerCommand]) {
    const file = path.isAbsolute(argument) ? statSync(argument, { throwIfNoEntry: false }) : undefined;
    if (file?.isFile()) hash.update(`${file.mtimeMs} ${file.size}`);
  }
  return hash.digest('hex').slice(0, 16);
}

/** Names become paths: nothing but lower case, digits, `-` and `_`. */
function checked(name: string): string {
  if (!NAME.test(name)) throw new SlipwayError('sandbox.start-failed', `"${name}" is not a name of a sandbox.`);
  return name;
}

function stopAt(signal: AbortSignal): void {
  if (signal.aborted)
    throw new SlipwayError('sandbox.unreachable', 'The sandbox took too long.', { cause: signal.reason });
}

async function names(directory: string): Promise<string[]> {
  const entries = await readdir(directory).catch(() => []);
  return entries.filter((entry) => NAME.test(entry));
}

async function exists(directory: string): Promise<boolean> {
  return stat(directory).then(
    () => true,
    () => false,
  );
}
