/**
 * Everything that happens in the model: three replicas, their requests, the messages between all parts, and the loops
 * of the pool. Each method is one step that nothing interrupts.
 */
import { ModelCluster, WatchCache } from './pool-model-cluster.js';
import { type BindItem, type BindResult, isLive, ModelDatabase } from './pool-model-database.js';
import { ModelLoops } from './pool-model-loops.js';
import type { Message, ModelReplica, ModelRequest, Sender } from './pool-model-messages.js';
import { ModelObserver } from './pool-model-observer.js';
import type { Broken } from './pool-model-variants.js';

const MAX_TRIES = 3;
export const REPLICAS = 3;
export const ORGS = 2;
/** Sessions that an organization's clients ask for; more than its cap. */
export const KEYS = 4;
/** Claims of one commit, at most. */
const BATCH = 32;

export type Outcome = 'active' | 'quota' | 'mismatch' | 'failed';

export class ModelWorld {
  readonly database: ModelDatabase;
  readonly cluster: ModelCluster;
  readonly cache: WatchCache;
  readonly observer: ModelObserver;
  readonly replicas: ModelReplica[] = Array.from({ length: REPLICAS }, (_, index) => ({
    incarnation: index,
    up: true,
    stock: new Map(),
    requests: [],
  }));
  readonly network: Message[] = [];
  readonly loops = new ModelLoops(this);
  /** Last outcome of each session's requests. */
  readonly outcomes = new Map<string, Outcome>();
  /** How often each outcome of a bind and of a request came about: a walk that reaches no state shows nothing. */
  readonly reached = new Map<string, number>();
  private incarnations = REPLICAS;
  private requests = 0;

  constructor(
    readonly broken: Broken,
    isLossy: boolean,
  ) {
    this.database = new ModelDatabase(broken);
    this.cluster = new ModelCluster(broken);
    this.cache = new WatchCache(broken);
    this.observer = new ModelObserver(this.database, this.cluster, isLossy);
  }

  // A replica.

  request(replica: ModelReplica, org: number, key: number, body: number): void {
    this.requests += 1;
    replica.requests.push({
      id: this.requests,
      org,
      session: `${org}/${key}`,
      body,
      phase: 'queued',
      slot: null,
      proposed: 0,
      claim: null,
      uid: 0,
      tries: 0,
    });
  }

  /** A client that lost its patience sends the same once more, to whichever replica. */
  repeat(replica: ModelReplica, { org, session, body }: ModelRequest): void {
    this.request(replica, org, Number(session.split('/')[1]), body);
  }

  /** A request takes a slot out of the leased slots. */
  pick(replica: ModelReplica): boolean {
    const request = replica.requests.find((each) => each.phase === 'queued');
    const [first] = replica.stock;
    if (request === undefined || first === undefined) return false;
    const [id, { epoch, uid }] = first;
    replica.stock.delete(id);
    request.slot = { id, epoch, uid };
    request.phase = 'picked';
    return true;
  }

  /**
   * A request that finds no leased slot asks whether it needs a slot at all: it may be a repetition, or beyond the
   * quota.
   */
  ask(replica: ModelReplica): boolean {
    const request = replica.requests.find((each) => each.phase === 'queued');
    if (request === undefined || replica.stock.size > 0) return false;
    request.phase = 'picked';
    return true;
  }

  /** What is picked goes to the database as one batch. */
  flush(index: number): boolean {
    const replica = this.replicas[index] as ModelReplica;
    const items: BindItem[] = [];
    for (const request of replica.requests) {
      if (request.phase !== 'picked' || items.length === BATCH) continue;
      request.phase = 'binding';
      const claim = this.database.newId();
      request.proposed = claim;
      items.push({
        request: request.id,
        claim,
        org: request.org,
        session: request.session,
        body: request.body,
        slot: request.slot?.id ?? 0,
        epoch: request.slot?.epoch ?? 0,
      });
      if (this.broken === 'activated-before-bind' && request.slot !== null)
        this.sendActivation(index, replica, request.id, request.slot.id, request.slot.uid, claim);
    }
    if (items.length === 0) return false;
    this.network.push({ kind: 'bind', replica: index, incarnation: replica.incarnation, items });
    return true;
  }

  lease(index: number, most: number): void {
    const { incarnation, stock, requests } = this.replicas[index] as ModelReplica;
    const isNeeded = stock.size === 0 && requests.some((request) => request.phase === 'queued');
    this.network.push({ kind: 'lease', replica: index, incarnation, most, isNeeded });
  }

  renew(replica: ModelReplica): void {
    const kept = this.database.renew(
      replica.incarnation,
      [...replica.stock].map(([id, { epoch }]) => [id, epoch] as const),
    );
    for (const id of [...replica.stock.keys()]) if (!kept.has(id)) replica.stock.delete(id);
  }

  crash(replica: ModelReplica): void {
    replica.up = false;
    replica.stock.clear();
    replica.requests = [];
  }

  restart(replica: ModelReplica): void {
    replica.up = true;
    replica.incarnation = this.incarnations;
    this.incarnations += 1;
  }

  /**
   * A request has waited too long for what it waits for. What it sent may still arrive. A sandbox that did not answer
   * an activation is asked for its receipt before its claim ends: it may have accepted for another request, whose
   * client has its answer, and a crash may have lost the mark.
   */
  timeOut(index: number, request: ModelRequest): void {
    const replica = this.replicas[index] as ModelReplica;
    if (request.phase === 'activating') {
      const pod = this.cluster.pods.get(request.claim?.slot ?? 0);
      const hasAccepted = pod?.uid === request.uid && pod.phase === 'running' && pod.latch === request.claim?.id;
      if (hasAccepted && this.broken !== 'ended-without-receipt') this.mark(index, request);
      else this.activationFailed(replica, request);
    } else if (request.phase === 'binding' || request.phase === 'marking') this.answer(replica, request, 'failed');
  }

  private answer(replica: ModelReplica, request: ModelRequest, outcome: Outcome): void {
    replica.requests = replica.requests.filter((each) => each !== request);
    this.outcomes.set(`${request.session}/${request.body}`, outcome);
    this.count(`answered ${outcome}`);
    if (outcome === 'active' && request.claim !== null)
      this.observer.answered(request.claim, request.body, request.uid);
  }

  private count(what: string): void {
    this.reached.set(what, (this.reached.get(what) ?? 0) + 1);
  }

  private sendActivation(
    index: number,
    replica: ModelReplica,
    request: number,
    slot: number,
    uid: number,
    claim: number,
  ): void {
    this.observer.sends(claim);
    this.network.push({
      kind: 'activate',
      replica: index,
      incarnation: replica.incarnation,
      request,
      slot,
      uid,
      claim,
    });
  }

  private mark(index: number, request: ModelRequest): void {
    if (request.claim === null) return;
    request.phase = 'marking';
    const { incarnation } = this.replicas[index] as ModelReplica;
    this.network.push({
      kind: 'mark',
      replica: index,
      incarnation,
      request: request.id,
      claim: request.claim.id,
      epoch: request.claim.epoch,
    });
  }

  /** The claim ends unless a sandbox is known to have accepted it, and the request tries again. */
  private activationFailed(replica: ModelReplica, request: ModelRequest): void {
    if (request.claim !== null) this.database.release(request.claim.id, 'bound', 'lost');
    this.again(replica, request);
  }

  private again(replica: ModelReplica, request: ModelRequest): void {
    request.tries += 1;
    request.phase = 'queued';
    request.slot = null;
    request.claim = null;
    if (request.tries >= MAX_TRIES) this.answer(replica, request, 'failed');
  }

  private bindDone(index: number, replica: ModelReplica, { item, outcome, claim, uid }: BindResult): void {
    const request = replica.requests.find(
      (each) => each.id === item.request && each.phase === 'binding' && each.proposed === item.claim,
    );
    if (request === undefined) return;
    // Not used up: it may be given to the next, whatever became of the lease.
    if ((outcome === 'replay' || outcome === 'quota' || outcome === 'mismatch') && request.slot !== null)
      replica.stock.set(request.slot.id, { epoch: request.slot.epoch, uid: request.slot.uid });
    if (outcome === 'quota' || outcome === 'mismatch') {
      this.answer(replica, request, outcome);
      return;
    }
    if (outcome === 'empty') {
      request.phase = 'queued';
      return;
    }
    if (outcome === 'slot-lost' || claim === null) {
      this.again(replica, request);
      return;
    }
    request.claim = claim;
    request.uid = uid ?? 0;
    if (claim.state === 'active') {
      this.answer(replica, request, 'active');
      return;
    }
    request.phase = 'activating';
    this.sendActivation(index, replica, request.id, claim.slot, request.uid, claim.id);
  }

  // The network.

  /** A message arrives. A replica that has been restarted does not know what its previous process requested. */
  deliver(message: Message): void {
    const { database, cluster, network } = this;
    const sender = 'replica' in message ? this.lifeOf(message) : null;
    switch (message.kind) {
      case 'lease':
        network.push({
          ...message,
          kind: 'leased',
          slots: database.lease(message.incarnation, message.most, message.isNeeded),
        });
        return;
      case 'leased':
        if (sender !== null)
          for (const slot of message.slots) sender.stock.set(slot.id, { epoch: slot.epoch, uid: slot.uid ?? 0 });
        return;
      case 'bind':
        network.push({ ...message, kind: 'bind-done', results: this.bindBatch(message) });
        return;
      case 'bind-done':
        if (sender !== null) for (const result of message.results) this.bindDone(message.replica, sender, result);
        return;
      case 'activate': {
        const accepted = cluster.activate(message.slot, message.uid, message.claim);
        if (accepted === true) this.observer.activated(message.uid, message.claim);
        this.count(`activation ${accepted === null ? 'unanswered' : accepted ? 'accepted' : 'refused'}`);
        network.push({ ...message, kind: 'activate-done', accepted });
        return;
      }
      case 'activate-done': {
        const request =
          sender !== null ? this.waitingFor(sender, message.request, 'activating', message.claim) : undefined;
        if (request?.claim == null || sender === null) return;
        if (message.accepted !== true) {
          this.activationFailed(sender, request);
          return;
        }
        this.mark(message.replica, request);
        // Who made the claim is answered beside its mark.
        if (request.claim.id === request.proposed) this.answer(sender, request, 'active');
        return;
      }
      case 'mark':
        network.push({ ...message, kind: 'mark-done', isActive: database.activate(message.claim, message.epoch) });
        return;
      case 'mark-done': {
        const request =
          sender !== null ? this.waitingFor(sender, message.request, 'marking', message.claim) : undefined;
        if (request !== undefined && sender !== null)
          this.answer(sender, request, message.isActive ? 'active' : 'failed');
        return;
      }
      case 'create': {
        if (cluster.away) return;
        const pod = cluster.create(message.slot, message.node);
        network.push({ kind: 'created', slot: pod.slot, uid: pod.uid, node: pod.node });
        return;
      }
      case 'created':
        database.saveUid(message.slot, message.uid, message.node);
        return;
      case 'remove':
        if (cluster.away) return;
        cluster.remove(message.slot, message.uid);
        network.push({ kind: 'removed', slot: message.slot });
        return;
      case 'removed':
        database.gone(message.slot);
        return;
      case 'label':
        if (cluster.away) return;
        cluster.label(message.slot, message.uid, message.claim);
        this.observer.labelled(cluster.pods.get(message.slot), message.uid);
        network.push({ kind: 'labelled', row: message.row });
        return;
      case 'labelled':
        database.rows.outbox.delete(message.row);
        return;
    }
  }

  private bindBatch({ incarnation, items }: Message & { readonly kind: 'bind' }): BindResult[] {
    const results = this.database.bindBatch(incarnation, items);
    for (const { outcome } of results) this.count(`bind ${outcome}`);
    return results;
  }

  /** The replica, if it is still the process that sent the message. */
  private lifeOf({ replica, incarnation }: Sender): ModelReplica | null {
    const found = this.replicas[replica] as ModelReplica;
    return found.up && found.incarnation === incarnation ? found : null;
  }

  private waitingFor(
    replica: ModelReplica,
    id: number,
    phase: ModelRequest['phase'],
    claim: number,
  ): ModelRequest | undefined {
    return replica.requests.find((each) => each.id === id && each.phase === phase && each.claim?.id === claim);
  }

  /** The client gives its sandbox back. */
  stop(session: string): boolean {
    const claim = this.database.rows.claims.get(this.database.rows.sessions.get(session) ?? -1);
    if (!isLive(claim)) return false;
    this.observer.hasStopped(claim.id);
    this.database.release(claim.id, 'bound-or-active', 'released');
    return true;
  }
}
