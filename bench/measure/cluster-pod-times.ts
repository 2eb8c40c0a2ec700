import { request as httpRequest } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '@slipway/testing';
import { PodFollower, type PodObject } from './cluster-pod-follower.ts';

/** When a new pod came to each point, from the moment at which it was asked for. Milliseconds. */
export interface PodTimes {
  /** The API server has it. */
  readonly made: number;
  /** The scheduler has said where. */
  readonly scheduled: number;
  /** The kubelet has reported that action-server runs. */
  readonly toolsStarted: number;
  /** The kubelet has reported that agent-server runs: what the pool waits for before it probes agent-server itself. */
  readonly agentStarted: number;
  /** agent-server has answered. */
  readonly answered: number;
}

/**
 * How often agent-server is asked, from its address being known. Milliseconds: that much is its time too long, at most.
 */
const ASK_MS = 10;
const TIMEOUT_MS = 60_000;

type Point = 'scheduled' | 'addressed' | 'toolsStarted' | 'agentStarted';

/** Follows pods by one watch, which costs the cluster next to nothing. */
export class PodClock {
  private readonly seen = new Map<string, Partial<Record<Point, number>> & { address?: string }>();
  private readonly follower: PodFollower;

  constructor(kubeconfig: string, namespace: string) {
    this.follower = new PodFollower(kubeconfig, namespace, (pod, object) => this.note(pod.name, object));
  }

  async start(): Promise<this> {
    void this.follower.run();
    await until('the pods are followed', () => this.follower.synced);
    return this;
  }

  close(): void {
    this.follower.close();
  }

  /**
   * Makes a pod and waits until its agent-server answers and the kubelet has reported it. @throws Error when that takes
   * more than a minute.
   */
  async time(name: string, make: () => Promise<unknown>): Promise<PodTimes> {
    const began = performance.now();
    await make();
    const made = performance.now() - began;
    const { address } = await until(`${name} has an address`, () => this.reached(name, 'addressed'), TIMEOUT_MS);
    for (let answered = false; !answered; ) {
      if (performance.now() - began > TIMEOUT_MS) throw new Error(`${name} did not answer in ${TIMEOUT_MS} ms`);
      answered = await answers(address ?? '');
      if (!answered) await wait(ASK_MS);
    }
    const answeredAt = performance.now() - began;
    const {
      scheduled = 0,
      toolsStarted = 0,
      agentStarted = 0,
    } = await until(`${name} is said to run`, () => this.reached(name, 'agentStarted'), TIMEOUT_MS);
    return {
      made,
      scheduled: scheduled - began,
      toolsStarted: toolsStarted - began,
      agentStarted: agentStarted - began,
      answered: answeredAt,
    };
  }

  private reached(name: string, point: Point) {
    const seen = this.seen.get(name);
    return seen?.[point] === undefined ? null : seen;
  }

  private note(name: string, { status }: PodObject): void {
    const now = performance.now();
    const seen = this.seen.get(name) ?? {};
    this.seen.set(name, seen);
    if (status.conditions?.some(({ type, status: value }) => type === 'PodScheduled' && value === 'True') === true)
      seen.scheduled ??= now;
    if (status.initContainerStatuses?.[0]?.state?.running !== undefined) seen.toolsStarted ??= now;
    if (status.containerStatuses?.[0]?.state?.running !== undefined) seen.agentStarted ??= now;
    if (status.podIP === undefined) return;
    seen.addressed ??= now;
    seen.address = status.podIP;
  }
}

function answers(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = httpRequest(`http://${address}:8000/api/init`, { agent: false, timeout: 1_000 }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode === 200));
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(false));
    request.end();
  });
}
