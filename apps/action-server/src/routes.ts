import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ConfigureRequest, ExecuteActionRequest, RunCommandRequest } from '@slipway/contracts/actions';
import { BundleRequest, MarkTurnRequest } from '@slipway/contracts/repositories';
import { OpenVscodeRequest } from '@slipway/contracts/sandboxes';
import { parseOrThrow } from '@slipway/errors';
import { z } from 'zod';
import { executeAction, missingOf } from './actions.js';
import { Patcher } from './apply-patch/patcher.js';
import { sendTar } from './archive/folder-archive.js';
import { WorkspaceArchive } from './archive/workspace-archive.js';
import { Browser } from './browser/browser.js';
import { BrowserView } from './browser-view/browser-view.js';
import { CommandRunner } from './command/command-runner.js';
import { EditHistory } from './editor/edit-history.js';
import { FileEditor } from './editor/file-editor.js';
import { OneAtATime } from './editor/one-at-a-time.js';
import { createDirectory, searchSubdirectories } from './files/directories.js';
import { downloadFile } from './files/download.js';
import { largeDirectory } from './files/large-directory.js';
import { uploadFile } from './files/upload.js';
import { asWorkspacePath } from './files/workspace-path.js';
import { streamBundle } from './git/bundle.js';
import { listChanges } from './git/changes.js';
import { changesOfCommit, listCommits } from './git/commits.js';
import { diffOfFile } from './git/file-diff.js';
import { streamPatch } from './git/patch.js';
import { searchRepositories } from './git/repositories.js';
import { TurnMarks } from './git/turn-marks.js';
import { jsonBody } from './http/body.js';
import type { LiveChannels } from './http/live.js';
import type { Routes } from './http/server.js';
import { IPython } from './ipython/ipython.js';
import { LiveTerminals } from './live-terminal/live-terminals.js';
import { mcpRoutes } from './mcp/mcp.routes.js';
import { McpSets } from './mcp/mcp-sets.js';
import { Search } from './search/search.js';
import { CallOutputs } from './terminal/call-output.js';
import { OutputAllowance } from './terminal/output-allowance.js';
import { ShellEnvironment } from './terminal/shell-environment.js';
import { ShellStarts } from './terminal/shell-starts.js';
import { Terminals } from './terminal/terminals.js';
import { filesChannel } from './tree/files-channel.js';
import { VscodeServer } from './vscode/vscode-server.js';
import { extractUpload } from './zip/extract-zip.js';
import { sendZip } from './zip/send-zip.js';

const CommitName = z.string().regex(/^[0-9a-fA-F]{4,64}$/, 'a hash of 4 to 64 digits');
const PathQuery = z.object({ path: z.string().min(1).max(4096) });
/** `ref` is what OpenHands' clients call `base`. */
const GitQuery = PathQuery.extend({
  base: z.string().min(1).max(200).optional(),
  ref: z.string().min(1).max(200).optional(),
  turn: MarkTurnRequest.shape.turn.optional(),
  commit: CommitName.optional(),
  file: z.string().min(1).max(4096).optional(),
  max_bytes: z.coerce.number().int().positive().optional(),
}).transform(({ path: place, file, base, ref, turn, commit, max_bytes: maxBytes }) => ({
  path: place,
  file,
  maxBytes,
  to: { base: base ?? ref, turn, commit },
}));
const NameOfFiles = z
  .string()
  .min(1)
  .max(500)
  .refine((name) => !name.includes('\0'), 'it holds a NUL character');
const TarQuery = PathQuery.extend({ use_default_excludes: z.stringbool().default(true), exclude: z.array(NameOfFiles).max(100) });
const OutputQuery = z.object({ call: z.string().min(1).max(100), after: z.coerce.number().int().min(0).default(0), now: z.stringbool().default(false) });
const CommitsQuery = PathQuery.extend({
  base: z.string().min(1).max(200).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  page_id: z.string().max(100).optional(),
});
const SubdirectoriesQuery = PathQuery.extend({
  page_id: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  include_hidden: z.stringbool().default(false),
});

export interface ActionRoutes {
  readonly routes: Routes;
  /** `/live/<name>`. */
  readonly live: LiveChannels;
  /** Ends the terminal and every command, with what they started. */
  close(): void;
}

export interface ActionRoutesOptions {
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

/** What action-server does, route by route. */
export function createRoutes({
  workspace,
  stateDirectory,
  env,
  quietMs,
  home,
  maxArchiveBytes,
  vscode: editorAt,
  refusedPorts = () => new Set(),
}: ActionRoutesOptions): ActionRoutes {
  mkdirSync(workspace, { recursive: true });
  // A repository that the workspace happens to lie in is none of the workspace's.
  const environment = new ShellEnvironment({ ...env, GIT_CEILING_DIRECTORIES: path.dirname(workspace) });
  const outputs = largeDirectory(stateDirectory, 'output');
  const allowance = new OutputAllowance();
  const callOutputs = new CallOutputs();
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
  const ipython = new IPython({ environment, allowance, directory: () => terminal.home, outputDirectory: path.join(outputs, 'ipython') });
  const browser = new Browser({ environment, workspace, directory: largeDirectory(stateDirectory, 'browser'), refusedPorts });
  const browserView = new BrowserView(browser);
  const handlers = { terminal, editor, patcher, ipython, search, browser, browserView };
  const repositories = { directory: workspace, environment };
  const marks =
    home === undefined
      ? new TurnMarks(repositories, largeDirectory(stateDirectory, 'turns'), 'until-the-end')
      : new TurnMarks(repositories, path.join(home, '.cache/slipway/turns'), 'kept');
  const archive = new WorkspaceArchive({ workspace, home, maxBytes: maxArchiveBytes, makeRoom: () => marks.forget() });
  const reading = { workspace: repositories, marks };
  const vscode = new VscodeServer({ ...editorAt, stateDirectory, environment });
  /** Shows agent-server that this process is a new one, and has to be configured again. */
  const instance = randomUUID();
  const commands = new CommandRunner(workspace, environment);
  const queryOf = <T extends z.ZodType>(schema: T, query: URLSearchParams): z.output<T> => parseOrThrow(schema, Object.fromEntries(query));
  return {
    routes: {
      'GET /alive': async () => ({ status: 'ok', instance }),
      'GET /ready': async () => ({ status: 'ready' }),
      'POST /configure': async ({ request }) => {
        const { env, working_dir: directory, typed } = await jsonBody(request, ConfigureRequest);
        environment.configure(env, typed);
        terminal.renew(directory === undefined ? undefined : asWorkspacePath(workspace, directory));
        mcp.environmentChanged();
        return { success: true };
      },
      'GET /unavailable-tools': async () => ({ unavailable: missingOf(handlers) }),
      'POST /interrupt_terminal': async () => {
        await terminal.interrupt();
        return { success: true };
      },
      'POST /execute_action': async ({ request, signal }) => {
        const { action, call } = await jsonBody(request, ExecuteActionRequest);
        if (call === undefined) return { observation: await executeAction(handlers, action, signal) };
        try {
          return { observation: await executeAction(handlers, action, signal, callOutputs.open(call)) };
        } finally {
          callOutputs.close(call);
        }
      },
      'GET /action/output': async ({ query, signal }) => {
        const { call, after, now } = queryOf(OutputQuery, query);
        return callOutputs.since(call, after, now, signal);
      },
      'POST /bash/execute': async ({ request, signal }) => commands.run(await jsonBody(request, RunCommandRequest), signal),
      ...mcpRoutes(mcp, workspace),
      'GET /git/changes': ({ query, signal }) => {
        const { path: place, to } = queryOf(GitQuery, query);
        return listChanges(reading, place, to, signal);
      },
      'GET /git/diff': ({ query, signal }) => {
        const { path: file, to } = queryOf(GitQuery, query);
        return diffOfFile(reading, file, to, signal);
      },
      'GET /git/patch': ({ query, response, signal }) => {
        const { path: place, file, maxBytes, to } = queryOf(GitQuery, query);
        return streamPatch(reading, { path: place, file, maxBytes, ...to }, response, signal);
      },
      'POST /git/bundle': async ({ request, response, signal }) => streamBundle(repositories, await jsonBody(request, BundleRequest), response, signal),
      'GET /git/commits': ({ query, signal }) => {
        const { path: place, page_id: pageId, limit, base } = queryOf(CommitsQuery, query);
        return listCommits(repositories, { path: place, pageId, limit, base }, signal);
      },
      'GET /git/commit_changes': ({ query, signal }) => {
        const { path: place, commit } = queryOf(PathQuery.extend({ commit: CommitName }), query);
        return changesOfCommit(repositories, place, commit, signal);
      },
      'GET /git/repositories': ({ query, signal }) => searchRepositories(repositories, queryOf(PathQuery, query).path, signal),
      'POST /git/mark': async ({ request, signal }) => marks.mark((await jsonBody(request, MarkTurnRequest)).turn, signal),
      'GET /vscode/status': async () => vscode.status(),
      'POST /vscode/open': async ({ request }) => vscode.open((await jsonBody(request, OpenVscodeRequest)).host),
      'GET /archive/workspace': ({ response, signal }) => archive.send(response, signal),
      'PUT /archive/workspace': ({ request, response, signal }) => archive.take(request, response, signal),
      'POST /file/upload': ({ query, request }) => uploadFile(workspace, queryOf(PathQuery, query).path, request),
      'GET /file/download': ({ query, response }) => downloadFile(workspace, queryOf(PathQuery, query).path, response),
      'GET /file/zip': ({ query, response, signal }) => sendZip(workspace, queryOf(PathQuery, query).path, response, signal),
      'GET /file/tar': ({ query, response, signal }) => {
        const {
          path: folder,
          use_default_excludes: without,
          exclude,
        } = parseOrThrow(TarQuery, { ...Object.fromEntries(query), exclude: query.getAll('exclude') });
        return sendTar(workspace, { path: folder, whole: !without, exclude }, response, signal);
      },
      'POST /file/unzip': ({ query, request, signal }) => extractUpload(workspace, queryOf(PathQuery, query).path, request, signal),
      'POST /file/create_directory': ({ query }) => createDirectory(workspace, queryOf(PathQuery, query).path),
      'GET /file/search_subdirs': ({ query }) => {
        const { path: directory, page_id: pageId, limit, include_hidden: includeHidden } = queryOf(SubdirectoriesQuery, query);
        return searchSubdirectories(workspace, { path: directory, pageId, limit, includeHidden });
      },
    },
    live: { terminal: shells.channel, files: filesChannel({ workspace, environment, turns }), browser: browserView.channel },
    close: () => {
      terminal.close();
      shells.close();
      vscode.close();
      ipython.close();
      mcp.close();
      browserView.close();
      browser.close();
      marks.close();
      commands.close();
      rmSync(outputs, { recursive: true, force: true });
    },
  };
}
