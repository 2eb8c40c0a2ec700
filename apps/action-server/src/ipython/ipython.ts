import type { IPythonRunCellAction, IPythonRunCellObservation } from '@slipway/contracts/actions';
import type { ObservationContent } from '@slipway/contracts/events';
import { SlipwayError } from '@slipway/errors';
import { OneAtATime } from '../editor/one-at-a-time.js';
import { isOnlyAsker } from '../terminal/egress-asker.js';
import type { OutputAllowance } from '../terminal/output-allowance.js';
import { pythonIn } from '../terminal/python-path.js';
import type { ShellEnvironment } from '../terminal/shell-environment.js';
import { CellOutput } from './cell-output.js';
import { hasKernel } from './installed.js';
import { type CellEnd, Kernel } from './kernel.js';

/** Longest cell, when the action does not say. Seconds. */
const DEFAULT_TIMEOUT = 120;
/** From the interrupt to the end of a kernel that does not heed it. Milliseconds; under a second for who waits. */
const HEED_MS = 700;

export const NO_KERNEL =
  'Cells of Python cannot be run in this sandbox: its Python has no ipykernel. Run Python in the terminal. A sandbox image with the option `ipython` has it.';
const LOST = 'The kernel is a new one: variables, functions and imports of earlier cells are gone.';

export interface IPythonOptions {
  readonly environment: ShellEnvironment;
  /** Where a kernel begins. */
  readonly directory: () => string;
  /** For long outputs and large pictures. */
  readonly outputDirectory: string;
  readonly allowance: OutputAllowance;
}

/**
 * Runs cells of Python in one kernel, which is started by the first and keeps its state. A cell that is over its time
 * is interrupted; a kernel that does not heed that, or that dies, is replaced, and the answer says so. A failure of the
 * cell is an observation with `is_error`; an abort stops the cell within a second and rejects with its reason.
 */
export class IPython {
  #kernel: Kernel | undefined;
  #turns = new OneAtATime();
  #cells = 0;
  /** The environment that the kernel has. */
  #given: Readonly<Record<string, string>> = {};
  #lost = false;

  constructor(private readonly options: IPythonOptions) {}

  /** Why cells cannot be run here, or `null`. */
  get missing(): string | null {
    return this.#python() === null ? NO_KERNEL : null;
  }

  /** @param actionId names the action at egress-proxy. */
  execute(action: IPythonRunCellAction, signal: AbortSignal, actionId?: string): Promise<IPythonRunCellObservation> {
    return this.#turns.run(async () => {
      signal.throwIfAborted();
      try {
        return await this.#execute(action, signal, actionId);
      } catch (error) {
        if (signal.aborted || !(error instanceof SlipwayError)) throw error;
        return {
          ...observation(action, [{ type: 'text', text: error.detail }]),
          is_error: true,
          error_code: error.code,
        };
      }
    });
  }

  close(): void {
    this.#kernel?.kill();
    this.#kernel = undefined;
  }

  async #execute(
    action: IPythonRunCellAction,
    signal: AbortSignal,
    actionId: string | undefined,
  ): Promise<IPythonRunCellObservation> {
    if (action.code.includes('\0'))
      throw new SlipwayError(
        'request.invalid',
        'Not run: the cell holds a NUL character, which Python cannot take. Write it as \\0.',
      );
    if (action.reset) this.close();
    const python = this.#python();
    if (python === null) throw new SlipwayError('sandbox.tool-unavailable', NO_KERNEL);
    const kernel = await this.#ready(python, actionId, signal);
    this.#cells += 1;
    const output = new CellOutput(this.options.outputDirectory, `${Date.now()}-${this.#cells}`);
    const lost = this.#lost;
    this.#lost = false;
    // Half a surrogate pair is no text to Python, and would end what speaks to the kernel.
    const running = kernel.run(action.code.toWellFormed(), output, { silent: false });
    const seconds = action.timeout ?? DEFAULT_TIMEOUT;
    const outcome = await endWithin(running, seconds * 1000, signal);
    const end = outcome.kind === 'ended' ? outcome.end : await this.#stop(kernel, running);
    if (end.status === 'died' || end.status === 'gone') this.close();
    signal.throwIfAborted();
    const { text, pictures, file } = output.take();
    const notes = [
      ...(lost ? [`[${LOST}]`] : []),
      ...(outcome.kind === 'ended'
        ? []
        : [`[The cell was interrupted after ${seconds} seconds. Give a longer timeout, or run it in the background.]`]),
      ...(end.status === 'died' || end.status === 'gone' ? [`[The kernel ended while it ran the cell. ${LOST}]`] : []),
      ...(action.include_extra ? await this.#extra(python) : []),
    ];
    const content: ObservationContent[] = [
      { type: 'text', text: [...(text === '' ? [] : [text]), ...notes].join('\n') },
      ...pictures,
    ];
    return {
      ...observation(action, content),
      is_error: end.status !== 'ok',
      execution_count: end.count,
      timeout: outcome.kind === 'timeout',
      full_output_save_dir: file,
    };
  }

  /** A kernel with the environment that every shell has now. */
  async #ready(python: string, actionId: string | undefined, signal: AbortSignal): Promise<Kernel> {
    const env = this.options.environment.variables(actionId);
    if (this.#kernel === undefined || this.#kernel.ended) {
      this.#kernel = await Kernel.start(python, {
        cwd: this.options.directory(),
        env,
        allowance: this.options.allowance,
        signal,
      });
      this.#given = env;
      return this.#kernel;
    }
    const given = this.#given;
    const changed = Object.entries(env).filter(([name, value]) => given[name] !== value);
    const set = Object.fromEntries(changed.filter(([name, value]) => !isOnlyAsker(given[name], value)));
    // What a cell has set itself stays.
    const asker = changed.filter(([name]) => !(name in set)).map(([name, value]) => [name, given[name], value]);
    const unset = Object.keys(this.#given).filter((name) => !(name in env));
    if (changed.length + unset.length > 0) {
      const literal = (value: unknown): string => JSON.stringify(JSON.stringify(value));
      const code = [
        'import json as _j, os as _o',
        `_o.environ.update(_j.loads(${literal(set)}))`,
        `for _k, _w, _v in _j.loads(${literal(asker)}): _o.environ.update({_k: _v} if _o.environ.get(_k) == _w else {})`,
        `for _k in _j.loads(${literal(unset)}): _o.environ.pop(_k, None)`,
        'del _j, _o',
        "for _k in ('_w', '_v', '_k'): globals().pop(_k, None)",
      ].join('\n');
      await endWithin(this.#kernel.run(code, { text: () => {}, display: () => {} }, { silent: true }), 5_000, signal);
      this.#given = env;
    }
    return this.#kernel;
  }

  /** Interrupts the cell, and ends a kernel that does not heed it. */
  async #stop(kernel: Kernel, running: Promise<CellEnd>): Promise<CellEnd> {
    kernel.interrupt();
    const outcome = await endWithin(running, HEED_MS, new AbortController().signal);
    if (outcome.kind === 'ended') return outcome.end;
    kernel.kill();
    this.#kernel = undefined;
    this.#lost = true;
    return running;
  }

  /** Where the kernel is, as its own code may have changed it. */
  async #extra(python: string): Promise<string[]> {
    const kernel = this.#kernel;
    if (kernel === undefined || kernel.ended) return [];
    let directory = '';
    const listener = {
      text: (text: string): void => {
        directory += text;
      },
      display: () => {},
    };
    const asked = kernel.run("print(__import__('os').getcwd(), end='')", listener, { silent: true });
    await endWithin(asked, 2_000, new AbortController().signal);
    return [`[Jupyter current working directory: ${directory}]`, `[Jupyter Python interpreter: ${python}]`];
  }

  #python(): string | null {
    const { PATH, HOME } = this.options.environment.variables();
    const python = pythonIn(PATH ?? '');
    return python !== null && hasKernel(python, HOME) ? python : null;
  }
}

type Outcome = { readonly kind: 'ended'; readonly end: CellEnd } | { readonly kind: 'timeout' | 'aborted' };

async function endWithin(running: Promise<CellEnd>, ms: number, signal: AbortSignal): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: () => void = () => {};
  const other = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve({ kind: 'timeout' }), ms);
    onAbort = () => resolve({ kind: 'aborted' });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([running.then((end): Outcome => ({ kind: 'ended', end })), other]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

function observation(action: IPythonRunCellAction, content: ObservationContent[]): IPythonRunCellObservation {
  return {
    kind: 'IPythonRunCellObservation',
    content,
    is_error: false,
    code: action.code,
    execution_count: null,
    timeout: false,
    full_output_save_dir: null,
  };
}
