import type { ErrorCode } from '@slipway/contracts/errors';
import type { RESOURCE_FACTORS } from '@slipway/contracts/sandboxes';

/** A multiple of the template's base size. */
export type ResourceFactor = (typeof RESOURCE_FACTORS)[number];

/** What one pool holds. */
export interface SandboxKind {
  /** Name of the template, as `/start` calls it in `image`. */
  readonly image: string;
  /** 1 when not given. */
  readonly size?: ResourceFactor;
}

export interface SandboxSpec extends SandboxKind {
  /** Deterministic: `sb-<slot id>`. Also the name of the blank workspace that the sandbox is born with. */
  readonly name: string;
  readonly slotId: string;
}

/** Why a sandbox does not come up, in the words of the place where it should run. */
export interface SandboxProblem {
  readonly code: Extract<ErrorCode, `sandbox.${string}`>;
  /** A sentence for the waiting user. */
  readonly detail: string;
}

/** Times that the tool process beside agent-server was started again in this sandbox. */
export interface Restarts {
  readonly count: number;
  /** The last ones, oldest first; each a sentence with its time. */
  readonly reasons: readonly string[];
}

export type SandboxObservation =
  /** `problem`: it will not start without a change, or not soon. It may still start: hold it, do not replace it. */
  | { readonly state: 'pending'; readonly message: string; readonly problem?: SandboxProblem }
  /**
   * agent-server listens at `address`, or should have by now; whether it is dormant or owned is its own to say.
   * `avoid`: a reason not to give it to anybody from now on, such as a cordoned node. Whoever has it already keeps it.
   */
  | {
      readonly state: 'running';
      readonly uid: string;
      readonly address: string;
      readonly restarts: Restarts;
      readonly node?: string;
      readonly avoid?: string;
    }
  /**
   * It exists and can never serve again: agent-server has ended, and with it the activation latch. `reason` is a
   * sentence.
   */
  | { readonly state: 'ended'; readonly uid: string; readonly reason: string }
  | { readonly state: 'gone' };

export interface SandboxOwner {
  readonly orgId: string;
  readonly sessionId: string;
  readonly claimId: string;
}

export interface ListedSandbox {
  readonly name: string;
  readonly uid: string;
  readonly observation: Exclude<SandboxObservation, { state: 'gone' }>;
}

export interface RemoveOptions {
  /** Also when the workspace cannot be kept: its place is needed, or it was tried for too long. */
  readonly evenUnkept?: boolean;
  /**
   * A session goes on with what is in it. Without this a sandbox on which no owner was recorded is taken for one that
   * nobody had when it does not answer.
   */
  readonly owned?: boolean;
  /**
   * Called when the workspace is kept, before the sandbox ends. Not called for one that is lost, or that went before it
   * was asked. `bytes`: what it takes in the store; `null` where there is none, or where it lay there already.
   */
  readonly onKept?: (bytes: number | null) => Promise<void>;
}

/**
 * A backend that runs sandboxes.
 *
 * A sandbox is born blank with a workspace of its own name. A workspace outlives its sandbox: it goes when
 * `deleteWorkspace` says so, and a later sandbox may get it by `attachWorkspace`. Its path, as programs inside see it,
 * is the same in every sandbox: virtual environments and git worktrees hold absolute paths.
 *
 * Contract, checked for every backend by `describeSandboxBackend` (testing/sandbox-backend.contract.ts):
 * - `ensure`, `remove`, `attachWorkspace` and `deleteWorkspace` are idempotent; repeating one is never an error.
 * - `ensure` of a name that exists changes nothing, also when that sandbox has ended: a new sandbox has a new name.
 * - `observe` never throws for a sandbox that does not exist: it answers `gone`.
 * - `remove` ends only the sandbox with that `uid`, and everything that was started in it; when it answers, nothing of
 * it runs.
 * - every method stops at `signal`, and rejects with a `SlipwayError` whose code is `sandbox.*`.
 */
export interface SandboxBackend {
  /**
   * What new sandboxes of this kind are made of, as a hash: it changes with image, commands or activation key. A slot
   * with another one is not given to anybody.
   */
  templateOf(kind: SandboxKind): string;
  ensure(spec: SandboxSpec, signal: AbortSignal): Promise<void>;
  observe(name: string, signal: AbortSignal): Promise<SandboxObservation>;
  list(signal: AbortSignal): Promise<readonly ListedSandbox[]>;
  /**
   * Ends a sandbox after its workspace is kept. One whose workspace cannot be kept now stays.
   * @returns `kept` when a sandbox of this name has another uid; it is left alone.
   * @throws SlipwayError `sandbox.archive-unavailable` or `sandbox.unreachable` while the workspace cannot be kept; the
   * sandbox runs on.
   */
  remove(name: string, uid: string, signal: AbortSignal, options?: RemoveOptions): Promise<'gone' | 'kept'>;
  /**
   * Gives a sandbox that was never activated the workspace of an earlier one (which must be removed), and waits until
   * agent-server listens again, still dormant. The address may have changed: observe it.
   * @throws SlipwayError `sandbox.start-failed` when there is no such workspace, with the extension `workspace:
   * 'missing'`: only when it is known to be nowhere.
   */
  attachWorkspace(name: string, workspace: string, signal: AbortSignal): Promise<void>;
  listWorkspaces(signal: AbortSignal): Promise<readonly string[]>;
  deleteWorkspace(workspace: string, signal: AbortSignal): Promise<void>;
  /**
   * Records the owner on the sandbox, for operators (labels, on a cluster). After the answer to the claim, and never
   * needed for correctness. Nothing happens when the sandbox is gone or has another uid.
   */
  note(name: string, uid: string, owner: SandboxOwner, signal: AbortSignal): Promise<void>;
  /**
   * What the place does not do by itself, such as starting a dead tool process again. Called twice a second by the one
   * replica that leads; most backends do nothing.
   */
  tend(signal: AbortSignal): Promise<void>;
  /**
   * Calls `listener` when something may have changed. A hint: it may be missed, repeated or early. @returns a function
   * that ends it.
   */
  onChange(listener: () => void): () => void;
}
