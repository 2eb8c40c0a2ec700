import {
  AppliedSettings,
  type ApplySettings,
  applyEarlier,
  BashOutput,
  CALLER_KEY_HEADER,
  ConversationInfo,
  GitChange,
  type RefusedSetting,
  type SandboxSecrets,
  type StartConversationRequest,
} from '@slipway/contracts/agent';
import { type BundleRequest } from '@slipway/contracts/repositories';
import { THROUGH_GATEWAY_HEADER } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';
import { z } from 'zod';
import { callBytes, callJson, callText, type PeerCall, silenceOfError, statusOfError } from './peer-call.js';
import { ANSWER_BYTES } from './sandbox-reads.js';

type Room = NonNullable<PeerCall['room']>;

export interface Sandbox {
  readonly url: string;
  readonly sessionKey: string;
  /** Key that authenticates the app as caller. */
  readonly appKey: string;
}

const CALL_TIMEOUT_MS = 5_000;
/** A run that is refused so needs no other: the agent works, or waits for an answer. */
const GOES_ON_OTHERWISE: ReadonlySet<string> = new Set(['conversation.busy', 'conversation.awaits-confirmation', 'conversation.four-eyes']);
/** The history of a long conversation is read back before this answers. Milliseconds. */
const CREATE_TIMEOUT_MS = 60_000;
/** git over a large work tree. Milliseconds. */
const GIT_TIMEOUT_MS = 30_000;
/** What the network may add to a command's own limit. Milliseconds. */
const BASH_MARGIN_MS = 10_000;
/** Every changed file is read and packed. Milliseconds. */
const BUNDLE_TIMEOUT_MS = 150_000;
const PROBE_TIMEOUT_MS = 2_000;

/** agent-server in one sandbox. No answer is `sandbox.unreachable`. */
export class AgentServerClient {
  constructor(private readonly sandbox: Sandbox) {}

  /** Runs one command beside the agent's shell. `exit_code` is -1 when it was killed at `timeoutSeconds`. Aborting kills it. */
  bash(command: string, options: { cwd?: string; timeoutSeconds: number }, signal: AbortSignal): Promise<BashOutput> {
    return callJson(
      {
        ...this.call('POST', '/api/bash/execute_bash_command', signal, options.timeoutSeconds * 1000 + BASH_MARGIN_MS),
        maxAnswerBytes: ANSWER_BYTES.command,
        body: { command, timeout: options.timeoutSeconds, ...(options.cwd === undefined ? {} : { cwd: options.cwd }) },
      },
      BashOutput,
    );
  }

  /** In place of what was handed over before. Repeatable. */
  async setSecrets(secrets: SandboxSecrets, signal: AbortSignal): Promise<void> {
    await callText({ ...this.call('POST', '/api/slipway/secrets', signal, CALL_TIMEOUT_MS), body: secrets });
  }

  /** Repeatable: the same conversation with the same or a newer epoch is taken over by this request. */
  createConversation(request: StartConversationRequest, signal: AbortSignal): Promise<ConversationInfo> {
    const bound = { maxAnswerBytes: ANSWER_BYTES.conversation };
    return callJson({ ...this.call('POST', '/api/conversations', signal, CREATE_TIMEOUT_MS), ...bound, body: request }, ConversationInfo);
  }

  /** From the agent's next step on. Repeatable. @throws SlipwayError `ingest.stale-epoch`, `resource.not-found`. */
  async applySettings(id: string, request: ApplySettings, signal: AbortSignal): Promise<AppliedSettings> {
    const put = this.call('PUT', `/api/slipway/conversations/${id}/settings`, signal, CALL_TIMEOUT_MS);
    try {
      return await callJson({ ...put, body: request }, AppliedSettings);
    } catch (error) {
      if (!(error instanceof SlipwayError) || error.code !== 'resource.not-found') throw error;
      // An agent-server of the release before does not know the route, nor does any know a conversation that it does not have. Goes in 0.2.0.
      const send = (path: string, body: object): Promise<string> => callText({ ...this.call('POST', path, signal, CALL_TIMEOUT_MS), body });
      try {
        return await applyEarlier(id, request, send, refusalOf);
      } catch (failure) {
        if (!(failure instanceof SlipwayError) || failure.code !== 'resource.not-found') throw failure;
        // @throws as well where it is the conversation that is missing. One that is there is of a release before settings could change: they hold from its next start.
        await this.conversation(id, signal);
        return {
          version: request.version,
          refused: [{ setting: 'agentType', code: 'request.invalid', detail: 'The agent is of a release before this setting.' }],
        };
      }
    }
  }

  conversation(id: string, signal: AbortSignal): Promise<ConversationInfo> {
    return callJson({ ...this.call('GET', `/api/conversations/${id}`, signal, CALL_TIMEOUT_MS), maxAnswerBytes: ANSWER_BYTES.conversation }, ConversationInfo);
  }

  /** Repeatable: `message.id` becomes the event's id, and the same id again is the same message. */
  async sendMessage(conversationId: string, message: { id: string; text: string; sender: string; senderId: string }, signal: AbortSignal): Promise<void> {
    await callText({
      ...this.call('POST', `/api/conversations/${conversationId}/events`, signal, CALL_TIMEOUT_MS),
      body: {
        role: 'user',
        content: [{ type: 'text', text: message.text }],
        run: true,
        event_id: message.id,
        sender: message.sender,
        sender_id: message.senderId,
      },
    });
  }

  /** Lets the agent go on; that it runs already is fine. What waits for a user waits on. */
  async run(conversationId: string, signal: AbortSignal): Promise<void> {
    const call = this.call('POST', `/api/conversations/${conversationId}/run`, signal, CALL_TIMEOUT_MS);
    try {
      // An earlier agent-server takes a run for a yes, but not one with this header under four eyes.
      await callText({ ...call, headers: { ...call.headers, [THROUGH_GATEWAY_HEADER]: 'app' } });
    } catch (error) {
      if (!(error instanceof SlipwayError) || !GOES_ON_OTHERWISE.has(error.code)) throw error;
    }
  }

  /** Halts at the end of the step under way. */
  async pause(conversationId: string, signal: AbortSignal): Promise<void> {
    await callText(this.call('POST', `/api/conversations/${conversationId}/pause`, signal, CALL_TIMEOUT_MS));
  }

  /** Halts at once. */
  async interrupt(conversationId: string, signal: AbortSignal): Promise<void> {
    await callText(this.call('POST', `/api/conversations/${conversationId}/interrupt`, signal, CALL_TIMEOUT_MS));
  }

  /** Against the commit `base`, or the last one when the work has none. */
  changes(directory: string, base: string | null, signal: AbortSignal, room: Room): Promise<GitChange[]> {
    const call = this.call('GET', `/api/git/changes?${workspaceQuery(directory, base)}`, signal, GIT_TIMEOUT_MS);
    return callJson({ ...call, room, maxAnswerBytes: ANSWER_BYTES.changes }, z.array(GitChange));
  }

  /** @throws SlipwayError `request.too-large` for one beyond `ANSWER_BYTES.patch`. */
  patch(directory: string, base: string | null, signal: AbortSignal, room: Room): Promise<string> {
    const call = this.call('GET', `/api/git/patch?${workspaceQuery(directory, base)}`, signal, GIT_TIMEOUT_MS);
    return callText({ ...call, room, maxAnswerBytes: ANSWER_BYTES.patch });
  }

  /**
   * A git bundle of what the branch has since `base`, with what is not committed on top. Bytes of the sandbox: anything.
   * @throws SlipwayError `pull-request.nothing-new`, `pull-request.unsound`, `pull-request.too-large`, `changes.commit-unknown`, `repository.not-found`.
   */
  async bundle(asked: BundleRequest, signal: AbortSignal, room: Room): Promise<Buffer> {
    const call = this.call('POST', '/api/git/bundle', signal, BUNDLE_TIMEOUT_MS);
    try {
      return await callBytes({ ...call, room, body: asked, maxAnswerBytes: asked.max_bytes });
    } catch (error) {
      if (!(error instanceof SlipwayError) || error.code !== 'request.too-large') throw error;
      throw new SlipwayError('pull-request.too-large', `The changes are larger than ${Math.floor(asked.max_bytes / 1024 / 1024)} MiB.`, { cause: error });
    }
  }

  /**
   * Whether this sandbox has the conversation. `dead` only with certainty: nothing listens there, the key is not its
   * own, or it knows no such conversation. A slow one is `silent`.
   * @throws the signal's reason only.
   */
  async probe(conversationId: string, signal: AbortSignal): Promise<'alive' | 'silent' | 'dead'> {
    try {
      await callText({ ...this.call('GET', `/api/conversations/${conversationId}`, signal, PROBE_TIMEOUT_MS), maxAnswerBytes: ANSWER_BYTES.conversation });
      return 'alive';
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (silenceOfError(error) === 'refused') return 'dead';
      if (error instanceof SlipwayError && (error.code === 'resource.not-found' || error.code === 'auth.missing' || error.code === 'sandbox.dormant'))
        return 'dead';
      const status = statusOfError(error);
      return status === 401 || status === 403 || status === 404 ? 'dead' : 'silent';
    }
  }

  private call(method: 'GET' | 'POST' | 'PUT', path: string, signal: AbortSignal, timeoutMs: number): PeerCall {
    return {
      method,
      url: `${this.sandbox.url.replace(/\/+$/, '')}${path}`,
      headers: { 'x-session-api-key': this.sandbox.sessionKey, [CALLER_KEY_HEADER]: this.sandbox.appKey },
      timeoutMs,
      signal,
      peer: 'The sandbox',
      unreachable: 'sandbox.unreachable',
      maxAnswerBytes: ANSWER_BYTES.control,
    };
  }
}

function refusalOf(error: unknown): Omit<RefusedSetting, 'setting'> | null {
  if (!(error instanceof SlipwayError) || (error.code !== 'conversation.busy' && error.code !== 'request.invalid')) return null;
  return { code: error.code, detail: error.detail };
}

function workspaceQuery(directory: string, base: string | null): string {
  return `path=${encodeURIComponent(directory)}${base === null ? '' : `&base=${encodeURIComponent(base)}`}`;
}

/** How long a sandbox has not been used. Seconds; `null`: never, or it does not say. */
export interface SandboxIdleTimes {
  /** Since a user was last active in its terminal, files or browser. */
  readonly person: number | null;
  /** Since anybody with its key asked for anything; 0 while an agent works in it. */
  readonly anybody: number | null;
}

/** Asks for at most 2 s. Needs no key. @throws never. */
export async function sandboxIdleTimes(url: string): Promise<SandboxIdleTimes> {
  const call: PeerCall = {
    method: 'GET',
    url: `${url.replace(/\/+$/, '')}/server_info`,
    headers: {},
    timeoutMs: PROBE_TIMEOUT_MS,
    signal: new AbortController().signal,
    peer: 'The sandbox',
    unreachable: 'sandbox.unreachable',
    maxAnswerBytes: ANSWER_BYTES.control,
  };
  return callJson(call, IdleTimes).then(
    ({ person_idle_time, idle_time }) => ({ person: person_idle_time, anybody: idle_time }),
    () => ({ person: null, anybody: null }),
  );
}

const IdleTimes = z.object({ person_idle_time: z.number().nullable().default(null), idle_time: z.number().nullable().default(null) });
