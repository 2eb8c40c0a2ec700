import { AGENT_ROUTES } from '@slipway/contracts/agent';
import { lastStatus } from '@slipway/domain';
import type { Conversations } from './conversations/conversations.js';
import { ok, type Route, serve } from './http/router.js';

const STARTED = performance.now();

/** When there was last work here. */
export class Activity {
  private usedAt = performance.now();
  private workedAt: number | null = null;

  /** A request of whoever has the session's key. */
  used(): void {
    this.usedAt = performance.now();
  }

  /** A user did something in the sandbox itself: typed into a terminal, opened a file, took the browser. */
  workedIn(): void {
    this.used();
    this.workedAt = this.usedAt;
  }

  /** Whole seconds since a user last did something in the sandbox itself; `null`: never. */
  get userIdleSeconds(): number | null {
    return this.workedAt === null ? null : Math.floor((performance.now() - this.workedAt) / 1_000);
  }

  /** Whole seconds since the last such request, or the last event of a conversation; 0 while an agent works. */
  async idleSeconds(conversations: Conversations): Promise<number> {
    let idleMs = performance.now() - this.usedAt;
    for (const { log } of await conversations.opened()) {
      if (lastStatus(log.events) === 'running') return 0;
      const last = log.events.at(-1)?.timestamp;
      if (last !== undefined) idleMs = Math.min(idleMs, Math.max(0, Date.now() - Date.parse(last)));
    }
    return Math.floor(idleMs / 1_000);
  }
}

/** What probes and clients ask before they have a key. */
export function serviceRoutes(activity: Activity, conversations: Conversations): Route[] {
  const open = (path: string, body: () => unknown): Route => ({
    method: 'GET',
    path,
    access: 'open',
    handle: async () => ok(await body()),
  });
  const info = async (): Promise<object> => ({
    title: 'Slipway agent-server',
    version: '0.1.0',
    uptime: Math.round((performance.now() - STARTED) / 1000),
    idle_time: await activity.idleSeconds(conversations),
    person_idle_time: activity.userIdleSeconds,
    usable_tools: ['terminal', 'file_editor', 'task_tracker', 'think', 'finish'],
    conversation_runtime: 'local',
  });
  return [
    open('/alive', () => ({ status: 'ok' })),
    open('/health', () => ({ status: 'ok' })),
    open('/ready', () => ({ status: 'ready' })),
    serve(AGENT_ROUTES.info, async () => ok(await info())),
    open('/', info),
  ];
}
