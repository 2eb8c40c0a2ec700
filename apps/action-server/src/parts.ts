import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Patcher } from './apply-patch/patcher.js';
import { WorkspaceArchive } from './archive/workspace-archive.js';
import { Browser } from './browser/browser.js';
import { BrowserView } from './browser-view/browser-view.js';
import { WorkspaceCaptures } from './checkpoints/workspace-captures.js';
import { CommandRunner } from './command/command-runner.js';
import { EditHistory } from './editor/edit-history.js';
import { FileEditor } from './editor/file-editor.js';
import { OneAtATime } from './editor/one-at-a-time.js';
import { largeDirectory } from './files/large-directory.js';
import { WorkspaceFingerprints } from './fingerprints/workspace-fingerprints.js';
import { TurnMarks } from './git/turn-marks.js';
import { IPython } from './ipython/ipython.js';
import { ProxyRelay } from './java/proxy-relay.js';
import { LiveTerminals } from './live-terminal/live-terminals.js';
import { McpSets } from './mcp/mcp-sets.js';
import { Search } from './search/search.js';
import { CallOutputs } from './terminal/call-output.js';
import { OutputAllowance } from './terminal/output-allowance.js';
import { ShellEnvironment } from './terminal/shell-environment.js';
import { ShellStarts } from './terminal/shell-starts.js';
import { Terminals } from './terminal/terminals.js';
import { TrustBundle } from './terminal/trust-bundle.js';
import { VscodeServer } from './vscode/vscode-server.js';

export interface PartsOptions {
  readonly workspace: string;
  readonly stateDirectory: string;
  /** This process' own environment; a short list of it is passed on to commands. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly quietMs?: number;
  /** The agent's home, kept with the workspace, and emptied when another is put in its place. */
  readonly home?: string | undefined;
  /** Most that is kept of both. Bytes. */
  readonly maxArchiveBytes?: number | undefined;
  readonly vscode: { readonly directory: string; readonly port: number };
  /** Ports of this machine that no page in the browser may reach: those of the sandbox's own servers. */
  readonly refusedPorts?: () => ReadonlySet<number>;
}

export type Parts = ReturnType<typeof createParts>;

/** The composition root: what the routes work with, made once. Nothing here starts a program. */
export function createParts({
  workspace,
  stateDirectory,
  env,
  quietMs,
  home,
  maxArchiveBytes,
  vscode: editorAt,
  refusedPorts = () => new Set(),
}: PartsOptions) {
  mkdirSync(workspace, { recursive: true });
  const relay = new ProxyRelay();
  // A repository that the workspace happens to lie in is none of the workspace's.
  const environment = new ShellEnvironment(
    { ...env, GIT_CEILING_DIRECTORIES: path.dirname(workspace) },
    new TrustBundle(largeDirectory(stateDirectory, 'trust'), env),
    relay,
  );
  const outputs = largeDirectory(stateDirectory, 'output');
  const allowance = new OutputAllowance();
  const shells: LiveTerminals = new LiveTerminals({ environment, allowance, directory: () => terminal.home });
  const terminal = new Terminals(
    {
      workspace,
      outputDirectory: path.join(outputs, 'terminal'),
      environment,
      allowance,
      starts: new ShellStarts(),
      ...(quietMs === undefined ? {} : { quietMs }),
    },
    shells.watch,
  );
  const mcp = new McpSets({ environment, outputDirectory: path.join(outputs, 'mcp'), stateDirectory });
  const [history, turns] = [new EditHistory(), new OneAtATime()];
  const editor = new FileEditor(history, turns);
  const patcher = new Patcher({ history, turns, directory: () => terminal.directory });
  const search = new Search({ environment, directory: () => terminal.directory });
  const ipython = new IPython({
    environment,
    allowance,
    directory: () => terminal.home,
    outputDirectory: path.join(outputs, 'ipython'),
  });
  const browser = new Browser({
    environment,
    workspace,
    directory: largeDirectory(stateDirectory, 'browser'),
    refusedPorts: () => (relay.port === null ? refusedPorts() : new Set([...refusedPorts(), relay.port])),
  });
  const browserView = new BrowserView(browser);
  const repositories = { directory: workspace, environment };
  const marks =
    home === undefined
      ? new TurnMarks(repositories, largeDirectory(stateDirectory, 'turns'), 'until-the-end')
      : new TurnMarks(repositories, path.join(home, '.cache/slipway/turns'), 'kept');
  const archive = new WorkspaceArchive({ workspace, home, maxBytes: maxArchiveBytes, makeRoom: () => marks.forget() });
  const captures = new WorkspaceCaptures({
    workspace,
    home,
    directory:
      home === undefined
        ? largeDirectory(stateDirectory, 'checkpoints')
        : path.join(home, '.cache/slipway/checkpoints'),
  });
  const vscode = new VscodeServer({ ...editorAt, stateDirectory, environment });
  const commands = new CommandRunner(workspace, environment);
  return {
    workspace,
    environment,
    /** One edit of a file at a time, whoever makes it. */
    turns,
    shells,
    handlers: { environment, terminal, editor, patcher, ipython, search, browser, browserView },
    callOutputs: new CallOutputs(),
    mcp,
    gitReading: { workspace: repositories, marks },
    archive,
    captures,
    fingerprints: new WorkspaceFingerprints(workspace, environment),
    vscode,
    commands,
    /** Ends the terminal and every command, with what they started. */
    close: (): void => {
      for (const part of [terminal, shells, vscode, ipython, mcp, browserView, browser, marks, commands, relay])
        part.close();
      rmSync(outputs, { recursive: true, force: true });
    },
  };
}
