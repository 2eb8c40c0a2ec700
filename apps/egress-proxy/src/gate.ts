import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { EgressClaims } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';
import { isName } from '@slipway/net';
import { type AddressRules, connectTo, type OrgHosts, type Resolve, reachableOf } from '@slipway/outside';
import type { Logger } from '@slipway/telemetry';
import type { Admitted } from './admission/admitted.js';
import { type Caller, type CallerOptions, callerOf } from './admission/caller.js';
import type { Destination } from './admission/destination.js';
import type { HostRules } from './admission/host-rules.js';
import { reasonOf, refused, unreachable } from './admission/refusal.js';
import type { SandboxSeats } from './admission/sandbox-seats.js';
import { type BrokerClient, brokerAway } from './broker/broker-client.js';
import type { EgressBudgets } from './budget/egress-budgets.js';
import type { EgressDecisions } from './control/egress-decisions.js';
import type { Line } from './lines/line.js';
import type { OpenLines } from './lines/open-lines.js';
import type { EgressMetrics } from './metrics.js';
import type { Tallies } from './tallies/tallies.js';

/** Longest lookup of a name. Milliseconds. */
const LOOKUP_MS = 5_000;

export interface GateOptions extends CallerOptions {
  readonly rules: HostRules;
  /** What organizations may allow beside it, and their decisions; `null`: nothing. */
  readonly control: {
    readonly hosts: OrgHosts;
    readonly decisions: EgressDecisions;
    readonly budgets: EgressBudgets;
    readonly tallies: Tallies;
  } | null;
  /** The way to hosts whose requests are judged, for a credential or a rule; `null`: there is none. */
  readonly broker: BrokerClient | null;
  readonly seats: SandboxSeats;
  readonly addresses: AddressRules;
  readonly resolve: Resolve;
  readonly lines: OpenLines;
  readonly metrics: EgressMetrics;
  readonly logger: Logger;
}

/**
 * Admits requests of sandboxes. In this order: the sandbox (407), its open connections (429), whether the installation
 * lists the host or its organization allows it (403), where that host is (a name is resolved only after that, so that
 * no name carries anything out), whether that is an address which may be reached (403), and a connection to just that
 * address (502). Where its requests are judged, for a credential or a rule, the last three are credential-broker's.
 * Each answer is a line of the log, without path, query or credential.
 */
export class Gate {
  /** Nothing new is let through. */
  closed = false;

  constructor(private readonly options: GateOptions) {}

  /**
   * @param gone aborted when the caller does not wait any more.
   * @throws SlipwayError `egress.*`, `service.unavailable` when this replica is about to end.
   */
  async open(
    kind: Line['kind'],
    request: IncomingMessage,
    readDestination: () => Destination,
    gone: AbortSignal,
  ): Promise<Line> {
    const { seats, metrics, logger, lines } = this.options;
    const since = performance.now();
    let claims: EgressClaims | null = null;
    let destination: Destination | null = null;
    const releases: Array<() => void> = [];
    const release = (): void => {
      for (const each of releases.splice(0)) each();
    };
    try {
      if (this.closed)
        throw new SlipwayError('service.unavailable', 'This replica is about to end; connect again.', {
          retryAfterSeconds: 1,
          extensions: { reason: 'stopping' },
        });
      const caller = callerOf(
        // A path endpoint is asked as if it were the host.
        request.headers[kind === 'path' ? 'authorization' : 'proxy-authorization'],
        request.socket.remoteAddress,
        new Date(),
        this.options,
      );
      claims = caller.claims;
      releases.push(seats.take(claims.claim));
      destination = readDestination();
      const admitted = await this.admit(caller, destination, gone);
      checkWay(kind, destination, admitted?.brokered ?? false);
      const { control } = this.options;
      const budget = (await control?.budgets.open(claims, destination)) ?? null;
      const allowance = budget?.allowance ?? null;
      if (allowance !== null) releases.push(() => control?.budgets.release(allowance));
      const socket =
        admitted?.brokered === true
          ? await this.connectBroker(kind, { claims, destination, rule: admitted.rule }, gone)
          : await this.connect(destination, gone);
      const line: Line = { kind, claims, destination, socket, admitted, allowance, since, cut: null };
      lines.add(line);
      this.options.control?.tallies.begun(line);
      if (admitted !== null) control?.decisions.confirm(line, admitted);
      if (budget !== null) control?.budgets.confirm(line, budget);
      metrics.open.inc({ kind });
      socket.once('close', () => this.ended(line, release));
      metrics.requests.inc({ kind, egress: claims.egress, outcome: 'allowed' });
      metrics.seconds.observe((performance.now() - since) / 1000);
      logger.info(
        {
          ...saidOf(claims, destination),
          kind,
          verdict: 'allowed',
          ...(admitted?.brokered === true ? { brokered: true } : {}),
          address: socket.remoteAddress,
        },
        'egress',
      );
      return line;
    } catch (error) {
      release();
      const reason = reasonOf(error);
      metrics.requests.inc({ kind, egress: claims?.egress ?? 'unknown', outcome: reason });
      const line = { ...saidOf(claims, destination), kind, verdict: reason };
      // Whoever sends no credential can send it as often as it likes, and what is over the limit has had its lines.
      if (reason === 'credential' || reason === 'limit') logger.debug(line, 'egress');
      else if (reason === 'failed') logger.error({ ...line, err: error }, 'egress');
      else logger.info(line, 'egress');
      if (claims !== null && destination !== null) this.countRefused({ claims, destination }, reason);
      throw error;
    }
  }

  /**
   * By the installation's list, else by the organization that the sandbox works for; where there is a
   * credential-broker by both. No name is looked up before.
   * @returns `null` where the installation lists the host and nobody is asked.
   * @throws SlipwayError `egress.*`
   */
  private async admit(
    { claims, actionId }: Caller,
    destination: Destination,
    gone: AbortSignal,
  ): Promise<Admitted | null> {
    const { rules, control, broker } = this.options;
    const problem = rules.problemOf(claims, destination);
    const listed = problem === null;
    if (listed && (control === null || broker === null)) return null;
    if (!listed && (control === null || !control.hosts.mayAllow(destination))) throw problem;
    return control?.decisions.admit({ claims, destination, actionId, listed }, gone) ?? null;
  }

  /** @throws SlipwayError `egress.unreachable` */
  private async connectBroker(
    kind: Line['kind'],
    { claims, destination, rule }: Pick<Line, 'claims' | 'destination'> & Pick<Admitted, 'rule'>,
    gone: AbortSignal,
  ): Promise<Socket> {
    const { claim, org, conversation } = claims;
    if (this.options.broker === null) throw brokerAway(destination.host, 'this installation has none');
    if (conversation === undefined)
      throw brokerAway(destination.host, 'the credential of this sandbox names no conversation; start it again');
    return this.options.broker.open({ claim, org, conversation, ...destination, rule, tls: kind !== 'path' }, gone);
  }

  private async connect(destination: Destination, gone: AbortSignal): Promise<Socket> {
    const addresses = await this.addressesOf(destination);
    return connectTo(destination, addresses, gone).catch((error: NodeJS.ErrnoException) => {
      const { host, port } = destination;
      throw unreachable(
        'unreachable',
        `${host} does not take connections on port ${port}: ${error.code ?? error.message}.`,
        error,
      );
    });
  }

  /** Where the host is, checked. @throws SlipwayError `egress.refused`, `egress.unreachable`. */
  private async addressesOf({ host }: Destination): Promise<readonly string[]> {
    const { addresses, resolve } = this.options;
    const found = !isName(host) ? [host] : await within(resolve(host), host);
    if (found.length === 0) throw unreachable('unresolved', `${host} has no address.`);
    const reachable = reachableOf(found, addresses);
    if (reachable.length === 0)
      throw refused(
        'address',
        `${host} may be reached, but its address is not one of the internet. An operator who means it so adds the range: EGRESS_PERMITTED_RANGES (egress.permittedRanges of the chart).`,
      );
    return reachable;
  }

  private countRefused(of: Pick<Line, 'claims' | 'destination'>, reason: string): void {
    const { rules, control } = this.options;
    control?.tallies.refused(of, reason, rules.problemOf(of.claims, of.destination) === null);
  }

  private ended(line: Line, release: () => void): void {
    const { kind, claims, destination, socket, admitted, since, cut } = line;
    const { metrics, logger, control } = this.options;
    control?.tallies.carried(line);
    const rule = admitted?.rule ?? null;
    release();
    metrics.open.dec({ kind });
    metrics.bytes.inc({ direction: 'out' }, socket.bytesWritten);
    metrics.bytes.inc({ direction: 'in' }, socket.bytesRead);
    if (cut !== null) metrics.cut.inc({ why: cut });
    logger.info(
      {
        ...saidOf(claims, destination),
        kind,
        verdict: cut === null ? 'ended' : `cut: ${cut}`,
        ...(rule === null ? {} : { rule }),
        bytes_out: socket.bytesWritten,
        bytes_in: socket.bytesRead,
        elapsed_ms: Math.round(performance.now() - since),
      },
      'egress',
    );
  }
}

/**
 * What may pass in which way: an opened host is never reached in clear, and path endpoints are for these hosts.
 * @throws SlipwayError `egress.refused`
 */
function checkWay(kind: Line['kind'], { host, port }: Destination, brokered: boolean): void {
  if (kind === 'path' && !brokered)
    throw refused(
      'not-brokered',
      `Requests to ${host} are not judged one by one in this conversation: there is no credential for it, and no rule with methods or paths. Use the proxy as HTTPS_PROXY says, by CONNECT.`,
    );
  if (brokered && (kind === 'http' || port === 80))
    throw refused(
      'in-clear',
      `Requests to ${host} are judged one by one, for a credential or a rule, and it is therefore reached by https alone. Write https:// in its address.`,
    );
}

function saidOf(claims: EgressClaims | null, destination: Destination | null): Record<string, unknown> {
  return {
    ...(claims === null
      ? {}
      : {
          claim_id: claims.claim,
          org_id: claims.org,
          ...(claims.conversation === undefined ? {} : { conversation_id: claims.conversation }),
          template: claims.template,
          egress: claims.egress,
        }),
    ...(destination === null ? {} : { host: destination.host, port: destination.port }),
  };
}

async function within(answer: ReturnType<Resolve>, host: string): ReturnType<Resolve> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${LOOKUP_MS} ms`)), LOOKUP_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } catch (error) {
    throw unreachable(
      'unresolved',
      `${host} cannot be resolved: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}.`,
      error,
    );
  } finally {
    clearTimeout(timer);
  }
}
