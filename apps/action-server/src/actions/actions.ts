import {
  BROWSER_KINDS,
  type SandboxAction,
  type SandboxObservation,
  type UnavailableTools,
} from '@slipway/contracts/actions';
import type { Patcher } from '../apply-patch/patcher.js';
import type { Browser } from '../browser/browser.js';
import type { BrowserView } from '../browser-view/browser-view.js';
import type { FileEditor } from '../editor/file-editor.js';
import type { IPython } from '../ipython/ipython.js';
import type { Search } from '../search/search.js';
import type { CallOutput } from '../terminal/call-output.js';
import type { Terminals } from '../terminal/terminals.js';

export interface ActionHandlers {
  readonly terminal: Terminals;
  readonly editor: FileEditor;
  readonly patcher: Patcher;
  readonly ipython: IPython;
  readonly search: Search;
  readonly browser: Browser;
  /** Runs the agent's actions on the browser, unless a user has control. */
  readonly browserView: BrowserView;
}

/**
 * Runs one action; `output` is given what a command prints meanwhile. Aborting ends what it started. Rejects with a
 * SlipwayError whose detail is for the model.
 */
export function executeAction(
  handlers: ActionHandlers,
  action: SandboxAction,
  signal: AbortSignal,
  output?: CallOutput,
): Promise<SandboxObservation> {
  switch (action.kind) {
    case 'TerminalAction':
      return handlers.terminal.execute(action, signal, output);
    case 'FileEditorAction':
      return handlers.editor.execute(action);
    case 'ApplyPatchAction':
      return handlers.patcher.execute(action);
    case 'IPythonRunCellAction':
      return handlers.ipython.execute(action, signal);
    case 'GlobAction':
      return handlers.search.glob(action, signal);
    case 'GrepAction':
      return handlers.search.grep(action, signal);
    case 'ListDirectoryAction':
      return handlers.search.list(action, signal);
    default:
      return handlers.browserView.execute(action, signal);
  }
}

/** Which kinds of action cannot be done in this image, each with the sentence that says so. */
export function missingOf({ search, ipython, browser }: ActionHandlers): UnavailableTools['unavailable'] {
  const noBrowser = browser.missing;
  const unavailable = {
    GlobAction: search.missing,
    GrepAction: search.missing,
    IPythonRunCellAction: ipython.missing,
    ...Object.fromEntries(BROWSER_KINDS.map((kind) => [kind, noBrowser])),
  };
  return Object.fromEntries(
    Object.entries(unavailable).filter((entry): entry is [string, string] => entry[1] !== null),
  );
}
