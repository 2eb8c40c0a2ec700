import type { SandboxAction, SandboxObservation, UnavailableTools } from '@slipway/contracts/actions';
import type { Patcher } from '../apply-patch/patcher.js';
import type { Browser } from '../browser/browser.js';
import { browserExecutions } from '../browser-view/browser-executions.js';
import type { BrowserView } from '../browser-view/browser-view.js';
import type { FileEditor } from '../editor/file-editor.js';
import type { IPython } from '../ipython/ipython.js';
import type { Search } from '../search/search.js';
import type { Call } from '../terminal/call-output.js';
import type { ShellEnvironment } from '../terminal/shell-environment.js';
import type { Terminals } from '../terminal/terminals.js';
import type { Executions, SandboxActionKind, SandboxActionOf } from './execution.js';

export interface ActionHandlers {
  /** Of every program that a tool starts. */
  readonly environment: ShellEnvironment;
  readonly terminal: Terminals;
  readonly editor: FileEditor;
  readonly patcher: Patcher;
  readonly ipython: IPython;
  readonly search: Search;
  readonly browser: Browser;
  /** Runs the agent's actions on the browser, unless a user has control. */
  readonly browserView: BrowserView;
}

/** What carries out each kind of action. A new tool is a folder and a line here. */
export function executionsOf(handlers: ActionHandlers): Executions {
  const { terminal, editor, patcher, ipython, search } = handlers;
  return {
    TerminalAction: { execute: (action, signal, call) => terminal.execute(action, signal, call) },
    FileEditorAction: { execute: (action) => editor.execute(action) },
    ApplyPatchAction: { execute: (action) => patcher.execute(action) },
    IPythonRunCellAction: {
      execute: (action, signal, { actionId }) => ipython.execute(action, signal, actionId),
      missing: () => ipython.missing,
    },
    GlobAction: { execute: (action, signal) => search.glob(action, signal), missing: () => search.missing },
    GrepAction: { execute: (action, signal) => search.grep(action, signal), missing: () => search.missing },
    ListDirectoryAction: { execute: (action, signal) => search.list(action, signal) },
    ...browserExecutions(handlers),
  };
}

/**
 * Runs one action. Aborting ends what it started. Rejects with a SlipwayError whose detail is for the model.
 */
export function executeAction(
  executions: Executions,
  action: SandboxAction,
  signal: AbortSignal,
  call: Call = {},
): Promise<SandboxObservation> {
  return execute(executions, action.kind, action, { signal, call });
}

function execute<K extends SandboxActionKind>(
  executions: Executions,
  kind: K,
  action: SandboxActionOf<K>,
  { signal, call }: { readonly signal: AbortSignal; readonly call: Call },
): Promise<SandboxObservation> {
  return executions[kind].execute(action, signal, call);
}

/** Which kinds of action cannot be done in this image, each with the sentence that says so. */
export function missingOf(executions: Executions): UnavailableTools['unavailable'] {
  return Object.fromEntries(
    Object.entries(executions).flatMap(([kind, { missing }]) => {
      const sentence = missing?.() ?? null;
      return sentence === null ? [] : [[kind, sentence]];
    }),
  );
}
