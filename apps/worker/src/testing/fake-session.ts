import { type Server } from 'node:http';
import { ApplySettings, type LlmSettings, SandboxSecrets } from '@slipway/contracts/agent';

/** A sandbox of the fake runtime-api, and what its agent was given. */
export interface FakeSandbox {
  readonly runtimeId: string;
  readonly key: string;
  readonly server: Server;
  readonly url: string;
  /** What was handed over last; `null` when nothing was. */
  secrets: SandboxSecrets | null;
  conversation: {
    epoch: number;
    head: number;
    resumeRun: boolean;
    produced: number;
    suffix: string;
    notice: string | null;
  } | null;
  /** The model that the agent was given last. */
  llm: LlmSettings | null;
  /** Run settings of the start, in OpenHands' fields. */
  startSettings: object | null;
  /** Bodies of the settings that it was sent since. */
  readonly settings: ApplySettings[];
  /** Requests on the settings routes of the release before, with their bodies. */
  readonly earlier: Array<{ route: string; body: Record<string, unknown> }>;
  /** What the start brought of tool servers. */
  mcpServers: unknown;
  /** The organization's confirmation policy at the start. */
  orgConfirmation: unknown;
  /** Files that were uploaded, by path, and how often each was. */
  readonly files: Map<string, { content: string; times: number }>;
  /** Bodies of messages, each time that one came. */
  readonly handedOver: Array<Record<string, unknown>>;
  /** Ids of messages in the order in which this sandbox took them in. */
  readonly messages: string[];
}

/** What the fake runtime-api knows of a conversation. */
export interface FakeSession {
  readonly directory: string;
  readonly orgId: string;
  status: 'running' | 'paused' | 'error';
  /** Why it ended; with `error` only. */
  detail?: string;
  sandbox: FakeSandbox | null;
  /** What runtime-api says of its files while it has no sandbox. */
  workspace?: { state: 'saving' | 'kept' | 'not-kept' | 'lost'; detail?: string };
  /** Whether its agent refuses another agent type, as one at work does. */
  refusesAgentType?: boolean;
  /** Whether its agent answers no settings. */
  refusesSettings?: boolean;
  /** Whether its agent-server is of the release before, without the route for settings. */
  isEarlier?: boolean;
  /** Since a user was last active in the sandbox itself. Seconds. */
  userIdleSeconds?: number;
  /** Since anybody asked it for anything. Seconds. */
  idleSeconds?: number;
  /** The claim under way: a second start of the session waits for it. */
  claiming: Promise<void> | null;
}
