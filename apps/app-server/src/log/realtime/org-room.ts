import type { DeskConversation } from '@slipway/contracts/conversations';
import type { DeskFrame, MarkFrame } from '@slipway/contracts/events';
import type { Namespace, Socket } from 'socket.io';
import { backlogOf, keepsUp, tooMuch } from './backlog.js';
import { EncodedJson } from './frame-encoder.js';

/** First change after a quiet time waits this long for others. Milliseconds. */
const GATHER_MS = 25;
/** Shortest time between two looks at an organization. Milliseconds; part of the second that a change may take. */
const PACE_MS = 400;
/** Conversations of one look; more wait for the next. */
const PER_LOOK = 200;
/** Changes that wait for a look; with more everybody reads the Desk again. */
const MAX_DIRTY = 2_000;

export interface OrgMember {
  readonly socket: Socket;
  readonly userId: string;
}

export interface OrgSource {
  read(ids: readonly string[]): Promise<DeskConversation[]>;
  mark(userId: string, conversationId: string): Promise<MarkFrame['mark'] | null>;
  failed(error: unknown): void;
}

/**
 * The sockets of this process that show one organization. Changes are gathered, read once for all of them, and written
 * once. A socket with too much unsent leaves, and gets `stale` when it has caught up.
 */
export class OrgRoom {
  readonly members = new Set<OrgMember>();
  private readonly name: string;
  private readonly dirty = new Set<string>();
  /** `user conversation` of marks that changed. */
  private readonly marks = new Map<string, { readonly userId: string; readonly conversationId: string }>();
  private readonly behind = new Set<OrgMember>();
  private isStale = false;
  private isLooking = false;
  private lastLook = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly io: Namespace,
    readonly orgId: string,
    private readonly source: OrgSource,
  ) {
    this.name = `org:${orgId}`;
  }

  add(member: OrgMember): void {
    this.members.add(member);
    void member.socket.join(this.name);
  }

  /** True when no member is left. */
  remove(member: OrgMember): boolean {
    this.members.delete(member);
    this.behind.delete(member);
    void member.socket.leave(this.name);
    return this.members.size === 0;
  }

  close(): void {
    clearTimeout(this.timer);
    this.members.clear();
  }

  changed(conversationId: string): void {
    if (this.dirty.size < MAX_DIRTY) this.dirty.add(conversationId);
    else this.isStale = true;
    this.schedule();
  }

  marked(userId: string, conversationId: string): void {
    if (![...this.members].some((member) => member.userId === userId)) return;
    if (this.marks.size < MAX_DIRTY) this.marks.set(`${userId} ${conversationId}`, { userId, conversationId });
    else this.isStale = true;
    this.schedule();
  }

  /** Changes may have been missed: everybody reads the Desk again. */
  missed(): void {
    this.isStale = true;
    this.schedule();
  }

  /** Sends `stale` to sockets that were behind and have caught up, also while nothing changes. */
  catchUp(): void {
    for (const member of this.behind)
      if (keepsUp(backlogOf(member.socket))) {
        this.behind.delete(member);
        void member.socket.join(this.name);
        member.socket.emit('desk', this.frame({ changed: [], gone: [], stale: true }));
      }
  }

  private schedule(): void {
    if (this.timer !== undefined || this.isLooking || this.members.size === 0) return;
    const wait = Math.max(GATHER_MS, this.lastLook + PACE_MS - performance.now());
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.look();
    }, wait);
  }

  private async look(): Promise<void> {
    this.isLooking = true;
    this.lastLook = performance.now();
    const ids = [...this.dirty].slice(0, PER_LOOK);
    for (const id of ids) this.dirty.delete(id);
    const marks = [...this.marks.values()].slice(0, PER_LOOK);
    for (const { userId, conversationId } of marks) this.marks.delete(`${userId} ${conversationId}`);
    const stale = this.isStale;
    this.isStale = false;
    try {
      const changed = ids.length === 0 ? [] : await this.source.read(ids);
      const found = new Set(changed.map(({ id }) => id));
      if (ids.length > 0 || stale) this.send({ changed, gone: ids.filter((id) => !found.has(id)), stale });
      for (const each of marks) await this.sendMark(each);
    } catch (error) {
      this.source.failed(error);
      // What could not be read is read by each page itself.
      this.isStale = true;
    } finally {
      this.isLooking = false;
      if (this.dirty.size > 0 || this.marks.size > 0 || this.isStale) this.schedule();
    }
  }

  private send(frame: Omit<DeskFrame, 'orgId'>): void {
    for (const member of this.members)
      if (!this.behind.has(member) && tooMuch(backlogOf(member.socket))) {
        this.behind.add(member);
        void member.socket.leave(this.name);
      }
    this.io.to(this.name).emit('desk', this.frame(frame));
  }

  private async sendMark({ userId, conversationId }: { userId: string; conversationId: string }): Promise<void> {
    const mark = await this.source.mark(userId, conversationId);
    if (mark === null) return;
    const frame = new EncodedJson(JSON.stringify({ orgId: this.orgId, conversationId, mark } satisfies MarkFrame));
    for (const member of this.members)
      if (member.userId === userId && !this.behind.has(member)) member.socket.emit('mark', frame);
  }

  private frame(frame: Omit<DeskFrame, 'orgId'>): EncodedJson {
    return new EncodedJson(JSON.stringify({ orgId: this.orgId, ...frame } satisfies DeskFrame));
  }
}
