import { SlipwayError } from '@slipway/errors';
import type {
  ListedSandbox,
  RemoveOptions,
  SandboxBackend,
  SandboxObservation,
  SandboxOwner,
  SandboxSpec,
} from '../sandbox-backend.js';
import { sandboxRequest } from '../sandbox-request.js';
import { type FarmedState, type SandboxFarm, SILENT, STORE_AWAY } from './sandbox-farm.js';

/** The state of ten thousand sandboxes fits. Bytes. */
const MAX_STATE_BYTES = 16 * 1024 * 1024;

interface FarmState {
  sandboxes: FarmedState[];
  workspaces: string[];
}

/** The sandboxes of a `SandboxFarm`, perhaps in another process. For tests and benchmarks: nothing runs in them. */
export class FarmBackend implements SandboxBackend {
  constructor(
    private readonly url: string,
    private readonly template = 'farm',
    /** The farm itself, where it is in this process, for hints of changes. */
    private readonly farm: Pick<SandboxFarm, 'onChange'> | null = null,
  ) {}

  templateOf(): string {
    return this.template;
  }

  async note(name: string, uid: string, owner: SandboxOwner, signal: AbortSignal): Promise<void> {
    await this.call('POST', 'note', { name, uid, claimId: owner.claimId }, signal);
  }

  async ensure(spec: SandboxSpec, signal: AbortSignal): Promise<void> {
    await this.call('POST', 'ensure', { name: spec.name, slotId: spec.slotId }, signal);
  }

  async observe(name: string, signal: AbortSignal): Promise<SandboxObservation> {
    const { sandbox } = (await this.call('POST', 'observe', { name }, signal)) as { sandbox: FarmedState | null };
    return sandbox === null ? { state: 'gone' } : this.listed(sandbox).observation;
  }

  async list(signal: AbortSignal): Promise<readonly ListedSandbox[]> {
    const state = (await this.call('GET', 'state', null, signal)) as FarmState;
    return state.sandboxes.map((sandbox) => this.listed(sandbox));
  }

  async remove(
    name: string,
    uid: string,
    signal: AbortSignal,
    { evenUnkept = false, owned = false, onKept }: RemoveOptions = {},
  ): Promise<'gone' | 'kept'> {
    const keep = (await this.call('POST', 'keep', { name, uid, owned: owned ? 'yes' : 'no' }, signal)) as {
      result: 'kept' | 'unkept' | 'silent' | 'nothing';
      bytes?: number | null;
    };
    if (keep.result === 'unkept' && !evenUnkept) throw new SlipwayError('sandbox.archive-unavailable', STORE_AWAY);
    if (keep.result === 'silent' && !evenUnkept) throw new SlipwayError('sandbox.unreachable', SILENT);
    if (keep.result === 'kept') await onKept?.(keep.bytes ?? null);
    return ((await this.call('POST', 'remove', { name, uid }, signal)) as { result: 'gone' | 'kept' }).result;
  }

  async attachWorkspace(name: string, workspace: string, signal: AbortSignal): Promise<void> {
    await this.call('POST', 'attach', { name, workspace }, signal);
  }

  async listWorkspaces(signal: AbortSignal): Promise<readonly string[]> {
    return ((await this.call('GET', 'state', null, signal)) as FarmState).workspaces;
  }

  async deleteWorkspace(workspace: string, signal: AbortSignal): Promise<void> {
    await this.call('POST', 'delete-workspace', { workspace }, signal);
  }

  async tend(): Promise<void> {}

  onChange(listener: () => void): () => void {
    return this.farm?.onChange(listener) ?? (() => {});
  }

  private listed({ name, uid, port, ended, pending, avoid }: FarmedState): ListedSandbox {
    if (ended !== null) return { name, uid, observation: { state: 'ended', uid, reason: ended } };
    if (pending !== null) return { name, uid, observation: { state: 'pending', ...pending } };
    const address = `${port === null ? this.url : `http://127.0.0.1:${port}`}/sandboxes/${name}`;
    return {
      name,
      uid,
      observation: {
        state: 'running',
        uid,
        address,
        restarts: { count: 0, reasons: [] },
        ...(avoid === null ? {} : { avoid }),
      },
    };
  }

  private async call(method: 'GET' | 'POST', call: string, body: object | null, signal: AbortSignal): Promise<unknown> {
    const request = {
      method,
      headers: {},
      signal,
      maxAnswerBytes: MAX_STATE_BYTES,
      ...(body === null ? {} : { body: JSON.stringify(body) }),
    };
    const answer = await sandboxRequest(`${this.url}/backend/${call}`, request).catch((error: unknown) => {
      throw new SlipwayError('sandbox.unreachable', 'The farm does not answer.', { cause: error });
    });
    if (answer.status === 404) {
      const { missing } = JSON.parse(answer.body) as { missing?: string };
      const extensions = missing === 'workspace' ? { workspace: 'missing' } : {};
      throw new SlipwayError('sandbox.start-failed', `The ${missing ?? 'call'} is not there.`, { extensions });
    }
    if (answer.status === 503) throw new SlipwayError('sandbox.cluster-unavailable', 'The farm is away.');
    if (answer.status !== 200) throw new SlipwayError('sandbox.unreachable', `The farm answered ${answer.status}.`);
    return JSON.parse(answer.body);
  }
}
