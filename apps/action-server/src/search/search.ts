import type {
  GlobAction,
  GlobObservation,
  GrepAction,
  GrepObservation,
  ListDirectoryAction,
  ListDirectoryObservation,
} from '@slipway/contracts/actions';
import { SlipwayError } from '@slipway/errors';
import { fileError } from '../files/disk-space.js';
import type { ShellEnvironment } from '../terminal/shell-environment.js';
import { glob } from './glob.js';
import { grep } from './grep.js';
import { listDirectory } from './list-directory.js';
import { ripgrepIn } from './ripgrep.js';

export const NO_RIPGREP =
  'Files cannot be searched in this sandbox: its image has no ripgrep (`rg`). Use find and grep in the terminal.';

export interface SearchOptions {
  readonly environment: ShellEnvironment;
  /** Where the agent's shell is now: relative paths begin there. */
  readonly directory: () => string;
}

/**
 * Searches files and lines and lists directories, read-only. May read whatever the user of this process may, as the
 * terminal does. A failure is an observation with `is_error`, a sentence and the code; an abort ends what was started
 * and rejects with the signal's reason.
 */
export class Search {
  constructor(private readonly options: SearchOptions) {}

  /** Why files cannot be searched here, or `null`. */
  get missing(): string | null {
    return ripgrepIn(this.#searchPath) === null ? NO_RIPGREP : null;
  }

  async glob(action: GlobAction, signal: AbortSignal): Promise<GlobObservation> {
    const base = { kind: 'GlobObservation' as const, pattern: action.pattern };
    return answer<GlobObservation>(
      action.path,
      async () => {
        const result = await glob(action, { program: this.#program(), directory: this.options.directory(), signal });
        return {
          ...base,
          ...said(result.text),
          files: [...result.files],
          search_path: result.searchPath,
          truncated: result.truncated,
        };
      },
      (failure) => ({
        ...base,
        ...failure,
        files: [],
        search_path: action.path ?? this.options.directory(),
        truncated: false,
      }),
    );
  }

  async grep(action: GrepAction, signal: AbortSignal): Promise<GrepObservation> {
    const base = { kind: 'GrepObservation' as const, pattern: action.pattern, include_pattern: action.include ?? null };
    return answer<GrepObservation>(
      action.path,
      async () => {
        const result = await grep(action, { program: this.#program(), directory: this.options.directory(), signal });
        return {
          ...base,
          ...said(result.text),
          matches: [...result.files],
          search_path: result.searchPath,
          truncated: result.truncated,
        };
      },
      (failure) => ({
        ...base,
        ...failure,
        matches: [],
        search_path: action.path ?? this.options.directory(),
        truncated: false,
      }),
    );
  }

  async list(action: ListDirectoryAction, signal: AbortSignal): Promise<ListDirectoryObservation> {
    const base = { kind: 'ListDirectoryObservation' as const };
    return answer<ListDirectoryObservation>(
      action.dir_path,
      async () => {
        const { text, directory, entries, total, truncated } = await listDirectory(action, {
          directory: this.options.directory(),
          signal,
        });
        return {
          ...base,
          ...said(text),
          dir_path: directory,
          entries: [...entries],
          total_count: total,
          is_truncated: truncated,
        };
      },
      (failure) => ({
        ...base,
        ...failure,
        dir_path: action.dir_path,
        entries: [],
        total_count: 0,
        is_truncated: false,
      }),
    );
  }

  get #searchPath(): string {
    return this.options.environment.variables()['PATH'] ?? '';
  }

  #program(): string {
    const program = ripgrepIn(this.#searchPath);
    if (program === null) throw new SlipwayError('sandbox.tool-unavailable', NO_RIPGREP);
    return program;
  }
}

interface Failure {
  readonly content: Array<{ type: 'text'; text: string }>;
  readonly is_error: true;
  readonly error_code: string;
}

async function answer<T>(
  place: string | null | undefined,
  work: () => Promise<T>,
  failed: (failure: Failure) => T,
): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const error = fileError(thrown, place ?? '.');
    if (!(error instanceof SlipwayError)) throw error;
    return failed({ content: [{ type: 'text', text: error.detail }], is_error: true, error_code: error.code });
  }
}

function said(text: string): { content: Array<{ type: 'text'; text: string }>; is_error: false } {
  return { content: [{ type: 'text', text }], is_error: false };
}
